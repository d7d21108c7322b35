package hooks

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/app/admin"
	"github.com/ocpctl/ocpctl/app/credentials"
	"github.com/ocpctl/ocpctl/app/pulls"
	"github.com/ocpctl/ocpctl/app/runs"
	slackapp "github.com/ocpctl/ocpctl/app/slack"
	wire "github.com/ocpctl/ocpctl/chatops/github"
	"github.com/ocpctl/ocpctl/devstack/github"
	"github.com/ocpctl/ocpctl/devstack/postgres/pgtest"
	"github.com/ocpctl/ocpctl/devstack/servicetest"
	"github.com/ocpctl/ocpctl/internal/queue"
	"github.com/ocpctl/ocpctl/internal/secret"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/policy/catalogue"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/outbox"
)

const (
	first  = "aws-minimal-test" // the default profile
	second = "aws-standard"
)

// tester is a test, or one of many lives of one.
type tester interface {
	require.TestingT
	Helper()
	Context() context.Context
}

// life is the front entry point whole: the stand-in GitHub, the entry point it sends webhooks to, the inbox, polling and the reading of
// deliveries. What River would run, tests run when they like.
type life struct {
	tester
	github  *github.Server
	store   *store.Store
	core    *app.Service
	worker  *InboxWorker
	runs    *runs.Service
	poller  *Poller
	missed  *Missed
	address string              // its address
	restart func()              // a new process: nothing is remembered but what is stored
	waits   func(time.Duration) // lets time pass in the database; nil: it passes by itself

	forgetful bool // GitHub has nothing to read of what it sent

	mu  sync.Mutex
	now time.Time // of GitHub
}

func newLife(t testing.TB) *life { return newLifeOn(t, servicetest.Store(t, pgtest.New(t))) }

func newLifeOn(t testing.TB, s *store.Store) *life {
	l := &life{tester: t, store: s}
	l.catchUp()
	var err error
	l.github, err = github.Start(context.WithoutCancel(t.Context()), github.Config{WebhookSecret: testSecret, Now: l.clock})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, l.github.Stop()) })
	limits := github.DocumentedLimits()
	limits.PerHour = 1_000_000
	l.github.SetLimits(limits)

	handler, err := New(Config{Store: l.store, GitHubSecret: secret.New(testSecret), App: github.AppID, Repositories: table})
	require.NoError(t, err)
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	l.address = server.URL
	l.github.SetWebhook(server.URL+"/webhooks/github", testSecret)

	client, err := wire.New(wire.Config{AppID: github.AppID, PrivateKey: l.github.KeyPEM(), BaseURL: l.github.URL(), Pace: -1, Settling: -1, Probe: -1})
	require.NoError(t, err)
	l.restart = func() { l.worker = l.workerOn(t, client) }
	l.restart()
	l.poller = NewPoller(l.store, client, 0, slog.New(slog.DiscardHandler))
	l.missed = NewMissed(l.store, client, nil, time.Minute, slog.New(slog.DiscardHandler))
	return l
}

var table = []app.Repository{{Match: "acme/*", Ownership: policy.Ownership{Team: "platform", Owner: "maya", CostCenter: "sandbox", Environment: "test"}}}

// workerOn is the inbox's worker with a service that asks by that client.
func (l *life) workerOn(t testing.TB, client *wire.Client) *InboxWorker {
	terms := servicetest.Catalogue(t, map[string]string{"quotas/quotas.yaml": "quotas: [{name: team, scope: team, live: 100000, creating: 100000}]\n"})
	asker := NewAsker(client)
	cfg := app.Config{
		Store: l.store, Catalogue: func() catalogue.Catalogue { return terms }, GitHub: asker, GitHubSite: wire.Site(l.github.URL()), Repositories: table,
		Policy: policy.Settings{Grace: time.Minute, Installation: "test"}, Installs: app.Installs{PullSecretRef: "file:/run/pull-secret"},
	}
	l.core = app.New(cfg)
	links := credentials.New(l.core, cfg)
	l.runs = runs.New(runs.Config{Store: l.store, GitHub: asker, Site: cfg.GitHubSite, Every: 2 * time.Minute, Use: 6 * time.Hour})
	return NewInboxWorker(l.store, pulls.New(l.core, links, cfg), l.runs, slackapp.New(l.core, links, admin.New(l.core, cfg), nil, cfg), github.AppID, nil)
}

func (l *life) clock() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.now
}

// tick moves GitHub's clock, which otherwise stands: two things without a tick in between are of one second.
func (l *life) tick(d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.now = l.now.Add(d)
}

// catchUp brings GitHub's clock to where it is: it verifies tokens by it.
func (l *life) catchUp() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if now := time.Now(); now.After(l.now) {
		l.now = now
	}
}

// arrive waits until GitHub has tried to deliver everything it does not hold back.
func (l *life) arrive() {
	l.Helper()
	waiting := func(d github.Delivery) bool { return d.State == github.Waiting }
	require.Eventually(l, func() bool { return !slices.ContainsFunc(l.github.Deliveries(), waiting) }, 30*time.Second, time.Millisecond)
}

// undone are the deliveries that wait in the inbox, oldest first.
func (l *life) undone() (rows []int64) {
	l.Helper()
	for _, id := range l.query(`SELECT id::text FROM deliveries WHERE state = 'received' ORDER BY id`) {
		row, err := strconv.ParseInt(id, 10, 64)
		require.NoError(l, err)
		rows = append(rows, row)
	}
	return rows
}

func (l *life) work(row int64) error {
	job := &river.Job[queue.InboxArgs]{JobRow: &rivertype.JobRow{}, Args: queue.InboxArgs{Row: row}}
	for {
		err := l.worker.Work(l.Context(), job)
		var snooze *river.JobSnoozeError
		if !errors.As(err, &snooze) || snooze.Duration > turn { // while another worker has the topic, River runs the job again
			return err
		}
		if l.waits != nil {
			l.waits(snooze.Duration)
		}
	}
}

// settle lets everything in and works it, and what comes of it, until nothing is left. What fails is tried again.
func (l *life) settle() {
	l.Helper()
	var failed error
	for range 50 {
		l.catchUp()
		l.github.Release()
		l.arrive()
		rows := l.undone()
		for _, row := range rows {
			failed = cmp.Or(l.work(row), failed)
		}
		if made := l.makeEffects(); made == 0 && len(rows) == 0 {
			return
		}
	}
	require.FailNow(l, "it never comes to rest", "%v", failed)
}

// surely does what GitHub's errors may keep from being done a few times.
func (l *life) surely(do func(context.Context) error) {
	l.Helper()
	err := do(l.Context())
	for n := 0; n < 40 && err != nil; n++ {
		err = do(l.Context())
	}
	require.NoError(l, err)
}

// makeEffects changes the labels that are to be changed, as the worker of effects does.
func (l *life) makeEffects() int {
	l.Helper()
	effects := l.query(`SELECT id FROM effects WHERE done_at IS NULL ORDER BY created_at, id`)
	for _, id := range effects {
		e, _, err := l.store.Outbox.Effect(l.Context(), id)
		require.NoError(l, err)
		place := l.github.In(e.Repo)
		switch e.Kind {
		case outbox.EffectAddLabel:
			require.NoError(l, place.Label(e.Number, e.Content, github.Bot))
		case outbox.EffectRemoveLabel:
			_ = place.Unlabel(e.Number, e.Content, github.Bot) // not there is done
		}
		require.NoError(l, l.store.Outbox.EffectDone(l.Context(), id, "made by a test", false))
	}
	return len(effects)
}

func (l *life) query(sql string, args ...any) []string {
	l.Helper()
	rows, err := l.store.Pool().Query(l.Context(), sql, args...)
	require.NoError(l, err)
	out, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(l, err)
	return out
}

// clusters are those a pull request of acme/shop ever had, oldest first.
func (l *life) clusters(number int) []clusters.Row {
	l.Helper()
	rows, _, err := l.store.List(l.Context(), store.Filter{Repo: github.Repo, Number: number, Limit: 500})
	require.NoError(l, err)
	slices.Reverse(rows)
	return rows
}

// wanted is the pull request's one wanted cluster of a profile.
func (l *life) wanted(number int, profile string) (clusters.Row, bool) {
	l.Helper()
	var found []clusters.Row
	for _, row := range l.clusters(number) {
		if row.Profile == profile && row.Desired == lifecycle.Present {
			found = append(found, row)
		}
	}
	require.LessOrEqual(l, len(found), 1, "one cluster for each pull request and profile")
	if len(found) == 0 {
		return clusters.Row{}, false
	}
	return found[0], true
}

func (l *life) one(number int, profile string) clusters.Row {
	l.Helper()
	row, there := l.wanted(number, profile)
	require.True(l, there, "%s", strings.Join(l.notes(), "\n"))
	return row
}

func (l *life) notes() []string {
	return l.query(`SELECT concat_ws(' ', event, topic, state, note) FROM deliveries ORDER BY id`)
}

func (l *life) open() int {
	l.Helper()
	number, err := l.github.Open("Try it on a cluster", "will")
	require.NoError(l, err)
	return number
}

func (l *life) label(number int, label string) {
	l.Helper()
	require.NoError(l, l.github.Label(number, label, "will"))
}

func (l *life) unlabel(number int, label string) {
	l.Helper()
	require.NoError(l, l.github.Unlabel(number, label, "will"))
}

func (l *life) say(number int, text string) {
	l.Helper()
	_, err := l.github.Comment(number, text, "will")
	require.NoError(l, err)
}
