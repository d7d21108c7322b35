package clusters

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/usage"
)

// ApprovalKind says what an approval is for.
type ApprovalKind string

// The kinds.
const (
	ApproveCreate    ApprovalKind = "create"    // the cluster may start
	ApproveKubeadmin ApprovalKind = "kubeadmin" // the kubeadmin password is shown once

	ApproveKubeconfig ApprovalKind = "kubeconfig" // the installer's own kubeconfig is shown once
)

// BreakGlass reports that the approval shows a credential that the installer made.
func (k ApprovalKind) BreakGlass() bool { return k == ApproveKubeadmin || k == ApproveKubeconfig }

// ApprovalState is the state of an approval. All but pending are final, except that an approved one can be used once.
type ApprovalState string

// The states.
const (
	ApprovalPending  ApprovalState = "pending"
	ApprovalApproved ApprovalState = "approved"
	ApprovalRefused  ApprovalState = "refused"
	ApprovalExpired  ApprovalState = "expired" // nobody decided in time
	ApprovalVoid     ApprovalState = "void"    // what it was for is gone, or its pull request moved on
	ApprovalUsed     ApprovalState = "used"
)

// Approval is a request that waits, or waited, for people's votes. What it asks for never changes: a vote for its id is a vote
// for exactly that.
type Approval struct {
	ID                   string
	Kind                 ApprovalKind
	Cluster, ClusterName string
	Profile              string // the cluster's, as are Team and CredentialsMode
	CredentialsMode      string
	Team                 string
	RequestedBy          string // principal id
	Why                  []string
	Asked                string     // SHA-256 of what is asked for, lowercase hex
	AskedAt              *time.Time // requested no later than this, by GitHub's clock; nil: GitHub gives no time for it
	Head                 string     // of the pull request it is bound to; empty: of none
	Needs                int        // votes
	Self                 bool       // the requester may vote
	ByRole               string     // whose votes count: "requester" or "platform_admin"
	State                ApprovalState
	CreatedAt, ExpiresAt time.Time
	DecidedAt            *time.Time // nil while pending
	DecidedWhy           string
	Votes                []ApprovalVote `db:"-"` // oldest first
}

// ApprovalVote is one person's vote.
type ApprovalVote struct {
	Principal string // the person, also if a linked account voted
	Approves  bool
	Reason    string
	Source    string
	At        time.Time
}

// CloseOver is ExpireApprovals for one cluster, or for all if cluster is empty. It closes offers of handovers and turns of runs too.
func CloseOver(ctx context.Context, c *db.Tx, cluster string) (n int, err error) {
	type closed struct {
		ID, Cluster string
		State       ApprovalState
		Why         lifecycle.Reason
	}
	over, err := db.All[closed](ctx, c, `
		SELECT a.id, a.cluster_id AS cluster, CASE WHEN a.expires_at <= @now THEN 'expired' ELSE 'void' END AS state, c.desired_why AS why
		FROM approvals a JOIN clusters c ON c.id = a.cluster_id WHERE a.state = 'pending' AND (@cluster = '' OR a.cluster_id = @cluster)
			AND (c.desired = 'absent' OR a.kind <> 'create' AND a.expires_at <= @now) FOR NO KEY UPDATE OF a`, pgx.NamedArgs{"now": c.Now, "cluster": cluster})
	if err != nil {
		return 0, fmt.Errorf("find what is over: %w", err)
	}
	for _, a := range over {
		why := "nobody decided in time"
		if a.State == ApprovalVoid {
			why = Unwanted + a.Why.String()
		}
		if _, err := c.Exec(ctx, `UPDATE approvals SET decided_at = $2, state = $3, decided_why = $4 WHERE id = $1`, a.ID, c.Now, a.State, why); err != nil {
			return 0, fmt.Errorf("close approval %s: %w", a.ID, err)
		}
		d := Origin{Actor: db.Lifecycle, Why: why}
		if err := RecordAction(c, d, "approval_"+string(a.State), a.Cluster, Action{Approval: a.ID, Before: ApprovalPending, After: a.State}); err != nil {
			return 0, err
		}
	}
	handovers, err := closeHandovers(ctx, c, cluster)
	if err != nil {
		return 0, err
	}
	uses, err := closeUses(ctx, c, cluster)
	return len(over) + handovers + uses, err
}

type askedBreakGlass struct {
	ID, RequestedBy string
	State           ApprovalState
}

// OpenBreakGlass returns the requests for a credential that are still valid, newest first, and closes the expired ones.
func OpenBreakGlass(ctx context.Context, c *db.Tx, cluster string, kind ApprovalKind) ([]askedBreakGlass, error) {
	if _, err := CloseOver(ctx, c, cluster); err != nil {
		return nil, err
	}
	return db.All[askedBreakGlass](ctx, c, `
		SELECT id, requested_by, state FROM approvals
		WHERE cluster_id = $1 AND kind = $3 AND state IN ('pending', 'approved') AND expires_at > $2 ORDER BY id DESC FOR UPDATE`, cluster, c.Now, kind)
}

// UseApproval uses up the approval that a person got for a cluster's credential. ErrNotFound: there is no valid one.
func UseApproval(ctx context.Context, c *db.Tx, cluster string, kind ApprovalKind, d Origin) error {
	kept, err := OpenBreakGlass(ctx, c, cluster, kind)
	if err != nil {
		return err
	}
	for _, k := range kept {
		mine, err := usage.SamePrincipal(ctx, c, k.RequestedBy, d.Actor)
		if err != nil {
			return err
		}
		if !mine || k.State != ApprovalApproved {
			continue
		}
		if _, err := c.Exec(ctx, `UPDATE approvals SET state = 'used' WHERE id = $1`, k.ID); err != nil {
			return fmt.Errorf("use the approval: %w", err)
		}
		return RecordAction(c, d, "approval_used", cluster, Action{Approval: k.ID, Before: ApprovalApproved, After: ApprovalUsed})
	}
	return fmt.Errorf("%w: no approval to look at it counts", db.ErrNotFound)
}
