package notify_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/app/notify"
	"github.com/ocpctl/ocpctl/devstack/servicetest"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store/notices"
)

func TestAChannelHearsOfWhatItsSubscriberMaySee(t *testing.T) {
	h := servicetest.New(t)
	s := notify.New(app.New(h.Config()), h.Config())
	mate, both := policy.As("saml:mate", "Mate", policy.Requester, "platform"), policy.As("saml:both", "Both", policy.Requester, "payments", "platform")
	auditor, nobody := policy.As("saml:auditor", "Auditor", policy.Auditor, policy.EveryTeam), policy.Principal{ID: "slack:T1/UNOBODY"}
	for name, c := range map[string]struct {
		p        policy.Principal
		sub      notices.Subscription
		team     string
		wantKind app.Kind
		want     string
	}{
		"the only team":             {p: mate, sub: notices.Subscription{Events: []string{"ready", "failed", "ready"}}, team: "platform"},
		"one of two teams":          {p: both, sub: notices.Subscription{Team: "payments", Events: []string{"blocked", "weekly"}}, team: "payments"},
		"which of two teams":        {p: both, sub: notices.Subscription{Events: []string{"ready"}}, wantKind: app.Invalid, want: "You are in several teams"},
		"every team":                {p: auditor, sub: notices.Subscription{Events: []string{"destroyed"}}},
		"another team":              {p: mate, sub: notices.Subscription{Team: "payments", Events: []string{"ready"}}, wantKind: app.Denied, want: "There is no team `payments` whose clusters you may see"},
		"a repository of the team":  {p: mate, sub: notices.Subscription{Repo: "acme/shop", Events: []string{"ready"}}, team: "platform"},
		"a repository of nobody's":  {p: both, sub: notices.Subscription{Repo: "other/shop", Events: []string{"ready"}}, wantKind: app.Invalid, want: "You are in several teams"},
		"that of a repository":      {p: mate, sub: notices.Subscription{Repo: "acme/shop", Events: []string{"ready", "weekly"}}, wantKind: app.Invalid, want: "not about a repository"},
		"no event":                  {p: mate, sub: notices.Subscription{}, wantKind: app.Invalid, want: "No event is named"},
		"an event that is none":     {p: mate, sub: notices.Subscription{Events: []string{"ready", "redy"}}, wantKind: app.Invalid, want: "is not a list of events"},
		"somebody without any role": {p: nobody, sub: notices.Subscription{Events: []string{"ready"}}, wantKind: app.Invalid, want: "You have no role in a team"},
	} {
		c.sub.Workspace, c.sub.Channel = "T1", "C1"
		got, err := s.Subscribe(t.Context(), c.p, c.sub, app.Origin{Source: policy.SourceSlack})
		require.Equal(t, c.wantKind, app.KindOf(err), name)
		if err != nil {
			require.Contains(t, said(err), c.want, name)
			continue
		}
		require.Equal(t, []string{c.team, c.p.ID}, []string{got.Team, got.CreatedBy}, name)
	}
	require.Equal(t, []string{"blocked,weekly payments saml:both", "destroyed  saml:auditor", "failed,ready platform saml:mate", "ready platform saml:mate"},
		h.Query(`SELECT array_to_string(events, ',') || ' ' || team || ' ' || created_by FROM channel_subscriptions ORDER BY 1`))
	require.Equal(t, []string{"4"}, h.Query(`SELECT count(*)::text FROM audit_events WHERE action = 'subscribed'`))

	for _, as := range []string{"Acme/shop", "acme/SHOP"} {
		_, err := s.Subscribe(t.Context(), mate, notices.Subscription{Workspace: "T1", Channel: "C2", Repo: as, Events: []string{"failed"}}, app.Origin{Source: policy.SourceSlack})
		require.NoError(t, err)
	}
	heard, err := h.Store.Notices.Subscribed(t.Context(), "failed", "platform", "Acme/Shop")
	require.NoError(t, err)
	require.Len(t, slices.DeleteFunc(heard, func(sub notices.Subscription) bool { return sub.Channel != "C2" }), 1, "however the repository is written")

	seen, err := s.List(t.Context(), mate, "T1", "C1")
	require.NoError(t, err)
	require.Len(t, seen, 3, "not the one of payments")
	_, err = s.List(t.Context(), nobody, "T1", "C1")
	require.Equal(t, app.Denied, app.KindOf(err))

	gone := notices.Subscription{Workspace: "T1", Channel: "C1"}
	_, err = s.Unsubscribe(t.Context(), mate, gone, app.Origin{Source: policy.SourceSlack})
	require.NoError(t, err)
	_, err = s.Unsubscribe(t.Context(), mate, gone, app.Origin{Source: policy.SourceSlack})
	require.Equal(t, app.NotFound, app.KindOf(err))
	gone.Team = "payments"
	_, err = s.Unsubscribe(t.Context(), mate, gone, app.Origin{Source: policy.SourceSlack})
	require.Equal(t, app.Denied, app.KindOf(err))
	require.Equal(t, []string{"unsubscribed saml:mate slack"}, h.Query(`SELECT action || ' ' || actor || ' ' || source FROM audit_events WHERE action = 'unsubscribed'`))
}

// said is an error with the problems of its fields.
func said(err error) string {
	text := err.Error()
	if e, ok := err.(*app.Error); ok { // the service returns it as it is
		for _, f := range e.Fields {
			text += " " + f.Detail
		}
	}
	return text
}
