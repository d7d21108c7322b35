package store

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/usage"
)

// UsedAccount is a cloud account of the catalogue as clusters that are not proven destroyed were made in it.
type UsedAccount struct {
	Name, Platform, Number string
	CredentialsRef         string
	ServiceAccounts        map[string]string
	CloudRole              *contract.CloudRole
	BaseDomains            []string
	Live                   int
}

// UsedAccounts returns the accounts in which there are clusters, by name, also those that the catalogue no longer has. An account whose credentials
// changed comes once for each, the newest last.
func (s *Store) UsedAccounts(ctx context.Context) ([]UsedAccount, error) {
	list, err := db.All[UsedAccount](ctx, s.Pool(), `
		SELECT c.account AS name, c.platform, coalesce(c.spec ->> 'account', '') AS number, coalesce(c.spec ->> 'cloudCredentialsRef', '') AS credentials_ref,
			coalesce(c.spec -> 'serviceAccounts', '{}') AS service_accounts, c.spec -> 'cloudRole' AS cloud_role, array_agg(DISTINCT c.base_domain) AS base_domains, count(*)::int AS live
		FROM clusters c WHERE c.account <> '' AND c.destroyed_at IS NULL GROUP BY 1, 2, 3, 4, 5, 6 ORDER BY 1, 2, 3, max(c.id)`)
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

// How old what was counted of the room in the clouds may be: older than roomAge, or ten times as old as counting takes, it is counted anew beside its
// use; three times that old, before it. It is a hint: whether a cluster fits is decided when its runner asks, under a lock.
const (
	roomAge      = time.Second
	roomPatience = 30 * time.Second // for counting beside its use
)

// recentRoom is what was counted last.
type recentRoom struct {
	counting atomic.Bool // beside its use
	kept     atomic.Pointer[keptRoom]
}

type keptRoom struct {
	at   time.Time
	now  time.Time // on the database's clock, before it was counted
	took time.Duration
	fits map[usage.AccountRegion]int
	all  []usage.Room
}

// usual is after how long it is counted anew.
func (k keptRoom) usual() time.Duration { return max(roomAge, 10*k.took) }

// Room returns how many more clusters fit where it was measured in the last day, without those that have not asked for capacity yet, as it was some
// seconds ago, at that time, and what of that scans measured. Nobody may change the result.
func (s *Store) Room(ctx context.Context) (fits map[usage.AccountRegion]int, measured []usage.Room, at time.Time, err error) {
	kept := s.room.kept.Load()
	if kept == nil || time.Since(kept.at) > 3*kept.usual() {
		if kept, err = s.countRoom(ctx); err != nil {
			return nil, nil, at, err
		}
		return kept.fits, kept.all, kept.now, nil
	}
	if time.Since(kept.at) > kept.usual() && s.room.counting.CompareAndSwap(false, true) {
		go func() {
			defer s.room.counting.Store(false)
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), roomPatience)
			defer cancel()
			_, _ = s.countRoom(ctx) // what keeps failing is an error once the count is too old
		}()
	}
	return kept.fits, kept.all, kept.now, nil
}

func (s *Store) countRoom(ctx context.Context) (*keptRoom, error) {
	begun := time.Now()
	now, err := s.Now(ctx)
	if err != nil {
		return nil, err
	}
	fits, all, err := usage.ReadRoom(ctx, s.Pool(), now)
	if err != nil {
		return nil, err
	}
	kept := &keptRoom{begun, now, time.Since(begun), fits, all}
	s.room.kept.Store(kept)
	return kept, nil
}
