package store

import (
	"context"

	"github.com/ocpctl/ocpctl/store/usage"
)

// Usage counts the usage of a scope now, without locks, for people to read. Judge counts again under its locks.
func (s *Store) Usage(ctx context.Context, scope usage.Scope) (usage.Usage, error) {
	now, err := s.Now(ctx)
	if err != nil {
		return usage.Usage{}, err
	}
	identities, err := s.IdentitiesOf(ctx, scope.Person)
	if err != nil {
		return usage.Usage{}, err
	}
	return usage.CountAt(ctx, s.Pool(), scope, identities, now)
}

// IdentitiesOf returns every identity of the person that a principal belongs to, see usage.PersonIdentities.
func (s *Store) IdentitiesOf(ctx context.Context, principal string) ([]string, error) {
	return usage.PersonIdentities(ctx, s.Pool(), principal)
}
