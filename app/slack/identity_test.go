package slack_test

import (
	"context"
	"errors"
	"regexp"
	"testing"
	"time"

	api "github.com/slack-go/slack"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/app/admin"
	"github.com/ocpctl/ocpctl/app/credentials"
	slackapp "github.com/ocpctl/ocpctl/app/slack"
	"github.com/ocpctl/ocpctl/chatops/slack"
	"github.com/ocpctl/ocpctl/chatops/slack/inbound"
	"github.com/ocpctl/ocpctl/devstack/servicetest"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/profiles"
)

// directory is what Slack says of people; everything else of Slack's is not asked here.
type directory struct {
	slackapp.Slack
	people map[string]slack.Person
	err    error // of every question
	asked  int
}

func (w *directory) Person(_ context.Context, id string) (slack.Person, error) {
	w.asked++
	p, known := w.people[id]
	switch {
	case w.err != nil:
		return slack.Person{}, w.err
	case !known:
		return slack.Person{}, slack.ErrNever
	}
	p.ID = id
	return p, nil
}

func (w *directory) Channel(_ context.Context, id string) (slack.Channel, error) {
	return slack.Channel{ID: id, Member: true}, nil
}

func (w *directory) InChannel(context.Context, string, string) (bool, error) { return true, nil }

func (w *directory) ShowHome(context.Context, string, api.HomeTabViewRequest) error { return nil }

// known is a fixture in a workspace whose people Slack knows. Everybody with a confirmed address at example.com may request for the
// team platform, and one of them is Maya Weber.
func known(t *testing.T) (*fixture, *directory) {
	t.Helper()
	b := servicetest.Catalogue(t, nil)
	b.Identities = append(b.Identities, profiles.Identity{
		Name: "slack-mail", Source: profiles.SourceSlack, Role: "requester", Teams: []string{"platform"},
		Match: map[string][]string{"workspace": {"T1"}, "email": {"*@example.com"}},
	})
	b.People = append(b.People, profiles.Person{Name: "maya", DisplayName: "Maya Weber", Identities: []string{"email:maya@example.com", "github:maya-w"}})
	b.Hash = "with Maya"
	h := with(servicetest.With(t, b))
	w := &directory{people: map[string]slack.Person{
		"UMAYA":        {Workspace: "T1", Name: "maya", Email: "maya@example.com", Confirmed: true},
		"UJAN":         {Workspace: "T1", Name: "jan", Email: "jan@example.com", Confirmed: true},
		"UUNCONFIRMED": {Workspace: "T1", Email: "boss@example.com"},
		"UPRIVATE":     {Workspace: "T1", Email: "me@home.example", Confirmed: true},
		"UGUEST":       {Workspace: "T1", Email: "guest@example.com", Confirmed: true, Guest: true},
		"UGONE":        {Workspace: "T1", Email: "gone@example.com", Confirmed: true, Deactivated: true},
		"UBOT":         {Workspace: "T1", Bot: true},
		"USTRANGER":    {Workspace: "T0OTHER", Email: "stranger@example.com", Confirmed: true, Stranger: true},
		"W0GRID":       {Workspace: "T2", Org: "E1", Email: "grid@example.com", Confirmed: true},
	}}
	c := h.Config()
	c.SlackEmails = []string{"example.com"}
	core := app.New(c)
	require.NoError(t, core.KeepPeople(t.Context()))
	h.service = slackapp.New(core, credentials.New(core, c), admin.New(core, c), w, c)
	return h, w
}

func TestAConfirmedAddressOfATrustedDomainCounts(t *testing.T) {
	h, _ := known(t)
	for user, want := range map[string]string{
		"UMAYA": "No approval", "UJAN": "No approval", "W0GRID": "No approval",
		"UUNCONFIRMED": "`/ocp link`", "UPRIVATE": "`/ocp link`",
	} {
		require.Contains(t, h.slack(user, "approvals"), want, user)
	}
}

func TestWhoMayDoNothingHearsWhy(t *testing.T) {
	h, _ := known(t)
	for user, want := range map[string]string{
		"UGUEST": "Guests of the workspace", "UGONE": "is deactivated", "UBOT": "from an app", "USTRANGER": "another organization", "UNOBODY": "does not let ocpctl see your account",
	} {
		require.Contains(t, h.slack(user, "approvals"), want, user)
		require.Contains(t, h.slack(user, "link"), want, user)
		require.Contains(t, h.slack(user, "help"), "*Commands*", "help is for everybody")
		require.Contains(t, h.slack(user, "unlink"), "not linked", "and so is taking a link back")
	}
	require.Contains(t, h.slack("UUNCONFIRMED", "link"), "/links/", "a full member without a role")
	require.Len(t, h.Query(`SELECT principal FROM links`), 1, "nobody else was given one")
	require.Empty(t, h.Query(`SELECT mapped FROM slack_people WHERE mapped <> '' ORDER BY 1`), "whom others vouch for")
}

func TestAMappedAccountIsThePerson(t *testing.T) {
	h, w := known(t)
	same := `SELECT unnest(identities_of($1)) ORDER BY 1`
	require.NotContains(t, h.Query(same, "github:maya-w"), "slack:T1/UMAYA")
	h.slack("UMAYA", "approvals")
	require.Equal(t, []string{"email:maya@example.com", "github:maya-w", "person:maya", "slack:T1/UMAYA"}, h.Query(same, "slack:T1/UMAYA"))
	require.Equal(t, h.Query(same, "slack:T1/UMAYA"), h.Query(same, "github:maya-w"))
	require.Equal(t, []string{"slack:T1/UJAN"}, h.Query(`SELECT person_of('slack:T1/UJAN')`))
	require.Equal(t, []string{"slack:T1/UMAYA email:maya@example.com"},
		h.Query(`SELECT actor || ' ' || (metadata -> 'after' ->> 'identity') FROM audit_events WHERE action = 'account_mapped'`))

	handle := regexp.MustCompile(`/links/([^>]+)>`).FindStringSubmatch(h.slack("UMAYA", "link"))
	_, err := h.Service.Redeem(t.Context(), proved("saml:finance", "ocpctl-team-platform"), handle[1], app.Origin{Source: policy.SourceWeb})
	require.Equal(t, app.Conflict, app.KindOf(err), "an account that the catalogue knows is nobody else's")

	p := w.people["UJAN"]
	p.Email = "maya@example.com" // as after a change of addresses
	w.people["UJAN"] = p
	h.changed("UJAN")
	h.slack("UJAN", "approvals")
	require.Equal(t, []string{"person:maya"}, h.Query(`SELECT person_of('slack:T1/UJAN')`))
}

// changed has Slack say that something about a person changed.
func (h *fixture) changed(user string) {
	h.Helper()
	h.commands++
	_, err := h.service.Handle(h.Context(), inbound.Request{Kind: inbound.Lifecycle, ID: "Ev" + user, Workspace: "T1", Event: "user_change", Subject: user})
	require.NoError(h, err)
}

func TestSlackIsAskedAgainAfterAWhileOrAChange(t *testing.T) {
	h, w := known(t)
	for range 3 {
		h.slack("UMAYA", "approvals")
	}
	require.Equal(t, 1, w.asked)
	age := func(interval string) {
		h.Query(`UPDATE slack_people SET asked_at = asked_at - $1::interval RETURNING id`, interval)
	}
	age("11 minutes")
	h.slack("UMAYA", "approvals")
	require.Equal(t, 2, w.asked)

	gone := w.people["UMAYA"]
	gone.Deactivated = true
	w.people["UMAYA"] = gone
	require.Contains(t, h.slack("UMAYA", "approvals"), "No approval", "within ten minutes")
	h.changed("UMAYA")
	require.Contains(t, h.slack("UMAYA", "approvals"), "is deactivated")
	require.Equal(t, 3, w.asked)
}

func TestWhenSlackDoesNotAnswerWhatItSaidCountsForADay(t *testing.T) {
	h, w := known(t)
	h.slack("UMAYA", "approvals")
	w.err = errors.New("no route to slack.com")
	require.Contains(t, h.slack("UJAN", "approvals"), "did not confirm in time", "nothing is known of him")
	h.Query(`UPDATE slack_people SET asked_at = asked_at - interval '23 hours' RETURNING id`)
	require.Contains(t, h.slack("UMAYA", "approvals"), "No approval")
	h.Query(`UPDATE slack_people SET asked_at = asked_at - interval '2 hours' RETURNING id`)
	require.Contains(t, h.slack("UMAYA", "approvals"), "did not confirm in time")
	w.err = nil
	h.slack("UMAYA", "approvals")
	h.changed("UMAYA")
	w.err = slack.RateLimited{RetryAfter: time.Minute}
	require.Contains(t, h.slack("UMAYA", "approvals"), "did not confirm in time", "she may have left")
}
