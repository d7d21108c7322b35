package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/store/brakes"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/pools"
	"github.com/ocpctl/ocpctl/store/runs"
	"github.com/ocpctl/ocpctl/store/usage"
)

// Judge judges a request under the locks of its person, team and repository and, if Scope says so, of the whole installation. It
// writes the result in one transaction: the request with its verdict and, if accepted, the cluster, its CREATE job, the approval
// and queue turn, the audit line, the subscribers, the wake-up and what its keys led to. So two requests never take the same last slot,
// and a crash leaves nothing or everything.
//
// judge is called under the locks with the usage counted there; it must not use the store. A request with a key that the principal used
// before has the first one's result: its cluster as it is now and, for Once, its verdict, also if it was refused. Of two at once, in any two
// processes, the second waits for the first. A run that reuses its cluster gets that, and judge is not called; a new cluster of a
// run's slot ends that of an older attempt.
//
// ErrNameTaken: another live cluster of the platform and base domain has the name. The result then has the judgement, so that
// the caller can try another name. A runs.Refusal: the run gets no cluster. ErrKeyReused: Once's key was used for another request. An error of judge comes back
// wrapped, and nothing is stored.
func (s *Store) Judge(ctx context.Context, a Ask, judge func(usage.Usage) (Judgement, error)) (Judged, error) {
	var out Judged
	var err error
	if a.standsAlone() {
		out, err = s.judgeAlone(ctx, a, judge)
	} else {
		out, err = s.group.judge(ctx, a, judge)
	}
	if err != nil {
		return Judged{Judgement: out.Judgement}, fmt.Errorf("judge a request of %s: %w", a.Principal, err)
	}
	return out, nil
}

// How long a request waits for a cluster of a pool that is being changed before one is made anew, which takes much longer.
const (
	claimPatience = 5 * time.Second
	claimPause    = 50 * time.Millisecond
)

// judgeAlone judges one request in a transaction of its own. While what it could claim is locked, it does so again, and holds no lock meanwhile.
func (s *Store) judgeAlone(ctx context.Context, a Ask, judge func(usage.Usage) (Judgement, error)) (Judged, error) {
	for until := time.Now().Add(claimPatience); ; {
		a.patient = time.Now().Before(until)
		out, err := s.judgeOnce(ctx, a, judge)
		if !errors.Is(err, pools.ErrBusy) {
			return out, err
		}
		select {
		case <-time.After(claimPause):
		case <-ctx.Done():
			return out, ctx.Err()
		}
	}
}

func (s *Store) judgeOnce(ctx context.Context, a Ask, judge func(usage.Usage) (Judgement, error)) (out Judged, err error) {
	select {
	case s.Judging <- struct{}{}:
		defer func() { <-s.Judging }()
	case <-ctx.Done():
		return out, ctx.Err()
	}
	earlier := earlier{ask: a}
	err = s.WriteAfter(ctx, earlier.queue, func(c *db.Tx) (err error) {
		out, err = judgeLocked(ctx, c, a, &earlier, judge)
		return err
	})
	return out, err
}

// judgeLocked is the part that Judge commits and Rehearse rolls back.
func judgeLocked(ctx context.Context, c *db.Tx, a Ask, e *earlier, judge func(usage.Usage) (Judgement, error)) (Judged, error) {
	c.Now = e.now.Clock
	out, err := e.replay()
	if err != nil || out.Replayed {
		return out, err
	}
	if a.Pull != nil {
		row, found, err := ofPull(ctx, c, *a.Pull)
		if err != nil || found {
			return reuse(ctx, c, a, row, err)
		}
	}
	var place *runs.Binding
	if a.Run != nil {
		reused, at, err := runs.Enter(ctx, c, *a.Run, a.Principal)
		switch {
		case err != nil:
			return Judged{}, err
		case reused != nil:
			return reuse(ctx, c, a, *reused, nil)
		}
		place = at
	}
	usage, err := usage.CountAt(ctx, c, a.Scope, e.identities.IDs, c.Now)
	if err != nil {
		return Judged{}, err
	}
	judgement, err := judge(usage)
	if err != nil {
		return Judged{}, err
	}
	if out, err = conclude(ctx, c, a, e.refused, judgement, place); err == nil {
		keepKeys(c, a, out)
	}
	return out, err
}

// ofPull returns the wanted cluster of a pull request and profile.
func ofPull(ctx context.Context, c *db.Tx, p PullAsk) (row clusters.Row, found bool, err error) {
	list, err := db.All[clusters.RowRecord](ctx, c, `SELECT `+clusters.RowColumns+clusters.OfMany+clusters.RowSources+`
		WHERE c.repo = @repo AND c.pr_number = @number AND c.profile = @profile AND c.desired = 'present' ORDER BY c.generation DESC LIMIT 1`,
		pgx.NamedArgs{"repo": p.Repo, "number": p.Number, "profile": p.Profile})
	if err != nil || len(list) == 0 {
		return clusters.Row{}, false, err
	}
	row = list[0].Row()
	return row, true, p.Reuse(row)
}

// reuse gives a cluster that is there, and has those told that asked to be. It passes an error on.
func reuse(ctx context.Context, c *db.Tx, a Ask, row clusters.Row, err error) (Judged, error) {
	out := Judged{Judgement: Judgement{Allowed: true, Row: row}, Reused: true}
	if err == nil {
		err = signal(ctx, c, a, row.ID, "")
	}
	if err == nil {
		keepKeys(c, a, out)
	}
	return out, err
}

// locks are the names of a request's locks, in one order everywhere: the HTTP request's key, the request's own key, the cluster that is
// retried, then those of its scope.
func (a Ask) locks() (names []string) {
	for _, key := range a.keys() {
		names = append(names, "key "+a.Principal+" "+key)
	}
	if a.RetryOf != "" {
		names = append(names, "retry "+a.RetryOf)
	}
	return append(names, a.Scope.Locks()...)
}

// earlier is what was written before for the same HTTP request or for the same key, as read under the request's locks, which wait
// for whoever judges the same request or the same scope.
type earlier struct {
	ask        Ask
	now        *db.LockTime
	keys       []requestKey
	refused    string // id of the refused request with the same Key, which an acceptance replaces
	clusters   []clusters.RowRecord
	retried    []clusters.RowRecord
	identities *usage.Identities // of the scope's person
}

// queue takes the request's locks and reads what follows.
func (e *earlier) queue(c *db.Tx, b *db.Batch) {
	if e.ask.Claims { // what drains the claimant's clusters, and what it claims, do not miss each other
		db.QueueSharedLock(b, brakes.Lock)
	}
	e.now = c.QueueLocks(b, e.ask.locks())
	if keys := e.ask.keys(); len(keys) > 0 {
		b.Ask("look for earlier results", db.List(&e.keys), earlierKeys, e.ask.Principal, keys)
		b.Ask("look for earlier clusters", db.List(&e.clusters), `SELECT `+clusters.RowColumns+clusters.OfMany+clusters.RowSources+`
			WHERE c.id IN (SELECT cluster_id FROM request_keys WHERE principal = $1 AND key = ANY ($2))`, e.ask.Principal, keys)
	}
	if e.ask.RetryOnce {
		b.Ask("look for a cluster in its place", db.List(&e.retried), `SELECT `+clusters.RowColumns+clusters.OfMany+clusters.RowSources+`
			WHERE c.retry_of = $1 ORDER BY c.id DESC LIMIT 1`, e.ask.RetryOf)
	}
	e.identities = usage.QueueIdentities(b, e.ask.Scope.Person)
}

// replay returns the earlier result of the request, if there is one. ErrKeyReused: Once's key belongs to another request.
func (e *earlier) replay() (Judged, error) {
	for _, k := range e.keys {
		switch {
		case e.ask.Once != nil && k.Key == e.ask.Once.Key:
			if k.ExpiresAt != nil && !k.ExpiresAt.After(e.now.Clock) {
				continue
			}
			if k.Content != e.ask.Once.Request {
				return Judged{}, db.ErrKeyReused
			}
			return k.toJudged(e.clusters), nil
		case k.Cluster == "": // a refused request may be made again
			e.refused = k.Request
		default:
			row := k.toJudged(e.clusters).Row
			return Judged{Judgement: Judgement{Allowed: true, Row: row}, Replayed: true}, nil
		}
	}
	for _, made := range e.retried {
		return Judged{Judgement: Judgement{Allowed: true, Row: made.Row()}, Replayed: true}, nil
	}
	return Judged{}, nil
}

// conclude stores the request with its verdict, and what follows from it. again is the refused request with the same key, if there is one.
// With an error, the result has the judgement alone.
func conclude(ctx context.Context, c *db.Tx, a Ask, again string, j Judgement, place *runs.Binding) (Judged, error) {
	out := Judged{Judgement: j}
	var err error
	switch {
	case !j.isWhole():
		err = fmt.Errorf("%w: a request is either accepted or refused", db.ErrConflict)
	case !j.Allowed:
		if out.Request, err = refuse(ctx, c, a, again, j); err == nil {
			err = signal(ctx, c, a, "", j.Refusal)
		}
	default:
		if out.Row, out.Request, err = accept(ctx, c, a, again, j, place); err == nil {
			err = signal(ctx, c, a, out.Row.ID, "")
		}
		if err == nil && a.Asker != nil {
			err = runs.NoteRequest(ctx, c, out.Row.ID, *a.Asker)
		}
	}
	return out, err
}

// signal writes what a request asks to be told: of a cluster, or of the refusal.
func signal(ctx context.Context, c *db.Tx, a Ask, cluster, refusal string) error {
	if a.Wait != nil {
		if err := runs.AskWait(ctx, c, *a.Wait, cluster, refusal); err != nil {
			return err
		}
	}
	if a.Signal == nil || cluster == "" {
		return nil
	}
	return runs.AskSignal(ctx, c, cluster, *a.Signal)
}
