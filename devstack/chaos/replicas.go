package chaos

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/devstack/github"
	"github.com/ocpctl/ocpctl/devstack/must"
)

// killer kills one of several servers at random moments and starts it again a little later. At least one always lives.
type killer struct {
	cancel context.CancelFunc
	done   chan struct{}
	kills  int
	err    error
}

// The bounds of a server's life and of its absence. The absence is often longer than a take-over takes.
const (
	shortestLife, longestLife = 500 * time.Millisecond, 5 * time.Second
	longestAbsence            = 4 * time.Second
)

func (t *Run) startKiller(ctx context.Context, seed uint64) *killer {
	ctx, cancel := context.WithCancel(ctx)
	k := &killer{cancel: cancel, done: make(chan struct{})}
	rng := rand.New(rand.NewPCG(seed, 1))
	go func() {
		defer close(k.done)
		for k.err == nil {
			if sleep(ctx, shortestLife+time.Duration(rng.Int64N(int64(longestLife-shortestLife)))) != nil {
				return
			}
			k.err = t.killOne(ctx, rng)
			k.kills++
		}
	}()
	return k
}

// killOne kills a server and starts it again, even if ctx ends meanwhile.
func (t *Run) killOne(ctx context.Context, rng *rand.Rand) (err error) {
	defer must.Catch(&err)
	s := t.Servers[rng.IntN(len(t.Servers))]
	must.Wrap(s.Kill(), "kill a server")
	_ = sleep(ctx, time.Duration(rng.Int64N(int64(longestAbsence))))
	must.Wrap(s.Start(context.WithoutCancel(ctx)), "start a killed server")
	return nil
}

// stop ends the killing and returns how many servers were killed. All run again.
func (k *killer) stop() (int, error) {
	k.cancel()
	<-k.done
	return k.kills, k.err
}

// nothingTwice checks what was made for one released cluster: one comment, one check and one deployment show it, nothing was answered
// twice, and no attempt ran the installer twice.
func (t *Run) nothingTwice(ctx context.Context, pr int, name string) error {
	times := map[string]int{}
	for _, c := range t.GitHub.Comments(pr) {
		if c.Author == github.Bot {
			times[fmt.Sprintf("comment %.80q", c.Body)]++
		}
	}
	for _, c := range t.GitHub.Checks(pr) {
		times["check "+c.Name]++
	}
	for _, d := range t.GitHub.Deployments() {
		if strings.HasSuffix(d.Task, ":"+name) {
			times["deployment "+d.Task]++
		}
	}
	var errs []error
	for what, n := range times {
		if n > 1 {
			errs = append(errs, fmt.Errorf("#%d has %d times the %s", pr, n, what))
		}
	}
	clusters, creates, err := t.made(ctx, pr)
	if err != nil {
		return err
	}
	if clusters != 1 {
		errs = append(errs, fmt.Errorf("one label made %d clusters", clusters))
	}
	starts := 0
	for _, e := range t.trace.of(name) {
		if e.Command == "create" && e.What == "start" {
			starts++
		}
	}
	if starts > creates {
		errs = append(errs, fmt.Errorf("the installer was started %d times in %d attempts", starts, creates))
	}
	return errors.Join(errs...)
}

// made returns how many clusters a pull request had, and how many attempts at creating them a runner worked on.
func (t *Run) made(ctx context.Context, pr int) (clusters, creates int, err error) {
	err = t.pool.QueryRow(ctx, `
		SELECT count(DISTINCT c.id), count(*) FILTER (WHERE a.kind = 'create' AND a.claimed_at IS NOT NULL)
		  FROM clusters c LEFT JOIN attempts a ON a.cluster_id = c.id WHERE c.pr_number = $1`, pr).Scan(&clusters, &creates)
	if err != nil {
		return 0, 0, fmt.Errorf("count what was made for #%d: %w", pr, err)
	}
	return clusters, creates, nil
}

// nothingLost waits until everything that was accepted is done: deliveries, jobs that are due, changes on GitHub, and what is shown.
func (t *Run) nothingLost(ctx context.Context) error {
	const open = `
		SELECT (SELECT count(*) FROM deliveries WHERE state = 'received') + (SELECT count(*) FROM effects WHERE done_at IS NULL)
			+ (SELECT count(*) FROM subscribers WHERE shown_version < wanted_version) + (SELECT count(*) FROM clusters WHERE destroyed_at IS NULL)
			+ (SELECT count(*) FROM river_job WHERE state IN ('running', 'available') AND attempted_at < now() - interval '30 seconds') = 0`
	if err := t.until(ctx, open); err != nil {
		return fmt.Errorf("something was lost: %w", err)
	}
	return nil
}
