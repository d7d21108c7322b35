package store

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
)

// Judge has a wish judged while nobody else's is for the same person, team, repository or, where Scope says so, anybody,
// and writes what becomes of it: the wish with its verdict, and of a granted one the cluster, its CREATE job, what has to be
// approved, its place among those that wait, the audit line, the places that show it and the wake-up; and the answer to
// give. All of it in one transaction, so that no two wishes see the same last place, and a crash leaves nothing or all.
//
// judge is called behind the locks with what is counted there; it must ask nothing of the store. answer makes what is sent
// and kept for Once; it may be nil for doors without. A wish with a key that the principal used before returns the cluster
// of the first time; a request that was answered before, the same answer. Of two at once, in any two processes, the second
// waits for the first.
//
// ErrNameTaken: another live cluster of the platform and base domain has the name. ErrKeyReused: Once's key was used for
// another request. An error of judge or answer comes back wrapped, and nothing is kept.
func (s *Store) Judge(ctx context.Context, a Ask, judge func(Usage) (Judgement, error), answer func(Row, Judgement) (Answer, error)) (Judged, error) {
	var out Judged
	err := s.write(ctx, func(c *change) (err error) {
		if err := c.lockFor(ctx, a); err != nil {
			return err
		}
		if out, err = c.replay(ctx, a); err != nil || out.Replayed {
			return err
		}
		usage, err := c.usage(ctx, a.Scope)
		if err != nil {
			return err
		}
		verdict, err := judge(usage)
		if err != nil {
			return err
		}
		if out, err = c.conclude(ctx, a, verdict); err != nil || a.Once == nil {
			return err
		}
		said, err := answer(out.Row, verdict)
		if err != nil {
			return err
		}
		out.Answer, err = c.keepAnswer(ctx, a.Principal, *a.Once, said)
		return err
	})
	if err != nil {
		return Judged{}, fmt.Errorf("judge a wish of %s: %w", a.Principal, err)
	}
	return out, nil
}

// lockFor takes the wish's locks in one order everywhere, each until the transaction ends: of the request's key, of the
// wish's key, then of those it counts for.
func (c *change) lockFor(ctx context.Context, a Ask) error {
	var keys []string
	if a.Once != nil {
		keys = append(keys, "answer "+a.Principal+" "+a.Once.Key)
	}
	if a.Key != "" {
		keys = append(keys, "wish "+a.Principal+" "+a.Key)
	}
	keys = append(keys, a.Scope.locks()...)
	if len(keys) > 0 {
		if _, err := c.Exec(ctx, `SELECT pg_advisory_xact_lock(hashtextextended(key, 0)) FROM unnest($1::text[]) AS t (key)`, keys); err != nil {
			return fmt.Errorf("wait for the locks: %w", err)
		}
	}
	return c.readClock(ctx)
}

// locks are the names of what is locked, in order.
func (s Scope) locks() (keys []string) {
	for kind, key := range map[string]string{"person": s.Person, "team": s.Team, "repository": s.Repo} {
		if key != "" {
			keys = append(keys, "quota "+kind+" "+key)
		}
	}
	if s.Everywhere {
		keys = append(keys, "quota everywhere")
	}
	slices.Sort(keys)
	return keys
}

// readClock makes now the time behind the locks.
func (c *change) readClock(ctx context.Context) error {
	if err := c.QueryRow(ctx, `SELECT coalesce($1::timestamptz, clock_timestamp())`, c.store.fixed()).Scan(&c.now); err != nil {
		return fmt.Errorf("ask the clock: %w", err)
	}
	return nil
}

// replay finds what came of the same request, or of the same wish, before.
func (c *change) replay(ctx context.Context, a Ask) (Judged, error) {
	if a.Once != nil {
		said, err := c.answered(ctx, a.Principal, *a.Once)
		if err != nil || said != nil {
			return Judged{Answer: said, Replayed: said != nil}, err
		}
	}
	if a.Key == "" {
		return Judged{}, nil
	}
	row, err := one[rowRecord](ctx, c, `SELECT `+rowColumns+rowSources+`
		WHERE c.id = (SELECT cluster_id FROM cluster_requests WHERE principal_id = $1 AND idempotency_key = $2)`, a.Principal, a.Key)
	switch {
	case errors.Is(err, ErrNotFound): // never asked, or refused, which gives way
		return Judged{}, nil
	case err != nil:
		return Judged{}, fmt.Errorf("look for the cluster of %s: %w", a.Key, err)
	}
	return Judged{Row: row.row(), Replayed: true}, nil
}

// conclude keeps the wish with its verdict, and what follows from it.
func (c *change) conclude(ctx context.Context, a Ask, j Judgement) (Judged, error) {
	switch {
	case (j.Accept == nil) == (j.Refuse == nil):
		return Judged{}, fmt.Errorf("%w: a wish is either accepted or refused", ErrConflict)
	case j.Refuse != nil:
		id, err := c.refuse(ctx, a, *j.Refuse)
		return Judged{Request: id, Refused: true}, err
	}
	row := c.fill(*j.Accept)
	if counted := (Scope{Person: row.RequestedBy, Team: row.Team, Repo: row.repo(), Everywhere: a.Scope.Everywhere}); counted != a.Scope {
		return Judged{}, fmt.Errorf("%w: counted for %+v and accepted for %+v", ErrConflict, a.Scope, counted)
	}
	id, _, err := c.keepRequest(ctx, a, j.Accept.Verdict, row.ID)
	if err != nil {
		return Judged{}, err
	}
	if err := c.accept(ctx, row, *j.Accept); err != nil {
		return Judged{}, err
	}
	written, err := one[rowRecord](ctx, c, `SELECT `+rowColumns+rowSources+`WHERE c.id = @id`, pgx.NamedArgs{"id": row.ID})
	if err != nil {
		return Judged{}, fmt.Errorf("read cluster %s: %w", row.ID, err)
	}
	return Judged{Row: written.row(), Request: id}, nil
}

func (r Row) repo() string {
	if r.PR == nil {
		return ""
	}
	return r.PR.Repo
}
