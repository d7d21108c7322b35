package attempts

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/access"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
)

// AccessWork is what a runner has to bring about in its cluster.
type AccessWork struct {
	Give []access.Row // to make; their lifetime is limited to the cluster's
	Take []access.Row // to remove
	Keep []access.Row // others that are valid; the runner removes all accounts but these and those to make
}

// LeastLifetime is the shortest life of a token: Kubernetes makes none for less (TokenRequest, spec.expirationSeconds).
const LeastLifetime = 10 * time.Minute

// accessKinds are the attempts that hold a cluster's kubeconfig.
var accessKinds = []lifecycle.Kind{lifecycle.Create, lifecycle.Access, lifecycle.Scale, lifecycle.Configure, lifecycle.Prepare}

// AccessWork returns what is owed, and notes that this attempt may make it from now on, so that nothing is in a cluster without a row that
// says so. A stopped attempt gets none.
func (s *Store) AccessWork(ctx context.Context, attemptID, tokenID string) (work AccessWork, lease Lease, err error) {
	err = s.db.Write(ctx, func(c *db.Tx) error {
		f, err := LockAttempt(ctx, c, attemptID, tokenID)
		switch {
		case err != nil:
			return err
		case f.Unwanted() != "":
			lease = Lease{Stop: f.Unwanted(), Closed: f.Closed}
			return nil
		case !f.Claimed:
			return fmt.Errorf("nobody claimed the attempt: %w", db.ErrFenced)
		case !slices.Contains(accessKinds, f.Kind):
			return fmt.Errorf("%w: a %s changes no access", db.ErrConflict, f.Kind)
		}
		if work, err = accessWork(ctx, c, f); err != nil {
			return err
		}
		lease = RenewLease(c, f)
		return nil
	})
	if err != nil {
		return AccessWork{}, Lease{}, fmt.Errorf("work on access of attempt %s: %w", attemptID, err)
	}
	return work, lease, nil
}

func accessWork(ctx context.Context, c *db.Tx, f Fenced) (work AccessWork, err error) {
	args := pgx.NamedArgs{"cluster": f.ID, "now": c.Now, "done": f.Work[lifecycle.Access].Done, "attempt": f.Number}
	_, err = c.Exec(ctx, `UPDATE access a SET attempt = @attempt WHERE `+toGive, args)
	if err != nil {
		return work, fmt.Errorf("note what it may make: %w", err)
	}
	all, err := db.All[access.Row](ctx, c, `
		SELECT `+access.Columns+` FROM access a JOIN clusters c ON c.id = a.cluster_id WHERE a.cluster_id = @cluster AND a.removed_at IS NULL ORDER BY a.number, a.id`, args)
	if err != nil {
		return work, fmt.Errorf("read who has access: %w", err)
	}
	for _, a := range all {
		switch a.State {
		case access.Asked:
			a.Lifetime = max(min(a.Lifetime, f.Ends.DestroyAt().Sub(c.Now)), LeastLifetime)
			work.Give = append(work.Give, a)
		case access.Ready:
			work.Keep = append(work.Keep, a)
		case access.Revoked, access.Expired:
			work.Take = append(work.Take, a)
		}
	}
	return work, nil
}

// toGive holds for an access a of a cluster that is to be made.
const toGive = `a.cluster_id = @cluster AND a.revoked_at IS NULL AND a.removed_at IS NULL AND a.minted_at IS NULL AND a.number > @done`

// clockSkew is how far a cluster's clock may be ahead of the database's.
const clockSkew = 5 * time.Minute

// AccessState is what a runner reports about one access.
type AccessState struct {
	ID        string
	Kind      access.Kind
	OpenID    bool      // its reader signs in through ocpctl
	Ref       string    // of the kubeconfig or password; empty: it made none
	ExpiresAt time.Time // of the token in it, or of the account; zero: it made none
	Removed   bool      // its account is gone from the cluster
	Trouble   string    // why it could be neither made nor removed
}

// keepAccess stores what a runner did about access, as far as the rows allow it. A token that is valid for longer than it may be is not
// kept. ErrConflict: it reports another cluster's access, or one that it was not told to make or to remove.
func keepAccess(ctx context.Context, c *db.Tx, f Fenced, states []AccessState) error {
	if len(states) > 0 && !slices.Contains(accessKinds, f.Kind) {
		return fmt.Errorf("%w: a %s changes no access", db.ErrConflict, f.Kind)
	}
	for _, said := range states {
		a, err := accessOf(ctx, c, f, said.ID)
		if err != nil {
			return err
		}
		switch {
		case said.Removed:
			err = keepRemoved(ctx, c, f, a)
		case !said.ExpiresAt.IsZero():
			err = keepMinted(ctx, c, f, a, said)
		default:
			_, err = c.Exec(ctx, `UPDATE access SET trouble = $2 WHERE id = $1`, a.ID, said.Trouble)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// accessRow is an access with the attempt that was last told to make it.
type accessRow struct {
	access.Row
	Attempt int
}

func accessOf(ctx context.Context, c *db.Tx, f Fenced, id string) (accessRow, error) {
	found, err := db.All[accessRow](ctx, c, `SELECT `+access.Columns+`, coalesce(a.attempt, 0) AS attempt
		FROM access a JOIN clusters c ON c.id = a.cluster_id WHERE a.id = @id AND a.cluster_id = @cluster`,
		pgx.NamedArgs{"id": id, "cluster": f.ID, "now": c.Now})
	switch {
	case err != nil:
		return accessRow{}, fmt.Errorf("read access %s: %w", id, err)
	case len(found) == 0:
		return accessRow{}, fmt.Errorf("%w: the cluster has no access %.80q", db.ErrConflict, id)
	}
	return found[0], nil
}

// keepMinted stores where the credential is. It is stored once; a token that was made although it was revoked meanwhile is removed next.
func keepMinted(ctx context.Context, c *db.Tx, f Fenced, a accessRow, said AccessState) error {
	latest := c.Now.Add(a.Lifetime + clockSkew)
	switch {
	case a.MintedAt != nil && a.Ref == said.Ref:
		return nil
	case a.MintedAt != nil:
		return &Contradiction{Field: "access " + a.ID, Have: a.Ref, Said: said.Ref}
	case a.Kind != cmp.Or(said.Kind, access.Kubeconfig) || a.OpenID != said.OpenID:
		return fmt.Errorf("%w: access %s is a %s, and with OpenID: %t", db.ErrConflict, a.ID, a.Kind, a.OpenID)
	case a.Attempt != f.Number:
		return fmt.Errorf("%w: the attempt was not told to make access %s", db.ErrConflict, a.ID)
	case said.ExpiresAt.After(latest): // no reason to end a create; it is never handed out, and the next try removes it
		said.Trouble = fmt.Sprintf("its token would be valid until %s, and it may be valid until %s", said.ExpiresAt.UTC().Format(time.RFC3339), latest.UTC().Format(time.RFC3339))
		_, err := c.Exec(ctx, `UPDATE access SET trouble = $2 WHERE id = $1`, a.ID, said.Trouble)
		return err
	}
	_, err := c.Exec(ctx, `UPDATE access SET minted_at = $2, expires_at = $3, ref = $4, trouble = '' WHERE id = $1`, a.ID, c.Now, said.ExpiresAt, said.Ref)
	if err != nil {
		return fmt.Errorf("keep access %s: %w", a.ID, err)
	}
	return clusters.RecordAction(c, clusters.Origin{Actor: db.Lifecycle}, "access.minted", f.ID, clusters.Action{After: map[string]any{
		"access": a.ID, "kind": a.Kind, "reader": a.Reader, "role": a.Role, "account": a.Account, "expiresAt": said.ExpiresAt, "attempt": f.Number,
	}})
}

// keepRemoved stores that a revoked or expired access is gone from the cluster.
func keepRemoved(ctx context.Context, c *db.Tx, f Fenced, a accessRow) error {
	switch {
	case a.RemovedAt != nil:
		return nil
	case a.State != access.Revoked && a.State != access.Expired:
		return fmt.Errorf("%w: access %s is valid, and nobody asked to remove it", db.ErrConflict, a.ID)
	}
	if _, err := c.Exec(ctx, `UPDATE access SET removed_at = $2, trouble = '' WHERE id = $1`, a.ID, c.Now); err != nil {
		return fmt.Errorf("keep that access %s is gone: %w", a.ID, err)
	}
	return clusters.RecordAction(c, clusters.Origin{Actor: db.Lifecycle, Why: "it was " + a.State}, "access.account_removed", f.ID, clusters.Action{Before: map[string]any{
		"access": a.ID, "kind": a.Kind, "reader": a.Reader, "role": a.Role, "account": a.Account,
	}})
}
