package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/usage"
)

// AskBreakGlass asks to see one of a cluster's credentials that the installer made: its kubeadmin password or its kubeconfig. A platform
// admin other than the requester has to approve, and then it is shown once, all within expiresIn. A repeated call returns the pending or
// approved request. ErrConflict: no such credential is stored, or another person's request for it is pending.
func (s *Store) AskBreakGlass(ctx context.Context, cluster string, kind clusters.ApprovalKind, expiresIn time.Duration, d clusters.Origin) (clusters.Approval, error) {
	var id string
	_, err := clusters.ChangeSeen(ctx, s.DB, cluster, d, func(c *db.Tx, cur usage.Held, _ *clusters.Outcome) error {
		if err := hasCredential(ctx, c, cur, kind); err != nil {
			return err
		}
		kept, err := clusters.OpenBreakGlass(ctx, c, cluster, kind)
		if err != nil {
			return err
		}
		for _, k := range kept {
			mine, err := usage.SamePrincipal(ctx, c, k.RequestedBy, d.Actor)
			switch {
			case err != nil:
				return err
			case mine:
				id = k.ID
				return nil
			case k.State == clusters.ApprovalPending:
				return fmt.Errorf("%w: %s asked already (%s)", db.ErrConflict, k.RequestedBy, k.ID)
			}
		}
		id = db.NewID("apr")
		return insertBreakGlass(ctx, c, id, cluster, kind, expiresIn, d)
	})
	if err != nil {
		return clusters.Approval{}, fmt.Errorf("ask for the %s of %s: %w", kind, cluster, err)
	}
	return s.Approval(ctx, id)
}

func hasCredential(ctx context.Context, c *db.Tx, cur usage.Held, kind clusters.ApprovalKind) error {
	var kept bool
	err := c.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM cluster_outputs WHERE cluster_id = $1
		AND CASE WHEN $2 = 'kubeadmin' THEN kubeadmin_secret_ref ELSE kubeconfig_s3_uri END <> '')`, cur.ID, kind).Scan(&kept)
	switch {
	case err != nil:
		return fmt.Errorf("look for the reference: %w", err)
	case cur.Desired == lifecycle.Absent:
		return fmt.Errorf("%w: the cluster is going: %s", db.ErrConflict, cur.DesiredWhy)
	case !kept:
		return fmt.Errorf("%w: no %s of it is kept", db.ErrConflict, kind)
	}
	return nil
}

func insertBreakGlass(ctx context.Context, c *db.Tx, id, cluster string, kind clusters.ApprovalKind, expiresIn time.Duration, d clusters.Origin) error {
	asked := sha256.Sum256([]byte(string(kind) + "\x00" + cluster + "\x00" + d.Actor + "\x00" + d.Reason()))
	_, err := c.Exec(ctx, `
		INSERT INTO approvals (id, kind, cluster_id, team, requested_by, why, asked, needs, by_role, created_at, expires_at)
		SELECT @id, @kind, id, team, @by, ARRAY[@why], @asked, 1, 'platform_admin', @now, @expires FROM clusters WHERE id = @cluster`,
		pgx.NamedArgs{
			"id": id, "kind": kind, "cluster": cluster, "by": d.Actor, "why": d.Reason(), "asked": hex.EncodeToString(asked[:]),
			"now": c.Now, "expires": c.Now.Add(expiresIn),
		})
	if err != nil {
		return fmt.Errorf("ask for approval: %w", err)
	}
	if err := announceApproval(ctx, c, cluster, id); err != nil {
		return err
	}
	return clusters.RecordAction(c, d, string(kind)+"_asked", cluster, clusters.Action{Approval: id})
}
