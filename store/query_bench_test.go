package store_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/internal/filter"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/storetest"
)

// BenchmarkQuery reads the first page of filters among 100,000 clusters, of which a third lives and one in fifty failed.
func BenchmarkQuery(b *testing.B) {
	s, _ := storetest.Open(b)
	seed := storetest.Accept(b, s, storetest.FromPR(storetest.Granted("seed"), 41))
	storetest.CrowdOf(b, s, seed.ID, 100_000, 200)
	for _, sql := range []string{
		`ALTER TABLE clusters DISABLE TRIGGER USER`, `ALTER TABLE clusters DROP CONSTRAINT clusters_end_within_max`,
		`UPDATE clusters SET owner = 'person ' || pr_number % 500, requested_by = 'saml:person' || pr_number % 500 || '@acme.example', repo = 'acme/shop-' || pr_number % 50,
			created_at = now() - pr_number * interval '1 minute', end_ttl = now() + pr_number * interval '1 minute', end_max = now() + interval '1 year'`,
		`UPDATE clusters SET desired_why = '{"code":"install_failed"}' WHERE destroyed_at IS NOT NULL AND pr_number % 50 = 0`,
		`UPDATE clusters SET destroyed_at = now() - pr_number * interval '1 minute' WHERE destroyed_at IS NOT NULL`,
		`VACUUM ANALYZE clusters`,
	} {
		_, err := s.Pool().Exec(b.Context(), sql)
		require.NoError(b, err)
	}
	who := filter.Reader{Principal: "saml:person7@acme.example", Name: "person 7", Now: time.Now()}
	for _, text := range []string{
		"", "owner:me", "owner:nobody", "failed", "failed mine", "ends:<2h", "ended:<2d", "created:<2d", "team:team-3", "repo:acme/shop-3 status:ready", "repo:shop-3",
		"c10099", "nothing-like-it", "version:4.20 source:label", "sort:ends", "mine sort:ends", "-owner:me", "sort:owner", "sort:price team:team-3", "-owner:me -team:team-3",
	} {
		q, problems := filter.Parse(text, who)
		require.Empty(b, problems)
		for reader, teams := range map[string][]string{"admin": nil, "member": {"team-1", "team-7"}} {
			b.Run(reader+"/"+text, func(b *testing.B) {
				for b.Loop() {
					_, _, err := s.List(b.Context(), store.Filter{Query: q, Current: !q.NamesState(), Teams: teams})
					require.NoError(b, err)
				}
			})
		}
	}
}
