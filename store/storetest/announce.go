package storetest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/store"
)

// Announced are the causes announced so far, in order.
func Announced(t *testing.T, s *store.Store) (causes []string) {
	t.Helper()
	rows, err := s.Pool().Query(t.Context(), `SELECT cause FROM announcements ORDER BY id`)
	require.NoError(t, err)
	for rows.Next() {
		var cause string
		require.NoError(t, rows.Scan(&cause))
		causes = append(causes, cause)
	}
	require.NoError(t, rows.Err())
	return causes
}
