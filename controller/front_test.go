package controller_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/riverqueue/river"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/chatops/github"
	"github.com/ocpctl/ocpctl/controller"
	hub "github.com/ocpctl/ocpctl/devstack/github"
	"github.com/ocpctl/ocpctl/internal/queue"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/outbox"
)

// documented is the pace that GitHub asks for.
var documented = outbox.Pace{Every: time.Second, PerMinute: 80, PerHour: 500}

// patience is how long the wire waits in line by itself.
const patience = 10 * time.Second

// front is a fixture whose words go to the stand-in for GitHub over the real wire. Only the clock is the test's: it goes from one
// job that is due to the next.
type front struct {
	*fixture
	hub    *hub.Server
	pace   outbox.Pace
	jobs   []waiting
	taken  int64       // River's newest job that was taken over
	writes []time.Time // when leave was given
}

// waiting is a job that River would work at a time.
type waiting struct {
	id   int64
	due  time.Time
	made time.Time
	args river.JobArgs
}

func newFront(t testing.TB, pace outbox.Pace) *front {
	t.Helper()
	server, err := hub.Start(t.Context(), hub.Config{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Stop()) })
	f := &front{fixture: newFixture(t), hub: server, pace: pace}
	f.Controller = f.another()
	return f
}

// another is one more controller, of another process, on the same database.
func (f *front) another() *controller.Controller {
	f.t.Helper()
	wire, err := github.New(github.Config{
		AppID: hub.AppID, PrivateKey: f.hub.KeyPEM(), BaseURL: f.hub.URL(), Patience: time.Millisecond, Settling: -1, Now: f.now,
		Leave: func(ctx context.Context, installation int64) (time.Duration, error) {
			for { // as the wire waits in line, but by the test's clock
				wait, err := f.store.Outbox.TakePace(ctx, installation, f.pace)
				if err != nil || wait > patience {
					return wait, err
				}
				if wait == 0 {
					f.writes = append(f.writes, f.now())
					return 0, nil
				}
				f.pass(wait)
			}
		},
		Limited: func(ctx context.Context, installation int64, wait time.Duration) {
			require.NoError(f.t, f.store.Outbox.HoldPace(ctx, installation, wait))
		},
	})
	require.NoError(f.t, err)
	cfg := f.Config
	cfg.GitHub, cfg.Pace, cfg.Catalogue = wire, f.pace, catalogue{}
	return controller.New(cfg)
}

// asked makes a cluster for one of the stand-in's pull requests, by its label.
func (f *front) asked(name string, number int) clusters.Row {
	f.t.Helper()
	pr, found := f.hub.PullRequest(number)
	require.True(f.t, found)
	require.NoError(f.t, f.hub.Label(number, "ocp/aws-minimal-test", "maya"))
	return f.acceptAs(name, func(a *store.Judgement) {
		a.Row.PR = &clusters.PRRef{Installation: hub.Installation, Repo: hub.Repo, Number: number, Head: pr.HeadSHA}
	})
}

// collect takes over the jobs that River was given since.
func (f *front) collect() {
	f.t.Helper()
	rows, err := f.store.Pool().Query(f.ctx, `
		SELECT id, kind, args FROM river_job WHERE id > $1 AND finalized_at IS NULL AND kind IN ('publish', 'reply', 'effect') ORDER BY id`, f.taken)
	require.NoError(f.t, err)
	defer rows.Close()
	for rows.Next() {
		var kind string
		var raw []byte
		job := waiting{due: f.now(), made: f.now()}
		require.NoError(f.t, rows.Scan(&job.id, &kind, &raw))
		job.args = decoded(f.t, kind, raw)
		f.jobs, f.taken = append(f.jobs, job), job.id
	}
	require.NoError(f.t, rows.Err())
}

func decoded(t testing.TB, kind string, raw []byte) river.JobArgs {
	t.Helper()
	var publish queue.PublishArgs
	var reply queue.ReplyArgs
	var effect queue.EffectArgs
	for of, into := range map[string]any{"publish": &publish, "reply": &reply, "effect": &effect} {
		if of == kind {
			require.NoError(t, json.Unmarshal(raw, into))
		}
	}
	switch kind {
	case "publish":
		return publish
	case "reply":
		return reply
	}
	return effect
}

// until works what is due up to a time, and ends there.
func (f *front) until(end time.Time) {
	f.t.Helper()
	for {
		f.collect()
		if len(f.jobs) == 0 {
			break
		}
		slices.SortStableFunc(f.jobs, func(a, b waiting) int { return cmp.Or(a.due.Compare(b.due), cmp.Compare(a.id, b.id)) })
		job := f.jobs[0]
		if job.due.After(end) {
			break
		}
		if job.due.After(f.now()) {
			at := job.due
			f.clock.Store(&at)
		}
		f.jobs = f.jobs[1:]
		err := f.Work(f.ctx, job.args, job.made)
		var snooze *river.JobSnoozeError
		if errors.As(err, &snooze) {
			job.due = f.now().Add(snooze.Duration)
		} else if err != nil {
			job.due = f.now().Add(time.Second) // as River tries again
		} else {
			_, err = f.store.Pool().Exec(f.ctx, `UPDATE river_job SET state = 'completed', finalized_at = now() WHERE id = $1`, job.id)
			require.NoError(f.t, err)
			continue
		}
		f.jobs = append(f.jobs, job)
	}
	if end.After(f.now()) {
		f.clock.Store(&end)
	}
}

// settle works until nothing waits any more.
func (f *front) settle() {
	f.t.Helper()
	for range 1000 {
		if f.collect(); len(f.jobs) == 0 {
			return
		}
		f.until(f.now().Add(10 * time.Second))
	}
	require.Empty(f.t, f.jobs, "something waits for ever")
}

// keepsThePace requires that no more was written than GitHub lets, whichever minute or hour is looked at.
func (f *front) keepsThePace() {
	f.t.Helper()
	for i, at := range f.writes {
		if i > 0 {
			require.GreaterOrEqual(f.t, at.Sub(f.writes[i-1]), f.pace.Every)
		}
		if i >= f.pace.PerMinute {
			require.Greater(f.t, at.Sub(f.writes[i-f.pace.PerMinute]), time.Minute)
		}
		if i >= f.pace.PerHour {
			require.Greater(f.t, at.Sub(f.writes[i-f.pace.PerHour]), time.Hour)
		}
	}
}

// content is how many calls so far wrote something.
func (f *front) content() (n int) {
	for _, call := range f.hub.Calls() {
		if call.Content {
			n++
		}
	}
	return n
}

// ours are the App's comments on a pull request.
func (f *front) ours(number int) (bodies []string) {
	for _, c := range f.hub.Comments(number) {
		if c.Author == hub.Bot {
			bodies = append(bodies, c.Body)
		}
	}
	return bodies
}

// shown requires that every place of a cluster shows its last state.
func (f *front) shown(row clusters.Row) {
	f.t.Helper()
	subs, err := f.store.Outbox.Subscribers(f.ctx, row.ID)
	require.NoError(f.t, err)
	for _, sub := range subs {
		require.Equal(f.t, f.cluster(row.ID).Version, sub.ShownVersion, "%s of %s", sub.Kind, row.Name)
	}
}

func (f *front) effect(e clusters.Effect) string {
	f.t.Helper()
	e.Installation, e.Repo = hub.Installation, hub.Repo
	require.NoError(f.t, f.store.Outbox.SaveEffect(f.ctx, e))
	var id string
	require.NoError(f.t, f.store.Pool().QueryRow(f.ctx, `SELECT id FROM effects WHERE cause = $1`, e.Cause).Scan(&id))
	return id
}

// note is what came of an effect, or why its last try failed.
func (f *front) note(id string) (note string) {
	f.t.Helper()
	require.NoError(f.t, f.store.Pool().QueryRow(f.ctx, `SELECT note FROM effects WHERE id = $1`, id).Scan(&note))
	return note
}

// isDone reports whether an effect was made or given up.
func (f *front) isDone(id string) bool {
	f.t.Helper()
	_, done, err := f.store.Outbox.Effect(f.ctx, id)
	require.NoError(f.t, err)
	return done
}

func (f *front) String() string {
	return fmt.Sprintf("%d jobs wait, %d writes", len(f.jobs), len(f.writes))
}
