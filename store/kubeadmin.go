package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/internal/pg"
	"github.com/ocpctl/ocpctl/store/internal/rows"
	"github.com/ocpctl/ocpctl/store/internal/usage"
)

// AskKubeadmin asks to see a cluster's kubeadmin password. A platform admin other than the requester has to approve, and then it
// is shown once, all within expiresIn. A repeated call returns the pending or approved request. ErrConflict: the cluster has no
// such password, or another person's request is pending.
func (s *Store) AskKubeadmin(ctx context.Context, cluster string, expiresIn time.Duration, d rows.Origin) (rows.Approval, error) {
	var id string
	_, err := s.changeSeen(ctx, cluster, d, func(c *change, cur usage.Held, _ *rows.Outcome) error {
		if err := c.hasKubeadmin(ctx, cur); err != nil {
			return err
		}
		kept, err := c.OpenKubeadmin(ctx, cluster)
		if err != nil {
			return err
		}
		for _, k := range kept {
			mine, err := c.SamePrincipal(ctx, k.RequestedBy, d.Actor)
			switch {
			case err != nil:
				return err
			case mine:
				id = k.ID
				return nil
			case k.State == rows.ApprovalPending:
				return fmt.Errorf("%w: %s asked already (%s)", pg.ErrConflict, k.RequestedBy, k.ID)
			}
		}
		id = pg.NewID("apr")
		return c.insertKubeadmin(ctx, id, cluster, expiresIn, d)
	})
	if err != nil {
		return rows.Approval{}, fmt.Errorf("ask for the kubeadmin password of %s: %w", cluster, err)
	}
	return s.Approval(ctx, id)
}

func (c *change) hasKubeadmin(ctx context.Context, cur usage.Held) error {
	var kept bool
	err := c.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM cluster_outputs WHERE cluster_id = $1 AND kubeadmin_secret_ref <> '')`, cur.ID).Scan(&kept)
	switch {
	case err != nil:
		return fmt.Errorf("look for the password's reference: %w", err)
	case cur.Desired == lifecycle.Absent:
		return fmt.Errorf("%w: the cluster is going: %s", pg.ErrConflict, cur.DesiredWhy)
	case !kept:
		return fmt.Errorf("%w: no password of it is kept", pg.ErrConflict)
	}
	return nil
}

func (c *change) insertKubeadmin(ctx context.Context, id, cluster string, expiresIn time.Duration, d rows.Origin) error {
	asked := sha256.Sum256([]byte("kubeadmin\x00" + cluster + "\x00" + d.Actor + "\x00" + d.Reason()))
	_, err := c.Exec(ctx, `
		INSERT INTO approvals (id, kind, cluster_id, team, requested_by, why, asked, needs, by_role, created_at, expires_at)
		SELECT @id, 'kubeadmin', id, team, @by, ARRAY[@why], @asked, 1, 'platform_admin', @now, @expires FROM clusters WHERE id = @cluster`,
		pgx.NamedArgs{
			"id": id, "cluster": cluster, "by": d.Actor, "why": d.Reason(), "asked": hex.EncodeToString(asked[:]),
			"now": c.Now, "expires": c.Now.Add(expiresIn),
		})
	if err != nil {
		return fmt.Errorf("ask for approval: %w", err)
	}
	if err := c.announceApproval(ctx, cluster, id); err != nil {
		return err
	}
	return c.RecordAction(d, "kubeadmin_asked", cluster, rows.Action{Approval: id})
}
