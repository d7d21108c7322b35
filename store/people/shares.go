package people

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/access"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/usage"
)

// Access is what a share allows.
type Access string

// The levels of access; use includes see.
const (
	AccessSee Access = "see"
	AccessUse Access = "use" // the kubeconfig too
)

// Share gives access to a cluster; a second call changes it, and revokes what it gave beyond its new role. ErrConflict: the cluster is going away, or the share is
// invalid. ErrStale: the row is not the version that the actor saw.
func (s *Store) Share(ctx context.Context, id string, share Share, d clusters.Origin) error {
	_, err := clusters.ChangeSeen(ctx, s.db, id, d, func(c *db.Tx, cur usage.Held, _ *clusters.Outcome) error {
		if cur.Desired == lifecycle.Absent {
			return fmt.Errorf("%w: the cluster is going: %s", db.ErrConflict, cur.DesiredWhy)
		}
		before, err := readShare(ctx, c, id, share.Kind, share.Grantee)
		if err != nil || before != nil && before.Access == share.Access && before.Role == share.Role {
			return err
		}
		_, err = c.Exec(ctx, `
			INSERT INTO shares (cluster_id, kind, grantee, access, role, granted_by, created_at) VALUES (@cluster, @kind, @grantee, @access, @role, @by, @now)
			ON CONFLICT (cluster_id, kind, grantee) DO UPDATE SET access = excluded.access, role = excluded.role, granted_by = excluded.granted_by`,
			pgx.NamedArgs{"cluster": id, "kind": share.Kind, "grantee": share.Grantee, "access": share.Access, "role": share.Role, "by": d.Actor, "now": c.Now})
		if err != nil {
			return fmt.Errorf("write the share: %w", err)
		}
		if err := clusters.NewVersion(ctx, c, id); err != nil { // its thread tells it
			return err
		}
		if err := revokeAbove(ctx, c, id, share, d); err != nil {
			return err
		}
		return clusters.RecordAction(c, d, "shared", id, clusters.Action{Before: auditShare(before), After: auditShare(&share)})
	})
	if err != nil {
		return fmt.Errorf("share %s: %w", id, err)
	}
	return nil
}

// revokeAbove revokes what a share gave beyond its role; an empty role gives nothing.
func revokeAbove(ctx context.Context, c *db.Tx, id string, share Share, d clusters.Origin) error {
	d.Instead = lifecycle.Noted("the share with " + share.Grantee + " was changed")
	_, err := access.Revoke(ctx, c, id, `a.by_right = @right AND array_position(@order, a.role) > coalesce(array_position(@order, @most), 0)`,
		pgx.NamedArgs{"right": share.Kind + ":" + share.Grantee, "most": string(share.Role), "order": []string{"view", "edit", "admin"}}, d)
	return err
}

// Unshare takes a team's or a principal's access away, whatever the cluster's state, and revokes every credential that it gave. ErrNotFound: there is no such share or
// cluster.
func (s *Store) Unshare(ctx context.Context, id, kind, grantee string, d clusters.Origin) error {
	_, err := clusters.ChangeSeen(ctx, s.db, id, d, func(c *db.Tx, _ usage.Held, _ *clusters.Outcome) error {
		before, err := readShare(ctx, c, id, kind, grantee)
		switch {
		case err != nil:
			return err
		case before == nil:
			return db.ErrNotFound
		}
		return unshare(ctx, c, id, before, "", d)
	})
	if err != nil {
		return fmt.Errorf("stop sharing %s: %w", id, err)
	}
	return nil
}

// unshare removes a share, and revokes every credential that it gave. ending is why it ended without somebody ending it; empty: somebody did.
func unshare(ctx context.Context, c *db.Tx, id string, share *Share, ending string, d clusters.Origin) error {
	if _, err := c.Exec(ctx, `DELETE FROM shares WHERE cluster_id = $1 AND kind = $2 AND grantee = $3`, id, share.Kind, share.Grantee); err != nil {
		return fmt.Errorf("remove the share: %w", err)
	}
	if err := clusters.NewVersion(ctx, c, id); err != nil { // its thread tells it
		return err
	}
	ended := d
	ended.Instead = lifecycle.Noted("the cluster is no longer shared with " + share.Grantee)
	if _, err := access.Revoke(ctx, c, id, `a.by_right = @right`, pgx.NamedArgs{"right": share.Kind + ":" + share.Grantee}, ended); err != nil {
		return err
	}
	return clusters.RecordAction(c, d, "unshared", id, clusters.Action{Before: auditShare(share), Note: ending})
}

// SharedWithOneself is why a share ended whose maker is the person that it was with: it gives nothing, because they would keep it after
// they lost their role.
const SharedWithOneself = "shared_with_oneself"

// EndOwnShares ends the shares that people have with themselves, by all of their accounts that are linked now, and revokes the credentials
// that these shares gave. It returns how many there were.
func (s *Store) EndOwnShares(ctx context.Context) (n int, err error) {
	own := `s.kind = 'principal' AND principal_key(s.granted_by) = ANY (identities_of(s.grantee)::text[])`
	found, err := db.All[struct{ Cluster, Grantee string }](ctx, s.db.Pool(), `
		SELECT s.cluster_id AS cluster, s.grantee FROM shares s JOIN clusters c ON c.id = s.cluster_id WHERE c.desired = 'present' AND `+own+` ORDER BY 1, 2`)
	if err != nil {
		return 0, fmt.Errorf("look for shares with oneself: %w", err)
	}
	for _, f := range found {
		d := clusters.Origin{Actor: db.Lifecycle, Why: "a share with oneself gives nothing"}
		_, err := clusters.ChangeSeen(ctx, s.db, f.Cluster, d, func(c *db.Tx, _ usage.Held, _ *clusters.Outcome) error {
			still, err := db.All[Share](ctx, c, `SELECT `+shareColumns+` FROM shares s WHERE s.cluster_id = $1 AND s.grantee = $2 AND `+own, f.Cluster, f.Grantee)
			if err != nil || len(still) == 0 { // somebody else shared it again, or it was ended
				return err
			}
			n++
			return unshare(ctx, c, f.Cluster, &still[0], SharedWithOneself, d)
		})
		if err != nil {
			return n, fmt.Errorf("end the share of %s with oneself: %w", f.Cluster, err)
		}
	}
	return n, nil
}

const shareColumns = `s.kind, s.grantee, s.access, CASE WHEN s.access = 'use' AND s.role = '' THEN 'admin' ELSE s.role END AS role, s.granted_by, s.created_at`

// readShare reads one share; nil: there is none.
func readShare(ctx context.Context, c *db.Tx, id, kind, grantee string) (*Share, error) {
	found, err := db.All[Share](ctx, c, `SELECT `+shareColumns+` FROM shares s WHERE cluster_id = $1 AND kind = $2 AND grantee = $3`, id, kind, grantee)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return &found[0], nil
}

// auditShare is a share as the audit trail keeps it.
func auditShare(s *Share) any {
	if s == nil {
		return nil
	}
	out := map[string]string{"kind": s.Kind, "with": s.Grantee, "access": string(s.Access)}
	if s.Role != "" {
		out["role"] = string(s.Role)
	}
	return out
}

// Shares returns a cluster's shares.
func (s *Store) Shares(ctx context.Context, id string) ([]Share, error) {
	list, err := db.All[Share](ctx, s.db.Pool(), `SELECT `+shareColumns+` FROM shares s WHERE cluster_id = $1 ORDER BY kind, grantee`, id)
	if err != nil {
		return nil, fmt.Errorf("read the shares of %s: %w", id, err)
	}
	return list, nil
}

// SharedWith returns the share that gives a principal and its teams most; the zero Share: none gives anything.
func (s *Store) SharedWith(ctx context.Context, id, principal string, teams []string) (Share, error) {
	found, err := db.All[Share](ctx, s.db.Pool(), `
		SELECT * FROM (SELECT `+shareColumns+` FROM shares s WHERE s.cluster_id = @cluster AND `+usage.SharedWith+`) s
		ORDER BY s.access = 'use' DESC, array_position(ARRAY['view', 'edit', 'admin'], s.role) DESC NULLS LAST, s.kind, s.grantee LIMIT 1`,
		pgx.NamedArgs{"cluster": id, "principal": principal, "teams": teams})
	switch {
	case err != nil:
		return Share{}, fmt.Errorf("read the shares of %s: %w", id, err)
	case len(found) == 0:
		return Share{}, nil
	}
	return found[0], nil
}

// Share gives a team or a principal access to another team's cluster.
type Share struct {
	Kind      string // "team" or "principal"
	Grantee   string // the team's name, or the principal's id
	Access    Access
	Role      access.Role // in the cluster, of a share to use it
	GrantedBy string      // filled by the store, like the next
	CreatedAt time.Time
}
