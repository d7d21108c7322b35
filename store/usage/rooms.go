package usage

import (
	"context"
	"fmt"
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

func readRooms(ctx context.Context, from db.Source, now time.Time, holdings map[AccountRegion][]lifecycle.Holding) (rooms []Room, err error) {
	measured, err := db.All[struct {
		Platform, Account, Region, Profile string
		Quotas                             []lifecycle.Quota
		MeasuredAt                         time.Time
		Gone                               []string
	}](ctx, from, `
		SELECT r.platform, r.account, r.region, r.profile, r.items AS quotas, r.measured_at,
			ARRAY(SELECT c.id FROM clusters c WHERE c.destroyed_at > r.measured_at AND c.region = r.region) AS gone
		FROM rooms r WHERE r.measured_at > @since ORDER BY r.profile, r.account, r.region`, pgx.NamedArgs{"since": now.Add(-measureAge)})
	if err != nil {
		return nil, fmt.Errorf("read what scans measured in each account: %w", err)
	}
	for _, m := range measured {
		held := holdings[AccountRegion{Number: m.Account, Region: m.Region}]
		if n, by, known := lifecycle.CountRoom(m.Quotas, held, m.Gone); known {
			rooms = append(rooms, Room{m.Platform, m.Account, m.Region, m.Profile, n, by, m.MeasuredAt.UTC()})
		}
	}
	return rooms, nil
}

// ReadRoom returns how many more clusters fit where it was measured in the last day, without those that have not asked for capacity yet, and what of
// that scans measured, by profile, account and region. It reads what is set aside for every live cluster.
func ReadRoom(ctx context.Context, from db.Source, now time.Time) (fits map[AccountRegion]int, rooms []Room, err error) {
	holdings, err := readHoldings(ctx, from)
	if err != nil {
		return nil, nil, err
	}
	fits = map[AccountRegion]int{}
	measured, err := db.All[struct {
		Account, Region string
		Quotas          []lifecycle.Quota
		Gone            []string
	}](ctx, from, `
		SELECT DISTINCT ON (r.account, r.region) r.account, r.region, r.items AS quotas,
			ARRAY(SELECT c.id FROM clusters c WHERE c.destroyed_at > r.asked_at AND c.region = r.region) AS gone
		FROM reservations r WHERE r.asked_at > @since ORDER BY r.account, r.region, r.asked_at DESC`, pgx.NamedArgs{"since": now.Add(-measureAge)})
	if err != nil {
		return nil, nil, fmt.Errorf("read what was measured in each account: %w", err)
	}
	for _, m := range measured {
		at := AccountRegion{Number: m.Account, Region: m.Region}
		if n, _, known := lifecycle.CountRoom(m.Quotas, holdings[at], m.Gone); known {
			fits[at] = n
		}
	}
	rooms, err = readRooms(ctx, from, now, holdings)
	for _, r := range rooms {
		fits[AccountRegion{r.Account, r.Region, r.Profile}] = r.Clusters
	}
	return fits, rooms, err
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
