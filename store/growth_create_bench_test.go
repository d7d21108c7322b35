package store_test

import (
	"context"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/storetest"
)

// BenchmarkGrowthOfCreate requests a cluster while 1,000, 10,000 and 100,000 others are live or wait, all of them of the same team or of
// many, and reports the time of each and by how much it grows when they double.
func BenchmarkGrowthOfCreate(b *testing.B) {
	sizes := []int{1_000, 10_000, 100_000}
	for name, teams := range map[string]func(n int) int{"of one team": func(int) int { return 1 }, "of many teams": func(n int) int { return n / 100 }} {
		for state, wait := range map[string]bool{"live": false, "waiting": true} {
			b.Run(state+" "+name, func(b *testing.B) {
				least := make([]time.Duration, len(sizes))
				for i, n := range sizes {
					s := crowdedWith(b, n, teams(n), wait)
					for k := range max(b.N, 20) {
						a := storetest.Granted(fmt.Sprint("new-", k))
						a.Row.Team = "team-0"
						judge := storetest.AtMost(1_000_000, false, a)
						if wait {
							judge = storetest.AtMost(1, true, a)
						}
						begun := time.Now()
						_, err := s.Judge(b.Context(), storetest.Requests(a), judge)
						require.NoError(b, err)
						if took := time.Since(begun); least[i] == 0 || took < least[i] {
							least[i] = took
						}
					}
					b.ReportMetric(float64(least[i].Microseconds())/1000, fmt.Sprintf("ms-at-%d", n))
				}
				last := len(sizes) - 1
				doublings := math.Log2(float64(sizes[last]) / float64(sizes[0]))
				b.ReportMetric(math.Pow(float64(least[last])/float64(least[0]), 1/doublings), "x-per-doubling")
			})
		}
	}
}

const (
	allWait = `UPDATE clusters SET status = 'PENDING', phase = 'awaiting_capacity', needs_turn = true WHERE status = 'READY'`
	inQueue = `INSERT INTO turns (cluster_id, team, weight, limits, since, position, words)
		SELECT id, team, 1, jsonb_build_array(jsonb_build_object('quota', 'teams', 'scope', 'team', 'key', team, 'what', 'live', 'most', 1)), created_at, 1, 'full'
		FROM clusters WHERE status = 'PENDING' AND needs_turn ON CONFLICT DO NOTHING`
)

// crowdedWith opens a store with n clusters of teams named team-0 and so on. They are live or wait for their team's only place.
func crowdedWith(b *testing.B, n, teams int, wait bool) *store.Store {
	b.Helper()
	s, _ := storetest.Open(b)
	seed := storetest.Accept(b, s, storetest.FromPR(storetest.Granted("seed"), 41)).ID
	storetest.CrowdOf(b, s, seed, 3*n, teams) // a third is live
	if wait {
		for _, sql := range []string{allWait, inQueue, `VACUUM ANALYZE`} {
			_, err := s.Pool().Exec(context.Background(), sql)
			require.NoError(b, err)
		}
	}
	for n := 1; n > 0; {
		var err error
		n, err = s.FoldUsage(b.Context())
		require.NoError(b, err)
	}
	return s
}

// BenchmarkQueue has 500 of 1,000 teams' places come free and gives them to those who wait, 10,000 in all, and reports how many a second.
func BenchmarkQueue(b *testing.B) {
	s := crowdedWith(b, 10_000, 1_000, true)
	n, err := s.Turns(b.Context()) // the first of each team
	require.NoError(b, err)
	require.Positive(b, n)
	turns := 0
	for b.Loop() {
		b.StopTimer()
		for _, sql := range []string{`UPDATE clusters SET needs_turn = true WHERE id IN (SELECT id FROM clusters WHERE status = 'PENDING' AND NOT needs_turn LIMIT 500)`, inQueue} {
			_, err := s.Pool().Exec(b.Context(), sql)
			require.NoError(b, err)
		}
		b.StartTimer()
		n, err := s.Turns(b.Context())
		require.NoError(b, err)
		turns += n
	}
	b.ReportMetric(float64(turns)/b.Elapsed().Seconds(), "turns/s")
}
