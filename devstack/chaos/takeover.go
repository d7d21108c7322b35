package chaos

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"

	"github.com/ocpctl/ocpctl/devstack"
	"github.com/ocpctl/ocpctl/devstack/must"
)

const (
	// takeoverGoal is the time within which a dead server's work must be taken over, in 99 of 100 cases.
	takeoverGoal = 15 * time.Second
	// heldJobs is how many jobs are held in each round: more than one server works at once, so both have some.
	heldJobs = 40
)

// TakeoverOptions are the options of a measurement of take-overs.
type TakeoverOptions struct {
	Rounds int
	Seed   uint64 // determines who ends, and how
}

// ways are the ways in which a server ends in a round.
var ways = []struct {
	text string
	sig  syscall.Signal
}{
	{"killed", syscall.SIGKILL},
	{"hangs", syscall.SIGSTOP}, // as a host that is cut off: its connections stay open
	{"stopped", syscall.SIGTERM},
}

// takeover is what a round measured.
type takeover struct {
	way    string
	led    bool          // the server that ended was the leader
	held   int           // of its jobs were running
	jobs   time.Duration // until all of them were done by another
	leader time.Duration // until another one led, if it was the leader
	ticks  time.Duration // until periodic work that was enqueued afterwards was done
}

// Takeover ends one of several servers while its jobs run, round after round, and measures how long it takes until another one has done
// them and does the periodic work. It prints the figures and returns an error if a goal is missed.
func Takeover(ctx context.Context, t *Run, o TakeoverOptions) error {
	t.say("take-overs, seed %d: %d rounds, %d servers", o.Seed, o.Rounds, len(t.Servers))
	rng := rand.New(rand.NewPCG(o.Seed, 0))
	var done []takeover
	for n := range o.Rounds {
		way := n % len(ways)
		if rng.IntN(4) > 0 { // most of them are killed
			way = 0
		}
		round, err := t.takeover(ctx, way, rng.IntN(2) == 0, n)
		if err != nil {
			return fmt.Errorf("round %d: %w", n, err)
		}
		done = append(done, round)
		t.say("  %3d  %-7s leader %-5v %2d jobs after %.2f s, leadership after %.2f s, periodic work after %.2f s",
			n, round.way, round.led, round.held, round.jobs.Seconds(), round.leader.Seconds(), round.ticks.Seconds())
	}
	return t.printTakeovers(done)
}

// takeover is one round: whoever leads, or does not, ends while jobs of it run.
func (t *Run) takeover(ctx context.Context, way int, leader bool, n int) (takeover, error) {
	victim, name, err := t.pickServer(ctx, leader)
	if err != nil {
		return takeover{}, err
	}
	out := takeover{way: ways[way].text, led: leader}
	hold, err := t.holdJobs(ctx, n)
	if err != nil {
		return out, err
	}
	jobs, err := t.jobsOf(ctx, name)
	if err != nil {
		return out, errors.Join(err, hold.Rollback(ctx))
	}
	out.held = len(jobs)
	var ended time.Time // by the database's clock
	if err := t.pool.QueryRow(ctx, `SELECT clock_timestamp()`).Scan(&ended); err != nil {
		return out, errors.Join(err, hold.Rollback(ctx))
	}
	began := time.Now()
	if err := errors.Join(victim.Signal(ways[way].sig), hold.Rollback(ctx)); err != nil {
		return out, err
	}
	var all errgroup.Group
	measure := func(took *time.Duration, sql string, args ...any) {
		all.Go(func() error {
			err := t.until(ctx, sql, args...)
			*took = time.Since(began)
			return err
		})
	}
	measure(&out.jobs, `SELECT count(*) = 0 FROM river_job WHERE id = ANY ($1) AND state <> 'completed'`, jobs)
	if leader {
		measure(&out.leader, `SELECT count(*) = 1 FROM river_leader WHERE leader_id <> $1`, name)
		measure(&out.ticks, `SELECT count(*) > 0 FROM river_job WHERE kind = 'wake' AND state = 'completed' AND attempted_by[1] <> $1 AND created_at > $2`, name, ended)
	}
	if err := all.Wait(); err != nil {
		return out, fmt.Errorf("%s %s: %w", name, out.way, err)
	}
	return out, t.bringBack(ctx, victim, name, ways[way].sig)
}

// pickServer returns the leader, or a server that does not lead, and its name in the queue.
func (t *Run) pickServer(ctx context.Context, leader bool) (_ *devstack.Server, _ string, err error) {
	defer must.Catch(&err)
	must.Do(t.until(ctx, `SELECT count(*) = 1 FROM river_leader WHERE expires_at > now()`))
	var leads string
	must.Wrap(t.pool.QueryRow(ctx, `SELECT leader_id FROM river_leader`).Scan(&leads), "find the leader")
	for _, s := range t.Servers {
		name := must.Get(s.Instance())
		if (name == leads) == leader {
			return s, name, nil
		}
	}
	return nil, "", fmt.Errorf("no server fits: the leader is %s", leads)
}

// holdJobs inserts jobs that wait for a table, so that all servers have some that run, until the transaction ends.
func (t *Run) holdJobs(ctx context.Context, n int) (pgx.Tx, error) {
	tx, err := t.pool.Begin(ctx)
	if err != nil {
		return nil, err
	}
	if _, err := tx.Exec(ctx, `LOCK TABLE clusters IN ACCESS EXCLUSIVE MODE`); err != nil {
		return nil, errors.Join(fmt.Errorf("hold jobs: %w", err), tx.Rollback(ctx))
	}
	_, err = t.pool.Exec(ctx, `
		WITH made AS (
			INSERT INTO river_job (kind, queue, args, state, max_attempts)
			SELECT 'turns', 'reconcile', json_build_object('news', 'takeover ' || $1::int || ' ' || n), 'available', 5 FROM generate_series(1, $2::int) n
		)
		SELECT pg_notify(current_schema() || '.river_insert', '{"queue": "reconcile"}')`, n, heldJobs)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("hold jobs: %w", err), tx.Rollback(ctx))
	}
	return tx, nil
}

// jobsOf waits until jobs of the round run under a name, and returns their ids.
func (t *Run) jobsOf(ctx context.Context, name string) (ids []int64, err error) {
	defer must.Catch(&err)
	const running = `FROM river_job WHERE state = 'running' AND attempted_by[array_upper(attempted_by, 1)] = $1 AND args ->> 'news' LIKE 'takeover %'`
	must.Do(t.until(ctx, `SELECT count(*) >= 5 `+running, name))
	rows := must.Get(t.pool.Query(ctx, `SELECT id `+running, name))
	return pgx.CollectRows(rows, pgx.RowTo[int64])
}

// bringBack makes the server that ended one of several again. One that hung goes on by itself, under its old name.
func (t *Run) bringBack(ctx context.Context, s *devstack.Server, name string, sig syscall.Signal) (err error) {
	defer must.Catch(&err)
	if sig != syscall.SIGSTOP {
		must.Do(s.Stop())
		return s.Start(ctx)
	}
	must.Do(s.Signal(syscall.SIGCONT))
	const holds = `SELECT count(*) = 1 FROM pg_locks, (SELECT hashtextextended('instance ' || $1, 0) AS key) k
		WHERE locktype = 'advisory' AND granted AND (classid::bigint << 32) | objid::bigint = key`
	must.Wrap(t.until(ctx, holds, name), "%s goes on and does not take its name again", name)
	return nil
}

// until waits until a query returns true. Only one that hung may take longer than the goal: a change that it is in the middle of ends
// after a minute.
func (t *Run) until(ctx context.Context, sql string, args ...any) (err error) {
	defer must.Catch(&err)
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		var yes bool
		must.Wrap(t.pool.QueryRow(ctx, sql, args...).Scan(&yes), "wait for %s", sql)
		if yes {
			return nil
		}
		must.Wrap(sleep(ctx, 5*time.Millisecond), "wait for %s", sql)
	}
}

func (t *Run) printTakeovers(done []takeover) error {
	var errs []error
	t.say("")
	for _, way := range ways {
		figures := map[string][]time.Duration{}
		for _, d := range done {
			if d.way != way.text {
				continue
			}
			figures["jobs"] = append(figures["jobs"], d.jobs)
			if d.led {
				figures["leadership"] = append(figures["leadership"], d.leader)
				figures["periodic work"] = append(figures["periodic work"], d.ticks)
			}
		}
		for _, what := range []string{"jobs", "leadership", "periodic work"} {
			times := figures[what]
			if len(times) == 0 {
				continue
			}
			slices.Sort(times)
			p99 := times[len(times)*99/100]
			t.say("%-8s %-14s p50 %5.2f s, p99 %5.2f s, of %d", way.text, what, times[len(times)/2].Seconds(), p99.Seconds(), len(times))
			if p99 > takeoverGoal {
				errs = append(errs, fmt.Errorf("%s of a server that is %s are taken over after %s at p99; the goal is %s", what, way.text, p99, takeoverGoal))
			}
		}
	}
	return errors.Join(errs...)
}
