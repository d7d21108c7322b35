package store

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/internal/tracing"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/usage"
)

// Requests that arrive while others are judged are judged together next: one transaction takes the locks of all of them, reads what they
// need, judges one after the other with what those before it use, and commits once. So fifty requests of one team wait for one commit
// instead of fifty. Grouping changes no result: what does not fit into a group, and a group that fails as a whole, is judged one by one.

const (
	mostTogether = 32
	mostUnfolded = 200              // changes of usage that a group reads before it has them folded
	lockPatience = `'250ms'`        // whoever would wait longer for somebody else's lock waits alone, and not with those who need another
	groupTimeout = 30 * time.Second // for the whole group; each caller stops waiting at its own deadline
)

// group gathers requests. One goroutine judges them as long as there are any.
type group struct {
	store   *Store
	mu      sync.Mutex
	waiting []*pending
	busy    bool
	folding atomic.Bool
}

// pending is one request of a group.
type pending struct {
	earlier
	ctx   context.Context
	judge func(usage.Usage) (Judgement, error)
	done  chan struct{} // closed when out and err are final
	out   Judged
	err   error
	alone bool // it has to be judged alone
}

// standsAlone reports that a request is no part of a group, because it reads or writes more than its own rows.
func (a Ask) standsAlone() bool {
	return a.RetryOf != "" || a.Pull != nil || a.Run != nil || a.Asker != nil || a.Signal != nil || a.Wait != nil || a.Claims
}

// judge waits for the request's result.
func (g *group) judge(ctx context.Context, a Ask, judge func(usage.Usage) (Judgement, error)) (Judged, error) {
	p := &pending{earlier: earlier{ask: a}, ctx: ctx, judge: judge, done: make(chan struct{})}
	g.mu.Lock()
	g.waiting = append(g.waiting, p)
	if !g.busy {
		g.busy = true
		go g.run()
	}
	g.mu.Unlock()
	select {
	case <-p.done:
	case <-ctx.Done():
		return Judged{}, ctx.Err()
	}
	if p.alone {
		return g.store.judgeAlone(ctx, a, judge)
	}
	return p.out, p.err
}

func (g *group) run() {
	for {
		g.mu.Lock()
		n := min(len(g.waiting), mostTogether)
		next := slices.Clone(g.waiting[:n])
		g.waiting = slices.Delete(g.waiting, 0, n)
		g.busy = n > 0
		g.mu.Unlock()
		if n == 0 {
			return
		}
		g.judgeTogether(next)
	}
}

// judgeTogether gives each request its result, or leaves it to its caller to judge it alone.
func (g *group) judgeTogether(all []*pending) {
	live := slices.DeleteFunc(slices.Clone(all), func(p *pending) bool { return p.ctx.Err() != nil })
	ctx, cancel := context.WithTimeout(context.Background(), groupTimeout)
	defer cancel()
	if len(live) > 0 {
		var now *db.LockTime
		decided := false
		err := g.store.WriteAfter(ctx, func(c *db.Tx, b *db.Batch) { now = queueTogether(c, b, live) }, func(c *db.Tx) error {
			c.Now = now.Clock
			err := g.decideTogether(ctx, c, live)
			decided = err == nil
			return err
		})
		for _, p := range live {
			switch {
			case err == nil || p.err != nil:
			case decided && !db.WasRolledBack(err): // perhaps it is stored: only a request with a key may be sent again
				p.err, p.alone = err, false
			default:
				p.alone = true
			}
		}
	}
	for _, p := range all {
		close(p.done)
	}
}

// queueTogether takes the locks of all requests and reads what is there of each.
func queueTogether(c *db.Tx, b *db.Batch, all []*pending) *db.LockTime {
	var locks, principals, keys, people []string
	for _, p := range all {
		locks = append(locks, p.ask.locks()...)
		for _, key := range p.ask.keys() {
			principals, keys = append(principals, p.ask.Principal), append(keys, key)
		}
		people = append(people, p.ask.Scope.Person)
	}
	b.Do("bound the wait", "SET LOCAL lock_timeout = "+lockPatience)
	now := c.QueueLocks(b, locks)
	b.Do("wait for other locks as usual", "SET LOCAL lock_timeout = 0")
	for _, p := range all {
		p.now = now
	}
	if len(keys) > 0 {
		b.Ask("look for earlier results", func(rows pgx.Rows) error { return shareKeys(rows, all) }, earlierKeysOfMany, principals, keys)
	}
	slices.Sort(people)
	b.Ask("look for people's identities", func(rows pgx.Rows) error { return shareIdentities(rows, all) },
		`SELECT id, identities_of(id) AS ids FROM unnest($1::text[]) AS t (id)`, slices.Compact(people))
	return now
}

// shareKeys gives each request what is known of its keys.
func shareKeys(rows pgx.Rows, all []*pending) error {
	var found []struct {
		Principal string
		requestKey
	}
	if err := db.List(&found)(rows); err != nil {
		return err
	}
	for _, k := range found {
		for _, p := range all {
			if p.ask.Principal == k.Principal && slices.Contains(p.ask.keys(), k.Key) {
				p.earlier.keys = append(p.earlier.keys, k.requestKey)
			}
		}
	}
	return nil
}

// shareIdentities gives each request its person's identities.
func shareIdentities(rows pgx.Rows, all []*pending) error {
	var found []struct {
		ID  string
		IDs []string
	}
	if err := db.List(&found)(rows); err != nil {
		return err
	}
	for _, f := range found {
		for _, p := range all {
			if p.ask.Scope.Person == f.ID {
				p.identities = &usage.Identities{IDs: f.IDs}
			}
		}
	}
	return nil
}

// decideTogether judges and writes. What was made before, repeats a key of the group or takes a name that is taken is judged alone.
func (g *group) decideTogether(ctx context.Context, c *db.Tx, all []*pending) error {
	var scopes []usage.Scope
	identities := map[string][]string{}
	seen := map[[2]string]bool{}
	for _, p := range all {
		scopes, identities[p.ask.Scope.Person] = append(scopes, p.ask.Scope), p.identities.IDs
		p.alone = slices.ContainsFunc(p.earlier.keys, func(k requestKey) bool { return k.Cluster != "" || p.ask.Once != nil && k.Key == p.ask.Once.Key })
		for _, key := range p.ask.keys() {
			at := [2]string{p.ask.Principal, key}
			p.alone = p.alone || seen[at]
			seen[at] = true
		}
	}
	tally, err := usage.ReadTally(ctx, c, scopes, identities, c.Now)
	if err != nil {
		return err
	}
	if tally.Changes > mostUnfolded && g.folding.CompareAndSwap(false, true) {
		go g.fold()
	}
	judged, err := judgeInTurn(ctx, c, all, tally)
	if err != nil {
		return err
	}
	return writeTogether(ctx, c, judged)
}

// writeTogether writes the requests that were judged, and what follows from each, and gives each its cluster as written.
func writeTogether(ctx context.Context, c *db.Tx, judged []*pending) error {
	var b db.Batch
	rows := make([]clusters.Row, len(judged))
	for i, p := range judged {
		ctx := tracing.With(ctx, tracing.Of(p.ctx))
		c.For(ctx)
		_, err := p.replay() // which refused request is accepted now
		switch j := p.out.Judgement; {
		case err != nil:
		case !j.isWhole():
			err = fmt.Errorf("%w: a request is either accepted or refused", db.ErrConflict)
		case j.Allowed:
			rows[i], p.out.Request, err = queueAccepted(ctx, c, &b, p.ask, p.refused, j, nil)
		case p.refused != "":
			p.out.Request = p.refused
		default:
			p.out.Request = queueRequest(ctx, c, &b, p.ask, "", j, "")
		}
		if err != nil {
			return err
		}
	}
	if err := c.Send(ctx, &b); err != nil {
		return err
	}
	for i, p := range judged {
		if err := p.follow(tracing.With(ctx, tracing.Of(p.ctx)), c, rows[i]); err != nil {
			return err
		}
		if p.out.Allowed {
			p.out.Row = rows[i].Written(c.Now)
		}
		keepKeys(c, p.ask, p.out)
	}
	return nil
}

// follow writes what follows from the request: replies, announcements, jobs and the audit line.
func (p *pending) follow(ctx context.Context, c *db.Tx, row clusters.Row) error {
	c.For(ctx)
	switch j := p.out.Judgement; {
	case j.Allowed:
		return followAccepted(ctx, c, p.ask, j, row)
	case p.refused != "":
		return respond(ctx, c, j)
	default:
		return followRefused(ctx, c, p.ask, j, p.out.Request)
	}
}

// judgeInTurn judges the requests, each with what those before it use, and returns those that are to be written. A name that is taken is
// found after the judgement, which chose it: then the others are judged again without that request.
func judgeInTurn(ctx context.Context, c *db.Tx, all []*pending, tally *usage.Tally) (judged []*pending, err error) {
	for {
		counted := tally.Clone()
		judged = judged[:0]
		names := map[clusters.Address]*pending{}
		for _, p := range all {
			if p.err = nil; p.alone {
				continue
			}
			if p.out.Judgement, p.err = p.judgeSafely(counted.Of(p.ask.Scope)); p.err != nil {
				continue
			}
			if row := p.out.Row; p.out.Allowed {
				at := clusters.Address{Platform: row.Platform, BaseDomain: row.BaseDomain, Name: row.Name}
				if names[at] != nil {
					p.alone = true
					continue
				}
				names[at] = p
				counted.Add(p.ask.Scope, fill(c, p.out.Judgement).Cluster, row.Nodes, row.HourlyCents, row.Account, usage.AccountRegion{Number: row.Spec.Account, Region: row.Region}, row.Exclusive)
			}
			judged = append(judged, p)
		}
		taken, err := clusters.Taken(ctx, c, names)
		if err != nil || len(taken) == 0 {
			return judged, err
		}
		for _, at := range taken {
			names[at].alone = true
		}
	}
}

// fold folds changes of usage during a storm, when the pass that does it comes too seldom. That pass reports its failure.
func (g *group) fold() {
	defer g.folding.Store(false)
	ctx, cancel := context.WithTimeout(context.Background(), groupTimeout)
	defer cancel()
	_, _ = g.store.FoldUsage(ctx)
}

// judgeSafely turns a panic into an error: it must not end the process, and the other requests of the group go on.
func (p *pending) judgeSafely(u usage.Usage) (j Judgement, err error) {
	defer func() {
		if problem := recover(); problem != nil {
			err = errors.Join(fmt.Errorf("judging panicked: %v", problem), errors.New(string(debug.Stack())))
		}
	}()
	if j, err = p.judge(u); err == nil {
		err = p.ctx.Err() // whoever no longer waits gets nothing
	}
	return j, err
}
