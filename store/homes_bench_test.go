package store_test

import (
	"context"
	"testing"

	"github.com/ocpctl/ocpctl/store/storetest"
	"github.com/stretchr/testify/require"
)

// BenchmarkRefreshHomes measures one look for Homes in Slack that show a cluster which changed: among 30,000 clusters in 20 teams, for 200
// people who opened Home.
func BenchmarkRefreshHomes(b *testing.B) {
	s := durable(b)
	seed := storetest.Accept(b, s, storetest.FromPR(storetest.Granted("seed"), 41))
	storetest.Crowd(b, s, seed.ID)
	exec := func(sql string) {
		_, err := s.Pool().Exec(context.Background(), sql)
		require.NoError(b, err)
	}
	exec(`INSERT INTO slack_homes (workspace, person, opened_at, shown_at, principal, teams)
		SELECT 'T1', 'U' || i, now(), now() - interval '1 minute', 'slack:T1/U' || i, ARRAY['team-' || i % 20] FROM generate_series(1, 200) i`)
	for name, changed := range map[string]int{"nothing changed": 0, "1000 changed": 1000} {
		b.Run(name, func(b *testing.B) {
			exec(`UPDATE clusters SET updated_at = now() - interval '1 hour'`)
			_, err := s.Pool().Exec(context.Background(), `UPDATE clusters SET updated_at = now() WHERE id IN (SELECT id FROM clusters ORDER BY id LIMIT $1)`, changed)
			require.NoError(b, err)
			exec(`VACUUM ANALYZE clusters`)
			for b.Loop() {
				n, err := s.Outbox.RefreshHomes(context.Background())
				require.NoError(b, err)
				require.Equal(b, changed > 0, n > 0)
			}
		})
	}
}
