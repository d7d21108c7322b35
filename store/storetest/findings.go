package storetest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/clusters"
)

// Released is a cluster that was never begun and is gone.
func Released(t *testing.T, s *store.Store, name string) string {
	t.Helper()
	row := Accept(t, s, Granted(name))
	_, err := s.Destroy(t.Context(), row.ID, clusters.Origin{Actor: "github:maya", Why: "done"})
	require.NoError(t, err)
	require.Equal(t, lifecycle.Released, Step(t, s, row.ID).Next.Phase)
	return row.ID
}
