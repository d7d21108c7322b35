package store

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/lifecycle"
)

// holder is whom a cluster belongs to.
type holder struct {
	Team  string `json:"team"`
	Owner string `json:"owner"`
}

// Transfer gives a cluster to another team and owner: quotas, costs and visibility follow from now on. The tags in the cloud
// keep the names of its acceptance, and so does its place in line. judge is called with what the new team uses, counted behind
// its lock, and refuses by an error, which comes back wrapped; nil: nobody judges. ErrConflict: the cluster is no longer
// wanted. ErrStale: it is not the one that was seen.
func (s *Store) Transfer(ctx context.Context, id, team, owner string, d Deed, judge func(Usage) error) error {
	err := s.write(ctx, func(c *change) error {
		if err := c.roomIn(ctx, team, judge); err != nil {
			return err
		}
		cur, err := c.lock(ctx, id)
		if err != nil {
			return err
		}
		if err := d.meant(cur); err != nil {
			return err
		}
		if cur.Wish == lifecycle.Absent {
			return fmt.Errorf("%w: the cluster is going: %s", ErrConflict, cur.WishWhy)
		}
		if team == "" || owner == "" {
			return fmt.Errorf("%w: a cluster has a team and an owner", ErrConflict)
		}
		before, err := one[holder](ctx, c, `SELECT team, owner FROM clusters WHERE id = $1`, id)
		after := holder{team, owner}
		if err != nil || before == after {
			return err
		}
		if err := c.wish(ctx, id, "team = @team, owner = @owner", pgx.NamedArgs{"team": team, "owner": owner}); err != nil {
			return err
		}
		c.nextTurns() // the team it leaves has a place more
		if _, err := c.Exec(ctx, `UPDATE approvals SET team = $2 WHERE cluster_id = $1 AND state = 'pending'`, id, team); err != nil {
			return fmt.Errorf("move its approvals: %w", err)
		}
		return c.did(d, "transferred", id, act{Before: before, After: after, Note: "the tags in the cloud keep the names of its acceptance"})
	})
	if err != nil {
		return fmt.Errorf("transfer %s: %w", id, err)
	}
	return nil
}

// roomIn has a team's room judged behind the team's lock, which is taken before the row's, as wishes do.
func (c *change) roomIn(ctx context.Context, team string, judge func(Usage) error) error {
	if judge == nil {
		return nil
	}
	if err := c.wait(ctx, Scope{Team: team}.locks()); err != nil {
		return err
	}
	used, err := c.usage(ctx, Scope{Team: team})
	if err != nil {
		return err
	}
	return judge(used)
}
