package usage

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/internal/price"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/db"
)

// counter names one row of what is used: of a person's principal, a team, a repository or everybody.
type counter struct{ kind, key string }

// sum is what a counter says at the tally's time.
type sum struct {
	live, creating, waiting int
	spent, toCome           price.Amount
	nodeHours               float64
}

// Tally is the usage of several scopes at one time. Requests that are judged together share it: each is added once it is accepted.
type Tally struct {
	Changes int // that were read and not folded yet

	at         time.Time
	identities map[string][]string
	sums       map[counter]sum
	accounts   Accounts // the zero value if no scope has them
}

// countersSQL reads counters: what was folded, the changes since, and what must not count, because a cluster that is past its end costs
// nothing to come. With the bound of minus infinity PostgreSQL expects few of those without knowing the time.
const countersSQL = `
	WITH asked AS MATERIALIZED (SELECT * FROM unnest(@kinds::text[], @keys::text[]) AS a (kind, key)), past AS (
		SELECT u.kind, u.key, u.to_come + u.to_come_rate * @now_ms AS to_come, u.come_node_ms + u.come_nodes * @now_ms AS come_node_ms
		FROM clusters c, usage_of(c, -1) u WHERE c.desired = 'present' AND c.destroyed_at IS NULL AND c.destroy_at > '-infinity' AND c.destroy_at < @now
	), parts AS (
		SELECT 0 AS change, kind, key, live, creating, waiting, CASE WHEN month >= @month THEN spent ELSE 0 END + spent_rate * @month_ms AS spent, to_come + to_come_rate * @now_ms AS to_come,
			CASE WHEN month >= @month THEN node_ms ELSE 0 END + nodes * @month_ms + come_node_ms + come_nodes * @now_ms AS node_ms FROM asked JOIN usage_counters USING (kind, key)
		UNION ALL
		SELECT 1, kind, key, live, creating, waiting, CASE WHEN month >= @month THEN spent ELSE 0 END + spent_rate * @month_ms, to_come + to_come_rate * @now_ms,
			CASE WHEN month >= @month THEN node_ms ELSE 0 END + nodes * @month_ms + come_node_ms + come_nodes * @now_ms FROM asked JOIN usage_changes USING (kind, key)
		UNION ALL
		SELECT 0, kind, key, 0, 0, 0, 0, to_come, come_node_ms FROM asked JOIN past USING (kind, key)
	)
	SELECT kind, key, sum(live)::int AS live, sum(creating)::int AS creating, sum(waiting)::int AS waiting, sum(spent)::bigint AS spent, sum(to_come)::bigint AS to_come,
		(sum(node_ms) / 3600000)::float8 AS node_hours, sum(change)::int AS changes FROM parts GROUP BY kind, key`

// ReadTally reads the usage of the scopes. identities are those of each scope's person.
func ReadTally(ctx context.Context, from db.Source, scopes []Scope, identities map[string][]string, now time.Time) (*Tally, error) {
	t := &Tally{at: now, identities: identities, sums: map[counter]sum{}}
	for _, s := range scopes {
		for _, c := range append(t.read(s), s.Cohort.counters()...) {
			t.sums[c] = sum{}
		}
	}
	var kinds, keys []string
	for c := range t.sums {
		kinds, keys = append(kinds, c.kind), append(keys, c.key)
	}
	month := monthOf(now)
	lines, err := db.All[struct {
		Kind, Key               string
		Live, Creating, Waiting int
		Spent, ToCome           int64
		NodeHours               float64
		Changes                 int
	}](ctx, from, countersSQL, pgx.NamedArgs{
		"kinds": kinds, "keys": keys, "now": now, "now_ms": now.UnixMilli(), "month": month, "month_ms": now.UnixMilli() - month.UnixMilli(),
	})
	if err != nil {
		return nil, fmt.Errorf("count what is used: %w", err)
	}
	for _, l := range lines {
		t.Changes += l.Changes
		t.sums[counter{l.Kind, l.Key}] = sum{l.Live, l.Creating, l.Waiting, price.Amount(l.Spent), price.Amount(l.ToCome), l.NodeHours}
	}
	if slices.ContainsFunc(scopes, func(s Scope) bool { return s.Accounts }) {
		t.accounts, err = readAccounts(ctx, from, now)
	}
	return t, err
}

// Clone returns a copy to which requests can be added.
func (t *Tally) Clone() *Tally {
	return &Tally{at: t.at, identities: t.identities, sums: maps.Clone(t.sums), accounts: t.accounts.clone()}
}

// read returns the counters of a scope.
func (t *Tally) read(s Scope) []counter {
	var all []counter
	for _, id := range t.identities[s.Person] {
		all = append(all, counter{"person", id})
	}
	for _, c := range []counter{{"team", s.Team}, {"repository", s.Repo}} {
		if c.key != "" {
			all = append(all, c)
		}
	}
	if s.Everywhere {
		all = append(all, counter{"all", ""})
	}
	return all
}

// Of returns the usage of one of the scopes.
func (t *Tally) Of(s Scope) Usage {
	u := Usage{At: t.at, Identities: t.identities[s.Person], Accounts: t.accounts}
	to := map[string]*Counts{"person": &u.Person, "team": &u.Team, "repository": &u.Repository, "all": &u.Everywhere}
	amounts := map[string]sum{}
	for _, c := range t.read(s) {
		amounts[c.kind] = amounts[c.kind].plus(t.sums[c])
	}
	for kind, all := range amounts {
		*to[kind] = Counts{
			Live: all.live, Creating: all.creating, Waiting: all.waiting, NodeHours: all.nodeHours,
			SpentCents: all.spent.Cents(), CommittedCents: all.toCome.Cents(),
		}
	}
	for _, team := range s.Cohort.counters() {
		if u.Cohort == nil {
			u.Cohort = map[string]Counts{}
		}
		u.Cohort[team.key] = Counts{Live: t.sums[team].live, Waiting: t.sums[team].waiting}
	}
	return u
}

// counters returns the counter of each team.
func (c *Cohort) counters() (all []counter) {
	if c != nil {
		for _, team := range c.Teams {
			all = append(all, counter{"team", team})
		}
	}
	return all
}

// Add counts a cluster that was accepted after the tally was read. nodes and cents are its machines and its list price of an hour; account is the
// catalogue's name of where it is made, empty: in none of these. exclusive: nobody else gets it.
func (t *Tally) Add(s Scope, c lifecycle.Cluster, nodes, cents int, account string, at AccountRegion, exclusive bool) {
	if account != "" {
		t.accounts.add(account, at, exclusive)
	}
	one := sum{
		live: number(!c.NeedsTurn || c.NeedsApproval), creating: number(!c.NeedsTurn && !c.NeedsApproval), waiting: number(c.NeedsTurn && !c.NeedsApproval),
		toCome: price.Between(cents, t.at, c.Ends.DestroyAt()), nodeHours: float64(nodes) * max(0, c.Ends.DestroyAt().Sub(t.at)).Hours(),
	}
	all := []counter{{"team", s.Team}, {"repository", s.Repo}, {"all", ""}}
	if ids := t.identities[s.Person]; len(ids) > 0 {
		all = append(all, counter{"person", ids[0]}) // whichever of the person's: they are counted together
	}
	for _, k := range all {
		if before, asked := t.sums[k]; asked {
			t.sums[k] = before.plus(one)
		}
	}
}

func (s sum) plus(o sum) sum {
	return sum{s.live + o.live, s.creating + o.creating, s.waiting + o.waiting, s.spent + o.spent, s.toCome + o.toCome, s.nodeHours + o.nodeHours}
}

func number(yes bool) int {
	if yes {
		return 1
	}
	return 0
}
