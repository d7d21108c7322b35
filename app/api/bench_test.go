package api

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/app/auth"
	"github.com/ocpctl/ocpctl/devstack/oidc"
	"github.com/ocpctl/ocpctl/devstack/postgres/pgtest"
	"github.com/ocpctl/ocpctl/devstack/servicetest"
	"github.com/ocpctl/ocpctl/policy/catalogue"
	"github.com/ocpctl/ocpctl/profiles"
	"github.com/ocpctl/ocpctl/store"
)

// place is a server to measure, over real HTTP.
type place struct {
	*testing.B
	store  *store.Store
	url    string
	bearer []string // of requesters of fifty teams
	client *http.Client
}

func openTeams(b *testing.B, terms catalogue.Catalogue) *place {
	b.Helper()
	p := &place{B: b, store: servicetest.Store(b, pgtest.New(b)), client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 100}}}
	issuer, err := oidc.Start(b.Context(), oidc.Config{})
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, issuer.Stop()) })
	for i := range 50 {
		raw, err := issuer.Token(oidc.Claims{Subject: fmt.Sprint("r", i), Name: "R", Groups: []string{fmt.Sprint("team-", i)}, Role: "requester"})
		require.NoError(b, err)
		p.bearer = append(p.bearer, raw)
	}
	core := app.New(appConfig(p.store, terms, shelf{}, &githubAnswers{}))
	p.url = serve(b, Config{
		App: core, Store: p.store, Pace: NewPace(Rate{PerSecond: -1}, nil),
		Auth: auth.New(auth.Config{
			Issuers: []auth.Issuer{{URL: issuer.URL(), Audience: oidc.Audience}}, Identities: func() []profiles.Identity { return terms.Identities },
		}),
	}).URL
	return p
}

func (p *place) ask(method, path string, who int, body any, headers ...string) int {
	raw, err := json.Marshal(body)
	require.NoError(p, err)
	r, err := http.NewRequestWithContext(context.Background(), method, p.url+path, bytes.NewReader(raw))
	require.NoError(p, err)
	r.Header.Set("Authorization", "Bearer "+p.bearer[who%len(p.bearer)])
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	answer, err := p.client.Do(r)
	require.NoError(p, err)
	defer answer.Body.Close()
	_, _ = io.Copy(io.Discard, answer.Body)
	return answer.StatusCode
}

// spread reports how long the calls took.
func spread(b *testing.B, took []time.Duration) {
	slices.Sort(took)
	at := func(part float64) float64 {
		return float64(took[min(len(took)-1, int(part*float64(len(took))))].Microseconds()) / 1000
	}
	b.ReportMetric(at(0.50), "p50-ms")
	b.ReportMetric(at(0.99), "p99-ms")
}

// BenchmarkCreate asks for clusters over HTTP: fifty callers at once, of fifty teams and all of one team, two, and one. Beside each it runs
// as many bare transactions with six inserts of the same size on the same PostgreSQL, and reports what part of their rate it reaches.
func BenchmarkCreate(b *testing.B) {
	for _, c := range []struct {
		name           string
		callers, teams int
	}{{"fifty callers of fifty teams", 50, 50}, {"fifty callers of one team", 50, 1}, {"two callers", 2, 50}, {"one caller", 1, 1}} {
		b.Run(c.name, func(b *testing.B) {
			terms := embedded(b)
			terms.Quotas = []profiles.Quota{{Name: "team", Scope: profiles.ScopeTeam, Live: 1_000_000}}
			p := openTeams(b, terms)
			took := make([]time.Duration, b.N)
			warm(b, p, c.teams)
			bare := bareTransactions(b, p.store.Pool(), c.callers)
			b.ResetTimer()
			reportCPU := pgtest.MeasureCPU(b, p.store.Pool())
			spreadOver(c.callers, b.N, func(i int) {
				begun := time.Now()
				body := v1.CreateRequest{Name: fmt.Sprint("b", i), CostCenter: "c", Environment: "e"}
				status := p.ask(http.MethodPost, "/api/v1/clusters", i%c.teams, body, idempotencyKey, fmt.Sprint("k", i))
				took[i] = time.Since(begun)
				if status != http.StatusAccepted {
					b.Errorf("answered %d", status)
				}
			})
			b.StopTimer()
			reportCPU()
			ours := float64(b.N) / b.Elapsed().Seconds()
			bare = (bare + bareTransactions(b, p.store.Pool(), c.callers)) / 2
			b.ReportMetric(ours, "creates/s")
			b.ReportMetric(bare, "bare/s")
			b.ReportMetric(ours/bare, "of-bare")
			spread(b, took)
		})
	}
}

// spreadOver has the callers do n things, each its share.
func spreadOver(callers, n int, do func(i int)) {
	var wg sync.WaitGroup
	for caller := range callers {
		wg.Go(func() {
			for i := caller; i < n; i += callers {
				do(i)
			}
		})
	}
	wg.Wait()
}

// bareTransactions runs transactions with six inserts of the sizes of an accepted request's rows, and returns how many a second.
func bareTransactions(b *testing.B, pool *pgxpool.Pool, callers int) float64 {
	sizes := []int{2_400, 1_800, 800, 300, 200, 100} // the cluster, the request with its verdict, the audit line, the jobs and the key
	for i := range sizes {
		_, err := pool.Exec(b.Context(), fmt.Sprintf(`CREATE TABLE IF NOT EXISTS bare_%d (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, body text)`, i))
		require.NoError(b, err)
	}
	n := max(b.N, 200)
	begun := time.Now()
	spreadOver(callers, n, func(int) {
		err := pgx.BeginFunc(b.Context(), pool, func(tx pgx.Tx) error {
			for i, size := range sizes {
				if _, err := tx.Exec(b.Context(), fmt.Sprintf(`INSERT INTO bare_%d (body) VALUES ($1)`, i), strings.Repeat("x", size)); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			b.Error(err)
		}
	})
	return float64(n) / time.Since(begun).Seconds()
}

// warm opens the connections, has the statements prepared, and has the database know its tables, as it does after some minutes.
func warm(b *testing.B, p *place, teams int) {
	for i := range 200 {
		body := v1.CreateRequest{Name: fmt.Sprint("w", i), CostCenter: "c", Environment: "e"}
		require.Equal(b, http.StatusAccepted, p.ask(http.MethodPost, "/api/v1/clusters", i%teams, body, idempotencyKey, fmt.Sprint("w", i)))
	}
	_, err := p.store.Pool().Exec(b.Context(), `ANALYZE`)
	require.NoError(b, err)
}

// BenchmarkRead reads a page of fifty, one cluster and an explanation among 10,000 that live, as a requester of one team and
// as an auditor would.
func BenchmarkRead(b *testing.B) {
	p := openTeams(b, embedded(b))
	require.Equal(b, http.StatusAccepted, p.ask(http.MethodPost, "/api/v1/clusters", 0, v1.CreateRequest{Name: "seed", CostCenter: "c", Environment: "e"}, idempotencyKey, "k"))
	crowd(b, p.store)
	for _, path := range []string{"/api/v1/clusters?limit=50", "/api/v1/clusters?limit=50&live=true", "/api/v1/clusters/seed", "/api/v1/clusters/seed/explain", "/api/v1/jobs?limit=50"} {
		b.Run(path, func(b *testing.B) {
			took := make([]time.Duration, 0, b.N)
			defer pgtest.MeasureCPU(b, p.store.Pool())()
			for b.Loop() {
				begun := time.Now()
				if status := p.ask(http.MethodGet, path, 0, nil); status != http.StatusOK {
					b.Fatalf("answered %d", status)
				}
				took = append(took, time.Since(begun))
			}
			spread(b, took)
		})
	}
}

// crowd makes 10,000 living and 20,000 past clusters of the only one there is.
func crowd(b *testing.B, s *store.Store) {
	b.Helper()
	for _, sql := range []string{`
		INSERT INTO clusters (id, name, platform, version, profile, region, base_domain, owner, team, cost_center, environment, requested_by, source,
			ttl, hourly_cents, request_tags, effective_tags, spec, installation, repo, pr_number, pr_head, status, phase, why, desired, desired_why, teardown,
			max_tries, wake_at, end_ttl, end_max, created_at, updated_at, destroyed_at)
		SELECT 'clu_' || lpad(i::text, 8, '0'), 'c' || i, platform, version, profile, region, base_domain, owner, 'team-' || i % 20, cost_center,
			environment, requested_by, source, ttl, hourly_cents, request_tags, effective_tags, spec, 1, 'acme/r' || i, i, 'abc',
			CASE WHEN i % 3 = 0 THEN 'READY' ELSE 'DESTROYED' END, CASE WHEN i % 3 = 0 THEN 'ready' ELSE 'released' END, why,
			CASE WHEN i % 3 = 0 THEN 'present' ELSE 'absent' END, CASE WHEN i % 3 = 0 THEN '{}'::jsonb ELSE '{"code":"other","words":"done"}'::jsonb END,
			CASE WHEN i % 3 = 0 THEN '' ELSE 'DESTROY' END, max_tries, CASE WHEN i % 3 = 0 THEN now() + interval '1 day' END,
			end_ttl, end_max, created_at, updated_at, CASE WHEN i % 3 <> 0 THEN now() END
		FROM clusters, generate_series(1000, 30999) i WHERE name = 'seed'`, `
		INSERT INTO jobs (id, cluster_id, job_type, status, created_at, ended_at)
		SELECT 'job_' || id, id, 'CREATE', 'SUCCEEDED', created_at, now() FROM clusters WHERE name <> 'seed'`, `
		ANALYZE`} {
		_, err := s.Pool().Exec(b.Context(), sql)
		require.NoError(b, err)
	}
}
