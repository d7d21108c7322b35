package access

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/internal/pg"
	"github.com/ocpctl/ocpctl/store/internal/rows"
	"github.com/ocpctl/ocpctl/store/internal/usage"
)

// Wanted says which of a reader's accesses serve a request.
type Wanted struct {
	Ask
	Least time.Duration // it has to be valid for at least this long from now
	Most  time.Duration // … and at most; zero: any
	Renew bool          // only one that was asked for within the last minute
}

// ErrTooMany says that a reader has MostOfOneReader valid accesses to a cluster.
var ErrTooMany = fmt.Errorf("%w: the reader has too many", pg.ErrConflict)

// MostOfOneReader is how many valid accesses to one cluster a reader may have.
const MostOfOneReader = 20

// renewedAgo is how long a request to renew is the same request, and failedAgo how long ago one was made that failed and is the answer to
// another: whoever waits for it is told, and does not start runners in vain.
const (
	renewedAgo = time.Minute
	failedAgo  = 10 * time.Minute
)

// Ask returns an access of the reader that serves the request, or asks for one: a runner makes it. A repeated call returns the one that
// was asked for before. ErrConflict: the cluster is not ready or is going away. ErrTooMany: the reader has too many.
func (s *Store) Ask(ctx context.Context, cluster string, w Wanted, d rows.Origin) (found Row, err error) {
	err = s.db.Write(ctx, func(tx *rows.Tx) error {
		found, err = AskIn(ctx, tx, cluster, w, d)
		return err
	})
	return found, err
}

// AskIn is Ask in a transaction.
func AskIn(ctx context.Context, tx *rows.Tx, cluster string, w Wanted, d rows.Origin) (Row, error) {
	c := &change{tx}
	cur, err := c.Lock(ctx, cluster)
	if err == nil {
		err = d.CheckVersion(cur)
	}
	var found Row
	if err == nil {
		found, err = c.serve(ctx, cur, w, d)
	}
	if err != nil {
		return Row{}, fmt.Errorf("ask for access to %s: %w", cluster, err)
	}
	return found, nil
}

func (c *change) serve(ctx context.Context, cur usage.Held, w Wanted, d rows.Origin) (Row, error) {
	switch {
	case cur.Desired == lifecycle.Absent:
		return Row{}, fmt.Errorf("%w: the cluster is going: %s", pg.ErrConflict, cur.DesiredWhy)
	case cur.Status != lifecycle.Ready:
		return Row{}, fmt.Errorf("%w: the cluster is %s", pg.ErrConflict, cur.Status)
	}
	of, err := c.of(ctx, cur.ID, w.Reader)
	if err != nil {
		return Row{}, err
	}
	valid := 0
	for _, a := range of {
		if w.servedBy(a, c.Now) {
			return a, nil
		}
		if a.State == Asked || a.State == Ready {
			valid++
		}
	}
	if valid >= MostOfOneReader {
		return Row{}, ErrTooMany
	}
	return c.ask(ctx, cur, w.Ask, d)
}

// servedBy reports that an access is what is wanted.
func (w Wanted) servedBy(a Row, now time.Time) bool {
	if a.Role != w.Role || a.Right != w.Right || a.OfRun != w.OfRun || a.State == Revoked || a.State == Expired {
		return false
	}
	if a.State == Failed {
		return !w.Renew && now.Sub(a.AskedAt) < failedAgo
	}
	if w.Renew && now.Sub(a.AskedAt) > renewedAgo {
		return false
	}
	if a.State == Asked {
		return a.Lifetime >= w.Least && (w.Most == 0 || a.Lifetime <= w.Most)
	}
	left := a.ExpiresAt.Sub(now)
	return left >= w.Least && (w.Most == 0 || left <= w.Most)
}

func (c *change) ask(ctx context.Context, cur usage.Held, ask Ask, d rows.Origin) (Row, error) {
	row := Row{AccessAsk: ask, ID: pg.NewID("acc"), Cluster: cur.ID, Number: cur.AccessWanted + 1, State: Asked, AskedAt: c.Now}
	var b pg.Batch
	row = c.QueueAccess(&b, row)
	if err := c.Send(ctx, &b); err != nil {
		return Row{}, err
	}
	if err := c.WantAccess(ctx, cur.ID); err != nil {
		return Row{}, err
	}
	return row, c.RecordAction(d, "access.asked", cur.ID, rows.Action{After: map[string]any{
		"access": row.ID, "reader": ask.Reader, "role": ask.Role, "by": ask.Right, "run": ask.RunID, "lifetime": ask.Lifetime.String(),
	}})
}

// of reads the accesses of a reader, whichever of its linked accounts asked, the newest first.
func (c *change) of(ctx context.Context, cluster, reader string) ([]Row, error) {
	return list(ctx, c, c.Now, `a.cluster_id = @cluster AND a.removed_at IS NULL AND principal_key(a.reader) = ANY (identities_of(@reader))`,
		pgx.NamedArgs{"cluster": cluster, "reader": reader})
}

func list(ctx context.Context, from pg.Source, now time.Time, where string, args pgx.NamedArgs) ([]Row, error) {
	args["now"] = now
	return pg.All[Row](ctx, from, `SELECT `+rows.AccessColumns+` FROM access a JOIN clusters c ON c.id = a.cluster_id
		WHERE `+where+` ORDER BY a.number DESC, a.id DESC`, args)
}

// List returns a cluster's accesses, the newest first: the valid ones, those that are being made or revoked, and all that ended since.
func (s *Store) List(ctx context.Context, cluster string, since time.Duration) ([]Row, error) {
	now, err := s.db.Now(ctx)
	if err != nil {
		return nil, err
	}
	all, err := list(ctx, s.db.Pool(), now, `a.cluster_id = @cluster AND (a.removed_at IS NULL OR a.removed_at > @since)
		AND coalesce(a.expires_at, @now) > @since`, pgx.NamedArgs{"cluster": cluster, "since": now.Add(-since)})
	if err != nil {
		return nil, fmt.Errorf("read who has access to %s: %w", cluster, err)
	}
	return all, nil
}

// One returns an access to a cluster. ErrNotFound: the cluster has none of that id.
func (s *Store) One(ctx context.Context, cluster, id string) (Row, error) {
	now, err := s.db.Now(ctx)
	if err != nil {
		return Row{}, err
	}
	found, err := list(ctx, s.db.Pool(), now, `a.cluster_id = @cluster AND a.id = @id`, pgx.NamedArgs{"cluster": cluster, "id": id})
	if err == nil && len(found) == 0 {
		err = pg.ErrNotFound
	}
	if err != nil {
		return Row{}, fmt.Errorf("read access %s of %s: %w", id, cluster, err)
	}
	return found[0], nil
}

// Mine returns the ids of a cluster's accesses whose reader is a principal, by any of its linked accounts.
func (s *Store) Mine(ctx context.Context, cluster, principal string) (map[string]bool, error) {
	found, err := pg.All[struct{ ID string }](ctx, s.db.Pool(), `
		SELECT id FROM access WHERE cluster_id = $1 AND principal_key(reader) = ANY (identities_of($2))`, cluster, principal)
	if err != nil {
		return nil, fmt.Errorf("look for the access of %s to %s: %w", principal, cluster, err)
	}
	mine := make(map[string]bool, len(found))
	for _, a := range found {
		mine[a.ID] = true
	}
	return mine, nil
}
