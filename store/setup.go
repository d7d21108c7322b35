package store

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// SetUp is what a person has done of what makes ocpctl useful, whichever of their accounts did it.
type SetUp struct {
	GitHub, Slack bool // an account there counts as theirs
	CommandLine   bool // something was done with the command line, or it was signed in
	Cluster       bool // they asked for a cluster
}

// SetUpOf returns what the person with these identities has done, see IdentitiesOf. Each question is answered from an index.
func (s *Store) SetUpOf(ctx context.Context, identities []string) (SetUp, error) {
	var out SetUp
	err := s.Pool().QueryRow(ctx, `
		SELECT EXISTS (SELECT FROM unnest(@ids::text[]) AS i (id) WHERE starts_with(i.id, 'github:')),
			EXISTS (SELECT FROM unnest(@ids::text[]) AS i (id) WHERE starts_with(i.id, 'slack:')),
			EXISTS (SELECT FROM audit_events WHERE principal_key(actor) = ANY (@ids) AND (source = 'api' OR action = 'command_line_confirmed')),
			EXISTS (SELECT FROM clusters WHERE principal_key(requested_by) = ANY (@ids))`, pgx.NamedArgs{"ids": identities}).Scan(&out.GitHub, &out.Slack, &out.CommandLine, &out.Cluster)
	if err != nil {
		return SetUp{}, fmt.Errorf("read what somebody has done: %w", err)
	}
	return out, nil
}
