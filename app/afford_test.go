package app_test

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/devstack/servicetest"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store/usage"
)

// poor is a fixture whose team platform has a budget, and a ready cluster of it for a day: 24 hours at $1.48 for six machines.
func poor(t *testing.T, budget, quota string) *servicetest.Fixture {
	h := servicetest.With(t, servicetest.Catalogue(t, map[string]string{
		"teams/platform.yaml": "name: platform\nowner: maya\ncostCenters: [sandbox]\nenvironments: [test]\n" + budget,
		"quotas/quotas.yaml":  "quotas:\n  - {name: team, scope: team, live: 5" + quota + "}\n",
	}))
	h.Open()
	h.Comment(1, "will", "/ocp create aws-standard")
	servicetest.Ready(t, h.Store, h.Shelf, h.Only())
	return h
}

var (
	byWeb = app.Origin{Source: policy.SourceWeb, Why: "a demo"}
	zoe   = policy.As("saml:zoe@acme.example", "zoe", policy.Requester, "platform")
	admin = policy.As("saml:ada@acme.example", "ada", policy.PlatformAdmin)
)

func TestALongerLifeIsJudgedByTheBudget(t *testing.T) {
	h := poor(t, "budget: {monthlyDollars: 50, warnPercent: 100, hard: true}\n", "")
	row := h.Only()
	const why = "cannot be extended: Team platform has spent .* with .* for this one, that is \\$71.* of its \\$50.00." // the meter runs meanwhile

	_, err := h.Service.Extend(t.Context(), zoe, row.ID, app.Span{For: 24 * time.Hour}, byWeb)
	require.Regexp(t, why, err.Error())
	require.Equal(t, app.Conflict, app.KindOf(err))
	h.Comment(2, "will", "/ocp extend 24h")
	require.Regexp(t, "@will: "+row.Name+" "+why, h.LastReply())
	h.Labeled("will", "ocp-ttl/48")
	require.Contains(t, h.LastReply(), "The label was removed.")
	require.Contains(t, h.Effects(), "remove_label ocp-ttl/48")
	_, err = h.Service.Hold(t.Context(), zoe, row.ID, app.Span{For: 48 * time.Hour}, byWeb)
	require.ErrorContains(t, err, "cannot be held so long: Team platform has spent")
	require.Equal(t, row.Ends, h.Only().Ends, "nothing was changed")

	_, err = h.Service.Extend(t.Context(), zoe, row.ID, app.Span{For: 9 * time.Hour}, byWeb)
	require.NoError(t, err, "$49.17")
	h.Comment(3, "will", "/ocp extend 1h")
	require.Regexp(t, "that is \\$50.* of its \\$50.00", h.LastReply())
	_, err = h.Service.Hold(t.Context(), zoe, row.ID, app.Span{For: 20 * time.Hour}, byWeb)
	require.NoError(t, err, "it lives as long anyway")
}

// Fewer workers make room for a longer life, and the longer life leaves none for the workers to come back.
func TestMoreWorkersAreJudgedByBudgetAndNodeHours(t *testing.T) {
	for name, c := range map[string]struct{ budget, quota, why string }{
		"budget":     {"budget: {monthlyDollars: 45, warnPercent: 100, hard: true}\n", "", "cannot be scaled so far: Team platform has spent "},
		"node hours": {"", ", nodeHours: 150", "cannot be scaled so far: Team platform has used or reserved 144 of the 150 node hours that quota team allows this month; this needs 144 more."},
	} {
		t.Run(name, func(t *testing.T) {
			h := poor(t, c.budget, c.quota)
			id := h.Only().ID
			_, err := h.Service.Extend(t.Context(), zoe, id, app.Span{For: 24 * time.Hour}, byWeb)
			require.Error(t, err)
			_, _, err = h.Service.Scale(t.Context(), zoe, id, 0, byWeb)
			require.NoError(t, err, "what costs less is not judged")
			_, err = h.Service.Extend(t.Context(), zoe, id, app.Span{For: 24 * time.Hour}, byWeb)
			require.NoError(t, err)
			_, _, err = h.Service.Scale(t.Context(), zoe, id, 3, byWeb)
			require.ErrorContains(t, err, c.why)
			require.Equal(t, 0, *h.Only().WorkersWanted)
		})
	}
}

// Where a new cluster would need a platform admin's approval, a change takes a platform admin; one who asked for the cluster
// does not approve it.
func TestWhatWouldNeedAnApprovalTakesWhoMayApprove(t *testing.T) {
	h := poor(t, "budget: {monthlyDollars: 100, warnPercent: 50, hard: false}\n", "")
	row := h.Only()
	_, err := h.Service.Extend(t.Context(), zoe, row.ID, app.Span{For: 24 * time.Hour}, byWeb)
	require.ErrorContains(t, err, "above 50 % an approval is needed. It takes a platform admin to ask for it.")
	own := policy.As(row.RequestedBy, "will", policy.PlatformAdmin)
	_, err = h.Service.Extend(t.Context(), own, row.ID, app.Span{For: 24 * time.Hour}, byWeb)
	require.ErrorContains(t, err, "It takes another platform admin to ask for it, since the cluster is yours.")
	change, err := h.Service.Extend(t.Context(), admin, row.ID, app.Span{For: 24 * time.Hour}, byWeb)
	require.NoError(t, err)
	require.Contains(t, change.Message, "You are a platform admin, so asking for it approves it.")
}

// Two changes and a new cluster at once never pass a hard budget together.
func TestChangesAndCreatesAtOnceNeverPassTheBudget(t *testing.T) {
	h := poor(t, "budget: {monthlyDollars: 80, warnPercent: 100, hard: true}\n", "")
	id, hours := h.Only().ID, 24
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			if i%2 == 0 {
				_, _ = h.Service.Extend(t.Context(), zoe, id, app.Span{For: 24 * time.Hour}, byWeb)
				return
			}
			_, _ = h.Service.Create(t.Context(), zoe, app.CreateRequest{
				Source: policy.SourceAPI, Name: "more-" + string(rune('a'+i)), Profile: "aws-standard", Team: "platform", TTL: time.Duration(hours) * time.Hour,
			})
		})
	}
	all.Wait()
	used, err := h.Store.Usage(t.Context(), usage.Scope{Team: "platform"})
	require.NoError(t, err)
	require.Greater(t, used.Team.SpentCents+used.Team.CommittedCents, int64(2*3552-100), "of eight one fitted")
	require.LessOrEqual(t, used.Team.SpentCents+used.Team.CommittedCents, int64(2*3552+2), "two amounts of two clusters, each rounded to the cent")
}
