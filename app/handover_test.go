package app_test

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/devstack/servicetest"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/profiles"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/people"
)

var (
	bySlack = app.Origin{Source: policy.SourceSlack}
	maya    = policy.As("saml:maya", "maya", policy.Requester, "platform")
	toWill  = people.Grantee{Account: "slack:T1/UWILL", Name: "will"}
)

// willOf is will in Slack, with a role in the teams.
func willOf(teams ...string) policy.Principal {
	p := policy.Principal{ID: toWill.Account, Name: "will"}
	for _, team := range teams {
		p.Seats = append(p.Seats, policy.Seat{Role: policy.Requester, Team: team})
	}
	return p
}

// offered is maya's cluster, and its offer to will.
func offered(t *testing.T) (*servicetest.Fixture, clusters.Row, people.Handover) {
	t.Helper()
	h := servicetest.New(t)
	row := h.Create(maya, "demo")
	offer, err := h.Service.OfferHandover(t.Context(), maya, "demo", toWill, bySlack)
	require.NoError(t, err)
	return h, row, offer
}

func TestWhoAcceptsAClusterOwnsIt(t *testing.T) {
	h, row, offer := offered(t)
	change, err := h.Service.AnswerHandover(t.Context(), willOf("platform", "security"), offer.ID, true, bySlack)
	require.NoError(t, err)
	require.Equal(t, []string{"platform", "will"}, []string{change.Row.Team, change.Row.Owner}, "its own team, whichever others there are")
	require.Contains(t, change.Message, "demo stays with team platform, and its owner is now will")
	again, err := h.Service.AnswerHandover(t.Context(), willOf("platform"), offer.ID, true, bySlack)
	require.NoError(t, err, "a button may be pressed twice")
	require.Contains(t, again.Message, "You accepted demo before")
	require.Equal(t, change.Row.Version, again.Row.Version)
	_, err = h.Service.AnswerHandover(t.Context(), willOf("platform"), offer.ID, false, bySlack)
	require.NoError(t, err)
	require.Equal(t, []string{"handover_offered", "handover_accepted", "transferred"},
		h.Query(`SELECT action FROM audit_events WHERE target_cluster_id = $1 AND (action LIKE 'handover%' OR action = 'transferred') ORDER BY seq`, row.ID))
}

func TestAnOfferIsMadeByWhoMayTransferTheClusterToSomebodyElse(t *testing.T) {
	h := servicetest.New(t)
	h.Create(maya, "demo")
	for _, c := range []struct {
		by   policy.Principal
		to   people.Grantee
		kind app.Kind
		want string
	}{
		{willOf("security"), toWill, app.NotFound, "no cluster called demo"},
		{policy.As("saml:a", "a", policy.Auditor, "platform"), toWill, app.Denied, "auditor"},
		{maya, people.Grantee{}, app.Invalid, "cannot be transferred like this"},
		{maya, people.Grantee{Account: maya.ID}, app.Conflict, "cannot offer demo to yourself"},
	} {
		_, err := h.Service.OfferHandover(t.Context(), c.by, "demo", c.to, bySlack)
		require.Equal(t, c.kind, app.KindOf(err))
		require.ErrorContains(t, err, c.want)
	}
	require.Empty(t, h.Query(`SELECT id FROM handovers`))
	h.Destroy(h.Only())
	_, err := h.Service.OfferHandover(t.Context(), maya, "demo", toWill, bySlack)
	require.Equal(t, app.Conflict, app.KindOf(err))
}

func TestTheTeamThatTakesAClusterIsOneOfWhoAccepts(t *testing.T) {
	h, _, offer := offered(t)
	answer := func(p policy.Principal, id string) (app.Change, error) {
		return h.Service.AnswerHandover(t.Context(), p, id, true, bySlack)
	}
	_, err := answer(willOf(), offer.ID)
	require.Equal(t, app.Denied, app.KindOf(err))
	require.ErrorContains(t, err, "you may not create clusters, for team platform or any other")
	_, err = answer(policy.As(toWill.Account, "will", policy.Auditor), offer.ID)
	require.Equal(t, app.Denied, app.KindOf(err), "an auditor creates nothing")
	_, err = answer(willOf("security", "team-a"), offer.ID)
	var which *app.Error
	require.ErrorAs(t, err, &which)
	require.ErrorContains(t, err, "Choose the team that it goes to: security, team-a")
	require.Equal(t, []app.Field{{Name: "team", Detail: "it is not given", Accept: []string{"security", "team-a"}}}, which.Fields)
	_, err = answer(willOf("security", "team-a"), offer.ID+"/platform")
	require.Equal(t, app.Invalid, app.KindOf(err))
	for _, p := range []policy.Principal{policy.As("slack:T1/UOTHER", "other", policy.Requester), policy.As("slack:T2/UWILL", "will", policy.Requester), maya} {
		_, err = answer(p, offer.ID)
		require.Equal(t, app.NotFound, app.KindOf(err), "it was not offered to %s", p.ID)
	}
	_, err = answer(willOf("platform"), "hnd_none")
	require.Equal(t, app.NotFound, app.KindOf(err))
	require.Equal(t, "maya", h.Only().Owner)

	change, err := answer(willOf("security", "team-a"), offer.ID+"/security")
	require.NoError(t, err)
	require.Equal(t, []string{"security", "will"}, []string{change.Row.Team, change.Row.Owner})
}

func TestAnOnlyTeamTakesTheClusterAndItsQuotaIsJudged(t *testing.T) {
	h := servicetest.With(t, servicetest.Catalogue(t, map[string]string{
		"quotas/quotas.yaml": "quotas:\n  - {name: small, scope: team, match: [security], live: 1}\n",
	}))
	h.Create(maya, "demo")
	offer, err := h.Service.OfferHandover(t.Context(), maya, "demo", toWill, bySlack)
	require.NoError(t, err)
	made, err := h.Service.Create(t.Context(), willOf("security"), app.CreateRequest{Source: policy.SourceAPI, Name: "other", Owner: "will", Team: "security", CostCenter: "c", Environment: "test"})
	require.NoError(t, err)
	require.NotEmpty(t, made.Row.ID)
	_, err = h.Service.AnswerHandover(t.Context(), willOf("security"), offer.ID, true, bySlack)
	require.Equal(t, app.Conflict, app.KindOf(err))
	require.ErrorContains(t, err, "has 1 of the 1 clusters")
	h.Release(made.Row)
	change, err := h.Service.AnswerHandover(t.Context(), willOf("security"), offer.ID, true, bySlack)
	require.NoError(t, err, "it was still offered")
	require.Equal(t, "security", change.Row.Team)
}

func TestWhatWaitsForAnApprovalOfItsTeamIsNotTakenToAnother(t *testing.T) {
	h := servicetest.With(t, servicetest.Careful(t, profiles.ApprovalTerms{}))
	row := h.Create(maya, "demo")
	require.True(t, row.NeedsApproval)
	offer, err := h.Service.OfferHandover(t.Context(), maya, "demo", toWill, bySlack)
	require.NoError(t, err)
	_, err = h.Service.AnswerHandover(t.Context(), willOf("security"), offer.ID, true, bySlack)
	require.ErrorContains(t, err, "Get it approved first")
	_, err = h.Service.AnswerHandover(t.Context(), willOf("platform"), offer.ID, true, bySlack)
	require.NoError(t, err)
}

func TestALinkedPersonAcceptsByAnyOfTheirAccounts(t *testing.T) {
	h := servicetest.With(t, servicetest.Catalogue(t, map[string]string{
		"people/people.yaml": "people:\n  - {name: will, displayName: Will Park, identities: [\"saml:will\", \"slack:T1/UWILL\"]}\n",
	}))
	require.NoError(t, h.Service.KeepPeople(t.Context()))
	h.Create(maya, "demo")
	offer, err := h.Service.OfferHandover(t.Context(), maya, "demo", toWill, bySlack)
	require.NoError(t, err)
	change, err := h.Service.AnswerHandover(t.Context(), policy.As("saml:will", "w.park", policy.Requester, "platform"), offer.ID, true, app.Origin{Source: policy.SourceWeb})
	require.NoError(t, err)
	require.Equal(t, "Will Park", change.Row.Owner, "the catalogue's name")
	_, err = h.Service.OfferHandover(t.Context(), policy.As("saml:will", "w.park", policy.Requester, "platform"), "demo", toWill, bySlack)
	require.ErrorContains(t, err, "to yourself")
}

func TestAnOfferIsDeclinedByWhoGotItAndWithdrawnByWhoMadeIt(t *testing.T) {
	h, row, offer := offered(t)
	_, err := h.Service.AnswerHandover(t.Context(), policy.As("slack:T1/UOTHER", "other", policy.Requester, "security"), offer.ID, false, bySlack)
	require.Equal(t, app.NotFound, app.KindOf(err))
	change, err := h.Service.AnswerHandover(t.Context(), maya, offer.ID, false, bySlack)
	require.NoError(t, err)
	require.Equal(t, "demo is no longer offered to will.", change.Message)
	_, err = h.Service.AnswerHandover(t.Context(), willOf("platform"), offer.ID, true, bySlack)
	require.Equal(t, app.Conflict, app.KindOf(err))
	require.ErrorContains(t, err, "The offer of demo is withdrawn, so nothing was done. If you still want the cluster, ask")
	_, err = h.Service.AnswerHandover(t.Context(), maya, offer.ID, false, bySlack)
	require.Equal(t, app.Conflict, app.KindOf(err))

	offer, err = h.Service.OfferHandover(t.Context(), maya, "demo", toWill, bySlack)
	require.NoError(t, err)
	change, err = h.Service.AnswerHandover(t.Context(), willOf(), offer.ID, false, bySlack)
	require.NoError(t, err, "declining takes no role")
	require.Contains(t, change.Message, "You declined demo. It stays with")
	require.Empty(t, change.Row.ID, "somebody who declines may not see the cluster")
	offer, err = h.Service.OfferHandover(t.Context(), maya, "demo", toWill, bySlack)
	require.NoError(t, err)
	h.Query(`UPDATE handovers SET created_at = created_at - interval '25 hours', expires_at = expires_at - interval '25 hours' WHERE id = $1 RETURNING id`, offer.ID)
	_, err = h.Service.AnswerHandover(t.Context(), willOf("platform"), offer.ID, true, bySlack)
	require.ErrorContains(t, err, "The offer of demo is expired")
	require.Equal(t, "maya", h.Only().Owner)
	require.Equal(t, row.ID, h.Only().ID)
}

func TestPressedAtOnceAnOfferIsAcceptedOnce(t *testing.T) {
	h, row, offer := offered(t)
	var all sync.WaitGroup
	errs := make([]error, 4)
	for i := range errs {
		all.Go(func() {
			_, errs[i] = h.Service.AnswerHandover(t.Context(), willOf("security"), offer.ID, true, bySlack)
		})
	}
	all.Wait()
	for _, err := range errs {
		require.NoError(t, err)
	}
	require.Len(t, h.Query(`SELECT id FROM audit_events WHERE action = 'transferred' AND target_cluster_id = $1`, row.ID), 1)
}

func TestAcceptedWhileItIsDestroyedItIsRefusedInWords(t *testing.T) {
	h, row, offer := offered(t)
	var both sync.WaitGroup
	var accepted error
	both.Go(func() {
		_, accepted = h.Service.AnswerHandover(t.Context(), willOf("platform"), offer.ID, true, bySlack)
	})
	both.Go(func() { h.Destroy(row) })
	both.Wait()
	if accepted != nil {
		require.Equal(t, app.Conflict, app.KindOf(accepted), accepted)
	}
	require.Equal(t, lifecycle.Absent, h.Only().Desired)
	_, err := h.Service.AnswerHandover(t.Context(), willOf("platform"), offer.ID, true, bySlack)
	require.Equal(t, accepted == nil, err == nil)
}
