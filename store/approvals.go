package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
)

// ErrOwnApproval refuses a vote for one's own request where somebody else has to approve.
var ErrOwnApproval = errors.New("what one asked for oneself is for others to approve")

// ApprovalFilter selects approvals; empty fields do not filter.
type ApprovalFilter struct {
	State     clusters.ApprovalState
	Kind      clusters.ApprovalKind
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
func (s *Store) Approvals(ctx context.Context, f ApprovalFilter) (page []clusters.Approval, next string, err error) {
	now, err := s.Now(ctx)
	if err != nil {
		return nil, "", err
	}
	limit := db.PageOf(f.Limit)
	w := db.Conditions{Args: pgx.NamedArgs{"now": now, "principal": f.Principal, "limit": limit + 1}}
	w.Add(f.State != "", approvalState+" = @state", "state", f.State)
	w.Add(f.State == clusters.ApprovalPending, "a.state = 'pending'", "", nil) // has an index
	w.Add(f.Kind != "", "a.kind = @kind", "kind", f.Kind)
	w.Add(f.Cluster != "", "a.cluster_id = @cluster", "cluster", f.Cluster)
	w.Add(f.Teams != nil, "(a.team = ANY (@teams) OR principal_key(a.requested_by) = ANY (identities_of(@principal)))", "teams", f.Teams)
	w.Add(f.Cursor != "", "a.id < @cursor", "cursor", f.Cursor)
	page, err = approvalsIn(ctx, s.Pool(), w.Where()+` ORDER BY a.id DESC LIMIT @limit`, w.Args)
	if err != nil {
		return nil, "", fmt.Errorf("list approvals: %w", err)
	}
	if len(page) > limit {
		page = page[:limit]
		next = page[limit-1].ID
	}
	return page, next, nil
}

// OpenVotes returns the newest pending approvals on which a principal has not voted, with what their right to vote depends on and nothing
// else: every page counts them. teams: only these teams'; nil: all.
func (s *Store) OpenVotes(ctx context.Context, principal string, teams []string, most int) ([]clusters.Approval, error) {
	list, err := db.All[struct {
		Kind                                                clusters.ApprovalKind
		Team, RequestedBy, ByRole, Profile, CredentialsMode string
		Self                                                bool
	}](ctx, s.Pool(), `
		SELECT a.kind, a.team, a.requested_by, a.by_role, a.self_approval AS self, coalesce(c.profile, '') AS profile, coalesce(c.spec ->> 'credentialsMode', '') AS credentials_mode
		FROM approvals a LEFT JOIN clusters c ON c.id = a.cluster_id AND a.kind = ANY (@opening)
		WHERE a.state = 'pending' AND a.expires_at > (SELECT `+db.PaceClock+`) AND (@teams::text[] IS NULL OR a.team = ANY (@teams))
			AND NOT EXISTS (SELECT FROM approval_votes v WHERE v.approval_id = a.id AND v.principal = @principal)
		ORDER BY a.id DESC LIMIT @most`, pgx.NamedArgs{
		"opening": []clusters.ApprovalKind{clusters.ApproveKubeadmin, clusters.ApproveKubeconfig}, "teams": teams, "principal": principal, "most": most, "fixed": s.Fixed()})
	if err != nil {
		return nil, fmt.Errorf("read what somebody may vote on: %w", err)
	}
	out := make([]clusters.Approval, len(list))
	for i, a := range list {
		out[i] = clusters.Approval{
			Kind: a.Kind, Team: a.Team, RequestedBy: a.RequestedBy, ByRole: a.ByRole, Profile: a.Profile, CredentialsMode: a.CredentialsMode, Self: a.Self,
			State: clusters.ApprovalPending,
		}
	}
	return out, nil
}

// Approval returns one approval with its votes.
func (s *Store) Approval(ctx context.Context, id string) (clusters.Approval, error) {
	now, err := s.Now(ctx)
	if err != nil {
		return clusters.Approval{}, err
	}
	return approvalIn(ctx, s.Pool(), id, now)
}

func approvalIn(ctx context.Context, from db.Source, id string, now time.Time) (clusters.Approval, error) {
	found, err := approvalsIn(ctx, from, `WHERE a.id = @id`, pgx.NamedArgs{"id": id, "now": now})
	if err == nil && len(found) == 0 {
		err = db.ErrNotFound
	}
	if err != nil {
		return clusters.Approval{}, fmt.Errorf("read approval %s: %w", id, err)
	}
	return found[0], nil
}

func approvalsIn(ctx context.Context, from db.Source, where string, args pgx.NamedArgs) ([]clusters.Approval, error) {
	list, err := db.All[clusters.Approval](ctx, from, `SELECT `+approvalColumns+` FROM approvals a JOIN clusters c ON c.id = a.cluster_id `+where, args)
	if err != nil {
		return nil, err
	}
	at := make(map[string]*clusters.Approval, len(list))
	ids := make([]string, len(list))
	for i := range list {
		ids[i], at[list[i].ID] = list[i].ID, &list[i]
	}
	type record struct {
		clusters.ApprovalVote
		Approval string
	}
	votes, err := db.All[record](ctx, from, `
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
	err = s.Write(ctx, func(c *db.Tx) error {
		n, err = clusters.CloseOver(ctx, c, "")
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("expire approvals: %w", err)
	}
	return n, nil
}
