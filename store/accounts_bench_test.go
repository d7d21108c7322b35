package store_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/store/usage"
)

// BenchmarkAccounts counts what an account with that many live clusters holds, which every request does under a lock, and what still fits, which is
// done beside requests.
func BenchmarkAccounts(b *testing.B) {
	for _, n := range []int{1_000, 10_000} {
		s := crowdedWith(b, n, n/100, false)
		tx, err := s.Pool().Begin(b.Context())
		require.NoError(b, err)
		for _, sql := range []string{
			`SET LOCAL session_replication_role = replica`, // an account never changes otherwise
			`UPDATE clusters SET account = 'one', spec = spec || '{"account": "111111111111"}' WHERE destroyed_at IS NULL`,
			`INSERT INTO reservations (cluster_id, attempt_id, account, region, state, items, words, position, since, asked_at)
				SELECT c.id, a.id, '111111111111', c.region, 'granted', (SELECT jsonb_agg(jsonb_build_object('service', 'ec2', 'code', 'L-' || i, 'name', 'limit ' || i,
					'limit', 1000000, 'used', 7, 'need', 3, 'lasting', 2, 'usedBy', jsonb_build_object(c.id, 2))) FROM generate_series(1, 9) AS i), '', 0, now(), now()
				FROM clusters c JOIN attempts a ON a.cluster_id = c.id WHERE c.destroyed_at IS NULL`,
		} {
			_, err := tx.Exec(b.Context(), sql)
			require.NoError(b, err)
		}
		require.NoError(b, tx.Commit(b.Context()))
		b.Run(fmt.Sprintf("what %d clusters hold", n), func(b *testing.B) {
			for b.Loop() {
				held, err := s.CountAccounts(b.Context())
				require.NoError(b, err)
				require.GreaterOrEqual(b, held.Live["one"], n)
			}
		})
		b.Run(fmt.Sprintf("what fits beside %d", n), func(b *testing.B) {
			for b.Loop() {
				now, err := s.Now(b.Context())
				require.NoError(b, err)
				fits, _, err := usage.ReadRoom(b.Context(), s.Pool(), now)
				require.NoError(b, err)
				require.NotEmpty(b, fits)
			}
		})
	}
}
