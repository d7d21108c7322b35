package usage

import (
	"context"
	"fmt"
	"maps"

	"github.com/ocpctl/ocpctl/store/db"
)

// AccountRegion is a region of a cloud account, by the cloud's id of it, as it is measured for a profile; no profile: for the last that was created
// there.
type AccountRegion struct{ Number, Region, Profile string }

// Accounts is what the catalogue's cloud accounts hold.
type Accounts struct {
	Live    map[string]int        // clusters that are not proven destroyed, by the catalogue's name of their account
	Unasked map[AccountRegion]int // of these, the accepted ones that have not asked for capacity yet; without a profile
}

// readAccounts counts what the accounts hold.
func readAccounts(ctx context.Context, from db.Source) (Accounts, error) {
	out := Accounts{Live: map[string]int{}, Unasked: map[AccountRegion]int{}}
	live, err := db.All[struct {
		Name           string
		Number, Region string
		Live, Unasked  int
	}](ctx, from, `
		SELECT c.account AS name, coalesce(c.spec ->> 'account', '') AS number, c.region, count(*)::int AS live, (count(*) FILTER (WHERE c.desired = 'present'
			AND c.status IN ('PENDING', 'CREATING') AND NOT EXISTS (SELECT FROM reservations r WHERE r.cluster_id = c.id)))::int AS unasked
		FROM clusters c WHERE c.account <> '' AND c.destroyed_at IS NULL GROUP BY 1, 2, 3`)
	if err != nil {
		return out, fmt.Errorf("count the clusters of each account: %w", err)
	}
	for _, l := range live {
		out.Live[l.Name] += l.Live
		out.Unasked[AccountRegion{Number: l.Number, Region: l.Region}] += l.Unasked
	}
	return out, nil
}

// add counts a cluster that was accepted after the count.
func (a Accounts) add(name string, at AccountRegion) {
	if a.Live == nil {
		return
	}
	a.Live[name]++
	a.Unasked[at]++
}

func (a Accounts) clone() Accounts { return Accounts{maps.Clone(a.Live), maps.Clone(a.Unasked)} }
