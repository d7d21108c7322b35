package chaos

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/devstack/must"
	"github.com/ocpctl/ocpctl/devstack/pick"
)

// poolsOn are the catalogue's pools, and mostInPool how many clusters each may have, with those that were claimed from it.
var poolsOn = map[string]string{"aws": "aws-ready", "ibmcloud": "ibm-ready"}

const mostInPool = 4

// nameClaimed waits until the cycle has a cluster and takes over its name, because one from a pool keeps its own.
func (t *Run) nameClaimed(ctx context.Context, c *cycle) error {
	if !t.Pools || c.cli {
		return nil
	}
	for until := time.Now().Add(t.patience()); ; {
		err := t.pool.QueryRow(ctx, "SELECT name, claimed_at IS NOT NULL FROM clusters WHERE pr_number = $1 ORDER BY created_at DESC LIMIT 1", c.pr).Scan(&c.name, &c.claimed)
		if err == nil {
			return nil
		}
		if !errors.Is(err, pgx.ErrNoRows) || time.Now().After(until) {
			return fmt.Errorf("the label of #%d got no cluster: %w", c.pr, err)
		}
		if err := sleep(ctx, glance); err != nil {
			return err
		}
	}
}

// watchPools looks how many clusters each pool has, until the function that it returns is called, which says whether one had too many.
func (t *Run) watchPools(ctx context.Context) (stop func() error) {
	if !t.Pools {
		return func() error { return nil }
	}
	ctx, cancel := context.WithCancel(ctx)
	var looking sync.WaitGroup
	most := 0
	looking.Go(func() {
		for sleep(ctx, glance) == nil {
			n := 0
			err := t.pool.QueryRow(ctx, "SELECT coalesce(max(n), 0) FROM (SELECT count(*) AS n FROM clusters WHERE pool <> '' AND destroyed_at IS NULL GROUP BY pool) p").Scan(&n)
			if err == nil { // the database may be away
				most = max(most, n)
			}
		}
	})
	return func() error {
		cancel()
		looking.Wait()
		t.say("most clusters of one pool at once, with claimed ones: %d of %d", most, mostInPool)
		if most > mostInPool {
			return fmt.Errorf("a pool had %d clusters, and may have %d", most, mostInPool)
		}
		return nil
	}
}

// drainPools has what waits destroyed, and checks that no cluster was claimed twice.
func (t *Run) drainPools(ctx context.Context, done []*cycle) (err error) {
	if !t.Pools {
		return nil
	}
	defer must.Catch(&err)
	var twice []error
	got, claimed := map[string]int{}, 0
	for _, c := range done {
		if c.claimed {
			claimed++
		}
		if got[c.name]++; got[c.name] > 1 {
			twice = append(twice, fmt.Errorf("%s was given to %d pull requests", c.name, got[c.name]))
		}
	}
	t.say("%d of %d were claimed from a pool", claimed, len(done))
	for _, cloud := range t.clouds {
		if poolsOn[cloud] != "" {
			must.Get(t.ocpctl(ctx, "admin", "pool", "drain", poolsOn[cloud], "--yes"))
		}
	}
	must.Wrap(t.until(ctx, "SELECT count(*) = 0 FROM clusters WHERE pooled AND destroyed_at IS NULL"), "the pools' own clusters end")
	names := must.Get(t.releasedOfPools(ctx))
	return errors.Join(append(twice, pick.Map(names, func(name string) error { return t.nothingLeftOf(ctx, name) })...)...)
}

// releasedOfPools returns the names of the clusters that nobody claimed.
func (t *Run) releasedOfPools(ctx context.Context) ([]string, error) {
	rows, err := t.pool.Query(ctx, "SELECT name FROM clusters WHERE pooled AND destroyed_at IS NOT NULL")
	if err != nil {
		return nil, err
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	slices.Sort(names)
	return names, err
}
