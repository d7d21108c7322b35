package storetest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/store"
)

// Lose forgets every job, as if each had been lost on its way.
func Lose(t *testing.T, s *store.Store) {
	t.Helper()
	_, err := s.Pool().Exec(t.Context(), `DELETE FROM river_job`)
	require.NoError(t, err)
}
