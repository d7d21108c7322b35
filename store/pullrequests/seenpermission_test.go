package pullrequests_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/pullrequests"
	"github.com/ocpctl/ocpctl/store/storetest"
)

func TestAPermissionThatWasSeenCountsForAsLongAsItIsAskedFor(t *testing.T) {
	s, clock := storetest.Open(t)
	seen := pullrequests.SeenPermission{Installation: 5001, Repo: "Acme/Shop", Account: 7, Login: "maya", Permission: "write", Teams: []string{"acme/sre"}}
	require.NoError(t, s.PullRequests.SeePermission(t.Context(), seen))
	got, err := s.PullRequests.PermissionSeen(t.Context(), 5001, "acme/shop", 7, time.Hour)
	require.NoError(t, err)
	seen.Repo, seen.SeenAt = "acme/shop", clock.Now()
	got.SeenAt = got.SeenAt.UTC()
	require.Equal(t, seen, got)

	clock.Pass(59 * time.Minute)
	_, err = s.PullRequests.PermissionSeen(t.Context(), 5001, "acme/shop", 7, time.Hour)
	require.NoError(t, err)
	_, err = s.PullRequests.PermissionSeen(t.Context(), 5002, "acme/shop", 7, time.Hour)
	require.ErrorIs(t, err, db.ErrNotFound)
	clock.Pass(time.Minute)
	_, err = s.PullRequests.PermissionSeen(t.Context(), 5001, "acme/shop", 7, time.Hour)
	require.ErrorIs(t, err, db.ErrNotFound)

	seen.Permission, seen.Teams = "read", nil
	require.NoError(t, s.PullRequests.SeePermission(t.Context(), seen))
	got, err = s.PullRequests.PermissionSeen(t.Context(), 5001, "acme/shop", 7, time.Hour)
	require.NoError(t, err)
	require.Equal(t, "read", got.Permission)
	clock.Pass(48 * time.Hour)
	_, err = s.Prune(t.Context(), 30*24*time.Hour)
	require.NoError(t, err)
	_, err = s.PullRequests.PermissionSeen(t.Context(), 5001, "acme/shop", 7, 100*time.Hour)
	require.ErrorIs(t, err, db.ErrNotFound)
}
