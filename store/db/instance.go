package db

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivertype"
)

const (
	// instanceBeat is how often an instance looks for dead ones. Each look also keeps its own name.
	instanceBeat = 2 * time.Second
	// silentBeats is how many beats an instance may miss before PostgreSQL ends its session, and with it the hold on its name.
	silentBeats = 5
	// settleBeats is how many beats an instance that lost its name waits before it looks again: if the database was away, all
	// instances lost theirs, and each needs time to take it again.
	settleBeats = 2
	// longestHost leaves room for the rest of a name: River accepts 100 characters.
	longestHost = 64
	// processName begins the application_name of a process's sessions. The last part of its instance's name follows.
	processName = "ocpctl "
	// instanceMark separates the host from the rest of a name. Names of releases before this one do not contain it.
	instanceMark = "/"
)

// Instance is this process in the queue, under a name that no other process ever has. A session lock holds the name for as long as
// the process lives and answers. Jobs and leadership under a name that nobody holds belong to a dead process, and any living instance
// takes them over.
//
// Taking over is safe even if the process only seemed dead: its database sessions are ended, so it finishes nothing that it was in the
// middle of and holds no locks; every job is idempotent, and what it writes is guarded by row versions.
type Instance struct {
	db   *DB
	name string
	beat time.Duration
	conn *pgx.Conn // holds the lock; nil: lost
}

// TakenOver is what an instance took over from dead ones.
type TakenOver struct {
	From      []string // the names
	Jobs      int      // made available again
	Discarded int      // had no tries left
}

// Instance registers this process under a new name that begins with the host's, and takes over from dead instances at once. Start the
// workers after it returns, run Hold while they work, and call Release after they stopped. There is one for each DB. beat is how often Hold looks; zero: 2 s.
func (s *DB) Instance(ctx context.Context, host string, beat time.Duration) (*Instance, TakenOver, error) {
	if beat == 0 {
		beat = instanceBeat
	}
	host = strings.ReplaceAll(host[:min(len(host), longestHost)], instanceMark, "-")
	i := &Instance{db: s, beat: beat, name: host + instanceMark + s.process}
	if err := i.take(ctx); err != nil {
		return nil, TakenOver{}, err
	}
	taken, err := i.look(ctx)
	if err != nil {
		i.Release()
		return nil, TakenOver{}, err
	}
	return i, taken, nil
}

// Name is the instance's name in the queue.
func (i *Instance) Name() string { return i.name }

// Hold keeps the name and takes over from dead instances until ctx ends, and reports to onTaken what it took over and to onLost that
// the name was lost. A lost name is taken again as soon as the database allows it. Hold returns an error if it cannot be taken although
// the database answers: the process must then end, because others take over what it works on.
func (i *Instance) Hold(ctx context.Context, onTaken func(TakenOver), onLost func(error)) error {
	ticks := time.NewTicker(i.beat)
	defer ticks.Stop()
	answered, quiet := 0, 0 // beats without the name but with an answer of the database, and beats until the next look
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticks.C:
		}
		switch {
		case i.conn == nil:
			err := i.take(ctx)
			if err == nil {
				answered, quiet = 0, settleBeats
			} else if answered++; !i.db.answers(ctx, i.patience()) {
				answered = 0
			}
			if answered > 2*silentBeats && ctx.Err() == nil {
				return fmt.Errorf("the database answers, but this process cannot hold its name in the queue, so others take over its jobs; "+
					"check the database's limit of connections, and start the process again: %w", err)
			}
		case quiet > 0:
			quiet--
		default:
			taken, err := i.look(ctx)
			if err != nil && ctx.Err() == nil {
				onLost(err)
				i.Release()
			}
			if len(taken.From) > 0 {
				onTaken(taken)
			}
		}
	}
}

// Release gives the name up. Whatever still runs under it is then taken over.
func (i *Instance) Release() {
	if i.conn != nil {
		hangUp(i.conn)
		i.conn = nil
	}
}

func (i *Instance) patience() time.Duration { return silentBeats * i.beat }

// take opens a session of its own and locks the name. PostgreSQL ends that session, and the lock with it, when the process does not
// use it for too long: a host that is cut off or hangs is noticed although its connection stays open.
func (i *Instance) take(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, i.patience())
	defer cancel()
	config := i.db.pool.Config().ConnConfig.Copy()
	limit := strconv.FormatInt(i.patience().Milliseconds(), 10)
	for _, setting := range []string{"idle_session_timeout", idleLimit, "statement_timeout"} {
		config.RuntimeParams[setting] = limit
	}
	config.RuntimeParams["application_name"] = "ocpctl instance"
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return fmt.Errorf("connect to hold the name %s: %w", i.name, err)
	}
	var free bool
	if err := conn.QueryRow(ctx, `SELECT pg_try_advisory_lock(hashtextextended('instance ' || $1, 0))`, i.name).Scan(&free); err != nil {
		hangUp(conn)
		return fmt.Errorf("lock the instance %s: %w", i.name, err)
	}
	if !free { // the old session of this process, or somebody who is taking over from it
		hangUp(conn)
		return fmt.Errorf("lock the instance %s: another session holds it", i.name)
	}
	i.conn = conn
	return nil
}

// findDead locks the names under which jobs run or somebody leads, as far as nobody holds them. The lock ends with the transaction, and
// keeps other instances from taking over from the same one.
const findDead = `
	WITH named AS MATERIALIZED (
		SELECT attempted_by[array_upper(attempted_by, 1)] AS name FROM river_job WHERE state = 'running'
		UNION SELECT leader_id FROM river_leader
	), others AS MATERIALIZED (
		SELECT name FROM named WHERE strpos(name, $2) > 0 AND name <> $1
	)
	SELECT name FROM others WHERE pg_try_advisory_xact_lock(hashtextextended('instance ' || name, 0))`

// endSessions ends what dead instances were in the middle of. Otherwise the locks of a process that hangs would stay.
const endSessions = `
	SELECT pg_terminate_backend(pid) FROM pg_stat_activity
	WHERE application_name IN (SELECT $2 || split_part(name, $3, 2) FROM unnest($1::text[]) AS name)
		AND datname = current_database() AND usename = current_user`

// endLeadership removes the leadership of dead instances and tells River's electors, so that another one leads at once instead of when
// the term ends.
const endLeadership = `
	WITH ended AS (DELETE FROM river_leader WHERE leader_id = ANY ($1) RETURNING leader_id)
	SELECT pg_notify(current_schema() || '.river_leadership', json_build_object('leader_id', leader_id, 'action', 'resigned')::text) FROM ended`

// look takes over from dead instances.
func (i *Instance) look(ctx context.Context) (taken TakenOver, err error) {
	ctx, cancel := context.WithTimeout(ctx, i.patience())
	defer cancel()
	var queues []string
	err = pgx.BeginFunc(ctx, i.conn, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, findDead, i.name, instanceMark)
		if err != nil {
			return err
		}
		if taken.From, err = pgx.CollectRows(rows, pgx.RowTo[string]); err != nil || len(taken.From) == 0 {
			return err
		}
		if _, err := tx.Exec(ctx, endSessions, taken.From, processName, instanceMark); err != nil {
			return err
		}
		if queues, err = i.freeJobs(ctx, tx, &taken); err != nil {
			return err
		}
		_, err = tx.Exec(ctx, endLeadership, taken.From)
		return err
	})
	if err != nil {
		return TakenOver{}, fmt.Errorf("look for dead instances: %w", err)
	}
	i.db.QueueNotifier.Notify(queues...)
	return taken, nil
}

// freeJobs makes the jobs of dead instances available, as River rescues jobs that are stuck. It returns their queues.
func (i *Instance) freeJobs(ctx context.Context, tx pgx.Tx, taken *TakenOver) (queues []string, err error) {
	list, err := i.db.river.JobListTx(ctx, tx, river.NewJobListParams().States(rivertype.JobStateRunning).First(mostJobs).
		Where(`attempted_by[array_upper(attempted_by, 1)] = ANY (@dead::text[])`, river.NamedArgs{"dead": taken.From}))
	if err != nil || len(list.Jobs) == 0 {
		return nil, err
	}
	var now time.Time // the pool may be busy with what the dead ones hold up, so the instance's own connection is asked
	if err := tx.QueryRow(ctx, `SELECT clock_timestamp()`).Scan(&now); err != nil {
		return nil, err
	}
	rescue := riverdriver.JobRescueManyParams{StuckHorizon: now.Add(time.Hour)} // whatever was begun
	for _, job := range list.Jobs {
		failed, err := json.Marshal(rivertype.AttemptError{At: now, Attempt: job.Attempt, Error: "the process that ran the job ended"})
		if err != nil {
			return nil, err
		}
		state, finalized := rivertype.JobStateAvailable, (*time.Time)(nil)
		if job.Attempt >= job.MaxAttempts {
			state, finalized = rivertype.JobStateDiscarded, &now
			taken.Discarded++
		} else {
			taken.Jobs++
		}
		rescue.ID, rescue.Error, rescue.State = append(rescue.ID, job.ID), append(rescue.Error, failed), append(rescue.State, string(state))
		rescue.FinalizedAt, rescue.ScheduledAt = append(rescue.FinalizedAt, finalized), append(rescue.ScheduledAt, now)
		queues = append(queues, job.Queue)
	}
	_, err = riverpgxv5.New(i.db.pool).UnwrapExecutor(tx).JobRescueMany(ctx, &rescue)
	return queues, err
}

// answers reports whether the database answers within a time.
func (s *DB) answers(ctx context.Context, within time.Duration) bool {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	return s.Ping(ctx) == nil
}
