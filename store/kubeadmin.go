package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/lifecycle"
)

// AskKubeadmin asks to see a cluster's kubeadmin password. A platform admin other than the requester has to approve, and then it
// is shown once, all within expiresIn. A repeated call returns the pending or approved request. ErrConflict: the cluster has no
// such password, or another person's request is pending.
func (s *Store) AskKubeadmin(ctx context.Context, cluster string, expiresIn time.Duration, d Origin) (Approval, error) {
	var id string
	_, err := s.changeSeen(ctx, cluster, d, func(c *change, cur held, _ *Outcome) error {
		if err := c.hasKubeadmin(ctx, cur); err != nil {
			return err
		}
		kept, err := c.openKubeadmin(ctx, cluster)
		if err != nil {
			return err
		}
		for _, k := range kept {
			mine, err := c.same(ctx, k.RequestedBy, d.Actor)
			switch {
			case err != nil:
				return err
			case mine:
				id = k.ID
				return nil
			case k.State == ApprovalPending:
				return fmt.Errorf("%w: %s asked already (%s)", ErrConflict, k.RequestedBy, k.ID)
			}
		}
		id = NewID("apr")
		return c.insertKubeadmin(ctx, id, cluster, expiresIn, d)
	})
	if err != nil {
		return Approval{}, fmt.Errorf("ask for the kubeadmin password of %s: %w", cluster, err)
	}
	return s.Approval(ctx, id)
}

func (c *change) hasKubeadmin(ctx context.Context, cur held) error {
	var kept bool
	err := c.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM cluster_outputs WHERE cluster_id = $1 AND kubeadmin_secret_ref <> '')`, cur.ID).Scan(&kept)
	switch {
	case err != nil:
		return fmt.Errorf("look for the password's reference: %w", err)
	case cur.Desired == lifecycle.Absent:
		return fmt.Errorf("%w: the cluster is going: %s", ErrConflict, cur.DesiredWhy)
	case !kept:
		return fmt.Errorf("%w: no password of it is kept", ErrConflict)
	}
	return nil
}

type askedKubeadmin struct {
	ID, RequestedBy string
	State           ApprovalState
}

// openKubeadmin returns the requests that are still valid, newest first, and closes the expired ones.
func (c *change) openKubeadmin(ctx context.Context, cluster string) ([]askedKubeadmin, error) {
	if _, err := c.closeOver(ctx, cluster); err != nil {
		return nil, err
	}
	return all[askedKubeadmin](ctx, c, `
		SELECT id, requested_by, state FROM approvals
		WHERE cluster_id = $1 AND kind = 'kubeadmin' AND state IN ('pending', 'approved') AND expires_at > $2 ORDER BY id DESC FOR UPDATE`, cluster, c.now)
}

func (c *change) insertKubeadmin(ctx context.Context, id, cluster string, expiresIn time.Duration, d Origin) error {
	asked := sha256.Sum256([]byte("kubeadmin\x00" + cluster + "\x00" + d.Actor + "\x00" + d.why()))
	_, err := c.Exec(ctx, `
		INSERT INTO approvals (id, kind, cluster_id, team, requested_by, why, asked, needs, by_role, created_at, expires_at)
		SELECT @id, 'kubeadmin', id, team, @by, ARRAY[@why], @asked, 1, 'platform_admin', @now, @expires FROM clusters WHERE id = @cluster`,
		pgx.NamedArgs{
			"id": id, "cluster": cluster, "by": d.Actor, "why": d.why(), "asked": hex.EncodeToString(asked[:]),
			"now": c.now, "expires": c.now.Add(expiresIn),
		})
	if err != nil {
		return fmt.Errorf("ask for approval: %w", err)
	}
	return c.did(d, "kubeadmin_asked", cluster, act{Approval: id})
}

// useApproval uses up the approval that a person got for a cluster's password. ErrNotFound: there is no valid one.
func (c *change) useApproval(ctx context.Context, cluster string, d Origin) error {
	kept, err := c.openKubeadmin(ctx, cluster)
	if err != nil {
		return err
	}
	for _, k := range kept {
		mine, err := c.same(ctx, k.RequestedBy, d.Actor)
		if err != nil {
			return err
		}
		if !mine || k.State != ApprovalApproved {
			continue
		}
		if _, err := c.Exec(ctx, `UPDATE approvals SET state = 'used' WHERE id = $1`, k.ID); err != nil {
			return fmt.Errorf("use the approval: %w", err)
		}
		return c.did(d, "approval_used", cluster, act{Approval: k.ID, Before: ApprovalApproved, After: ApprovalUsed})
	}
	return fmt.Errorf("%w: no approval to look at the password counts", ErrNotFound)
}
