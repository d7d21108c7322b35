// Package e2e runs a pull request's whole life against a running stack, only over HTTP and with the program ocpctl, as people, GitHub
// and pipelines would: it labels, comments, closes and checks, and stops at the first unexpected result.
//
// It uses URLs, tokens and the stand-ins' documented interfaces; it never accesses a process or the database.
package e2e

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/ocpctl/ocpctl/devstack/must"
)

// Places says where the stack listens, and how fast its time is.
type Places struct {
	Public, Private, GitHub, Slack, AWS string // base URLs
	WebhookSecret, SlackSecret          string
	Requester, Auditor                  string        // bearer tokens
	Program                             string        // the built ocpctl
	AWSKey, AWSSecret                   string        // of an IAM user who may request clusters
	Hour, Grace                         time.Duration // length of a TTL hour and of the grace period
	Workflows                           bool          // the stand-in GitHub executes workflows
}

// Play runs the test and returns the first unexpected result.
func Play(ctx context.Context, at Places, out io.Writer) (err error) {
	defer must.Catch(&err)
	t := &scenario{at: at, out: out, began: time.Now()}
	must.Do(t.open(ctx))
	type chapter struct {
		title string
		tell  func(context.Context)
	}
	chapters := []chapter{
		{"The entry points are protected", t.sources},
		{"A label becomes a cluster", t.label},
		{"Words on the pull request", t.commands},
		{"A fork waits for a person's word", t.fork},
		{"Closing the pull request leaves nothing behind", t.closing},
		{"A time to live begins", t.ttl},
		{"A program at the command line, and a person's word", t.atTheCommandLine},
		{"A word in Slack", t.aWordInSlack},
		{"A cluster from Slack", t.fromSlack},
		{"The time to live ends without anybody's doing", t.ttlEnds},
		{"A pull request closed in the middle of the install", t.midInstall},
	}
	if at.Workflows {
		chapters = append(chapters, chapter{"A cluster for a workflow", t.workflow})
	}
	for _, chapter := range chapters {
		fmt.Fprintf(out, "\n%s\n", chapter.title)
		must.Wrap(tell(ctx, chapter.tell), "%s", chapter.title)
	}
	fmt.Fprintf(out, "\nThe end-to-end test passed, in %.1f s.\n", time.Since(t.began).Seconds())
	return nil
}

// tell runs a chapter until its first unexpected result.
func tell(ctx context.Context, chapter func(context.Context)) (err error) {
	defer must.Catch(&err)
	chapter(ctx)
	return nil
}

// step runs one check, prints it with its duration, and stops the test if it fails.
func (t *scenario) step(what string, check func() error) {
	began := time.Now()
	if err := try(check); err != nil {
		fmt.Fprintf(t.out, "  ✗ %s (%.2f s): %v\n", what, time.Since(began).Seconds(), err)
		must.Do(fmt.Errorf("%s: %w", what, err))
	}
	fmt.Fprintf(t.out, "  ✓ %-74s %6.2f s\n", what, time.Since(began).Seconds())
}

// try runs a check until its first error.
func try(check func() error) (err error) {
	defer must.Catch(&err)
	return check()
}

// until repeats a check until it succeeds or time is up; the error is the last result.
func until(ctx context.Context, within time.Duration, check func() error) error {
	deadline := time.Now().Add(within)
	for {
		err := try(check)
		if err == nil {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("not within %s: %w", within, err)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// eventually is a check that repeats another one until it succeeds or time is up.
func eventually(ctx context.Context, within time.Duration, check func() error) func() error {
	return func() error { return until(ctx, within, check) }
}

// all runs steps in order and stops at the first that fails.
func all(steps ...func() error) error {
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}
