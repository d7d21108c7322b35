package pools_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/pools"
	"github.com/ocpctl/ocpctl/store/storetest"
)

func TestAClaimAfterTheBackupIsRestored(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	known, unknown := pooled(t, s, clock, "ready-1"), pooled(t, s, clock, "ready-2")
	storetest.Seen(t, s, storetest.Known(40, 0))
	until := clock.Now().Add(90 * time.Hour)
	restored := func(id string, by pools.Claimed) clusters.Row {
		_, err := s.Recover(t.Context(), store.RecoveredCluster{
			ID: id, Why: "a test", Wait: time.Minute, Claimed: &by, Attempts: []store.RecoveredAttempt{{Number: 2, Kind: lifecycle.Prepare, OpenedAt: clock.Now()}},
		})
		require.NoError(t, err)
		return storetest.Read(t, s, id)
	}
	row := restored(known.ID, pools.Claimed{Owner: "maya", Team: "acme/platform", RequestedBy: "saml:maya", Source: "web", Tags: map[string]string{"Owner": "maya"}, Until: until,
		PR: &clusters.PRRef{Installation: 5001, Repo: "acme/shop", Number: 40, Head: "abc"}, Generation: 4})
	require.Equal(t, &clusters.PRRef{Installation: 5001, Repo: "acme/shop", Number: 40, Head: "abc"}, row.PR)
	require.Equal(t, 1, storetest.Count(t, s, `SELECT count(*) FROM clusters WHERE id = $1 AND (generation, repo_id) = (4, 900)`, row.ID))
	require.Len(t, storetest.PlacesOf(t, s, row.ID), 3, "comment, check and deployment show it")
	require.Equal(t, []string{"maya", "acme/platform", "saml:maya", "web", "maya"}, []string{row.Owner, row.Team, row.RequestedBy, row.Source, row.Tags["Owner"]})
	require.Equal(t, until, row.Ends.DestroyAt().UTC())
	require.False(t, row.ClaimedAt.IsZero())
	row = restored(unknown.ID, pools.Claimed{Until: clock.Now().Add(8 * time.Hour)})
	require.Equal(t, []string{unknown.Owner, unknown.Team}, []string{row.Owner, row.Team})
	for _, id := range []string{known.ID, unknown.ID} {
		row = storetest.Read(t, s, id)
		require.False(t, row.Pooled)
		require.Equal(t, lifecycle.Ready, storetest.Settled(t, s, id).Status)
	}
	ask, g := request(41)
	require.NotContains(t, []string{known.ID, unknown.ID}, judge(t, s, ask, g).Row.ID, "nobody else gets them")
}
