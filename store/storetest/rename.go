package storetest

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/clusters"
)

func Renamed(t testing.TB, s *store.Store, from, to string, id int64) int {
	t.Helper()
	n, err := s.PullRequests.RenameRepository(context.Background(), from, to, id, 0, clusters.Origin{Actor: "github:maya", Source: "github", Why: "renamed on GitHub"})
	require.NoError(t, err)
	return n
}
