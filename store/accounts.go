package store

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

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

// CountAccounts returns what the accounts hold.
func (s *Store) CountAccounts(ctx context.Context) (usage.Accounts, error) {
	now, err := s.Now(ctx)
	if err != nil {
		return usage.Accounts{}, err
	}
	counted, err := usage.CountAt(ctx, s.Pool(), usage.Scope{Accounts: true}, nil, now)
	return counted.Accounts, err
}

// How old what was counted of the room in the clouds may be: older than fitsAge, or ten times as old as counting takes, it is counted anew beside its
// use; three times that old, before it. It is a hint: whether a cluster fits is decided when its runner asks, under a lock.
const (
	fitsAge      = time.Second
	fitsPatience = 30 * time.Second // for counting beside its use
)

// recentFits is what was counted last.
type recentFits struct {
	counting atomic.Bool // beside its use
	kept     atomic.Pointer[keptFits]
}

type keptFits struct {
	at   time.Time
	took time.Duration
	fits map[usage.AccountRegion]int
}

// usual is after how long it is counted anew.
func (k keptFits) usual() time.Duration { return max(fitsAge, 10*k.took) }

// Fits returns how many more clusters fit where it was measured in the last day, without those that have not asked for capacity yet, as it was some
// seconds ago. Nobody may change the result.
func (s *Store) Fits(ctx context.Context) (map[usage.AccountRegion]int, error) {
	kept := s.fits.kept.Load()
	if kept == nil || time.Since(kept.at) > 3*kept.usual() {
		return s.countFits(ctx)
	}
	if time.Since(kept.at) > kept.usual() && s.fits.counting.CompareAndSwap(false, true) {
		go func() {
			defer s.fits.counting.Store(false)
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), fitsPatience)
			defer cancel()
			_, _ = s.countFits(ctx) // what keeps failing is an error once the count is too old
		}()
	}
	return kept.fits, nil
}

func (s *Store) countFits(ctx context.Context) (map[usage.AccountRegion]int, error) {
	begun := time.Now()
	now, err := s.Now(ctx)
	if err != nil {
		return nil, err
	}
	fits, err := usage.ReadFits(ctx, s.Pool(), now)
	if err == nil {
		s.fits.kept.Store(&keptFits{begun, time.Since(begun), fits})
	}
	return fits, err
}

// Rooms returns how many more clusters of each profile fit where, as scans measured it in the last day.
func (s *Store) Rooms(ctx context.Context) ([]usage.Room, error) {
	now, err := s.Now(ctx)
	if err != nil {
		return nil, err
	}
	return usage.ReadRooms(ctx, s.Pool(), now)
}
