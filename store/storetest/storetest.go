// Package storetest is what tests of the store and of its topics share: a store on a database of the test's own, and clusters in every state.
package storetest

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

var Limits = lifecycle.Limits{
	LaunchPatience: time.Minute, LeaseGrace: time.Minute, LookAgain: time.Second,
	RetryBase: time.Second, RetryMax: 24 * time.Hour, BlockAfter: 3, VerifyGap: time.Nanosecond, WarnBefore: time.Minute,
}

// Clock is the time a test dictates.
type Clock struct{ At atomic.Pointer[time.Time] }

func NewClock() *Clock {
	c := &Clock{}
	start := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	c.At.Store(&start)
	return c
}

func (c *Clock) Now() time.Time { return *c.At.Load() }

func (c *Clock) Pass(d time.Duration) {
	next := c.Now().Add(d)
	c.At.Store(&next)
}

// Open returns a store on a database of the test's own, and the clock it lives by.
func Open(t testing.TB) (*store.Store, *Clock) {
	t.Helper()
	c := NewClock()
	return OpenAt(t, pgtest.New(t), db.Options{Limits: Limits, Lease: 15 * time.Minute, Now: c.Now}), c
}

func OpenAt(t testing.TB, url string, o db.Options) *store.Store {
	t.Helper()
	s, err := store.Open(context.Background(), url, o)
	require.NoError(t, err)
	t.Cleanup(s.Close)
	return s
}

// Granted is a request as the service hands it over.
func Granted(name string) store.Judgement {
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

// FromPR makes the request one of a pull request.
func FromPR(a store.Judgement, number int) store.Judgement {
	a.Row.PR = &clusters.PRRef{Installation: 5001, Repo: "acme/shop", Number: number, Head: "abc123"}
	return a
}

// Accept has the request granted. The row that it returns is what is stored.
func Accept(t testing.TB, s *store.Store, a store.Judgement) clusters.Row {
	t.Helper()
	row, err := Judge(s, Requests(a), a)
	require.NoError(t, err)
	read, err := s.Cluster(context.Background(), row.ID)
	require.NoError(t, err)
	require.Equal(t, read, row)
	return row
}

// Requests is the request of which the acceptance comes.
func Requests(a store.Judgement) store.Ask {
	ask := store.Ask{
		Scope:     usage.Scope{Person: a.Row.RequestedBy, Team: a.Row.Team},
		Principal: a.Row.RequestedBy, Source: a.Row.Source, Request: []byte(`{"profile":"aws-minimal-test"}`),
	}
	if a.Row.PR != nil {
		ask.Scope.Repo = a.Row.PR.Repo
	}
	return ask
}

// Keyed gives the request the key of what made it.
func Keyed(ask store.Ask, key string) store.Ask {
	ask.Key = key
	return ask
}

// Judge has the request granted, whatever is used.
func Judge(s *store.Store, ask store.Ask, a store.Judgement) (clusters.Row, error) {
	judged, err := s.Judge(context.Background(), ask, func(usage.Usage) (store.Judgement, error) {
		return a, nil
	})
	return judged.Row, err
}

// Step decides once, as the controller does, and returns what it decided.
func Step(t testing.TB, s *store.Store, id string) lifecycle.Decision {
	t.Helper()
	ctx := context.Background()
	c, f, err := s.Load(ctx, id)
	require.NoError(t, err)
	d := lifecycle.Decide(c, f, Limits)
	require.NoError(t, s.Apply(ctx, d, c.Version))
	return d
}

// Launched accepts a cluster and opens its first attempt.
func Launched(t testing.TB, s *store.Store, name string) (clusters.Row, attempts.LaunchSpec) {
	t.Helper()
	row := Accept(t, s, Granted(name))
	require.Equal(t, lifecycle.Create, Step(t, s, row.ID).Open)
	open, err := s.Attempts.OpenAttempt(context.Background(), row.ID)
	require.NoError(t, err)
	return row, open
}

// Claimed is launched and claimed by pod-1.
func Claimed(t testing.TB, s *store.Store, name string) (clusters.Row, attempts.LaunchSpec) {
	t.Helper()
	row, open := Launched(t, s, name)
	lease, err := s.Attempts.Claim(context.Background(), open.Attempt, open.Token, "pod-1")
	require.NoError(t, err)
	require.Empty(t, lease.Stop)
	return row, open
}

func Identity(infra string) attempts.IdentityRow {
	return attempts.IdentityRow{
		InfraID: infra, ClusterUUID: "uuid-" + infra, Account: "123456789012", Region: "us-east-1",
		ReleaseDigest: "sha256:1", Metadata: `{"infraID":"` + infra + `"}`, InstallerSHA256: fmt.Sprintf("%064x", 2),
	}
}

// Bundles are what an infraID is recorded with.
func Bundles(infra string) []attempts.ArtifactRow {
	a := Artifact("clusters/" + infra + "/create/1-a1/install-dir.tar.zst")
	a.InfraID = infra
	return []attempts.ArtifactRow{a}
}

func Artifact(key string) attempts.ArtifactRow {
	return attempts.ArtifactRow{
		Type: "INSTALL_DIR_SNAPSHOT", Key: key, ManifestKey: key + ".json", Size: 10, InfraID: "demo-abcde",
		SHA256: fmt.Sprintf("%064x", 1), TakenAt: time.Date(2026, 11, 20, 11, 0, 0, 0, time.UTC),
	}
}

// Count asks a number.
func Count(t testing.TB, s *store.Store, sql string, args ...any) (n int) {
	t.Helper()
	require.NoError(t, s.Pool().QueryRow(context.Background(), sql, args...).Scan(&n))
	return n
}

// Refuses runs a statement that a constraint has to refuse, and returns which.
func Refuses(t testing.TB, s *store.Store, words, sql string, args ...any) {
	t.Helper()
	_, err := s.Pool().Exec(context.Background(), sql, args...)
	require.ErrorContains(t, err, words, sql)
}

func RiverJobs(t testing.TB, s *store.Store, kind string) []string {
	t.Helper()
	rows, err := s.Pool().Query(context.Background(),
		`SELECT args::text FROM river_job WHERE kind = $1 AND finalized_at IS NULL ORDER BY id`, kind)
	require.NoError(t, err)
	args, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	return args
}
