package people_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/store/access"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/people"
	"github.com/ocpctl/ocpctl/store/storetest"
)

func TestWhatAShareWithOneselfGaveIsRevoked(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	row := storetest.Usable(t, s, storetest.Accept(t, s, storetest.Granted("shop")))
	require.NoError(t, s.People.KeepPeople(t.Context(), []people.Person{{ID: "person:will", Name: "Will", Identities: []string{"saml:will@acme.example", "slack:T1/UWILL"}}}))
	shares := func(grantee, by string) access.Row {
		share := people.Share{Kind: "principal", Grantee: grantee, Access: people.AccessUse, Role: access.RoleAdmin}
		require.NoError(t, s.People.Share(t.Context(), row.ID, share, clusters.Origin{Actor: by, Source: "web"}))
		return storetest.WantsAccess(t, s, row.ID, access.Wanted{Ask: access.Ask{Reader: grantee, ReaderName: grantee, Role: access.RoleAdmin, Right: "principal:" + grantee, Lifetime: time.Hour}})
	}
	own, linked := shares("saml:will@acme.example", "saml:will@acme.example"), shares("slack:T1/UWILL", "saml:will@acme.example")
	fine := shares("saml:rob@acme.example", "saml:will@acme.example")
	for _, want := range []int{2, 0} {
		n, err := s.People.EndOwnShares(t.Context())
		require.NoError(t, err)
		require.Equal(t, want, n)
	}
	for _, a := range []access.Row{own, linked} {
		require.Equal(t, access.Revoked, storetest.AccessOf(t, s, row.ID, a.ID).State)
	}
	require.Equal(t, access.Asked, storetest.AccessOf(t, s, row.ID, fine.ID).State, "somebody else's")
	left, err := s.People.Shares(t.Context(), row.ID)
	require.NoError(t, err)
	require.Len(t, left, 1)
	var audited int
	require.NoError(t, s.Pool().QueryRow(t.Context(), `SELECT count(*) FROM audit_events WHERE action = 'unshared' AND actor = 'lifecycle' AND metadata ->> 'note' = $1`,
		people.SharedWithOneself).Scan(&audited))
	require.Equal(t, 2, audited)
}
