package usage

import (
	"context"
	"fmt"
	"maps"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/db"
)

// AccountRegion is a region of a cloud account, by the cloud's id of it.
type AccountRegion struct{ Number, Region string }

// Accounts is what the catalogue's cloud accounts hold, and what still fits into them.
type Accounts struct {
	Live map[string]int        // clusters that are not proven destroyed, by the catalogue's name of their account
	Fits map[AccountRegion]int // how many more clusters fit, without those that were accepted and have not asked for capacity yet; only what was measured in the last day
}

// measureAge is how old a measurement may be: what others use changes meanwhile.
const measureAge = 24 * time.Hour

// ReadAccounts counts what the accounts hold.
func ReadAccounts(ctx context.Context, from db.Source, now time.Time) (Accounts, error) {
	out := Accounts{Live: map[string]int{}, Fits: map[AccountRegion]int{}}
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
	unasked := map[AccountRegion]int{}
	for _, l := range live {
		out.Live[l.Name] += l.Live
		unasked[AccountRegion{l.Number, l.Region}] += l.Unasked
	}
	held, err := db.All[struct {
		Account, Region string
		lifecycle.Holding
	}](ctx, from, `
		SELECT r.account, r.region, r.cluster_id AS cluster, coalesce(c.ready_at, c.claimed_at) IS NOT NULL AS ready, r.items AS quotas
		FROM reservations r JOIN clusters c ON c.id = r.cluster_id JOIN attempts a ON a.id = r.attempt_id
		WHERE c.destroyed_at IS NULL AND (a.closed_at IS NULL OR a.recorded_at IS NOT NULL OR r.state = 'waiting' AND c.desired = 'present')`)
	if err != nil {
		return out, fmt.Errorf("read what is set aside in each account: %w", err)
	}
	holdings := map[AccountRegion][]lifecycle.Holding{}
	for _, h := range held {
		at := AccountRegion{h.Account, h.Region}
		holdings[at] = append(holdings[at], h.Holding)
	}
	measured, err := db.All[struct {
		Account, Region string
		Quotas          []lifecycle.Quota
		Gone            []string
	}](ctx, from, `
		SELECT DISTINCT ON (r.account, r.region) r.account, r.region, r.items AS quotas,
			ARRAY(SELECT c.id FROM clusters c WHERE c.destroyed_at > r.asked_at AND c.region = r.region) AS gone
		FROM reservations r WHERE r.asked_at > @since ORDER BY r.account, r.region, r.asked_at DESC`, pgx.NamedArgs{"since": now.Add(-measureAge)})
	if err != nil {
		return out, fmt.Errorf("read what was measured in each account: %w", err)
	}
	for _, m := range measured {
		at := AccountRegion{m.Account, m.Region}
		if n, known := lifecycle.CountRoom(m.Quotas, holdings[at], m.Gone); known {
			out.Fits[at] = max(0, n-unasked[at])
		}
	}
	return out, nil
}

// add counts a cluster that was accepted after the count.
func (a Accounts) add(name string, at AccountRegion) {
	if a.Live == nil {
		return
	}
	a.Live[name]++
	if n, known := a.Fits[at]; known {
		a.Fits[at] = max(0, n-1)
	}
}

func (a Accounts) clone() Accounts { return Accounts{maps.Clone(a.Live), maps.Clone(a.Fits)} }
