package usage

import (
	"context"
	"fmt"
	"maps"
	"time"

	"github.com/ocpctl/ocpctl/store/db"
)

// AccountRegion is a region of a cloud account, by the cloud's id of it, as it is measured for a profile; no profile: for the last that was created
// there.
type AccountRegion struct{ Number, Region, Profile string }

// Accounts is what the catalogue's cloud accounts hold.
type Accounts struct {
	Live    map[string]int        // clusters that are not proven destroyed, by the catalogue's name of their account
	Kept    map[string]bool       // for one of these clusters alone, by the same name
	Unasked map[AccountRegion]int // of these, the accepted ones that have not asked for capacity yet; without a profile
	Asked   []Asked               // of these, the ones that first asked for capacity in the last minutes
}

// Asked is since when something is set aside for a cluster.
type Asked struct {
	Number, Region string
	Since          time.Time
}

// lately is how long ago a cluster asked that Accounts has in Asked: no count of the room that is still in use is older.
const lately = 5 * time.Minute

// readAccounts counts what the accounts hold.
func readAccounts(ctx context.Context, from db.Source, now time.Time) (Accounts, error) {
	out := Accounts{Live: map[string]int{}, Kept: map[string]bool{}, Unasked: map[AccountRegion]int{}}
	live, err := db.All[struct {
		Name string
		Live int
		Kept bool
	}](ctx, from, `SELECT account AS name, count(*)::int AS live, bool_or(exclusive) AS kept FROM clusters WHERE account <> '' AND destroyed_at IS NULL GROUP BY 1`)
	if err != nil {
		return out, fmt.Errorf("count the clusters of each account: %w", err)
	}
	for _, l := range live {
		out.Live[l.Name] = l.Live
		if l.Kept {
			out.Kept[l.Name] = true
		}
	}
	unasked, err := db.All[struct { // the specification, which is large, is read of these alone
		Number, Region string
		Unasked        int
	}](ctx, from, `
		SELECT coalesce(c.spec ->> 'account', '') AS number, c.region, count(*)::int AS unasked FROM clusters c
		WHERE c.account <> '' AND c.destroyed_at IS NULL AND c.desired = 'present' AND c.status IN ('PENDING', 'CREATING')
			AND NOT EXISTS (SELECT FROM reservations r WHERE r.cluster_id = c.id) GROUP BY 1, 2`)
	if err != nil {
		return out, fmt.Errorf("count the clusters that have not asked for capacity: %w", err)
	}
	for _, u := range unasked {
		out.Unasked[AccountRegion{Number: u.Number, Region: u.Region}] = u.Unasked
	}
	out.Asked, err = db.All[Asked](ctx, from, `
		SELECT r.account AS number, r.region, r.since FROM reservations r JOIN clusters c ON c.id = r.cluster_id
		WHERE r.since > $1 AND c.account <> '' AND c.destroyed_at IS NULL ORDER BY r.since`, now.Add(-lately))
	if err != nil {
		return out, fmt.Errorf("read which clusters asked for capacity: %w", err)
	}
	return out, nil
}

// add counts a cluster that was accepted after the count.
func (a Accounts) add(name string, at AccountRegion, exclusive bool) {
	if a.Live == nil {
		return
	}
	a.Live[name]++
	a.Kept[name] = a.Kept[name] || exclusive
	a.Unasked[at]++
}

func (a Accounts) clone() Accounts {
	return Accounts{maps.Clone(a.Live), maps.Clone(a.Kept), maps.Clone(a.Unasked), a.Asked}
}
