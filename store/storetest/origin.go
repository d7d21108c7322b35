package storetest

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/auditchain"
	"github.com/ocpctl/ocpctl/store/clusters"
)

// Usable makes a cluster one that can be used, without its install.
func Usable(t testing.TB, s *store.Store, row clusters.Row) clusters.Row {
	t.Helper()
	for _, sql := range []string{
		`UPDATE jobs SET status = 'SUCCEEDED', started_at = created_at, ended_at = created_at WHERE cluster_id = $1`,
		`INSERT INTO cluster_outputs VALUES ($1, 'https://api', 'https://console', 's3://bucket/kubeconfig', 's3://bucket/kubeadmin', '')`,
		`UPDATE clusters SET status = 'READY', phase = 'ready', ready_at = created_at WHERE id = $1`,
	} {
		_, err := s.Pool().Exec(t.Context(), sql, row.ID)
		require.NoError(t, err, sql)
	}
	row, err := s.Cluster(t.Context(), row.ID)
	require.NoError(t, err)
	return row
}

// Said is the newest line of the trail with the action.
func Said(t testing.TB, s *store.Store, action string) (line auditchain.Line, meta map[string]any) {
	t.Helper()
	lines, _, err := s.AuditPage(t.Context(), store.AuditFilter{Action: action, Limit: 1})
	require.NoError(t, err)
	require.Len(t, lines, 1, "nothing says %s", action)
	require.NoError(t, json.Unmarshal([]byte(lines[0].Metadata), &meta))
	return lines[0], meta
}
