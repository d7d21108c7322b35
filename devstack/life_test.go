package devstack_test

import (
	"cmp"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack"
	"github.com/ocpctl/ocpctl/devstack/postgres/pgtest"
	"github.com/ocpctl/ocpctl/lifecycle"
)

// life is one stack in a test: everything real but the outside, and an outside that can be made to lie.
type life struct {
	*devstack.Stack
	t    testing.TB
	ctx  context.Context
	pool *pgxpool.Pool

	mu   sync.Mutex
	seen []step // every phase an attempt moved into, as committed
}

// step is one committed move of an attempt's phase.
type step struct {
	Cluster, Attempt, Phase string
}

// newLife starts a stack of its own with time running fast; hour is how long an hour of a TTL lasts.
func newLife(t testing.TB, hour time.Duration) *life {
	t.Helper()
	return newLifeOf(t, devstack.Config{Hour: hour})
}

// newLifeOf starts a stack with what a test wants otherwise.
func newLifeOf(t testing.TB, cfg devstack.Config) *life {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background()) // t.Context ends before the clean-up that still looks around
	t.Cleanup(cancel)
	cfg.Dir, cfg.Bin, cfg.Fast = pgtest.TempDir(t), programs, true
	cfg.Grace, cfg.Pace, cfg.VerifyGap = 1500*time.Millisecond, cmp.Or(cfg.Pace, 25*time.Millisecond), 200*time.Millisecond
	cfg.OrphanAge = 500 * time.Millisecond
	cfg.Lease, cfg.RetryBase, cfg.LookAgain = 10*time.Second, 200*time.Millisecond, 500*time.Millisecond
	require.NoError(t, pgtest.Prepare(ctx, filepath.Join(cfg.Dir, "postgres")))
	h, err := devstack.Start(ctx, cfg)
	require.NoError(t, err)
	l := &life{Stack: h, t: t, ctx: ctx}
	t.Cleanup(func() { require.NoError(t, h.Stop()) })
	l.pool, err = pgxpool.New(ctx, h.DatabaseURL())
	require.NoError(t, err)
	t.Cleanup(l.pool.Close)
	l.listen()
	t.Cleanup(func() {
		if t.Failed() {
			l.logState()
		}
	})
	return l
}

// listen has the database tell every committed move of an attempt's phase, so that a fault strikes within milliseconds.
func (l *life) listen() {
	_, err := l.pool.Exec(l.ctx, `
		CREATE OR REPLACE FUNCTION test_tell_phase() RETURNS trigger LANGUAGE plpgsql AS $$
		BEGIN
			IF TG_OP = 'INSERT' OR NEW.phase IS DISTINCT FROM OLD.phase THEN
				PERFORM pg_notify('test_phase', json_build_object('Cluster', NEW.cluster_id, 'Attempt', NEW.id, 'Phase', COALESCE(NEW.phase, ''))::text);
			END IF;
			RETURN NEW;
		END $$;
		CREATE OR REPLACE TRIGGER test_tell_phase AFTER INSERT OR UPDATE ON attempts FOR EACH ROW EXECUTE FUNCTION test_tell_phase()`)
	require.NoError(l.t, err)
	conn, err := l.pool.Acquire(l.ctx)
	require.NoError(l.t, err)
	_, err = conn.Exec(l.ctx, "LISTEN test_phase")
	require.NoError(l.t, err)
	ctx, cancel := context.WithCancel(l.ctx)
	done := make(chan struct{})
	l.t.Cleanup(func() { cancel(); <-done })
	go func() {
		defer close(done)
		defer conn.Release()
		for {
			n, err := conn.Conn().WaitForNotification(ctx)
			if err != nil {
				return
			}
			var s step
			if json.Unmarshal([]byte(n.Payload), &s) == nil {
				l.mu.Lock()
				l.seen = append(l.seen, s)
				l.mu.Unlock()
			}
		}
	}()
}

// reached reports whether any attempt has moved into the phase, and which.
func (l *life) reached(phase lifecycle.Phase) (step, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range l.seen {
		if s.Phase == string(phase) {
			return s, true
		}
	}
	return step{}, false
}

// runUntil waits for a condition that is asked of the outside, and fails with its name when it does not come.
func (l *life) runUntil(what string, within time.Duration, cond func() bool) {
	l.t.Helper()
	l.askUntil(what, within, 50*time.Millisecond, cond)
}

// askUntil is runUntil for what must not be asked all the time.
func (l *life) askUntil(what string, within, every time.Duration, cond func() bool) {
	l.t.Helper()
	deadline := time.After(within)
	tick := time.NewTicker(every)
	defer tick.Stop()
	for !cond() {
		select {
		case <-deadline:
			l.t.Fatalf("not within %s: %s", within, what)
		case <-tick.C:
		}
	}
}

// row is what the tests look at in the clusters table.
type row struct {
	ID, Name, Status, Phase, Desired, Why string
	Wake                                  *time.Time
	Blockers                              []string
}

func (l *life) clusters() []row {
	rows, err := l.pool.Query(l.ctx, `SELECT id, name, status, phase, desired, why::text, wake_at FROM clusters ORDER BY created_at, id`)
	require.NoError(l.t, err)
	defer rows.Close()
	var out []row
	for rows.Next() {
		var r row
		require.NoError(l.t, rows.Scan(&r.ID, &r.Name, &r.Status, &r.Phase, &r.Desired, &r.Why, &r.Wake))
		out = append(out, r)
	}
	require.NoError(l.t, rows.Err())
	return out
}

// labelledWith opens a pull request with a label of a profile and returns its number.
func (l *life) labelledWith(label, title string) int {
	l.t.Helper()
	pr, err := l.GitHub.Open(title, "maya")
	require.NoError(l.t, err)
	require.NoError(l.t, l.GitHub.Label(pr, label, "maya"))
	return pr
}

// readyCluster requests a cluster by the label of a new pull request and waits until it is ready.
func (l *life) readyCluster(title string) (number int, id, domain string) {
	l.t.Helper()
	number = l.labelledWith(label, title)
	l.runUntil("ready", 90*time.Second, func() bool {
		rows := l.clusters()
		return len(rows) == 1 && rows[0].Status == "READY"
	})
	return number, l.clusters()[0].ID, l.nameOf(number) + ".labs.example.com"
}

// unlabel takes the label off the pull request and waits until nothing of its cluster is left.
func (l *life) unlabel(number int) {
	l.t.Helper()
	require.NoError(l.t, l.GitHub.Unlabel(number, label, "maya"))
	l.runUntil("gone", 90*time.Second, l.every(lifecycle.Released))
	l.assertNothingLeft()
}

// every reports whether there is a cluster and all are in the phase.
func (l *life) every(phase lifecycle.Phase) func() bool {
	return func() bool {
		rows := l.clusters()
		for _, r := range rows {
			if r.Phase != string(phase) {
				return false
			}
		}
		return len(rows) > 0
	}
}

func (l *life) count(query string, args ...any) int {
	var n int
	require.NoError(l.t, l.pool.QueryRow(l.ctx, query, args...).Scan(&n))
	return n
}

// killRunner ends the attempt's runner as a node's death would.
func (l *life) killRunner(attempt string) {
	pid, ok := l.runnerPID(attempt)
	if ok {
		_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended by itself meanwhile
	}
}

// assertNothingLeft counts in the stand-ins' own state, with no product code in between.
func (l *life) assertNothingLeft() {
	l.t.Helper()
	for _, left := range l.Left("") {
		l.t.Errorf("left in the cloud: %s", left)
	}
	rows, err := l.pool.Query(l.ctx, "SELECT DISTINCT infra_id FROM attempts WHERE infra_id <> ''")
	require.NoError(l.t, err)
	defer rows.Close()
	for rows.Next() {
		var infra string
		require.NoError(l.t, rows.Scan(&infra))
		left, err := filepath.Glob(filepath.Join(l.Dir, "s3", "buckets", "*"+infra+"*"))
		require.NoError(l.t, err)
		require.Empty(l.t, left, "buckets left")
	}
	require.NoError(l.t, rows.Err())
}

// assertSettled: no cluster asleep, none in between, one comment for each, nothing undone in the inbox.
func (l *life) assertSettled() {
	l.t.Helper()
	for _, r := range l.clusters() {
		require.Contains(l.t, []string{"READY", "DESTROYED"}, r.Status, "%+v", r)
		if r.Phase == string(lifecycle.Released) {
			require.Nil(l.t, r.Wake, "a released cluster wakes for nothing: %+v", r)
		} else {
			require.NotNil(l.t, r.Wake, "asleep for ever: %+v", r)
		}
	}
	require.Zero(l.t, l.count("SELECT count(*) FROM attempts WHERE closed_at IS NULL"), "attempts left open")
	require.Zero(l.t, l.count("SELECT count(*) FROM jobs WHERE status IN ('RUNNING', 'RETRYING', 'PENDING')"), "jobs left open")
}

// logState prints what a person would look at first.
func (l *life) logState() {
	for _, r := range l.clusters() {
		l.t.Logf("cluster %s %s %s/%s desired=%s why=%s", r.ID, r.Name, r.Status, r.Phase, r.Desired, r.Why)
	}
	for _, query := range []string{
		"SELECT format('orphan %s %s %s%s %s: %s', id, class, cluster_tag, identity, state, state_why) FROM orphans",
		"SELECT format('in Slack: channel %s, next at %s, awaited until %s, %s since %s, put right at %s', channel, next_at, awaited_until, problem, problem_since, healed_at) FROM slack_channels",
		"SELECT format('%s %s in %s shows %s of %s, asked for again at %s', kind, id, channel, shown_version, wanted_version, nudge_at) FROM subscribers WHERE NOT muted",
		"SELECT format('notice %s of %s in %s%s shows %s of %s: %s', kind, cluster_id, channel, person, shown_version, wanted_version, given_up) FROM notices",
		"SELECT format('job %s %s %s at %s, try %s: %s', kind, args, state, scheduled_at, attempt, errors[array_upper(errors, 1)]) FROM river_job WHERE finalized_at IS NULL",
	} {
		if rows, err := l.pool.Query(l.ctx, query); err == nil {
			lines, _ := pgx.CollectRows(rows, pgx.RowTo[string])
			l.t.Log(strings.Join(lines, "\n"))
		}
	}
	log, err := os.ReadFile(filepath.Join(l.Dir, "log", "server.log"))
	if err == nil {
		lines := strings.Split(string(log), "\n")
		l.t.Log("server.log, last lines:\n" + strings.Join(lines[max(0, len(lines)-60):], "\n"))
	}
	logs, _ := filepath.Glob(filepath.Join(l.Dir, "work", "*", "*.log"))
	for _, path := range logs {
		raw, _ := os.ReadFile(path)
		lines := strings.Split(string(raw), "\n")
		l.t.Logf("%s, last lines:\n%s", path, strings.Join(lines[max(0, len(lines)-15):], "\n"))
	}
}
