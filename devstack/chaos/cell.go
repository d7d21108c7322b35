package chaos

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"path/filepath"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/devstack/github"
	"github.com/ocpctl/ocpctl/devstack/must"
)

// patience is the time limit of a life once nothing disturbs it any more.
const patience = 2 * time.Minute

// patience is the stack's: the real destroyers look every ten seconds whether something is gone, in each of their stages.
func (t *Run) patience() time.Duration {
	if t.Real != "" {
		return 4 * patience
	}
	return patience
}

// cell is one boundary with one fault, tested with a cluster of its own pull request.
type cell struct {
	boundary
	strike
	whole  bool // if its runner is killed: with everything that it started
	wanted bool // wanted until it is ready; otherwise its end is requested right after the fault

	pr      int
	pin     pin
	attempt string // the attempt that was at the boundary

	struck bool // it was at its boundary when the fault was injected, and the fault was real
	again  bool // it was missed once
	missed bool // it left its boundary before everything was ready for the fault
	err    error
}

// name is the cell's name on the command line.
func (c *cell) name() string { return c.ID + "/" + c.key }

// coin returns a random bit of a cell: the same seed and name give the same bit, whatever else runs.
func coin(seed uint64, name string) uint64 {
	h := fnv.New64a()
	fmt.Fprintf(h, "%d %s", seed, name)
	return h.Sum64() >> 8
}

// short reports that the cell is held at a call, which must not take long.
func (c *cell) short() bool { return strings.Contains(c.ID, ":") }

func isReady(c cluster) bool    { return c.Status == "READY" }
func isReleased(c cluster) bool { return c.Phase == "released" }

// place opens the cell's pull request and requests a cluster. For a fault during the create the cluster is on its way to its boundary
// afterwards, for a fault during the teardown it is ready.
func (c *cell) place(ctx context.Context, t *Run) (err error) {
	defer must.Catch(&err)
	c.pr = must.Get(t.GitHub.Open("A cell of the crash matrix", person))
	if c.Job == creating {
		c.pin = must.Get(c.arm(t, c.pr))
	}
	must.Do(t.GitHub.Label(c.pr, t.label(), person))
	if c.Job == destroying {
		must.Do(t.await(ctx, c.pr, "READY before its end is struck", t.patience(), isReady))
	}
	return nil
}

// hold waits until the cluster is at its boundary. A cluster that passes it is missed, and goes on undisturbed.
func (c *cell) hold(ctx context.Context, t *Run) (err error) {
	defer must.Catch(&err)
	if c.Job == destroying {
		c.pin = must.Get(c.arm(t, c.pr))
		must.Do(t.destroy(c.pr))
	}
	var past time.Time // a call may be held shortly after the cluster is seen past it
	for end := time.Now().Add(t.patience()); !c.pin.held(); {
		now, _ := t.board.of(c.pr)
		if through := isReleased(now) || c.Job == creating && isReady(now); through && past.IsZero() {
			past = time.Now()
		}
		switch {
		case time.Now().After(end):
			return fmt.Errorf("it never came to its boundary: %s", now.describe(nameOf(c.pr)))
		case !past.IsZero() && time.Since(past) > 2*time.Second:
			c.missed = true
			return nil
		}
		must.Do(sleep(ctx, 5*time.Millisecond))
	}
	// Two lives differ a little, so the last write is read here.
	if service, action, ok := strings.Cut(c.pin.after(), ":"); ok {
		_, phase := phaseOf(c.ID[:strings.Index(c.ID, "@")])
		c.Group, c.Text = phase+" "+service, "after "+service+" "+action
	}
	return t.await(ctx, c.pr, "at an attempt", 5*time.Second, func(now cluster) bool {
		c.attempt = now.Attempt
		return now.Attempt != ""
	})
}

// stands reports whether the cluster is still held at its boundary, in the same attempt.
func (c *cell) stands(t *Run) bool {
	now, _ := t.board.of(c.pr)
	return c.pin.held() && now.Attempt == c.attempt
}

// converge waits for the cluster's end: first ready if it is wanted, then released, with nothing left.
func (c *cell) converge(ctx context.Context, t *Run) (err error) {
	defer must.Catch(&err)
	if c.Job == creating {
		if c.wanted && !c.missed {
			must.Do(t.await(ctx, c.pr, "READY", t.patience(), isReady))
		}
		must.Do(t.destroy(c.pr))
	}
	must.Do(t.await(ctx, c.pr, "released", t.patience(), isReleased))
	return t.nothingLeft(ctx, c.pr)
}

func (t *Run) destroy(pr int) error {
	_, err := t.GitHub.Comment(pr, "/ocp destroy", person)
	return err
}

// nothingLeft counts what a released cluster left in the stand-ins' state, and checks its proof.
func (t *Run) nothingLeft(ctx context.Context, pr int) error {
	return errors.Join(t.nothingLeftOf(ctx, nameOf(pr)), t.oneComment(pr))
}

// nothingLeftOf is nothingLeft without what is on GitHub.
func (t *Run) nothingLeftOf(ctx context.Context, name string) (err error) {
	defer must.Catch(&err)
	var errs []error
	texts := []string{name, faultName("ccoctl-create", name) + "-"}
	if t.Pools { // whose names begin alike
		var recorded []string
		must.Do(t.pool.QueryRow(ctx, "SELECT coalesce(array_agg(DISTINCT cco_name) FILTER (WHERE cco_name <> ''), '{}') FROM attempts WHERE cluster_id IN (SELECT id FROM clusters WHERE name = $1)", name).Scan(&recorded))
		texts = append(texts[:1], recorded...)
	}
	for _, text := range texts {
		for _, left := range t.Left(text) {
			errs = append(errs, fmt.Errorf("left in the cloud: %s", left))
		}
		buckets := must.Get(filepath.Glob(filepath.Join(t.Dir, "s3", "buckets", "*"+text+"*")))
		for _, bucket := range buckets {
			errs = append(errs, fmt.Errorf("left in S3: bucket %s", filepath.Base(bucket)))
		}
	}
	var open, unproven int
	must.Do(t.pool.QueryRow(ctx, `
		SELECT count(*) FILTER (WHERE a.closed_at IS NULL),
		       count(*) FILTER (WHERE a.number = (SELECT max(number) FROM attempts WHERE cluster_id = c.id)
		           AND (SELECT count(*) FROM verifications v WHERE v.attempt_id = a.id AND v.clean) < 2)
		  FROM attempts a JOIN clusters c ON c.id = a.cluster_id WHERE c.name = $1`, name).Scan(&open, &unproven))
	if open > 0 {
		errs = append(errs, fmt.Errorf("%d attempts are open though it is released", open))
	}
	if unproven > 0 {
		errs = append(errs, errors.New("it is released without two clean counts of its last attempt"))
	}
	return errors.Join(errs...)
}

// oneComment checks that there is one comment for one cluster, whatever was killed meanwhile.
func (t *Run) oneComment(pr int) error {
	n := 0
	for _, c := range t.GitHub.Comments(pr) {
		if c.Author == github.Bot && strings.Contains(c.Body, "<!-- ocpctl:cluster:") {
			n++
		}
	}
	if n > 1 {
		return fmt.Errorf("%d comments show one cluster", n)
	}
	return nil
}
