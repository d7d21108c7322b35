package usage

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/db"
)

// Room is how many more clusters of a profile fit into a region of an account, as a scan measured its limits.
type Room struct {
	Platform, Account, Region, Profile string
	Clusters                           int
	By                                 string // the limit that is reached first
	MeasuredAt                         time.Time
}

// measureAge is how old a measurement may be: what others use changes meanwhile.
const measureAge = 24 * time.Hour

// measurement is what one run found of a region of an account, and which clusters were destroyed since.
type measurement struct {
	Platform, Account, Region, Profile string // no profile: a cluster's install found it
	Quotas                             []lifecycle.Quota
	MeasuredAt                         time.Time
	Gone                               []string
}

// readMeasurements returns for each place what was measured for each profile and by the newest install, of the last day, the oldest first. Limits and
// usage are in each as they were measured last, by whichever: needs differ between profiles, limits do not.
func readMeasurements(ctx context.Context, from db.Source, now time.Time) ([]measurement, error) {
	all, err := db.All[measurement](ctx, from, `
		WITH installs AS (
			SELECT DISTINCT ON (account, region) account, region, items, asked_at FROM reservations WHERE asked_at > @since ORDER BY account, region, asked_at DESC
		), measured AS (
			SELECT '' AS platform, account, region, '' AS profile, items, asked_at AS measured_at FROM installs
			UNION ALL SELECT platform, account, region, profile, items, measured_at FROM rooms WHERE measured_at > @since
		)
		SELECT m.platform, m.account, m.region, m.profile, m.items AS quotas, m.measured_at,
			ARRAY(SELECT c.id FROM clusters c WHERE c.destroyed_at > m.measured_at AND c.region = m.region) AS gone
		FROM measured m ORDER BY m.measured_at, m.profile, m.account, m.region`, pgx.NamedArgs{"since": now.Add(-measureAge)})
	if err != nil {
		return nil, fmt.Errorf("read what was measured in each account: %w", err)
	}
	newest := map[AccountRegion][]lifecycle.Quota{} // later ones behind
	for _, m := range all {
		at := AccountRegion{Number: m.Account, Region: m.Region}
		newest[at] = append(newest[at], slices.DeleteFunc(slices.Clone(m.Quotas), func(q lifecycle.Quota) bool { return q.Unknown != "" })...)
	}
	for i, m := range all {
		all[i].Quotas = lifecycle.Remeasure(m.Quotas, newest[AccountRegion{Number: m.Account, Region: m.Region}])
	}
	return all, nil
}

// ReadRoom returns how many more clusters fit where it was measured in the last day, without those that have not asked for capacity yet, and what of
// that scans measured, by profile, account and region. It reads what is set aside for every live cluster.
func ReadRoom(ctx context.Context, from db.Source, now time.Time) (fits map[AccountRegion]int, rooms []Room, err error) {
	holdings, err := readHoldings(ctx, from)
	if err != nil {
		return nil, nil, err
	}
	measured, err := readMeasurements(ctx, from, now)
	if err != nil {
		return nil, nil, err
	}
	fits = map[AccountRegion]int{}
	for _, m := range measured {
		n, by, known := lifecycle.CountRoom(m.Quotas, holdings[AccountRegion{Number: m.Account, Region: m.Region}], m.Gone)
		if !known {
			continue
		}
		fits[AccountRegion{m.Account, m.Region, m.Profile}] = n
		if m.Profile != "" {
			rooms = append(rooms, Room{m.Platform, m.Account, m.Region, m.Profile, n, by, m.MeasuredAt.UTC()})
		}
	}
	slices.SortFunc(rooms, func(a, b Room) int {
		return cmp.Or(cmp.Compare(a.Profile, b.Profile), cmp.Compare(a.Account, b.Account), cmp.Compare(a.Region, b.Region))
	})
	return fits, rooms, nil
}

// readHoldings returns what is set aside for clusters.
func readHoldings(ctx context.Context, from db.Source) (map[AccountRegion][]lifecycle.Holding, error) {
	held, err := db.All[struct {
		Account, Region string
		lifecycle.Holding
	}](ctx, from, `
		SELECT r.account, r.region, r.cluster_id AS cluster, coalesce(c.ready_at, c.claimed_at) IS NOT NULL AS ready, r.items AS quotas
		FROM reservations r JOIN clusters c ON c.id = r.cluster_id JOIN attempts a ON a.id = r.attempt_id
		WHERE c.destroyed_at IS NULL AND (a.closed_at IS NULL OR a.recorded_at IS NOT NULL OR r.state = 'waiting' AND c.desired = 'present')`)
	if err != nil {
		return nil, fmt.Errorf("read what is set aside in each account: %w", err)
	}
	holdings := map[AccountRegion][]lifecycle.Holding{}
	for _, h := range held {
		at := AccountRegion{Number: h.Account, Region: h.Region}
		holdings[at] = append(holdings[at], h.Holding)
	}
	return holdings, nil
}
