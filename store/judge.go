package store

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// Judge judges a request under the locks of its person, team and repository and, if Scope says so, of the whole installation. It
// writes the result in one transaction: the request with its verdict and, if accepted, the cluster, its CREATE job, the approval
// and queue turn, the audit line, the subscribers, the wake-up and the answer. So two requests never take the same last slot,
// and a crash leaves nothing or everything.
//
// judge is called under the locks with the usage counted there; it must not use the store. answer makes the response that is
// sent and kept for Once from what was written; it may be nil if Once is. A request with a key that the principal used before
// returns the first one's cluster; an HTTP request that was answered before returns the same answer. Of two at once, in any two
// processes, the second waits for the first.
//
// ErrNameTaken: another live cluster of the platform and base domain has the name. The result then has the judgement, so that
// the caller can try another name. ErrKeyReused: Once's key was used for another request. An error of judge or answer comes back
// wrapped, and nothing is stored.
func (s *Store) Judge(ctx context.Context, a Ask, judge func(Usage) (Judgement, error), answer func(Judged) (Answer, error)) (Judged, error) {
	var out Judged
	select {
	case s.judging <- struct{}{}:
		defer func() { <-s.judging }()
	case <-ctx.Done():
		return out, fmt.Errorf("judge a desired of %s: %w", a.Principal, ctx.Err())
	}
	err := s.write(ctx, func(c *change) (err error) {
		out, err = c.judge(ctx, a, judge, answer)
		return err
	})
	if err != nil {
		return Judged{Judgement: out.Judgement}, fmt.Errorf("judge a desired of %s: %w", a.Principal, err)
	}
	return out, nil
}

// judge is the part that Judge commits and Rehearse rolls back.
func (c *change) judge(ctx context.Context, a Ask, judge func(Usage) (Judgement, error), answer func(Judged) (Answer, error)) (Judged, error) {
	out, err := c.replay(ctx, a)
	if err != nil || out.Replayed {
		return out, err
	}
	usage, err := c.usage(ctx, a.Scope)
	if err != nil {
		return Judged{}, err
	}
	judgement, err := judge(usage)
	if err != nil {
		return Judged{}, err
	}
	if out, err = c.conclude(ctx, a, judgement); err != nil || a.Once == nil {
		return out, err
	}
	response, err := answer(out)
	if err != nil {
		return out, err
	}
	out.Answer, err = c.keepAnswer(ctx, a.Principal, *a.Once, response)
	return out, err
}

// wait takes the locks one after the other, until the transaction ends, and sets now to the time after the last.
func (c *change) wait(ctx context.Context, locks []string) error {
	var b batch
	now := c.queueLocks(&b, locks)
	if err := c.send(ctx, &b); err != nil {
		return err
	}
	c.now = now.Clock
	return nil
}

// behind is the time at which the locks were held.
type behind struct{ Clock time.Time }

func (c *change) queueLocks(b *batch, locks []string) *behind {
	b.do("wait for the locks", `SELECT pg_advisory_xact_lock(hashtextextended(
			CASE WHEN name LIKE $2 || '%' THEN $2 || person_of(substr(name, length($2) + 1)) ELSE name END, 0))
		FROM unnest($1::text[]) AS t (name)`, locks, personLock)
	var now behind
	b.ask("ask the clock", into(&now), `SELECT coalesce($1::timestamptz, clock_timestamp()) AS clock`, c.store.fixed())
	return &now
}

// personLock is the prefix of a person's lock. One of the person's principals follows: all of them give the same lock.
const personLock = "quota person "

// locks are the names of a request's locks, in one order everywhere: the HTTP request's key, the request's own key, then those
// of its scope.
func (a Ask) locks() (names []string) {
	if a.Once != nil {
		names = append(names, "answer "+a.Principal+" "+a.Once.Key)
	}
	if a.Key != "" {
		names = append(names, "desired "+a.Principal+" "+a.Key)
	}
	return append(names, a.Scope.locks()...)
}

func (s Scope) locks() (names []string) {
	for kind, key := range map[string]string{"person": s.Person, "team": s.Team, "repository": s.Repo} {
		if key != "" {
			names = append(names, "quota "+kind+" "+key)
		}
	}
	if s.Everywhere {
		names = append(names, "quota everywhere")
	}
	slices.Sort(names)
	return names
}

// replay takes the request's locks and looks for an earlier result of the same HTTP request or of the same key.
func (c *change) replay(ctx context.Context, a Ask) (Judged, error) {
	var b batch
	now := c.queueLocks(&b, a.locks())
	var answers []answerRecord
	if a.Once != nil {
		b.ask("look for an earlier answer", list(&answers), earlierAnswer, a.Principal, a.Once.Key)
	}
	var rows []rowRecord
	if a.Key != "" { // a refused request has no cluster, so it may be made again
		b.ask("look for an earlier cluster", list(&rows), `SELECT `+rowColumns+notReplaced+rowSources+`
			WHERE c.id = (SELECT cluster_id FROM cluster_requests WHERE principal_id = $1 AND idempotency_key = $2)`, a.Principal, a.Key)
	}
	if err := c.send(ctx, &b); err != nil {
		return Judged{}, err
	}
	c.now = now.Clock
	for _, kept := range answers {
		said, err := kept.to(*a.Once, c.now)
		if err != nil || said != nil {
			return Judged{Answer: said, Replayed: true}, err
		}
	}
	if len(rows) > 0 {
		return Judged{Judgement: Judgement{Allowed: true, Row: rows[0].row()}, Replayed: true}, nil
	}
	return Judged{}, nil
}

// conclude stores the request with its verdict, and what follows from it. With an error, the result has the judgement alone.
func (c *change) conclude(ctx context.Context, a Ask, j Judgement) (Judged, error) {
	out := Judged{Judgement: j}
	var err error
	switch {
	case !j.isWhole():
		err = fmt.Errorf("%w: a desired is either accepted or refused", ErrConflict)
	case !j.Allowed:
		out.Request, err = c.refuse(ctx, a, j)
	default:
		out.Row, out.Request, err = c.accept(ctx, a, j)
	}
	return out, err
}

func (r Row) repo() string {
	if r.PR == nil {
		return ""
	}
	return r.PR.Repo
}
