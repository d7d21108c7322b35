package store

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/access"
	"github.com/ocpctl/ocpctl/store/brakes"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/people"
	"github.com/ocpctl/ocpctl/store/usage"
)

// holder is the team and the owner of a cluster.
type holder struct {
	Team  string `json:"team"`
	Owner string `json:"owner"`
}

// scope is whose usage a cluster adds to with its new team: of the origin's judgement the team's cohort counts too.
func (h holder) scope(d clusters.Origin) usage.Scope {
	out := usage.Scope{Team: h.Team}
	if d.Afford != nil {
		out.Cohort = d.Afford.Scope.Cohort
	}
	return out
}

// JudgeTransfer judges a cluster's move to another team, with that team's usage, and what moves with the cluster, counted under its lock. The
// limits that it returns apply to a cluster that still waits for its turn; its error refuses the move.
type JudgeTransfer func(team usage.Usage, moves usage.Counts) ([]lifecycle.Limit, error)

// Transfer gives a cluster to another team and owner: quotas, costs and visibility follow from now on. The tags in the cloud
// keep the names of its acceptance. For another team, judge is called; its error comes back wrapped. nil: not judged, and the
// limits stay. An open offer of the cluster to a person is withdrawn. ErrConflict: the cluster is going away. ErrStale: the row is
// not the version that the actor saw.
func (s *Store) Transfer(ctx context.Context, id, team, owner string, d clusters.Origin, judge JudgeTransfer) error {
	err := s.give(ctx, id, holder{team, owner}, d, judge, func(*db.Tx) error { return nil })
	if err != nil {
		return fmt.Errorf("transfer %s: %w", id, err)
	}
	return nil
}

// AcceptHandover is Transfer by the person to whom a cluster was offered. ErrConflict: it is no longer offered, or going away.
func (s *Store) AcceptHandover(ctx context.Context, h people.Handover, team, owner string, d clusters.Origin, judge JudgeTransfer) error {
	err := s.give(ctx, h.Cluster, holder{team, owner}, d, judge, func(c *db.Tx) error {
		return clusters.EndHandover(ctx, c, h.ID, clusters.HandoverAccepted, d)
	})
	if err != nil {
		return fmt.Errorf("accept the handover %s: %w", h.ID, err)
	}
	return nil
}

// give gives a cluster to a holder, once per reply. first runs before, under the same locks.
func (s *Store) give(ctx context.Context, id string, to holder, d clusters.Origin, judge JudgeTransfer, first func(*db.Tx) error) error {
	return s.Write(ctx, func(c *db.Tx) error {
		if err := c.TakeLocks(ctx, []string{brakes.Lock}); err != nil {
			return err
		}
		if judge != nil { // the team's lock before the row's, in the same order as requests
			if err := c.TakeLocks(ctx, to.scope(d).Locks()); err != nil {
				return err
			}
		}
		cur, err := clusters.Lock(ctx, c, id)
		if err != nil {
			return err
		}
		if done, err := clusters.AnsweredBefore(ctx, c, d.Reply); err != nil || done {
			return err
		}
		if err := d.CheckVersion(cur); err != nil {
			return err
		}
		if cur.Desired == lifecycle.Absent {
			return fmt.Errorf("%w: the cluster is going: %s", db.ErrConflict, cur.DesiredWhy)
		}
		if to.Team == "" || to.Owner == "" {
			return fmt.Errorf("%w: a cluster has a team and an owner", db.ErrConflict)
		}
		if err := first(c); err != nil {
			return err
		}
		if err := receive(ctx, c, id, to, d, judge); err != nil {
			return err
		}
		return clusters.SaveReplyOnce(ctx, c, d.Reply, clusters.Outcome{})
	})
}

// receive changes the holder of the locked cluster, unless it has it already.
func receive(ctx context.Context, c *db.Tx, id string, to holder, d clusters.Origin, judge JudgeTransfer) error {
	before, err := db.One[holder](ctx, c, `SELECT team, owner FROM clusters WHERE id = $1`, id)
	if err != nil || before == to {
		return err
	}
	if before.Team != to.Team {
		if err := joinTeam(ctx, c, id, to.scope(d), judge); err != nil {
			return err
		}
	}
	return transfer(ctx, c, id, before, to, d)
}

// joinTeam lets judge check the new team's usage. A waiting cluster waits for the limits of that team and its cohort from now on;
// limits of other scopes stay.
func joinTeam(ctx context.Context, c *db.Tx, id string, scope usage.Scope, judge JudgeTransfer) error {
	if judge == nil {
		return nil
	}
	used, err := usage.Count(ctx, c, scope)
	if err != nil {
		return err
	}
	moves, err := usage.CountCluster(ctx, c, id)
	if err != nil {
		return err
	}
	limits, err := judge(used, moves)
	if err != nil {
		return err
	}
	_, err = c.Exec(ctx, `
		UPDATE turns SET team = $2, limits = $3 || coalesce(
			(SELECT jsonb_agg(l) FROM jsonb_array_elements(limits) AS l WHERE l ->> 'scope' <> ALL ($4)), '[]')
		WHERE cluster_id = $1`, id, scope.Team, append([]lifecycle.Limit{}, limits...), []string{lifecycle.ScopeTeam, lifecycle.ScopeCohort})
	if err != nil {
		return fmt.Errorf("move its position in the queue: %w", err)
	}
	return nil
}

func transfer(ctx context.Context, c *db.Tx, id string, before, after holder, d clusters.Origin) error {
	if err := clusters.SetDesired(ctx, c, id, "team = @team, owner = @owner", pgx.NamedArgs{"team": after.Team, "owner": after.Owner}); err != nil {
		return err
	}
	if before.Team != after.Team {
		left := d
		left.Why = "the cluster was given to team " + after.Team
		if _, err := access.Revoke(ctx, c, id, `a.by_right = @right`, pgx.NamedArgs{"right": access.OwnRight}, left); err != nil {
			return err
		}
	}
	if err := brakes.RefreshDrains(ctx, c, []string{id}, d); err != nil {
		return err
	}
	clusters.NextTurns(c) // the old team's usage fell
	if _, err := c.Exec(ctx, `UPDATE approvals SET team = $2 WHERE cluster_id = $1 AND state = 'pending'`, id, after.Team); err != nil {
		return fmt.Errorf("move its approvals: %w", err)
	}
	withdrawn := d
	withdrawn.Why = "it was given to " + after.Owner + " of team " + after.Team
	if err := clusters.WithdrawHandover(ctx, c, id, withdrawn); err != nil {
		return err
	}
	return clusters.RecordAction(c, d, "transferred", id, clusters.Action{Before: before, After: after, Note: "the tags in the cloud keep the names of its acceptance"})
}
