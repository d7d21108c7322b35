package scans

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/internal/price"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/db"
)

const orphanColumns = `id, platform, account, installation, cluster_tag, identity, place, cluster_id, class, why, regions, managed_by, owner, team, name,
	resources, evidence, hourly_cents, unpriced, first_seen_at, last_seen_at, sights, state, state_at, state_why, decided_by, decided_why, reported_at, gone_at, cleanup_cluster`

// orphanName is OrphanRow.Called of an orphan o.
const orphanName = `coalesce(nullif(o.identity, ''), nullif(o.cluster_tag, ''), nullif(o.place, ''), 'installation ' || o.installation)`

// Called is what an orphan is called: the most telling of its signs.
func (o OrphanRow) Called() string {
	return cmp.Or(o.Identity, o.ClusterTag, o.Place, "installation "+o.Installation)
}

// StateReason says what is happening about an orphan, and with which reason that was decided.
func (o OrphanRow) StateReason() string {
	if o.DecidedWhy == "" || o.DecidedWhy == o.StateWhy {
		return o.StateWhy
	}
	return fmt.Sprintf("%s (decided: %s)", o.StateWhy, o.DecidedWhy)
}

// Told says why it is an orphan, whom to ask, and what it costs, in one sentence for people.
func (o OrphanRow) Told() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s (account %s; resources: %d", o.Why, o.Account, o.Resources)
	switch {
	case o.HourlyCents == nil:
		b.WriteString("; price unknown")
	case o.Unpriced > 0:
		fmt.Fprintf(&b, "; about %s an hour, and %d whose price is unknown", price.Dollars(int64(math.Round(*o.HourlyCents))), o.Unpriced)
	default:
		fmt.Fprintf(&b, "; about %s an hour", price.Dollars(int64(math.Round(*o.HourlyCents))))
	}
	b.WriteString(")")
	switch {
	case o.Owner != "" && o.Team != "":
		fmt.Fprintf(&b, "; ask %s of %s", o.Owner, o.Team)
	case cmp.Or(o.Owner, o.Team) != "":
		fmt.Fprintf(&b, "; ask %s", cmp.Or(o.Owner, o.Team))
	}
	return b.String()
}

// Filter selects orphans; empty fields do not filter.
type Filter struct {
	Class       lifecycle.OrphanClass
	State       lifecycle.OrphanState
	Owner, Team string
	Account     string
	Teams       []string // only of these teams; nil: all, also those of none
	Gone        bool     // include those that are gone
	Cursor      string   // id of the last one seen
	Limit       int      // default 50, at most 500
}

// Orphans returns a page of orphans by id, and the cursor of the next; empty: this is the last.
func (s *Store) Orphans(ctx context.Context, f Filter) (page []OrphanRow, next string, err error) {
	limit := db.PageOf(f.Limit)
	w := db.Conditions{Args: pgx.NamedArgs{"limit": limit + 1}}
	w.Add(f.Class != "", "class = @class", "class", f.Class)
	w.Add(f.State != "", "state = @state", "state", f.State)
	w.Add(f.Owner != "", "owner = @owner", "owner", f.Owner)
	w.Add(f.Team != "", "team = @team", "team", f.Team)
	w.Add(f.Account != "", "account = @account", "account", f.Account)
	w.Add(f.Teams != nil, "team = ANY (@teams)", "teams", f.Teams)
	w.Add(!f.Gone && f.State != lifecycle.OrphanGone, "gone_at IS NULL", "", nil)
	w.Add(f.Cursor != "", "id > @cursor", "cursor", f.Cursor)
	page, err = db.All[OrphanRow](ctx, s.db.Pool(), `SELECT `+orphanColumns+` FROM orphans `+w.Where()+` ORDER BY id LIMIT @limit`, w.Args)
	if err != nil {
		return nil, "", fmt.Errorf("list orphans: %w", err)
	}
	if len(page) > limit {
		page = page[:limit]
		next = page[limit-1].ID
	}
	return page, next, nil
}

// Orphan returns one orphan. ErrNotFound: there is none of that id.
func (s *Store) Orphan(ctx context.Context, id string) (OrphanRow, error) {
	o, err := db.One[OrphanRow](ctx, s.db.Pool(), `SELECT `+orphanColumns+` FROM orphans WHERE id = $1`, id)
	if err != nil {
		return OrphanRow{}, fmt.Errorf("read orphan %s: %w", id, err)
	}
	return o, nil
}

// PartsOf returns the resources that an orphan is made of, sorted by id.
func (s *Store) PartsOf(ctx context.Context, orphan string) ([]SeenRow, error) {
	list, err := db.All[SeenRow](ctx, s.db.Pool(), `SELECT `+seenColumns+` FROM seen WHERE orphan_id = $1 AND gone_at IS NULL ORDER BY id COLLATE "C"`, orphan)
	if err != nil {
		return nil, fmt.Errorf("read what orphan %s is made of: %w", orphan, err)
	}
	return list, nil
}
