package notifier

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"
	api "github.com/slack-go/slack"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/chatops/blocks"
	"github.com/ocpctl/ocpctl/chatops/slack"
	"github.com/ocpctl/ocpctl/devstack/postgres/pgtest"
	"github.com/ocpctl/ocpctl/internal/queue"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/attempts"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/usage"
)

var limits = lifecycle.Limits{
	LaunchPatience: time.Minute, LeaseGrace: time.Minute, LookAgain: time.Second,
	RetryBase: time.Second, RetryMax: 24 * time.Hour, BlockAfter: 3, VerifyGap: time.Nanosecond, WarnBefore: time.Hour,
}

// posted is a message in the stand-in for Slack.
type posted struct {
	at      slack.Place
	marker  string
	text    string
	presses []blocks.Press // of its buttons
	ts      int64
	updates int
	deleted bool
}

// pressesOf returns what the buttons of a message mean.
func pressesOf(m slack.Message) (all []blocks.Press) {
	for _, b := range m.Blocks {
		row, ok := b.(*api.ActionBlock)
		if !ok {
			continue
		}
		for _, e := range row.Elements.ElementSet {
			p, _ := blocks.DecodePress(e.(*api.ButtonBlockElement).Value)
			all = append(all, p)
		}
	}
	return all
}

// crash ends a job as if its process had died.
type crash struct{}

// workspaceT1 stands in for Slack. before and after each call, something may go wrong: an error returned before means that nothing was
// done; after, that only the answer was lost.
type workspaceT1 struct {
	messages      []*posted
	calls         map[string]int
	outside       string // a channel that is shared with another organization
	hidden        string // a channel about which the bot may not ask
	before, after func(call string) error
}

func newSlack() *workspaceT1 {
	fine := func(string) error { return nil }
	return &workspaceT1{calls: map[string]int{}, before: fine, after: fine}
}

func (s *workspaceT1) Identity(context.Context) (slack.Identity, error) {
	return slack.Identity{Workspace: "T1"}, s.before("identity")
}

func (s *workspaceT1) Channel(_ context.Context, id string) (slack.Channel, error) {
	if id == s.hidden {
		return slack.Channel{}, slack.ErrRefused
	}
	return slack.Channel{ID: id, Member: true, External: id == s.outside}, s.before("channel")
}

func (s *workspaceT1) OpenDirect(_ context.Context, person string) (string, error) {
	return "D" + person, s.before("open")
}

func (s *workspaceT1) Post(_ context.Context, to slack.Place, m slack.Message, marker string) (int64, error) {
	s.calls["post"]++
	if err := s.before("post"); err != nil {
		return 0, err
	}
	if to.Thread != 0 && s.at(to.Thread) != nil && s.at(to.Thread).deleted {
		return 0, slack.ErrGone
	}
	p := &posted{at: to, marker: marker, text: m.Text, presses: pressesOf(m), ts: int64(1_700_000_000_000_000 + len(s.messages))}
	s.messages = append(s.messages, p)
	if err := s.after("post"); err != nil {
		return 0, err
	}
	return p.ts, nil
}

func (s *workspaceT1) at(ts int64) *posted {
	for _, m := range s.messages {
		if m.ts == ts {
			return m
		}
	}
	return nil
}

func (s *workspaceT1) Update(_ context.Context, channel string, ts int64, m slack.Message) error {
	s.calls["update"]++
	if err := s.before("update"); err != nil {
		return err
	}
	p := s.at(ts)
	if p == nil || p.deleted || p.at.Channel != channel {
		return slack.ErrGone
	}
	p.text, p.presses, p.updates = m.Text, pressesOf(m), p.updates+1
	return s.after("update")
}

func (s *workspaceT1) Find(_ context.Context, in slack.Place, marker string, _ time.Time) (int64, bool, error) {
	s.calls["find"]++
	if err := s.before("find"); err != nil {
		return 0, false, err
	}
	for _, m := range s.messages {
		if m.at == in && m.marker == marker && !m.deleted {
			return m.ts, true, nil
		}
	}
	return 0, false, nil
}

// world is a notifier on a real database, with a clock that the test dictates.
type world struct {
	*Notifier
	t     *testing.T
	slack *workspaceT1
	clock atomic.Pointer[time.Time]
	rows  []string            // ids of clusters
	did   []string            // causes of what really happened to clusters
	needs int                 // votes that the next approvals need
	named map[string][]string // channels that the repository's file of the next clusters names, with events
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, slack: newSlack(), needs: 1}
	start := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	w.clock.Store(&start)
	s, err := store.Open(t.Context(), pgtest.New(t), db.Options{Limits: limits, Lease: 15 * time.Minute, Now: w.now})
	require.NoError(t, err)
	t.Cleanup(s.Close)
	w.Notifier = New(Config{
		Store: s, Slack: w.slack, AdminChannel: "CADMIN", Links: chatops.Links{UI: "https://ocpctl.example.com"},
		Log: slog.New(slog.DiscardHandler),
	})
	return w
}

func (w *world) now() time.Time { return *w.clock.Load() }

func (w *world) pass(d time.Duration) {
	next := w.now().Add(d)
	w.clock.Store(&next)
}

// accept makes a cluster that ends after four hours; at is where in Slack it is shown, nil: nowhere.
func (w *world) accept(team string, at *clusters.SlackPlace, approval bool) clusters.Row {
	w.t.Helper()
	row := clusters.Row{
		CostCenter: "cc-1", Environment: "test", Source: "slack", Tags: map[string]string{},
		Spec: clusters.Spec{InstallConfig: "apiVersion: v1\n", Zones: []string{"us-east-1a"}, Grace: time.Hour, Notify: w.named},
	}
	row.Name, row.Platform, row.Profile, row.Release = fmt.Sprintf("c%d", len(w.rows)), "aws", "aws-minimal-test", "4.20.1"
	row.Region, row.BaseDomain, row.Generation = "us-east-1", "labs.example.com", 1
	row.Owner, row.Team, row.RequestedBy = "maya", team, "saml:maya"
	row.TTL, row.HourlyCents, row.MaxTries = 4*time.Hour, 70, 1
	row.WarnBefore = []time.Duration{time.Hour, 15 * time.Minute}
	j := store.Judgement{Allowed: true, Row: row, Verdict: []byte(`{"allowed":true}`), MaxTTL: 8 * time.Hour, Show: at}
	if approval {
		j.Approval = &store.ApprovalAsk{Why: []string{"first"}, Needs: w.needs, By: "platform_admin", For: 24 * time.Hour, Asked: strings.Repeat("a", 64)}
	}
	judged, err := w.Store.Judge(w.t.Context(), store.Ask{
		Scope: usage.Scope{Person: row.RequestedBy, Team: team}, Principal: row.RequestedBy, Source: "slack", Request: []byte(`{}`),
	}, func(usage.Usage) (store.Judgement, error) { return j, nil })
	require.NoError(w.t, err)
	w.rows = append(w.rows, judged.Row.ID)
	if approval {
		w.did = append(w.did, w.approval(judged.Row.ID).ID)
	}
	return judged.Row
}

func (w *world) approval(cluster string) clusters.Approval {
	w.t.Helper()
	page, _, err := w.Store.Approvals(w.t.Context(), store.ApprovalFilter{Cluster: cluster})
	require.NoError(w.t, err)
	require.NotEmpty(w.t, page)
	return page[0]
}

// step decides once and writes down what happened.
func (w *world) step(id string) lifecycle.Decision {
	w.t.Helper()
	c, f, err := w.Store.Load(w.t.Context(), id)
	require.NoError(w.t, err)
	d := lifecycle.Decide(c, f, limits)
	require.NoError(w.t, w.Store.Apply(w.t.Context(), d, c.Version))
	switch n := d.Next; {
	case c.ReadyAt.IsZero() && n.Status == lifecycle.Ready:
		w.did = append(w.did, id+":ready")
	case c.Phase != lifecycle.CreateFailed && n.Phase == lifecycle.CreateFailed:
		w.did = append(w.did, id+":failed")
	case c.Phase != lifecycle.DestroyBlocked && n.Phase == lifecycle.DestroyBlocked:
		w.did = append(w.did, fmt.Sprintf("%s:blocked:%d", id, n.Seen))
	case d.Warn != 0:
		w.did = append(w.did, fmt.Sprintf("%s:expiring:%d:%s", id, n.Ends.DestroyAt().UnixMicro(), d.Warn))
	}
	return d
}

// install brings a cluster's install to its end.
func (w *world) install(id string, outcome lifecycle.Outcome) {
	w.t.Helper()
	w.step(id)
	open, err := w.Store.Attempts.OpenAttempt(w.t.Context(), id)
	if errors.Is(err, db.ErrNotFound) {
		return // it waits for an approval, or was installed before
	}
	require.NoError(w.t, err)
	if open.Kind != lifecycle.Create {
		return
	}
	ctx := w.t.Context()
	_, err = w.Store.Attempts.Claim(ctx, open.Attempt, open.Token, "pod-1")
	require.NoError(w.t, err)
	infra := strings.ToLower(id[len(id)-8:])
	lease, err := w.Store.Record(ctx, open.Attempt, open.Token, attempts.IdentityRow{
		InfraID: infra, ClusterUUID: "uuid-" + infra, Account: "123456789012", Region: "us-east-1",
		ReleaseDigest: "sha256:1", Metadata: `{"infraID":"` + infra + `"}`, InstallerSHA256: fmt.Sprintf("%064x", 2),
	}, []attempts.ArtifactRow{{
		Type: "INSTALL_DIR_SNAPSHOT", Key: infra, ManifestKey: infra + ".json", Size: 10, InfraID: infra, SHA256: fmt.Sprintf("%064x", 1), TakenAt: w.now(),
	}})
	require.NoError(w.t, err)
	if lease.Stop == "" {
		_, err = w.Store.Attempts.Result(ctx, open.Attempt, open.Token, attempts.ResultRow{Outcome: outcome, Reason: "InstallFailed", Message: "no quota"})
		require.NoError(w.t, err)
	}
	w.step(id)
}

// show posts the cluster's message in Slack, as the controller does.
func (w *world) show(id string) *posted {
	w.t.Helper()
	m, err := w.Store.Notices.MessageOf(w.t.Context(), id)
	if errors.Is(err, db.ErrNotFound) || err == nil && m.Timestamp != 0 {
		return nil
	}
	require.NoError(w.t, err)
	p := &posted{at: slack.Place{Channel: m.Channel}, marker: m.Subscriber, ts: int64(1_700_000_000_000_000 + len(w.slack.messages))}
	w.slack.messages = append(w.slack.messages, p)
	require.NoError(w.t, w.Store.Outbox.Shown(w.t.Context(), m.Subscriber, p.ts, 1, "hash"))
	return p
}

type job struct {
	ID   int64
	Kind string
	Args json.RawMessage
}

// jobs are those that this package works on and that are not done.
func (w *world) jobs() []job {
	w.t.Helper()
	rows, err := w.Store.Pool().Query(w.t.Context(), `SELECT id, kind, args FROM river_job WHERE kind IN ('announce', 'notice') ORDER BY id`)
	require.NoError(w.t, err)
	list, err := pgx.CollectRows(rows, pgx.RowToStructByName[job])
	require.NoError(w.t, err)
	return list
}

func (w *world) forget(j job) {
	w.t.Helper()
	_, err := w.Store.Pool().Exec(w.t.Context(), `DELETE FROM river_job WHERE id = $1`, j.ID)
	require.NoError(w.t, err)
}

// work runs a job. After a crash or an error it stays in the queue.
func (w *world) work(j job) (err error) {
	defer func() {
		if died := recover(); died != nil {
			if _, ok := died.(crash); !ok {
				panic(died)
			}
			err = errors.New("the process died")
		}
	}()
	row := &rivertype.JobRow{ID: j.ID, CreatedAt: w.now()}
	if j.Kind == (queue.AnnounceArgs{}).Kind() {
		var args queue.AnnounceArgs
		require.NoError(w.t, json.Unmarshal(j.Args, &args))
		err = (&announceWorker{n: w.Notifier}).Work(w.t.Context(), &river.Job[queue.AnnounceArgs]{JobRow: row, Args: args})
	} else {
		var args queue.NoticeArgs
		require.NoError(w.t, json.Unmarshal(j.Args, &args))
		err = (&noticeWorker{n: w.Notifier}).Work(w.t.Context(), &river.Job[queue.NoticeArgs]{JobRow: row, Args: args})
	}
	if err == nil {
		w.forget(j)
	}
	return err
}

// settle works until nothing waits. Lost jobs are asked for again; time passes for turns.
func (w *world) settle() {
	w.t.Helper()
	for round := range 200 {
		_, err := w.Store.WakeDue(w.t.Context(), 1000)
		require.NoError(w.t, err)
		var waits int
		require.NoError(w.t, w.Store.Pool().QueryRow(w.t.Context(), `
			SELECT (SELECT count(*) FROM announcements WHERE done_at IS NULL)
				+ (SELECT count(*) FROM notices WHERE shown_version < wanted_version AND given_up = '')`).Scan(&waits))
		if waits == 0 {
			return
		}
		for _, j := range w.jobs() {
			_ = w.work(j) // it may have to wait
		}
		w.pass(2 * time.Second)
		if round > 20 { // a channel in which something was wrong is tried again after ten minutes and more
			w.pass(5 * time.Minute)
		}
	}
	require.Fail(w.t, "something waits for ever")
}

// notice is a row as a test looks at it.
type notice struct {
	ID, Cause, Kind, Cluster, Channel, Person, Mention, GivenUp, PostedIn string
	ExternalID                                                            int64
	Shown, Wanted                                                         int
}

func (w *world) notices() []notice {
	w.t.Helper()
	rows, err := w.Store.Pool().Query(w.t.Context(), `
		SELECT id, cause, kind, coalesce(cluster_id, '') AS cluster, channel, person, mention, given_up, posted_in, external_id, shown_version AS shown, wanted_version AS wanted FROM notices ORDER BY created_at, id`)
	require.NoError(w.t, err)
	list, err := pgx.CollectRows(rows, pgx.RowToStructByName[notice])
	require.NoError(w.t, err)
	return list
}

// pick is chance by a seed.
func pick(seed uint64) func(int) int { return rand.New(rand.NewPCG(seed, 11)).IntN }
