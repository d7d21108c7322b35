package chaos

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/ocpctl/ocpctl/devstack"
	"github.com/ocpctl/ocpctl/devstack/installer"
	"github.com/ocpctl/ocpctl/devstack/must"
	"github.com/ocpctl/ocpctl/store"
)

// pausedAfter is the write of create cluster after which an install is held, so that it is certainly in the middle.
const pausedAfter = 5

// Upgrade replaces the first server, an older release, by the second, while installs are held in their middle. Where the schema serves both, they run
// side by side, and the older one comes back as after a rollback. Attempts must not notice, and clusters come and go at each step, whichever server
// works.
func Upgrade(ctx context.Context, t *Run) (err error) {
	defer must.Catch(&err)
	held := must.Get(t.holdInstalls(ctx, 3))
	t.say("the older server runs, and holds %d installs in their middle", len(held))
	steps := must.Get(t.upgradeSteps(ctx, t.Servers[0], t.Servers[1]))
	for _, step := range steps {
		began := time.Now()
		must.Wrap(step.do(), "%s", step.text)
		took := time.Since(began)
		must.Wrap(errors.Join(t.lives(ctx, 2), t.stillHeld(held)), "%s", step.text)
		t.say("  %-48s %5.1f s; two clusters came and went, the held installs are undisturbed", step.text, took.Seconds())
	}
	must.Do(t.finish(ctx, held))
	t.say("every held install finished in its first attempt, and nothing is left")
	return t.nothingLost(ctx)
}

// upgradeStep is a change of the servers that run, after which at least one does.
type upgradeStep struct {
	text string
	do   func() error
}

// upgradeSteps are those of a release whose schema serves the older one, or of one that takes the place of a server that has stopped.
func (t *Run) upgradeSteps(ctx context.Context, old, next *devstack.Server) ([]upgradeStep, error) {
	excluded, err := t.excludesOlder(ctx)
	if err != nil {
		return nil, err
	}
	if excluded {
		return []upgradeStep{
			{"the older one stops, the newer one migrates", func() error { return errors.Join(old.Stop(), next.Start(ctx)) }},
			{"the older one does not start any more", func() error {
				if err := old.Start(ctx); err == nil {
					return errors.New("it started, and the schema excludes it")
				}
				return nil
			}},
			{"the newer one is killed, and starts again", func() error { return errors.Join(next.Kill(), next.Start(ctx)) }},
		}, nil
	}
	return []upgradeStep{
		{"the newer one starts beside it and migrates", func() error { return next.Start(ctx) }},
		{"the older one stops gracefully", old.Stop},
		{"the older one starts again, on the newer schema", func() error { return old.Start(ctx) }},
		{"the newer one stops: a rollback", next.Stop},
		{"the newer one starts again", func() error { return next.Start(ctx) }},
		{"the older one is killed", old.Kill},
	}, nil
}

// excludesOlder reports whether this release's schema excludes the older server, by migrating an empty database. The older server has migrated the
// stack's to the newest schema that it knows.
func (t *Run) excludesOlder(ctx context.Context) (_ bool, err error) {
	defer must.Catch(&err)
	older := must.Get(store.ReadSchema(ctx, t.pool))
	const name = "of_this_release"
	_, err = t.pool.Exec(ctx, "CREATE DATABASE "+name)
	must.Wrap(err, "make an empty database")
	address := must.Get(url.Parse(t.DatabaseURL()))
	address.Path = "/" + name
	must.Do(store.Migrate(ctx, address.String()))
	pool := must.Get(pgxpool.New(ctx, address.String()))
	defer pool.Close()
	newer, err := store.ReadSchema(ctx, pool)
	return older.Database < newer.Oldest, err
}

// heldInstall is an install that is paused in the middle.
type heldInstall struct {
	pr, pid int
	attempt string
}

func (t *Run) holdInstalls(ctx context.Context, n int) (held []heldInstall, err error) {
	defer must.Catch(&err)
	for range n {
		pr := must.Get(t.GitHub.Open("Held while servers change", person))
		key := "create/" + nameOf(pr)
		must.Do(t.setFault(key, &installer.Fault{AfterWrites: pausedAfter, Pause: true}))
		must.Do(t.GitHub.Label(pr, t.label(), person))
		h := heldInstall{pr: pr}
		must.Do(t.await(ctx, pr, "installing", patience, func(now cluster) bool {
			h.attempt = now.Attempt
			return t.trace.pausedAt(key)
		}))
		h.pid = must.Get(t.runnerPID(h.attempt))
		held = append(held, h)
	}
	return held, nil
}

// stillHeld checks that the held installs are still worked on by the runner that began them.
func (t *Run) stillHeld(held []heldInstall) error {
	var errs []error
	for _, h := range held {
		now, _ := t.board.of(h.pr)
		if now.Attempt != h.attempt || now.Phase != "installing" || !alive(h.pid) {
			errs = append(errs, fmt.Errorf("the install of #%d was disturbed: its runner (pid %d) lives: %v; %s", h.pr, h.pid, alive(h.pid), now.describe(nameOf(h.pr))))
		}
	}
	return errors.Join(errs...)
}

// lives lets clusters come and go.
func (t *Run) lives(ctx context.Context, n int) (err error) {
	defer must.Catch(&err)
	for range n {
		pr := must.Get(t.GitHub.Open("One while servers change", person))
		must.Do(t.GitHub.Label(pr, t.label(), person))
		must.Do(t.await(ctx, pr, "READY", patience, isReady))
		must.Do(t.release(ctx, pr))
	}
	return nil
}

// finish lets the held installs go on, and ends their clusters.
func (t *Run) finish(ctx context.Context, held []heldInstall) (err error) {
	defer must.Catch(&err)
	for _, h := range held {
		must.Do(t.setFault("create/"+nameOf(h.pr), nil))
		err := t.await(ctx, h.pr, "READY", patience, isReady)
		if now, _ := t.board.of(h.pr); err == nil && now.Attempt != h.attempt {
			err = fmt.Errorf("#%d is READY by attempt %s, and %s was running", h.pr, now.Attempt, h.attempt)
		}
		must.Do(err)
		must.Do(t.release(ctx, h.pr))
	}
	return nil
}

// release ends a pull request's cluster and checks that nothing is left of it and nothing was done twice.
func (t *Run) release(ctx context.Context, pr int) (err error) {
	defer must.Catch(&err)
	must.Do(t.destroy(pr))
	must.Do(t.await(ctx, pr, "released", patience, isReleased))
	return errors.Join(t.nothingLeft(ctx, pr), t.nothingTwice(ctx, pr, nameOf(pr)))
}
