package access

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/usage"
)

// Wanted says which of a reader's accesses serve a request.
type Wanted struct {
	Ask
	Least time.Duration // it has to be valid for at least this long from now
	Most  time.Duration // … and at most; zero: any
	Blind time.Duration // for a run of which nobody learns the end: how long it is valid at most; zero: as long as for others
	Renew bool          // only one that was asked for within the last minute
	Seen  int64         // the cluster's version when the reader's right was checked; zero: it is not checked again
	Team  string        // the cluster's team then
}

// These bound how many valid accesses a cluster has, and how often somebody asks.
const (
	MostOfOneReader = 20  // of a person, or of a job of a run
	MostOfOneRun    = 100 // of all jobs of a run
	MostOfCluster   = 200
	MostAnHour      = 60 // asked for by a person, or by a job of a run
)

// TooMany says that a reader gets no more access now.
type TooMany struct {
	Of    string // "", "run" or "cluster": the reader's own, all of the run's, or all of the cluster's
	Most  int
	Until time.Duration // when to ask again: they asked MostAnHour times; zero: once one has ended
}

func (e *TooMany) Error() string { return fmt.Sprintf("more than %d accesses", e.Most) }

// renewedAgo is how long a request to renew is the same request, and failedAgo how long ago one was made that failed and is the answer to
// another: whoever waits for it is told, and does not start runners in vain.
const (
	renewedAgo = time.Minute
	failedAgo  = 10 * time.Minute
)

// Ask returns an access of the reader that serves the request, or asks for one: a runner makes it. A repeated call returns the one that
// was asked for before. ErrConflict: the cluster is not ready or is going away. ErrStale: the reader's right ended since it was checked.
// A TooMany: the reader gets no more now.
func (s *Store) Ask(ctx context.Context, cluster string, w Wanted, d clusters.Origin) (found Row, err error) {
	err = s.db.Write(ctx, func(tx *db.Tx) error {
		found, err = AskIn(ctx, tx, cluster, w, d)
		return err
	})
	return found, err
}

// AskIn is Ask in a transaction.
func AskIn(ctx context.Context, tx *db.Tx, cluster string, w Wanted, d clusters.Origin) (Row, error) {
	c := tx
	cur, err := clusters.Lock(ctx, c, cluster)
	if err == nil {
		err = d.CheckVersion(cur)
	}
	var found Row
	if err == nil {
		found, err = serve(ctx, c, cur, w, d)
	}
	if err != nil {
		return Row{}, fmt.Errorf("ask for access to %s: %w", cluster, err)
	}
	return found, nil
}

func serve(ctx context.Context, c *db.Tx, cur usage.Held, w Wanted, d clusters.Origin) (Row, error) {
	switch {
	case cur.Desired == lifecycle.Absent:
		return Row{}, fmt.Errorf("%w: the cluster is going: %s", db.ErrConflict, cur.DesiredWhy)
	case cur.Status != lifecycle.Ready:
		return Row{}, fmt.Errorf("%w: the cluster is %s", db.ErrConflict, cur.Status)
	}
	if err := checkRight(ctx, c, cur, w); err != nil {
		return Row{}, err
	}
	if err := clusters.Active(ctx, c, cur, lifecycle.ActivityAccess); err != nil {
		return Row{}, err
	}
	of, err := of(ctx, c, cur.ID, w.Reader)
	if err != nil {
		return Row{}, err
	}
	// One that works is better than one that is being made, and that than the answer that none could be made.
	for _, state := range []string{Ready, Asked, Failed} {
		for _, a := range of {
			if a.State == state && w.isServedBy(a, c.Now) {
				return a, nil
			}
		}
	}
	if err := checkCount(ctx, c, cur.ID, w.Ask); err != nil {
		return Row{}, err
	}
	return ask(ctx, c, cur, w.Ask, d)
}

// checkRight returns ErrStale if the reader's right is no longer what it was when it was checked. The cluster is locked, and so are its shares.
func checkRight(ctx context.Context, c *db.Tx, cur usage.Held, w Wanted) error {
	if w.Seen == 0 || w.Seen == cur.Version {
		return nil
	}
	var holds bool
	err := c.QueryRow(ctx, `
		SELECT CASE WHEN @right = @own THEN team = @team ELSE EXISTS (SELECT FROM shares s WHERE s.cluster_id = c.id AND s.kind || ':' || s.grantee = @right AND s.access = 'use'
			AND array_position(@order::text[], coalesce(nullif(s.role, ''), 'admin')) >= array_position(@order::text[], @role)) END
		FROM clusters c WHERE c.id = @cluster`,
		pgx.NamedArgs{"cluster": cur.ID, "team": w.Team, "right": w.Right, "own": OwnRight, "role": string(w.Role), "order": []string{"view", "edit", "admin"}}).Scan(&holds)
	if err != nil {
		return fmt.Errorf("check the right again: %w", err)
	}
	if !holds {
		return fmt.Errorf("%w: the reader's right has ended", db.ErrStale)
	}
	return nil
}

// checkCount returns a TooMany if who asks, their run or the cluster has as many as they may, or if they asked too often. Each job of a
// run counts for itself.
func checkCount(ctx context.Context, c *db.Tx, cluster string, ask Ask) error {
	type counts struct {
		Own, Run, Cluster, Often int
		Oldest                   *time.Time // of those that count as often
	}
	n, err := db.One[counts](ctx, c, `
		SELECT count(*) FILTER (WHERE valid AND theirs) AS own, count(*) FILTER (WHERE valid AND run_id = @run) AS run, count(*) FILTER (WHERE valid) AS cluster,
			count(*) FILTER (WHERE asked_at > @hour AND theirs) AS often, min(asked_at) FILTER (WHERE asked_at > @hour AND theirs) AS oldest
		FROM (SELECT a.asked_at, a.run_id,
				a.removed_at IS NULL AND a.revoked_at IS NULL AND (a.expires_at > @now OR a.minted_at IS NULL AND a.number > `+clusters.AccessDone+`) AS valid,
				coalesce(a.run_id, '') = @run AND coalesce(a.run_attempt, 0) = @attempt AND a.run_job = @job AND principal_key(a.reader) = ANY (identities_of(@reader)) AS theirs
			FROM access a JOIN clusters c ON c.id = a.cluster_id WHERE a.cluster_id = @cluster AND (a.removed_at IS NULL OR a.asked_at > @hour)) AS a`,
		pgx.NamedArgs{"cluster": cluster, "reader": ask.Reader, "run": ask.RunID, "attempt": ask.RunAttempt, "job": ask.RunJob, "now": c.Now, "hour": c.Now.Add(-time.Hour)})
	switch {
	case err != nil:
		return fmt.Errorf("count who has access: %w", err)
	case n.Own >= MostOfOneReader:
		return &TooMany{Most: MostOfOneReader}
	case n.Run >= MostOfOneRun:
		return &TooMany{Of: "run", Most: MostOfOneRun}
	case n.Cluster >= MostOfCluster:
		return &TooMany{Of: "cluster", Most: MostOfCluster}
	case n.Often >= MostAnHour:
		return &TooMany{Most: MostAnHour, Until: n.Oldest.Add(time.Hour).Sub(c.Now)}
	}
	return nil
}

// isServedBy reports that an access is what is wanted.
func (w Wanted) isServedBy(a Row, now time.Time) bool {
	if a.Kind != cmp.Or(w.Kind, Kubeconfig) || a.OpenID != w.OpenID || a.Role != w.Role || a.Right != w.Right || a.OfRun != w.OfRun || a.State == Revoked || a.State == Expired {
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

func ask(ctx context.Context, c *db.Tx, cur usage.Held, ask Ask, d clusters.Origin) (Row, error) {
	row := Row{Ask: ask, ID: db.NewID("acc"), Cluster: cur.ID, Number: cur.Work[lifecycle.Access].Wanted + 1, State: Asked, AskedAt: c.Now}
	var b db.Batch
	row = Queue(c, &b, row)
	if err := c.Send(ctx, &b); err != nil {
		return Row{}, err
	}
	if ask.Kind == Console { // a reader has one
		_, err := Revoke(ctx, c, cur.ID, `a.kind = 'console' AND a.id <> @id AND principal_key(a.reader) = ANY (identities_of(@reader))`,
			pgx.NamedArgs{"id": row.ID, "reader": ask.Reader}, clusters.Origin{Actor: d.Actor, Source: d.Source, Why: "a new console account replaces it"})
		if err != nil {
			return Row{}, err
		}
	}
	if err := WantRunner(ctx, c, cur.ID, false); err != nil {
		return Row{}, err
	}
	return row, clusters.RecordAction(c, d, "access.asked", cur.ID, clusters.Action{After: map[string]any{
		"access": row.ID, "kind": row.Kind, "reader": ask.Reader, "role": ask.Role, "by": ask.Right, "run": ask.RunID, "lifetime": ask.Lifetime.String(),
	}})
}

// of reads the accesses of a reader, whichever of its linked accounts asked, the newest first.
func of(ctx context.Context, c *db.Tx, cluster, reader string) ([]Row, error) {
	return list(ctx, c, c.Now, `a.cluster_id = @cluster AND a.removed_at IS NULL AND principal_key(a.reader) = ANY (identities_of(@reader))`,
		pgx.NamedArgs{"cluster": cluster, "reader": reader})
}

func list(ctx context.Context, from db.Source, now time.Time, where string, args pgx.NamedArgs) ([]Row, error) {
	args["now"] = now
	return db.All[Row](ctx, from, `SELECT `+Columns+` FROM access a JOIN clusters c ON c.id = a.cluster_id
		WHERE `+where+` ORDER BY a.number DESC, a.id DESC`, args)
}

// List returns a cluster's accesses, the newest first: the valid ones, those that are being made or revoked, and all that ended since.
func (s *Store) List(ctx context.Context, cluster string, since time.Duration) ([]Row, error) {
	now, err := s.db.Now(ctx)
	if err != nil {
		return nil, err
	}
	all, err := list(ctx, s.db.Pool(), now, `a.cluster_id = @cluster AND (a.removed_at IS NULL OR a.removed_at > @since)
		AND (coalesce(a.expires_at, a.asked_at + a.lifetime) > @since OR `+Taken+`)`, pgx.NamedArgs{"cluster": cluster, "since": now.Add(-since)})
	if err != nil {
		return nil, fmt.Errorf("read who has access to %s: %w", cluster, err)
	}
	return all, nil
}

// columnsNow are Columns with the database's clock, for those who ask every second.
var columnsNow = strings.ReplaceAll(Columns, "@now", "coalesce(@fixed::timestamptz, clock_timestamp())")

// One returns an access to a cluster. ErrNotFound: the cluster has none of that id.
func (s *Store) One(ctx context.Context, cluster, id string) (Row, error) {
	found, err := db.All[Row](ctx, s.db.Pool(), `SELECT `+columnsNow+` FROM access a JOIN clusters c ON c.id = a.cluster_id WHERE a.cluster_id = @cluster AND a.id = @id`,
		pgx.NamedArgs{"cluster": cluster, "id": id, "fixed": s.db.Fixed()})
	if err == nil && len(found) == 0 {
		err = db.ErrNotFound
	}
	if err != nil {
		return Row{}, fmt.Errorf("read access %s of %s: %w", id, cluster, err)
	}
	return found[0], nil
}

// Mine returns the ids of a cluster's accesses whose reader is a principal, by any of its linked accounts.
func (s *Store) Mine(ctx context.Context, cluster, principal string) (map[string]bool, error) {
	found, err := db.All[struct{ ID string }](ctx, s.db.Pool(), `
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
