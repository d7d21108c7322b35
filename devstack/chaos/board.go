package chaos

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/ocpctl/ocpctl/devstack/must"
)

// glance is how often the clusters' states are read.
const glance = 40 * time.Millisecond

// cluster is a cluster's state as the tests use it, with its open attempt.
type cluster struct {
	ID, Name, Status, Phase, Desired, Why, FailReason string
	Attempt                                           string // the newest; empty: none yet
}

// board is the last known state of every cluster. While the database is unavailable it stays as it was.
type board struct {
	done chan struct{}

	mu     sync.Mutex
	byName map[string]cluster
}

func watchBoard(ctx context.Context, pool *pgxpool.Pool) *board {
	b := &board{done: make(chan struct{}), byName: map[string]cluster{}}
	go func() {
		defer close(b.done)
		for {
			b.look(ctx, pool)
			if sleep(ctx, glance) != nil {
				return
			}
		}
	}()
	return b
}

// look reads the clusters that are not released, or were released recently. It retries if the database is unavailable.
func (b *board) look(ctx context.Context, pool *pgxpool.Pool) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	rows, err := pool.Query(ctx, `
		SELECT c.id, c.name, c.status, c.phase, c.desired, c.why::text AS why, c.fail_reason,
		       coalesce((SELECT a.id FROM attempts a WHERE a.cluster_id = c.id ORDER BY a.number DESC LIMIT 1), '') AS attempt
		  FROM clusters c
		 WHERE c.destroyed_at IS NULL OR c.destroyed_at > now() - interval '30 seconds'
		 ORDER BY c.created_at`)
	if err != nil {
		return
	}
	seen, err := pgx.CollectRows(rows, pgx.RowToStructByName[cluster])
	if err != nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, c := range seen {
		b.byName[c.Name] = c
	}
}

// of returns the cluster of a pull request.
func (b *board) of(pr int) (cluster, bool) { return b.named(nameOf(pr)) }

// named returns the newest cluster with that name.
func (b *board) named(name string) (cluster, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	c, ok := b.byName[name]
	return c, ok
}

// spentBelow is the remaining part of GitHub's limit below which nothing that starts a cluster is decided: a quarter of the reserve
// of a fifth.
const spentBelow = 5000 / 20

// await waits until the pull request's cluster meets the condition. Time in which GitHub accepts no calls does not count.
func (t *Run) await(ctx context.Context, pr int, what string, within time.Duration, as func(cluster) bool) error {
	return t.awaitNamed(ctx, nameOf(pr), what, within, as)
}

// awaitNamed is await for the cluster with that name.
func (t *Run) awaitNamed(ctx context.Context, name, what string, within time.Duration, as func(cluster) bool) error {
	return t.awaitWhile(ctx, name, what, within, as, func() bool { return t.GitHub.Left() > spentBelow })
}

// awaitWhile is awaitNamed with a clock that stops while counts is false.
func (t *Run) awaitWhile(ctx context.Context, name, what string, within time.Duration, as func(cluster) bool, counts func() bool) (err error) {
	defer must.Catch(&err)
	deadline := time.Now().Add(within)
	for {
		c, ok := t.board.named(name)
		if ok && as(c) {
			return nil
		}
		if !counts() {
			deadline = deadline.Add(glance)
		}
		must.FailIf(time.Now().After(deadline), "not %s within %s: %s", what, within, c.describe(name))
		must.Do(sleep(ctx, glance))
	}
}

func (c cluster) describe(name string) string {
	if c.ID == "" {
		return "there is no cluster " + name
	}
	return fmt.Sprintf("%s is %s/%s, desired %s, attempt %q, %s %s", c.Name, c.Status, c.Phase, c.Desired, c.Attempt, c.FailReason, c.Why)
}
