package store

import (
	"context"
	"fmt"

	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/usage"
)

// UsedAccount is a cloud account of the catalogue as clusters that are not proven destroyed were made in it.
type UsedAccount struct {
	Name, Platform, Number string
	CredentialsRef         string
	ServiceAccounts        map[string]string
	BaseDomains            []string
	Live                   int
}

// UsedAccounts returns the accounts in which there are clusters, by name, also those that the catalogue no longer has. An account whose credentials
// changed comes once for each, the newest last.
func (s *Store) UsedAccounts(ctx context.Context) ([]UsedAccount, error) {
	list, err := db.All[UsedAccount](ctx, s.Pool(), `
		SELECT c.account AS name, c.platform, coalesce(c.spec ->> 'account', '') AS number, coalesce(c.spec ->> 'cloudCredentialsRef', '') AS credentials_ref,
			coalesce(c.spec -> 'serviceAccounts', '{}') AS service_accounts, array_agg(DISTINCT c.base_domain) AS base_domains, count(*)::int AS live
		FROM clusters c WHERE c.account <> '' AND c.destroyed_at IS NULL GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3, max(c.id)`)
	if err != nil {
		return nil, fmt.Errorf("read which accounts are used: %w", err)
	}
	return list, nil
}

// CountAccounts returns what the accounts hold, and what still fits.
func (s *Store) CountAccounts(ctx context.Context) (usage.Accounts, error) {
	now, err := s.Now(ctx)
	if err != nil {
		return usage.Accounts{}, err
	}
	return usage.ReadAccounts(ctx, s.Pool(), now)
}
