package store_test

import (
	"context"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/lifecycle/breaker"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/storetest"
	"github.com/ocpctl/ocpctl/store/usage"
)

// BenchmarkGrowth does what the server does often with 1,000, 10,000 and 100,000 clusters, of which a third lives in teams of about
// 160, and reports the time of each and by how much it grows when the clusters double: 1 is no growth, 2 is linear.
func BenchmarkGrowth(b *testing.B) {
	sizes := []int{1_000, 10_000, 100_000}
	var stores []*store.Store
	var seeds []string
	for _, n := range sizes {
		s, _ := storetest.Open(b)
		seed := storetest.Accept(b, s, storetest.FromPR(storetest.Granted("seed"), 41)).ID
		storetest.CrowdOf(b, s, seed, n, n/500)
		stores, seeds = append(stores, s), append(seeds, seed)
	}
	for _, c := range []struct {
		name string
		do   func(context.Context, *store.Store, string) error
	}{
		{"list page", func(ctx context.Context, s *store.Store, _ string) error {
			_, _, err := s.List(ctx, store.Filter{Live: true})
			return err
		}},
		{"list page of a team", func(ctx context.Context, s *store.Store, _ string) error {
			_, _, err := s.List(ctx, store.Filter{Live: true, Teams: []string{"team-1"}, Principal: "saml:maya"})
			return err
		}},
		{"reconcile", func(ctx context.Context, s *store.Store, seed string) error {
			c, f, err := s.Load(ctx, seed)
			if err != nil {
				return err
			}
			_ = lifecycle.Decide(c, f, storetest.Limits)
			return nil
		}},
		{"count for a request", func(ctx context.Context, s *store.Store, _ string) error {
			_, err := s.Usage(ctx, usage.Scope{Person: "github:nobody", Team: "team-1", Repo: "acme/none"})
			return err
		}},
		{"wake pass", func(ctx context.Context, s *store.Store, _ string) error { _, err := s.WakeDue(ctx, 500); return err }},
		{"turns pass", func(ctx context.Context, s *store.Store, _ string) error { _, err := s.Turns(ctx); return err }},
		{"breakers pass", func(ctx context.Context, s *store.Store, _ string) error {
			_, err := s.Brakes.Advance(ctx, breaker.Limits{})
			return err
		}},
		{"findings", func(ctx context.Context, s *store.Store, _ string) error {
			k, err := s.Reports.Known(ctx, lifecycle.Seen{})
			_ = lifecycle.Troubles(k, lifecycle.FindingLimits{EndMargin: time.Hour, WakeMargin: time.Hour, StillFor: time.Hour})
			return err
		}},
		{"counts for metrics", func(ctx context.Context, s *store.Store, _ string) error { _, err := s.Census(ctx); return err }},
	} {
		b.Run(c.name, func(b *testing.B) {
			least := make([]time.Duration, len(sizes))
			for range max(b.N, 7) { // by turns, and the shortest of each: the machine may be busy
				for i := range sizes {
					begun := time.Now()
					require.NoError(b, c.do(b.Context(), stores[i], seeds[i]))
					if took := time.Since(begun); least[i] == 0 || took < least[i] {
						least[i] = took
					}
				}
			}
			for i, n := range sizes {
				b.ReportMetric(float64(least[i].Microseconds())/1000, fmt.Sprintf("ms-at-%d", n))
			}
			last := len(sizes) - 1
			doublings := math.Log2(float64(sizes[last]) / float64(sizes[0]))
			b.ReportMetric(math.Pow(float64(least[last])/float64(least[0]), 1/doublings), "x-per-doubling")
		})
	}
}
