package store

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/runs"
	"github.com/ocpctl/ocpctl/store/usage"
)

// Judge judges a request under the locks of its person, team and repository and, if Scope says so, of the whole installation. It
// writes the result in one transaction: the request with its verdict and, if accepted, the cluster, its CREATE job, the approval
// and queue turn, the audit line, the subscribers, the wake-up and the answer. So two requests never take the same last slot,
// and a crash leaves nothing or everything.
//
// judge is called under the locks with the usage counted there; it must not use the store. answer makes the response that is
// sent and kept for Once from what was written; it may be nil if Once is. A request with a key that the principal used before
// returns the first one's cluster; an HTTP request that was answered before returns the same answer. Of two at once, in any two
// processes, the second waits for the first. A run that reuses its cluster gets that, and judge is not called; a new cluster of a
// run's slot ends that of an older attempt.
//
// ErrNameTaken: another live cluster of the platform and base domain has the name. The result then has the judgement, so that
// the caller can try another name. A runs.Refusal: the run gets no cluster. ErrKeyReused: Once's key was used for another request. An error of judge or answer comes back
// wrapped, and nothing is stored.
func (s *Store) Judge(ctx context.Context, a Ask, judge func(usage.Usage) (Judgement, error), answer func(Judged) (Answer, error)) (Judged, error) {
	var out Judged
	select {
	case s.Judging <- struct{}{}:
		defer func() { <-s.Judging }()
	case <-ctx.Done():
		return out, fmt.Errorf("judge a request of %s: %w", a.Principal, ctx.Err())
	}
	earlier := earlier{ask: a}
	err := s.WriteAfter(ctx, earlier.queue, func(c *db.Tx) (err error) {
		out, err = judgeLocked(ctx, c, a, &earlier, judge, answer)
		return err
	})
	if err != nil {
		return Judged{Judgement: out.Judgement}, fmt.Errorf("judge a request of %s: %w", a.Principal, err)
	}
	return out, nil
}

// judgeLocked is the part that Judge commits and Rehearse rolls back.
func judgeLocked(ctx context.Context, c *db.Tx, a Ask, e *earlier, judge func(usage.Usage) (Judgement, error), answer func(Judged) (Answer, error)) (Judged, error) {
	c.Now = e.now.Clock
	out, err := e.replay()
	if err != nil || out.Replayed {
		return out, err
	}
	if a.Pull != nil {
		row, found, err := ofPull(ctx, c, *a.Pull)
		if err != nil || found {
			return reuse(ctx, c, a, row, answer, err)
		}
	}
	var place *runs.Binding
	if a.Run != nil {
		reused, at, err := runs.Enter(ctx, c, *a.Run, a.Principal)
		switch {
		case err != nil:
			return Judged{}, err
		case reused != nil:
			return reuse(ctx, c, a, *reused, answer, nil)
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
	out, err = conclude(ctx, c, a, judgement, place)
	return answered(c, a, out, answer, err)
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

// reuse answers with a cluster that is there, and has those told that asked to be. It passes an error on.
func reuse(ctx context.Context, c *db.Tx, a Ask, row clusters.Row, answer func(Judged) (Answer, error), err error) (Judged, error) {
	if err == nil {
		err = signal(ctx, c, a, row.ID, "")
	}
	return answered(c, a, Judged{Judgement: Judgement{Allowed: true, Row: row}, Reused: true}, answer, err)
}

// answered adds the response to a result, if the request can be sent again. It passes an error on.
func answered(c *db.Tx, a Ask, out Judged, answer func(Judged) (Answer, error), err error) (Judged, error) {
	if a.Once == nil || err != nil {
		return out, err
	}
	response, err := answer(out)
	if err != nil {
		return out, err
	}
	out.Answer = keepAnswer(c, a.Principal, *a.Once, response)
	return out, nil
}

// locks are the names of a request's locks, in one order everywhere: the HTTP request's key, the request's own key, the cluster that is
// retried, then those of its scope.
func (a Ask) locks() (names []string) {
	if a.Once != nil {
		names = append(names, "answer "+a.Principal+" "+a.Once.Key)
	}
	if a.Key != "" {
		names = append(names, "desired "+a.Principal+" "+a.Key)
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
	answers    []answerRecord
	clusters   []clusters.RowRecord
	retried    []clusters.RowRecord
	identities *usage.Identities // of the scope's person
}

// queue takes the request's locks and reads what follows.
func (e *earlier) queue(c *db.Tx, b *db.Batch) {
	e.now = c.QueueLocks(b, e.ask.locks())
	if e.ask.Once != nil {
		b.Ask("look for an earlier answer", db.List(&e.answers), earlierAnswer, e.ask.Principal, e.ask.Once.Key)
	}
	if e.ask.Key != "" { // a refused request has no cluster, so it may be made again
		b.Ask("look for an earlier cluster", db.List(&e.clusters), `SELECT `+clusters.RowColumns+clusters.OfMany+clusters.RowSources+`
			WHERE c.id = (SELECT cluster_id FROM cluster_requests WHERE principal_id = $1 AND idempotency_key = $2)`, e.ask.Principal, e.ask.Key)
	}
	if e.ask.RetryOnce {
		b.Ask("look for a cluster in its place", db.List(&e.retried), `SELECT `+clusters.RowColumns+clusters.OfMany+clusters.RowSources+`
			WHERE c.retry_of = $1 ORDER BY c.id DESC LIMIT 1`, e.ask.RetryOf)
	}
	e.identities = usage.QueueIdentities(b, e.ask.Scope.Person)
}

// replay returns the earlier result of the request, if there is one.
func (e *earlier) replay() (Judged, error) {
	for _, kept := range e.answers {
		said, err := kept.to(*e.ask.Once, e.now.Clock)
		if err != nil || said != nil {
			return Judged{Answer: said, Replayed: true}, err
		}
	}
	for _, made := range append(e.clusters, e.retried...) {
		return Judged{Judgement: Judgement{Allowed: true, Row: made.Row()}, Replayed: true}, nil
	}
	return Judged{}, nil
}

// conclude stores the request with its verdict, and what follows from it. With an error, the result has the judgement alone.
func conclude(ctx context.Context, c *db.Tx, a Ask, j Judgement, place *runs.Binding) (Judged, error) {
	out := Judged{Judgement: j}
	var err error
	switch {
	case !j.isWhole():
		err = fmt.Errorf("%w: a request is either accepted or refused", db.ErrConflict)
	case !j.Allowed:
		if out.Request, err = refuse(ctx, c, a, j); err == nil {
			err = signal(ctx, c, a, "", j.Refusal)
		}
	default:
		if out.Row, out.Request, err = accept(ctx, c, a, j, place); err == nil {
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
