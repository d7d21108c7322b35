package store_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/postgres/pgtest"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/attempts"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/usage"
)

var limits = lifecycle.Limits{
	LaunchPatience: time.Minute, LeaseGrace: time.Minute, LookAgain: time.Second,
	RetryBase: time.Second, RetryMax: 24 * time.Hour, BlockAfter: 3, VerifyGap: time.Nanosecond, WarnBefore: time.Minute,
}

// clock is the time a test dictates.
type clock struct{ at atomic.Pointer[time.Time] }

func newClock() *clock {
	c := &clock{}
	start := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	c.at.Store(&start)
	return c
}

func (c *clock) now() time.Time { return *c.at.Load() }

func (c *clock) pass(d time.Duration) {
	next := c.now().Add(d)
	c.at.Store(&next)
}

// open returns a store on a database of the test's own, and the clock it lives by.
func open(t testing.TB) (*store.Store, *clock) {
	t.Helper()
	c := newClock()
	return openAt(t, pgtest.New(t), db.Options{Limits: limits, Lease: 15 * time.Minute, Now: c.now}), c
}

func openAt(t testing.TB, url string, o db.Options) *store.Store {
	t.Helper()
	s, err := store.Open(context.Background(), url, o)
	require.NoError(t, err)
	t.Cleanup(s.Close)
	return s
}

// granted is a request as the service hands it over.
func granted(name string) store.Judgement {
	row := clusters.Row{
		CostCenter: "cc-1", Environment: "test", Source: "pr_label", Tags: map[string]string{"Owner": "maya"},
		Spec: clusters.Spec{InstallConfig: "apiVersion: v1\n", Zones: []string{"us-east-1a"}, Grace: time.Hour},
	}
	row.Name, row.Platform, row.Profile, row.Release = name, "aws", "aws-minimal-test", "4.20.1"
	row.Region, row.BaseDomain, row.Generation = "us-east-1", "labs.example.com", 1
	row.Owner, row.Team, row.RequestedBy = "maya", "acme/platform", "github:maya"
	row.TTL, row.HourlyCents, row.MaxTries = 4*time.Hour, 70, 2
	return store.Judgement{
		Allowed: true, Row: row,
		Verdict: []byte(`{"allowed":true}`), MaxTTL: 8 * time.Hour, UserTags: map[string]string{"ticket": "7"},
	}
}

// fromPR makes the request one of a pull request.
func fromPR(a store.Judgement, number int) store.Judgement {
	a.Row.PR = &clusters.PRRef{Installation: 5001, Repo: "acme/shop", Number: number, Head: "abc123"}
	return a
}

func accept(t testing.TB, s *store.Store, a store.Judgement) clusters.Row {
	t.Helper()
	row, err := judge(s, requests(a), a)
	require.NoError(t, err)
	return row
}

// requests is the request of which the acceptance comes.
func requests(a store.Judgement) store.Ask {
	ask := store.Ask{
		Scope:     usage.Scope{Person: a.Row.RequestedBy, Team: a.Row.Team},
		Principal: a.Row.RequestedBy, Source: a.Row.Source, Request: []byte(`{"profile":"aws-minimal-test"}`),
	}
	if a.Row.PR != nil {
		ask.Scope.Repo = a.Row.PR.Repo
	}
	return ask
}

// keyed gives the request the key of what made it.
func keyed(ask store.Ask, key string) store.Ask {
	ask.Key = key
	return ask
}

// judge has the request granted, whatever is used.
func judge(s *store.Store, ask store.Ask, a store.Judgement) (clusters.Row, error) {
	judged, err := s.Judge(context.Background(), ask, func(usage.Usage) (store.Judgement, error) {
		return a, nil
	})
	return judged.Row, err
}

// step decides once, as the controller does, and returns what it decided.
func step(t testing.TB, s *store.Store, id string) lifecycle.Decision {
	t.Helper()
	ctx := context.Background()
	c, f, err := s.Load(ctx, id)
	require.NoError(t, err)
	d := lifecycle.Decide(c, f, limits)
	require.NoError(t, s.Apply(ctx, d, c.Version))
	return d
}

// launched accepts a cluster and opens its first attempt.
func launched(t testing.TB, s *store.Store, name string) (clusters.Row, attempts.LaunchSpec) {
	t.Helper()
	row := accept(t, s, granted(name))
	require.Equal(t, lifecycle.Create, step(t, s, row.ID).Open)
	open, err := s.Attempts.OpenAttempt(context.Background(), row.ID)
	require.NoError(t, err)
	return row, open
}

// claimed is launched and claimed by pod-1.
func claimed(t testing.TB, s *store.Store, name string) (clusters.Row, attempts.LaunchSpec) {
	t.Helper()
	row, open := launched(t, s, name)
	lease, err := s.Attempts.Claim(context.Background(), open.Attempt, open.Token, "pod-1")
	require.NoError(t, err)
	require.Empty(t, lease.Stop)
	return row, open
}

func identity(infra string) attempts.IdentityRow {
	return attempts.IdentityRow{
		InfraID: infra, ClusterUUID: "uuid-" + infra, Account: "123456789012", Region: "us-east-1",
		ReleaseDigest: "sha256:1", Metadata: `{"infraID":"` + infra + `"}`, InstallerSHA256: fmt.Sprintf("%064x", 2),
	}
}

// bundles are what an infraID is recorded with.
func bundles(infra string) []attempts.ArtifactRow {
	a := artifact("clusters/" + infra + "/create/1-a1/install-dir.tar.zst")
	a.InfraID = infra
	return []attempts.ArtifactRow{a}
}

func artifact(key string) attempts.ArtifactRow {
	return attempts.ArtifactRow{
		Type: "INSTALL_DIR_SNAPSHOT", Key: key, ManifestKey: key + ".json", Size: 10, InfraID: "demo-abcde",
		SHA256: fmt.Sprintf("%064x", 1), TakenAt: time.Date(2026, 11, 20, 11, 0, 0, 0, time.UTC),
	}
}

// count asks a number.
func count(t testing.TB, s *store.Store, sql string, args ...any) (n int) {
	t.Helper()
	require.NoError(t, s.Pool().QueryRow(context.Background(), sql, args...).Scan(&n))
	return n
}

// refuses runs a statement that a constraint has to refuse, and returns which.
func refuses(t testing.TB, s *store.Store, words, sql string, args ...any) {
	t.Helper()
	_, err := s.Pool().Exec(context.Background(), sql, args...)
	require.ErrorContains(t, err, words, sql)
}

func riverJobs(t testing.TB, s *store.Store, kind string) []string {
	t.Helper()
	rows, err := s.Pool().Query(context.Background(),
		`SELECT args::text FROM river_job WHERE kind = $1 AND finalized_at IS NULL ORDER BY id`, kind)
	require.NoError(t, err)
	args, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	return args
}
