package people

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
)

// JobName is a name in the tokens of jobs, and the number that its platform never gives again.
type JobName struct {
	Site   string // the platform's address, or its issuer's
	Kind   string // what it is the name of, such as repository
	Name   string
	Number string
}

// RecordJobName writes down that a job's token has a name, and reports whether the name belongs to another number: to the first that was
// seen with it. Each later number gets one line in the audit trail.
func (s *Store) RecordJobName(ctx context.Context, n JobName) (reused bool, err error) {
	first, seen, err := s.jobNameOwner(ctx, s.db.Pool(), n)
	if err == nil && !seen {
		err = s.db.Write(ctx, func(c *db.Tx) error {
			tag, err := c.Exec(ctx, `
				INSERT INTO job_names (site, kind, name, number, is_first, seen_at)
				VALUES (@site, @kind, lower(@name), @number,
					NOT EXISTS (SELECT FROM job_names WHERE site = @site AND kind = @kind AND name = lower(@name) AND is_first), @now)
				ON CONFLICT DO NOTHING`, pgx.NamedArgs{"site": n.Site, "kind": n.Kind, "name": n.Name, "number": n.Number, "now": c.Now})
			if err != nil {
				return fmt.Errorf("write whose the name is: %w", err)
			}
			if first, _, err = s.jobNameOwner(ctx, c, n); err != nil || first == n.Number || tag.RowsAffected() == 0 {
				return err
			}
			return clusters.RecordAction(c, clusters.Origin{Actor: n.Kind + " " + n.Number, Source: "oidc", Why: "the name " + n.Name + " was another's before on " + n.Site},
				"name_reused", "", clusters.Action{Note: n.Name})
		})
	}
	if err != nil {
		return false, fmt.Errorf("write down that %s %s on %s is called %s: %w", n.Kind, n.Number, n.Site, n.Name, err)
	}
	return first != n.Number, nil
}

// JobNameOwner returns the number to which a name in a job's token belongs; empty: no number was seen with it.
func (s *Store) JobNameOwner(ctx context.Context, n JobName) (first string, err error) {
	if first, _, err = s.jobNameOwner(ctx, s.db.Pool(), n); err != nil {
		return "", fmt.Errorf("look for whose the name %s on %s is: %w", n.Name, n.Site, err)
	}
	return first, nil
}

// jobNameOwner also reports whether the number was seen with the name.
func (s *Store) jobNameOwner(ctx context.Context, q db.Source, n JobName) (first string, seen bool, err error) {
	found, err := db.All[struct {
		Number  string
		IsFirst bool
	}](ctx, q, `SELECT number, is_first FROM job_names WHERE site = $1 AND kind = $2 AND name = lower($3) AND (is_first OR number = $4)`, n.Site, n.Kind, n.Name, n.Number)
	for _, f := range found {
		if seen = seen || f.Number == n.Number; f.IsFirst {
			first = f.Number
		}
	}
	return first, seen, err
}
