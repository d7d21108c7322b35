package chaos

import (
	"context"
	"errors"
	"fmt"
	"time"
)

const (
	// limitLasts is how long GitHub's limit stays exhausted: long enough for released clusters to hit it.
	limitLasts = 14 * time.Second
	// decided is the time within which an end must be set while GitHub does not respond.
	decided = 10 * time.Second
	// wholeSecond is the wait after which an event has a later time on GitHub.
	wholeSecond = 1100 * time.Millisecond
)

func cutGitHub(ctx context.Context, t *Run) error {
	t.GitHubCut.Off()
	return refuses(ctx, t.Ports.GitHub)
}

func mendGitHub(_ context.Context, t *Run) error { t.GitHubCut.On(); return nil }

func spendGitHub(_ context.Context, t *Run) error {
	t.refill = t.GitHub.Spend(0, limitLasts)
	if left := t.GitHub.Left(); left > 0 {
		return fmt.Errorf("%d calls are left of GitHub's limit though it is used up", left)
	}
	return nil
}

// refillGitHub waits for the limit's reset and resets the counts: a test uses one hour's limit.
func refillGitHub(ctx context.Context, t *Run) error {
	for t.GitHub.Left() <= 0 {
		if err := sleep(ctx, glance); err != nil {
			return err
		}
	}
	t.refill()
	return nil
}

// endUnanswered requests the end of unwanted clusters, with comments by a person whose permission GitHub reported before. Each end
// must be set while GitHub does not respond.
func endUnanswered(ctx context.Context, t *Run, cells []*cell) error {
	if err := sleep(ctx, wholeSecond); err != nil {
		return err
	}
	var asked []*cell
	var errs []error
	for _, c := range cells {
		if c.struck && c.Job == creating && !c.wanted {
			asked = append(asked, c)
			errs = append(errs, t.destroy(c.pr))
		}
	}
	if len(asked) > 0 {
		t.say("           %d ends asked for while GitHub gives no answer", len(asked))
	}
	for _, c := range asked {
		going := func(now cluster) bool { return now.Desired == "absent" }
		err := t.awaitWhile(ctx, nameOf(c.pr), "on its way out while GitHub gives no answer", decided, going, func() bool { return true })
		c.err = errors.Join(c.err, err)
	}
	return errors.Join(errs...)
}
