package controller_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/json"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/riverqueue/river"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/controller"
	"github.com/ocpctl/ocpctl/devstack/postgres/pgtest"
	"github.com/ocpctl/ocpctl/internal/artifacts"
	"github.com/ocpctl/ocpctl/internal/dispatch"
	"github.com/ocpctl/ocpctl/internal/queue"
	"github.com/ocpctl/ocpctl/internal/token"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/profiles"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/attempts"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/usage"
)

const lease = 15 * time.Minute

var limits = lifecycle.Limits{
	LaunchPatience: 10 * time.Minute, LeaseGrace: 2 * time.Minute, LookAgain: 15 * time.Second,
	RetryBase: 30 * time.Second, RetryMax: 24 * time.Hour, BlockAfter: 3, VerifyGap: time.Minute, WarnBefore: time.Hour,
}

// fixture is a controller on a real database, between an outside of fakes and a clock the test dictates.
type fixture struct {
	*controller.Controller
	t      testing.TB
	ctx    context.Context
	store  *store.Store
	yard   *yard
	board  *board
	bucket *bucket
	signer *token.Signer
	log    *lockedBuffer
	clock  atomic.Pointer[time.Time]
	number int // of the newest pull request
}

func newFixture(t testing.TB) *fixture {
	t.Helper()
	h := &fixture{
		t: t, ctx: context.Background(), log: &lockedBuffer{},
		yard:   &yard{seen: map[string]dispatch.Sighting{}},
		board:  &board{comments: map[int64]post{}, checks: map[int64]check{}},
		bucket: &bucket{docs: map[string][]artifacts.Document{}},
	}
	start := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	h.clock.Store(&start)
	var err error
	h.store, err = store.Open(h.ctx, pgtest.New(t), db.Options{Limits: limits, Lease: lease, Installation: "test", Now: h.now})
	require.NoError(t, err)
	t.Cleanup(h.store.Close)
	_, key, err := ed25519.GenerateKey(nil)
	require.NoError(t, err)
	h.signer = token.NewSigner(key, time.Hour)
	h.Controller = controller.New(controller.Config{
		Store: h.store, Dispatcher: h.yard, GitHub: h.board, Spool: h.bucket, Signer: h.signer, Limits: limits,
		FindingLimits: lifecycle.FindingLimits{
			MinAge: time.Hour, MinSights: 2, EndMargin: 10 * time.Minute, WakeMargin: 5 * time.Minute, StillFor: 3 * time.Hour,
		},
		Links: chatops.Links{UI: "https://ocpctl.example.com"}, Log: slog.New(slog.NewJSONHandler(h.log, nil)),
		Wake: time.Second, FindEvery: time.Second, Now: h.now, Settling: -1, RepositoryFile: profiles.RepositoryFilePath,
		Wait: func(_ context.Context, d time.Duration) bool { h.pass(d); return true },
	})
	return h
}

func (h *fixture) now() time.Time { return *h.clock.Load() }

func (h *fixture) pass(d time.Duration) {
	next := h.now().Add(d)
	h.clock.Store(&next)
}

// work runs one job's worker and wants it to end well.
func (h *fixture) work(args river.JobArgs) {
	h.t.Helper()
	require.NoError(h.t, h.Work(h.ctx, args, h.now()))
}

// snoozes runs one job's worker and returns for how long it asks to wait.
func (h *fixture) snoozes(args river.JobArgs, since time.Time) time.Duration {
	h.t.Helper()
	var snooze *river.JobSnoozeError
	require.ErrorAs(h.t, h.Work(h.ctx, args, since), &snooze)
	return snooze.Duration
}

// accept makes a cluster for the next pull request; the first is 41.
func (h *fixture) accept(name string) clusters.Row {
	h.t.Helper()
	return h.acceptAs(name, func(*store.Judgement) {})
}

// acceptAs makes a cluster of another kind for the next pull request.
func (h *fixture) acceptAs(name string, change func(*store.Judgement)) clusters.Row {
	h.t.Helper()
	return h.acceptAsked(name, func(*store.Ask) {}, change)
}

// acceptAsked makes a cluster that is asked for in another way.
func (h *fixture) acceptAsked(name string, asked func(*store.Ask), change func(*store.Judgement)) clusters.Row {
	h.t.Helper()
	h.number++
	row := clusters.Row{
		CostCenter: "cc-1", Environment: "test", Source: "pr_label", Tags: map[string]string{},
		Spec: clusters.Spec{InstallConfig: "apiVersion: v1\n", Zones: []string{"us-east-1a"}, Grace: time.Hour},
		PR:   &clusters.PRRef{Installation: 5001, Repo: "acme/shop", Number: 40 + h.number, Head: "abc123"},
	}
	row.Name, row.Platform, row.Profile, row.Release, row.Generation = name, "aws", "aws-minimal-test", "4.20.1", 1
	row.Region, row.BaseDomain = "us-east-1", "labs.example.com"
	row.Owner, row.Team, row.RequestedBy = "maya", "platform", "github:maya"
	row.TTL, row.HourlyCents, row.MaxTries = 4*time.Hour, 70, 2
	a := store.Judgement{Allowed: true, Row: row, MaxTTL: 8 * time.Hour, Verdict: []byte(`{"allowed":true}`)}
	change(&a)
	ask := store.Ask{
		Scope:     usage.Scope{Person: row.RequestedBy, Team: row.Team, Repo: a.Row.Repo()},
		Principal: row.RequestedBy, Source: row.Source,
	}
	asked(&ask)
	judged, err := h.store.Judge(h.ctx, ask, func(usage.Usage) (store.Judgement, error) {
		return a, nil
	})
	require.NoError(h.t, err)
	return judged.Row
}

func (h *fixture) reconcile(id string) {
	h.t.Helper()
	require.NoError(h.t, h.Reconcile(h.ctx, id))
}

func (h *fixture) cluster(id string) clusters.Row {
	h.t.Helper()
	row, err := h.store.Cluster(h.ctx, id)
	require.NoError(h.t, err)
	return row
}

func (h *fixture) open(id string) attempts.LaunchSpec {
	h.t.Helper()
	open, err := h.store.Attempts.OpenAttempt(h.ctx, id)
	require.NoError(h.t, err)
	return open
}

// installing brings a new cluster to where its runner claimed the attempt and recorded what it will make.
func (h *fixture) installing(name string) (clusters.Row, attempts.LaunchSpec) {
	h.t.Helper()
	return h.install(h.accept(name))
}

// install is installing of a cluster that was accepted.
func (h *fixture) install(row clusters.Row) (clusters.Row, attempts.LaunchSpec) {
	h.t.Helper()
	name := row.Name
	h.reconcile(row.ID)
	open := h.open(row.ID)
	h.work(queue.LaunchArgs{Cluster: row.ID, Attempt: open.Number})
	_, err := h.store.Attempts.Claim(h.ctx, open.Attempt, open.Token, "pod-1")
	require.NoError(h.t, err)
	answer, err := h.store.Record(h.ctx, open.Attempt, open.Token, attempts.IdentityRow{
		InfraID: name + "-abcde", ClusterUUID: "uuid-of-" + name, Account: "123456789012", Region: "us-east-1", ReleaseDigest: "sha256:1", Metadata: "{}",
	}, []attempts.ArtifactRow{{
		Type: "INSTALL_DIR_SNAPSHOT", Key: "clusters/" + row.ID + "/install-dir.tar.zst", SHA256: strings.Repeat("a", 64), InfraID: name + "-abcde", TakenAt: h.now(),
	}})
	require.NoError(h.t, err)
	require.Empty(h.t, answer.Stop)
	return row, h.open(row.ID)
}

// jobs lists the arguments of River's unfinished jobs of one kind.
func (h *fixture) jobs(kind string) []string {
	h.t.Helper()
	var args []string
	err := h.store.Pool().QueryRow(h.ctx, `
		SELECT coalesce(array_agg(args::text ORDER BY id), '{}') FROM river_job WHERE kind = $1 AND finalized_at IS NULL`, kind).Scan(&args)
	require.NoError(h.t, err)
	return args
}

// attempts says how each attempt of a cluster stands: its outcome, or "open".
func (h *fixture) attempts(id string) []string {
	h.t.Helper()
	var out []string
	err := h.store.Pool().QueryRow(h.ctx, `
		SELECT coalesce(array_agg(kind || ' ' || coalesce(outcome, 'open') ORDER BY number), '{}') FROM attempts WHERE cluster_id = $1`, id).Scan(&out)
	require.NoError(h.t, err)
	return out
}

// spool leaves a document in the bucket as a runner does.
func (h *fixture) spool(attempt, kind string, document any) {
	h.t.Helper()
	body, err := json.Marshal(document)
	require.NoError(h.t, err)
	h.bucket.docs[attempt] = append(h.bucket.docs[attempt], artifacts.Document{Kind: kind, Body: body})
}

// lockedBuffer is a log that a test reads while workers write it.
type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

// lines returns the log's lines with the message.
func (b *lockedBuffer) lines(t testing.TB, message string) (out []map[string]any) {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for raw := range bytes.SplitSeq(bytes.TrimSpace(b.buf.Bytes()), []byte("\n")) {
		line := map[string]any{}
		if len(raw) == 0 {
			continue
		}
		require.NoError(t, json.Unmarshal(raw, &line))
		if line["msg"] == message {
			out = append(out, line)
		}
	}
	return out
}
