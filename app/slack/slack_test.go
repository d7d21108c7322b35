package slack_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/app/admin"
	"github.com/ocpctl/ocpctl/app/credentials"
	slackapp "github.com/ocpctl/ocpctl/app/slack"
	"github.com/ocpctl/ocpctl/chatops/slack/inbound"
	"github.com/ocpctl/ocpctl/devstack/servicetest"
	"github.com/ocpctl/ocpctl/internal/blockkit"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/profiles"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/clusters"
)

// fixture is a servicetest.Fixture whose users type commands in Slack.
type fixture struct {
	*servicetest.Fixture
	service   *slackapp.Service
	workspace *workspace
	commands  int // typed so far
}

// with is a fixture whose service asks a stand-in for Slack.
func with(f *servicetest.Fixture) *fixture {
	h := &fixture{Fixture: f, workspace: newWorkspace()}
	h.restart()
	return h
}

// restart begins a new process: nothing is remembered but what is stored.
func (h *fixture) restart() {
	c := h.Config()
	core := app.New(c)
	links := credentials.New(core, c)
	h.service = slackapp.New(core, links, admin.New(core, c), h.workspace, c)
}

// ours is a fixture in whose catalogue Slack's users have roles, and in which nothing needs an approval.
func ours(t *testing.T) *fixture {
	t.Helper()
	b := servicetest.Catalogue(t, nil)
	b.Identities = append(b.Identities, seats()...)
	b.Teams = []profiles.Team{
		{Name: "platform", CostCenters: []string{"sandbox"}, Environments: []string{"test"}}, {Name: "payments", CostCenters: []string{"cc-9"}, Environments: []string{"test"}},
		{Name: "security", CostCenters: []string{"cc-7"}, Environments: []string{"test"}},
	}
	return with(servicetest.With(t, b))
}

// inSlack is a fixture in whose catalogue Slack's users have roles, and in which everything waits for a word.
func inSlack(t *testing.T, terms profiles.ApprovalTerms) *fixture {
	t.Helper()
	b := servicetest.Careful(t, terms)
	b.Identities = append(b.Identities, seats()...)
	return with(servicetest.With(t, b))
}

// seats are the roles of the users in Slack.
func seats() []profiles.Identity {
	seat := func(user, role, team string) profiles.Identity {
		return profiles.Identity{
			Name: "slack-" + user, Source: profiles.SourceSlack, Role: role, Teams: []string{team},
			Match: map[string][]string{"workspace": {"T1"}, "user": {user}},
		}
	}
	return []profiles.Identity{seat("UADMIN", "platform_admin", "*"), seat("UMATE", "requester", "platform"), seat("UPAY", "requester", "payments"),
		seat("UAUDIT", "auditor", "*"), seat("UBOSS", "platform_admin", "platform"), seat("UPAYBOSS", "platform_admin", "payments"), seat("UROB", "requester", "platform")}
}

// slack has a user type a command, and returns the answer.
func (h *fixture) slack(user, text string) string {
	h.Helper()
	h.commands++
	return h.slackAs(inbound.Request{Kind: inbound.Command, ID: fmt.Sprintf("13345224609.%d", h.commands), Workspace: "T1", Channel: "C1", User: user, Name: "somebody", Text: text})
}

func (h *fixture) slackAs(e inbound.Request) string {
	h.Helper()
	require.NoError(h, h.service.OpenWindow(h.Context(), e))
	_, err := h.service.Handle(h.Context(), e)
	require.NoError(h, err)
	said := h.Query(`SELECT body FROM replies WHERE cause = $1 AND workspace = $2 AND channel = $3 AND person = $4`,
		"slack:"+e.Workspace+":"+e.ID, e.Workspace, e.Channel, e.User)
	require.Len(h, said, 1, "one answer, to the one who asked, where they asked")
	posted := h.Query(`SELECT jsonb_strip_nulls(jsonb_build_object('text', body, 'blocks', nullif(blocks, '[]')))::text FROM replies WHERE cause = $1`, "slack:"+e.Workspace+":"+e.ID)
	require.Empty(h, blockkit.Message([]byte(posted[0])), posted[0])
	return said[0]
}

// waits labels the pull request and returns what its cluster waits for.
func (h *fixture) waits() clusters.Approval {
	h.Helper()
	h.Labeled("will", servicetest.Label)
	page, _, err := h.Store.Approvals(h.Context(), store.ApprovalFilter{State: clusters.ApprovalPending})
	require.NoError(h, err)
	require.Len(h, page, 1)
	return page[0]
}

func (h *fixture) approval(id string) clusters.Approval {
	h.Helper()
	a, err := h.Store.Approval(h.Context(), id)
	require.NoError(h, err)
	return a
}

// links has a user link their account as the principal.
func (h *fixture) links(user string, p policy.Principal) {
	h.Helper()
	handle := regexp.MustCompile(`/links/([^>]+)>`).FindStringSubmatch(h.slack(user, "link"))
	require.NotNil(h, handle)
	got, err := h.Service.Redeem(h.Context(), p, handle[1], app.Origin{Source: policy.SourceWeb})
	require.NoError(h, err)
	require.Equal(h, "slack:T1/"+user, got.Account)
	code := got.Code.Reveal()
	require.NotContains(h, h.slack("UNOBODY", "link "+code), "is now linked to you", "the code is for one account")
	require.Contains(h, h.slack(user, "link "+strings.ToLower(code)), "is now linked to you")
	require.Contains(h, h.slack(user, "link "+code), "Nothing was linked", "once")
}

func proved(id string, groups ...string) policy.Principal {
	return policy.Principal{ID: id, Name: id, Proof: &policy.Claims{Source: profiles.SourceSAML, Subject: id, Values: map[string][]string{"groups": groups}}}
}

func TestWhoseWordCountsInSlack(t *testing.T) {
	h := inSlack(t, profiles.ApprovalTerms{})
	a := h.waits()
	h.links("UFINANCE", proved("saml:finance", "nothing-here"))
	for _, c := range []struct{ user, approve, approvals, status string }{
		{"UNOBODY", "Link it with `/ocp link`", "`/ocp link`", "`/ocp link`"},
		{"UFINANCE", "ask a platform admin for a role", "`/ocp link`", "`/ocp link`"},
		{"UPAY", "You have no approval \"" + a.ID + "\"", "No approval is waiting for you", "have no live cluster"},
		{"UPAYBOSS", "You have no approval \"" + a.ID + "\"", "No approval is waiting for you", "have no live cluster"},
		{"UMATE", "Only a platform admin of team platform can approve this. You are a requester", "You are a requester", a.ClusterName},
		{"UAUDIT", "You are an auditor", a.ClusterName, a.ClusterName},
	} {
		for _, verb := range []string{"approve ", "refuse "} {
			require.Contains(t, h.slack(c.user, verb+a.ID+" because"), c.approve, c.user+" "+verb)
		}
		require.Contains(t, h.slack(c.user, "approvals"), c.approvals, c.user)
		require.Contains(t, h.slack(c.user, "status"), c.status, c.user)
	}
	require.Contains(t, h.slack("UPAY", "approve "+a.ClusterName), "You have no cluster called "+a.ClusterName+".")
	require.Contains(t, h.slack("UPAY", "status "+a.Cluster), "You have no cluster called "+a.Cluster+".")
	require.Empty(t, h.approval(a.ID).Votes)
	require.Contains(t, h.slackAs(inbound.Request{Kind: inbound.Command, ID: "1", Workspace: "TOTHER", Channel: "C1", User: "UADMIN", Text: "approve " + a.ID}), "`/ocp link`", "a user of another workspace is another's")
	require.Contains(t, h.slack("UBOSS", "approvals"), a.ClusterName)
	require.Contains(t, h.slack("UBOSS", "approve "+a.ClusterName+" go ahead"), "You approved `"+a.ClusterName+"` at `6dcb09b`. It starts now")
	require.False(t, h.Only().NeedsApproval)
	votes := h.approval(a.ID).Votes
	require.Len(t, votes, 1)
	require.Equal(t, []string{"slack:T1/UBOSS", "slack", "go ahead"}, []string{votes[0].Principal, votes[0].Source, votes[0].Reason})
	require.Contains(t, h.slack("UADMIN", "approve "+a.ID), "no longer pending")
	require.Contains(t, h.slack("UADMIN", "approve "+a.ClusterName), "`"+a.ClusterName+"` has no pending approval")
	require.Contains(t, h.slack("UADMIN", "approve apr_nothing"), "You have no approval \"apr_nothing\"")
}

func TestARefusalInSlackEndsItWithAReason(t *testing.T) {
	h := inSlack(t, profiles.ApprovalTerms{})
	a := h.waits()
	require.Contains(t, h.slack("UADMIN", "refuse "+a.ID), "Add a reason")
	require.True(t, h.Only().NeedsApproval)
	require.Contains(t, h.slack("UADMIN", "refuse "+a.Cluster+" not this week"), "You refused `"+a.ClusterName+"`")
	require.Equal(t, lifecycle.Absent, h.Only().Desired)
	now := h.approval(a.ID)
	require.Equal(t, clusters.ApprovalRefused, now.State)
	require.Contains(t, now.DecidedWhy, "not this week")
}

// A process that dies behind the vote leaves its answer too: the command is worked again and is not told that it came late.
func TestACommandWorkedTwiceVotesOnceAndAnswersOnce(t *testing.T) {
	h := inSlack(t, profiles.ApprovalTerms{Count: 2, By: "requester"})
	a := h.waits()
	e := inbound.Request{Kind: inbound.Command, ID: "1.2.3", Workspace: "T1", Channel: "C1", User: "UMATE", Text: "approve " + a.ID}
	first := h.slackAs(e)
	require.Contains(t, first, "It has 1 of the 2 votes it needs")
	require.Equal(t, []string{"true"}, h.Query(`SELECT (r.xmin = v.xmin)::text FROM replies r, approval_votes v WHERE r.cause = 'slack:T1:1.2.3'`))
	require.Equal(t, first, h.slackAs(e))
	require.Len(t, h.approval(a.ID).Votes, 1)
	for _, text := range []string{"help", "link", "nonsense", "status", "approvals"} {
		e.ID, e.Text = "again-"+text, text
		require.Equal(t, h.slackAs(e), h.slackAs(e), text)
	}
	require.Contains(t, h.slack("UMATE", "approve "+a.ID), "You have already voted")
	require.Contains(t, h.slack("UBOSS", "approve "+a.ID), "It starts now")
}

func TestALinkedAccountInSlackHasItsOwnersSeats(t *testing.T) {
	h := inSlack(t, profiles.ApprovalTerms{Count: 2, By: "requester"})
	a := h.waits()
	link := h.slack("ULINK", "link")
	require.Contains(t, link, "Open <http://127.0.0.1:8080/links/")
	require.Contains(t, link, "Slack account `T1/ULINK`")
	h.links("ULINK", proved("saml:mate", "ocpctl-team-platform"))
	require.Contains(t, h.slack("ULINK", "approve "+a.ID), "1 of the 2 votes")
	require.Equal(t, "saml:mate", h.approval(a.ID).Votes[0].Principal, "the person's, whichever way it came")
	_, err := h.Service.Vote(t.Context(), policy.As("saml:mate", "Mate", policy.Requester, "platform"), a.ID, true, app.Origin{Source: policy.SourceWeb})
	require.Equal(t, app.Conflict, app.KindOf(err), "one person has one word")

	h.links("UWILL", proved("saml:will", "ocpctl-team-platform"))
	handle := regexp.MustCompile(`/links/(\S+)`)
	h.Comment(1, "will", "/ocp link")
	said := h.Replies()
	got, err := h.Service.Redeem(t.Context(), proved("saml:will", "ocpctl-team-platform"), handle.FindStringSubmatch(said[len(said)-1])[1], app.Origin{Source: policy.SourceWeb})
	require.NoError(t, err)
	h.Comment(2, "will", "/ocp link "+got.Code.Reveal())
	require.Contains(t, h.slack("UWILL", "approve "+a.ID), "You requested this yourself", "on GitHub, and it is one person")

	h.Query(`UPDATE accounts SET seen_at = seen_at - interval '8 days' WHERE account = 'slack:T1/ULINK' RETURNING account`)
	require.Contains(t, h.slack("ULINK", "approvals"), "`/ocp link`", "whoever does not sign in any more acts from nowhere")
}

func TestStatusInSlackShowsWhatThePersonMaySee(t *testing.T) {
	b := servicetest.Catalogue(t, nil)
	b.Identities = append(b.Identities, profiles.Identity{
		Name: "slack-mates", Source: profiles.SourceSlack, Role: "requester", Teams: []string{"platform"}, Match: map[string][]string{"channel": {"C1"}},
	})
	h := with(servicetest.With(t, b))
	h.Labeled("will", servicetest.Label)
	row := h.Only()
	for _, ref := range []string{"", " " + row.Name, " " + row.ID} {
		require.Contains(t, h.slack("UANY", "status"+ref), row.Name, ref)
	}
	require.Contains(t, h.slack("UANY", "approvals"), "No approval is waiting for you")
	require.Contains(t, h.slackAs(inbound.Request{Kind: inbound.Command, ID: "9", Workspace: "T1", Channel: "C2", User: "UANY", Text: "status"}), "`/ocp link`", "in another channel")
	require.Contains(t, h.slack("UANY", "hepl"), "Did you mean `/ocp help`?")
	require.Contains(t, h.slack("UANY", "help"), "*Commands*")
	require.Contains(t, h.slack("UANY", "create"), "The cost center is missing")
}

func TestSlackTellsOfTheClusterThatIsGone(t *testing.T) {
	h := inSlack(t, profiles.ApprovalTerms{Count: 1, By: "platform_admin"})
	row := h.Create(policy.As("oidc:https://issuer.example.com#maya", "maya", policy.Requester, "platform"), "demo")
	h.Release(row)
	require.Contains(t, h.slack("UMATE", "status demo"), "demo is gone")
	require.Contains(t, h.slack("UPAY", "status demo"), "You have no cluster called demo.")
}
