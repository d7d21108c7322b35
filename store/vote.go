package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/usage"
)

// Vote adds a person's vote to an approval and returns the result. One refusal ends the approval, and its cluster's desired
// state becomes absent; enough votes let the cluster start. The caller checks the voter's role. Vote checks that each person
// votes once, with whichever id, that it is not the requester's unless policy allows that, that the approval is pending, and
// that the pull request did not move on. ErrConflict: it is no longer pending, or the person voted. ErrOwnApproval: it is the
// voter's own request. ErrStale: the pull request has another head.
func (s *Store) Vote(ctx context.Context, id string, approves bool, d clusters.Origin) (now clusters.Approval, err error) {
	err = s.Write(ctx, func(c *db.Tx) error {
		b, err := lockBallot(ctx, c, id)
		if err != nil {
			return err
		}
		voter, err := usage.Person(ctx, c, d.Actor)
		if err != nil {
			return err
		}
		if err := mayVote(ctx, c, b, voter); err != nil {
			return err
		}
		_, err = c.Exec(ctx, `
			INSERT INTO approval_votes (approval_id, principal, approves, reason, source, created_at) VALUES (@id, @voter, @approves, @reason, @source, @now)`,
			pgx.NamedArgs{"id": id, "voter": voter, "approves": approves, "reason": d.Why, "source": d.Source, "now": c.Now})
		if err != nil {
			return fmt.Errorf("write the vote: %w", err)
		}
		d.Version = 0
		if err := decideBallot(ctx, c, b, approves, d); err != nil {
			return err
		}
		if now, err = approvalIn(ctx, c, id, c.Now); err != nil {
			return err
		}
		return clusters.SaveReplyOnce(ctx, c, d.Reply, clusters.Outcome{Approval: now})
	})
	if err != nil {
		return clusters.Approval{}, fmt.Errorf("vote on approval %s: %w", id, err)
	}
	return now, nil
}

// ballot is an approval whose row, and its cluster's row, this change has locked.
type ballot struct {
	cluster usage.Held
	ballotRecord
}

type ballotRecord struct {
	ID, Cluster  string
	Kind         clusters.ApprovalKind
	RequestedBy  string
	Head, Latest string // Latest is the pull request's newest known head; empty: none is known
	Needs, Votes int
	Self         bool
	State        clusters.ApprovalState
	DecidedWhy   string
}

// lockBallot locks the cluster's row, then the approval's, in the same order as every change.
func lockBallot(ctx context.Context, c *db.Tx, id string) (ballot, error) {
	var cluster string
	if err := c.QueryRow(ctx, `SELECT cluster_id FROM approvals WHERE id = $1`, id).Scan(&cluster); err != nil {
		return ballot{}, err
	}
	cur, err := clusters.Lock(ctx, c, cluster)
	if err != nil {
		return ballot{}, err
	}
	b := ballot{cluster: cur}
	b.ballotRecord, err = db.One[ballotRecord](ctx, c, `
		SELECT a.id, a.cluster_id AS cluster, a.kind, a.requested_by, a.head, a.needs, a.self_approval AS self, `+approvalState+` AS state, a.decided_why,
			coalesce((SELECT p.head FROM pull_requests p JOIN clusters c ON (c.repo, c.pr_number) = (p.repo, p.number) WHERE c.id = a.cluster_id), '') AS latest,
			(SELECT count(*) FROM approval_votes v WHERE v.approval_id = a.id AND v.approves) AS votes
		FROM approvals a WHERE a.id = @id FOR UPDATE OF a`, pgx.NamedArgs{"id": id, "now": c.Now})
	return b, err
}

// mayVote returns the error that keeps a person from voting.
func mayVote(ctx context.Context, c *db.Tx, b ballot, voter string) error {
	own, err := usage.MayBeOnePerson(ctx, c, voter, b.RequestedBy)
	if err != nil {
		return err
	}
	voted, err := hasVoted(ctx, c, b.ID, voter)
	switch {
	case err != nil:
		return fmt.Errorf("look for a vote: %w", err)
	case b.State == clusters.ApprovalExpired:
		return fmt.Errorf("%w: nobody approved it in time", db.ErrConflict)
	case b.State != clusters.ApprovalPending:
		return fmt.Errorf("%w: it is %s: %s", db.ErrConflict, b.State, b.DecidedWhy)
	case b.cluster.Desired == lifecycle.Absent:
		return fmt.Errorf("%w: the cluster is going: %s", db.ErrConflict, b.cluster.DesiredWhy)
	case own && !b.Self:
		return ErrOwnApproval
	case voted:
		return fmt.Errorf("%w: %s voted already", db.ErrConflict, voter)
	case b.Head != "" && b.Latest != "" && b.Head != b.Latest:
		return fmt.Errorf("%w: it was asked for %s, and the pull request is at %s", db.ErrStale, b.Head, b.Latest)
	}
	return nil
}

// hasVoted reports whether the person voted before, by any identity that is linked to them now.
func hasVoted(ctx context.Context, c *db.Tx, approval, voter string) (bool, error) {
	votes, err := db.All[struct{ Principal string }](ctx, c, `SELECT principal FROM approval_votes WHERE approval_id = $1`, approval)
	if err != nil {
		return false, err
	}
	for _, v := range votes {
		if is, err := usage.MayBeOnePerson(ctx, c, v.Principal, voter); err != nil || is {
			return is, err
		}
	}
	return false, nil
}

func decideBallot(ctx context.Context, c *db.Tx, b ballot, approves bool, d clusters.Origin) error {
	votes := b.Votes
	if approves {
		votes++
	}
	switch {
	case !approves:
		if err := closeBallot(ctx, c, b, clusters.ApprovalRefused, d); err != nil || b.Kind != clusters.ApproveCreate {
			return err
		}
		d.Instead = lifecycle.Reason{Code: lifecycle.ReasonRefused, By: d.DisplayName(), Words: d.Reason()}
		_, err := destroy(ctx, c, b.cluster, d)
		return err
	case votes < b.Needs:
		if err := clusters.NewVersion(ctx, c, b.Cluster); err != nil { // messages show how far it is
			return err
		}
		return clusters.RecordAction(c, d, "approval_voted", b.Cluster, clusters.Action{Approval: b.ID, Before: b.Votes, After: votes, Note: string(b.Kind)})
	}
	if d.Why == "" {
		d.Instead = lifecycle.Reason{Code: lifecycle.ReasonApproved, By: d.DisplayName()}
	}
	if err := closeBallot(ctx, c, b, clusters.ApprovalApproved, d); err != nil || b.Kind != clusters.ApproveCreate {
		return err
	}
	clusters.NextTurns(c) // the cluster may have to wait for a turn now
	return clusters.SetDesired(ctx, c, b.Cluster, "needs_approval = false, approve_by = NULL", pgx.NamedArgs{})
}

// closeBallot ends the approval.
func closeBallot(ctx context.Context, c *db.Tx, b ballot, state clusters.ApprovalState, d clusters.Origin) error {
	_, err := c.Exec(ctx, `UPDATE approvals SET state = $2, decided_at = $3, decided_why = $4 WHERE id = $1`, b.ID, state, c.Now, d.Reason())
	if err != nil {
		return fmt.Errorf("close the approval: %w", err)
	}
	if err := clusters.RefreshOutdated(ctx, c, b.Cluster); err != nil {
		return err
	}
	return clusters.RecordAction(c, d, "approval_"+string(state), b.Cluster, clusters.Action{Approval: b.ID, Before: clusters.ApprovalPending, After: state, Note: string(b.Kind)})
}

// RebindApproval voids the approval for another head of the pull request, with its votes, and asks for this head instead, with
// the same deadline. at is the latest time, by GitHub's clock, at which the pull request got that head. moved is false if the
// cluster awaits no approval, or awaits it for this head.
func (s *Store) RebindApproval(ctx context.Context, cluster, head string, at time.Time) (moved bool, err error) {
	err = s.Write(ctx, func(c *db.Tx) error {
		cur, err := clusters.Lock(ctx, c, cluster)
		if err != nil || cur.Desired == lifecycle.Absent || !cur.NeedsApproval {
			return err
		}
		args := pgx.NamedArgs{"cluster": cluster, "head": head, "now": c.Now, "id": db.NewID("apr"), "at": db.Null(at), "why": "the pull request moved on to " + head}
		type pair struct{ Old, New string }
		moves, err := db.All[pair](ctx, c, `
			WITH old AS (
				UPDATE approvals SET state = 'void', decided_at = @now, decided_why = @why
				WHERE cluster_id = @cluster AND kind = 'create' AND state = 'pending' AND head NOT IN ('', @head) AND expires_at > @now RETURNING *
			)
			INSERT INTO approvals (id, kind, cluster_id, team, requested_by, why, asked, asked_at, head, needs, self_approval, by_role, created_at, expires_at)
			SELECT @id, kind, cluster_id, team, requested_by, why, asked, @at, @head, needs, self_approval, by_role, @now, expires_at FROM old
			RETURNING (SELECT id FROM old) AS old, id AS new`, args)
		if err != nil || len(moves) == 0 {
			return err
		}
		moved = true
		if err := announceApproval(ctx, c, cluster, moves[0].New); err != nil {
			return err
		}
		if err := clusters.SetDesired(ctx, c, cluster, "needs_approval = true", pgx.NamedArgs{}); err != nil { // subscribers then show the new approval
			return err
		}
		return clusters.RecordAction(c, clusters.Origin{Actor: db.Lifecycle, Why: args["why"].(string)}, "approval_void", cluster,
			clusters.Action{Approval: moves[0].Old, Before: moves[0].Old, After: moves[0].New})
	})
	if err != nil {
		return false, fmt.Errorf("bind the approval of %s to %s: %w", cluster, head, err)
	}
	return moved, nil
}
