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
	"github.com/ocpctl/ocpctl/store"
)

// pausedAfter is the write of create cluster after which an install is held, so that it is certainly in the middle.
const pausedAfter = 5

// Upgrade replaces the first server, an older release, by the second, while installs are held in their middle. Where the schema serves both, they run
// side by side, and the older one comes back as after a rollback. Attempts must not notice, and clusters come and go at each step, whichever server
// works.
func Upgrade(ctx context.Context, t *Run) error {
	held, err := t.holdInstalls(ctx, 3)
	if err != nil {
		return err
	}
	t.say("the older server runs, and holds %d installs in their middle", len(held))
	steps, err := t.upgradeSteps(ctx, t.Servers[0], t.Servers[1])
	if err != nil {
		return err
	}
	for _, step := range steps {
		began := time.Now()
		if err := step.do(); err != nil {
			return fmt.Errorf("%s: %w", step.text, err)
		}
		took := time.Since(began)
		if err := errors.Join(t.lives(ctx, 2), t.stillHeld(held)); err != nil {
			return fmt.Errorf("%s: %w", step.text, err)
		}
		t.say("  %-48s %5.1f s; two clusters came and went, the held installs are undisturbed", step.text, took.Seconds())
	}
	if err := t.finish(ctx, held); err != nil {
		return err
	}
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
func (t *Run) excludesOlder(ctx context.Context) (bool, error) {
	older, err := store.ReadSchema(ctx, t.pool)
	if err != nil {
		return false, err
	}
	const name = "of_this_release"
	if _, err := t.pool.Exec(ctx, "CREATE DATABASE "+name); err != nil {
		return false, fmt.Errorf("make an empty database: %w", err)
	}
	address, err := url.Parse(t.DatabaseURL())
	if err != nil {
		return false, err
	}
	address.Path = "/" + name
	if err := store.Migrate(ctx, address.String()); err != nil {
		return false, err
	}
	pool, err := pgxpool.New(ctx, address.String())
	if err != nil {
		return false, err
	}
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
	for range n {
		pr, err := t.GitHub.Open("Held while servers change", person)
		if err != nil {
			return nil, err
		}
		key := "create/" + nameOf(pr)
		if err := t.setFault(key, &installer.Fault{AfterWrites: pausedAfter, Pause: true}); err != nil {
			return nil, err
		}
		if err := t.GitHub.Label(pr, t.label(), person); err != nil {
			return nil, err
		}
		h := heldInstall{pr: pr}
		err = t.await(ctx, pr, "installing", patience, func(now cluster) bool {
			h.attempt = now.Attempt
			return t.trace.pausedAt(key)
		})
		if err != nil {
			return nil, err
		}
		if h.pid, err = t.runnerPID(h.attempt); err != nil {
			return nil, err
		}
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
func (t *Run) lives(ctx context.Context, n int) error {
	for range n {
		pr, err := t.GitHub.Open("One while servers change", person)
		if err != nil {
			return err
		}
		if err := t.GitHub.Label(pr, t.label(), person); err != nil {
			return err
		}
		if err := t.await(ctx, pr, "READY", patience, isReady); err != nil {
			return err
		}
		if err := t.release(ctx, pr); err != nil {
			return err
		}
	}
	return nil
}

// finish lets the held installs go on, and ends their clusters.
func (t *Run) finish(ctx context.Context, held []heldInstall) error {
	for _, h := range held {
		if err := t.setFault("create/"+nameOf(h.pr), nil); err != nil {
			return err
		}
		err := t.await(ctx, h.pr, "READY", patience, isReady)
		if now, _ := t.board.of(h.pr); err == nil && now.Attempt != h.attempt {
			err = fmt.Errorf("#%d is READY by attempt %s, and %s was running", h.pr, now.Attempt, h.attempt)
		}
		if err != nil {
			return err
		}
		if err := t.release(ctx, h.pr); err != nil {
			return err
		}
	}
	return nil
}

// release ends a pull request's cluster and checks that nothing is left of it and nothing was done twice.
func (t *Run) release(ctx context.Context, pr int) error {
	if err := t.destroy(pr); err != nil {
		return err
	}
	if err := t.await(ctx, pr, "released", patience, isReleased); err != nil {
		return err
	}
	return errors.Join(t.nothingLeft(ctx, pr), t.nothingTwice(ctx, pr))
}
