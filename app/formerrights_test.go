package app_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/devstack/servicetest"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/profiles"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/people"
)

func TestAnOfferEndsWithTheRoleOfWhoMadeIt(t *testing.T) {
	h := servicetest.New(t)
	row := h.Create(maya, "demo")
	ada := policy.As("saml:ada@acme.example", "Ada", policy.PlatformAdmin)
	ada.Proof = servicetest.AdminProof()
	offer, err := h.Service.OfferHandover(t.Context(), ada, "demo", toWill, bySlack)
	require.NoError(t, err)
	all := h.Catalogue.Identities
	h.Catalogue.Identities = slices.DeleteFunc(slices.Clone(all), func(i profiles.Identity) bool { return i.Name == "saml-admins" })
	_, err = h.Service.AnswerHandover(t.Context(), willOf("platform"), offer.ID, true, bySlack)
	require.Equal(t, app.Conflict, app.KindOf(err))
	require.ErrorContains(t, err, "may no longer transfer demo, so the offer has ended")
	require.Equal(t, "maya", h.Only().Owner)
	ended, err := h.Store.People.Handover(t.Context(), offer.ID)
	require.NoError(t, err)
	require.Equal(t, clusters.HandoverWithdrawn, ended.State)
	require.Equal(t, []string{"saml:ada@acme.example demo"}, h.Query(`SELECT facts ->> 'to' || ' ' || (facts ->> 'offered') FROM announcements WHERE event = 'handover_ended'`),
		"who offered it hears of it, too")
	claims := `SELECT count(*)::text FROM handovers WHERE from_claims IS NOT NULL`
	require.Equal(t, []string{"0"}, h.Query(claims), "what somebody proved is kept while it is needed")
	require.NotEmpty(t, h.Query(`SELECT action FROM audit_events WHERE target_cluster_id = $1 AND action = 'handover_withdrawn'`, row.ID))

	h.Catalogue.Identities = all
	offer, err = h.Service.OfferHandover(t.Context(), ada, "demo", toWill, bySlack)
	require.NoError(t, err)
	_, err = h.Service.AnswerHandover(t.Context(), willOf("platform"), offer.ID, true, bySlack)
	require.NoError(t, err, "who still has the role still offers")
	require.Equal(t, []string{"0"}, h.Query(claims))

	_, err = h.Service.OfferHandover(t.Context(), ada, "demo", people.Grantee{Account: "slack:T1/UROB", Name: "Rob"}, bySlack)
	require.NoError(t, err)
	require.Equal(t, []string{"1"}, h.Query(claims))
	h.Query(`UPDATE handovers SET created_at = created_at - interval '2 days', expires_at = expires_at - interval '2 days' WHERE state = 'offered' RETURNING id`)
	_, err = h.Store.ExpireApprovals(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{"0"}, h.Query(claims), "an offer that nobody answered")
}

func TestAnOfferEndsWithTheSlackAccountOfWhoMadeIt(t *testing.T) {
	h := servicetest.New(t)
	h.Create(maya, "demo")
	h.Catalogue.Identities = append(slices.Clone(h.Catalogue.Identities), profiles.Identity{
		Name: "boss", Source: profiles.SourceSlack, Role: "platform_admin", Teams: []string{"*"}, Match: map[string][]string{"user": {"UBOSS"}},
	})
	boss := people.SlackPerson{Workspace: "T1", ID: "UBOSS", Name: "boss"}
	p, err := h.Service.ExternalPrincipal(t.Context(), h.Service.SlackClaims(boss, "C1", ""))
	require.NoError(t, err)
	offer, err := h.Service.OfferHandover(t.Context(), p, "demo", toWill, bySlack)
	require.NoError(t, err)
	boss.Deactivated = true
	require.NoError(t, h.Store.People.KeepSlackPerson(t.Context(), boss))
	_, err = h.Service.AnswerHandover(t.Context(), willOf("platform"), offer.ID, true, bySlack)
	require.ErrorContains(t, err, "may no longer transfer demo, so the offer has ended")
}

func TestAShareWithOneselfGivesNothing(t *testing.T) {
	h := servicetest.With(t, servicetest.Catalogue(t, map[string]string{
		"people/people.yaml": "people:\n  - {name: maya, displayName: Maya, identities: [\"saml:maya\", \"slack:T1/UMAYA\"]}\n",
	}))
	require.NoError(t, h.Service.KeepPeople(t.Context()))
	row := h.Create(maya, "demo")
	for _, own := range []string{maya.ID, "slack:T1/UMAYA"} {
		_, err := h.Service.Share(t.Context(), maya, "demo", app.ShareWith(app.SharePrincipal, own, policy.ClusterAdmin), app.Origin{Source: policy.SourceWeb})
		require.Equal(t, app.Invalid, app.KindOf(err), own)
	}
	former := policy.Principal{ID: maya.ID, Name: "maya"}
	given := func(by string) error {
		share := app.ShareWith(app.SharePrincipal, "slack:T1/UMAYA", policy.ClusterAdmin)
		require.NoError(t, h.Store.People.Share(t.Context(), row.ID, share, clusters.Origin{Actor: by, Source: "web"}))
		_, err := h.Service.Cluster(t.Context(), former, "demo")
		require.NoError(t, h.Store.People.Unshare(t.Context(), row.ID, app.SharePrincipal, "slack:T1/UMAYA", clusters.Origin{Actor: by, Source: "web"}))
		return err
	}
	require.Equal(t, app.Denied, app.KindOf(given(maya.ID)), "a share of before")
	require.NoError(t, given("saml:will"), "somebody else's share stays")
}
