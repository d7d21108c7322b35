package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// ErrOwnApproval refuses a vote for one's own request where somebody else has to approve.
var ErrOwnApproval = errors.New("what one asked for oneself is for others to approve")

// ApprovalKind says what an approval is for.
type ApprovalKind string

// The kinds.
const (
	ApproveCreate    ApprovalKind = "create"    // the cluster may start
	ApproveKubeadmin ApprovalKind = "kubeadmin" // the kubeadmin password is shown once
)

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
	Asked                string     // SHA-256 of what is asked for, lower-case hex
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

// ApprovalFilter selects approvals; empty fields do not filter.
type ApprovalFilter struct {
	State     ApprovalState
	Kind      ApprovalKind
	Cluster   string
	Teams     []string // only these teams', and what Principal asked for; nil: all
	Principal string
	Cursor    string // id of the last one seen; newest first
	Limit     int    // default 50, at most 500
}

// approvalColumns show an undecided approval past its deadline as expired, even if that is not stored yet.
const approvalColumns = `
	a.id, a.kind, a.cluster_id AS cluster, c.name AS cluster_name, c.profile, coalesce(c.spec->>'credentialsMode', '') AS credentials_mode, a.team, a.requested_by, a.why, a.asked, a.asked_at, a.head, a.needs, a.self_approval AS self, a.by_role,
	` + approvalState + ` AS state, a.created_at, a.expires_at, a.decided_at, a.decided_why`

const approvalState = `CASE WHEN a.state = 'pending' AND a.expires_at <= @now THEN 'expired' ELSE a.state END`

// Approvals returns a page of approvals with their votes, newest first, and the cursor of the next; empty when this is the last.
func (s *Store) Approvals(ctx context.Context, f ApprovalFilter) (page []Approval, next string, err error) {
	now, err := s.Now(ctx)
	if err != nil {
		return nil, "", err
	}
	limit := pageOf(f.Limit)
	w := conditions{args: pgx.NamedArgs{"now": now, "principal": f.Principal, "limit": limit + 1}}
	w.add(f.State != "", approvalState+" = @state", "state", f.State)
	w.add(f.State == ApprovalPending, "a.state = 'pending'", "", nil) // has an index
	w.add(f.Kind != "", "a.kind = @kind", "kind", f.Kind)
	w.add(f.Cluster != "", "a.cluster_id = @cluster", "cluster", f.Cluster)
	w.add(f.Teams != nil, "(a.team = ANY (@teams) OR principal_key(a.requested_by) = ANY (identities_of(@principal)))", "teams", f.Teams)
	w.add(f.Cursor != "", "a.id < @cursor", "cursor", f.Cursor)
	page, err = approvalsIn(ctx, s.pool, w.where()+` ORDER BY a.id DESC LIMIT @limit`, w.args)
	if err != nil {
		return nil, "", fmt.Errorf("list approvals: %w", err)
	}
	if len(page) > limit {
		page = page[:limit]
		next = page[limit-1].ID
	}
	return page, next, nil
}

// Approval returns one approval with its votes.
func (s *Store) Approval(ctx context.Context, id string) (Approval, error) {
	now, err := s.Now(ctx)
	if err != nil {
		return Approval{}, err
	}
	return approvalIn(ctx, s.pool, id, now)
}

func approvalIn(ctx context.Context, from source, id string, now time.Time) (Approval, error) {
	found, err := approvalsIn(ctx, from, `WHERE a.id = @id`, pgx.NamedArgs{"id": id, "now": now})
	if err == nil && len(found) == 0 {
		err = ErrNotFound
	}
	if err != nil {
		return Approval{}, fmt.Errorf("read approval %s: %w", id, err)
	}
	return found[0], nil
}

func approvalsIn(ctx context.Context, from source, where string, args pgx.NamedArgs) ([]Approval, error) {
	list, err := all[Approval](ctx, from, `SELECT `+approvalColumns+` FROM approvals a JOIN clusters c ON c.id = a.cluster_id `+where, args)
	if err != nil {
		return nil, err
	}
	at := make(map[string]*Approval, len(list))
	ids := make([]string, len(list))
	for i := range list {
		ids[i], at[list[i].ID] = list[i].ID, &list[i]
	}
	type record struct {
		ApprovalVote
		Approval string
	}
	votes, err := all[record](ctx, from, `
		SELECT approval_id AS approval, principal, approves, reason, source, created_at AS at
		FROM approval_votes WHERE approval_id = ANY ($1) ORDER BY approval_id, created_at, principal`, ids)
	if err != nil {
		return nil, fmt.Errorf("read the votes: %w", err)
	}
	for _, v := range votes {
		a := at[v.Approval]
		a.Votes = append(a.Votes, v.ApprovalVote)
	}
	return list, nil
}

// ExpireApprovals closes pending approvals that can no longer be decided: kubeadmin approvals past their deadline, and all of
// clusters whose desired state is absent. (A cluster that nobody approved in time is ended by the lifecycle.) It returns how
// many it closed.
func (s *Store) ExpireApprovals(ctx context.Context) (n int, err error) {
	err = s.write(ctx, func(c *change) error {
		n, err = c.closeOver(ctx, "")
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("expire approvals: %w", err)
	}
	return n, nil
}

// closeOver is ExpireApprovals for one cluster, or for all if cluster is empty.
func (c *change) closeOver(ctx context.Context, cluster string) (n int, err error) {
	type closed struct {
		ID, Cluster, Why string
		State            ApprovalState
	}
	over, err := all[closed](ctx, c, `
		UPDATE approvals a SET decided_at = @now,
			state = CASE WHEN a.expires_at <= @now THEN 'expired' ELSE 'void' END,
			decided_why = CASE WHEN a.expires_at <= @now THEN 'nobody decided in time' ELSE 'the cluster is no longer wanted: ' || c.desired_why END
		FROM clusters c WHERE c.id = a.cluster_id AND a.state = 'pending' AND (@cluster = '' OR a.cluster_id = @cluster)
			AND (c.desired = 'absent' OR a.kind = 'kubeadmin' AND a.expires_at <= @now)
		RETURNING a.id, a.cluster_id AS cluster, a.state, a.decided_why AS why`, pgx.NamedArgs{"now": c.now, "cluster": cluster})
	if err != nil {
		return 0, fmt.Errorf("close what is over: %w", err)
	}
	for _, a := range over {
		d := Origin{Actor: Lifecycle, Why: a.Why}
		if err := c.did(d, "approval_"+string(a.State), a.Cluster, act{Approval: a.ID, Before: ApprovalPending, After: a.State}); err != nil {
			return 0, err
		}
	}
	return len(over), nil
}
