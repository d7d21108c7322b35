// Package statistics counts what became of many clusters over a time: how long they lived, how soon they were ready, what failed, and
// how teardowns ended. It changes nothing.
//
// Everything of one summary is read at one moment, so its tables agree with each other. Weeks begin on Monday, in UTC.
package statistics

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/store/db"
)

// Store reads statistics. It is safe for concurrent use.
type Store struct{ db *db.DB }

// New returns the part of a store that works on its database.
func New(d *db.DB) *Store { return &Store{d} }

// Filter selects the time and the clusters of a summary.
type Filter struct {
	From, To time.Time // From is in, To is not
	Teams    []string  // only these teams' clusters; nil: all
}

// Summary is what is known of the selected clusters. Inventory, Ages and Oldest show how it is now; everything else shows what happened
// in the time between.
type Summary struct {
	At        time.Time // when it was read
	Inventory []InventoryLine
	Ages      []Bar           // of the clusters in Inventory
	Oldest    []OldCluster    // of these, the oldest first, at most 20
	Lifetime  []ProfileSpread // from acceptance until nothing was left, of clusters that were ready at some time and are gone
	Lifetimes []Bar           // of the clusters in Lifetime
	Ready     []ProfileSpread // from acceptance until ready
	Weeks     []Week
	Failures  []Failure // the most frequent first, at most 500
	Teardowns []Teardown
	Unused    []Unused
	Leaks     []Leak // the newest first, at most 500
}

// InventoryLine counts clusters of which something may exist.
type InventoryLine struct {
	Team, Profile, Status string
	Clusters              int
	Oldest                time.Time // when the oldest of them was accepted
	HourlyCents           int64     // what all of them cost in an hour now, by list prices
}

// OldCluster is a cluster that is not gone.
type OldCluster struct {
	ID, Name, Team, Owner, Profile, Status string
	CreatedAt, DestroyAt                   time.Time
	HourlyCents                            int64 // what it costs in an hour now, by list prices
}

// Bar is how many clusters fell between the bar before and this one.
type Bar struct {
	Below    time.Duration // 0: no bound, it is the last bar
	Clusters int
}

// Spread says how long something took, in seconds: in half of all cases at most P50, and so on. Without any case all are 0.
type Spread struct{ P50, P90, P99, Longest int64 }

// ProfileSpread is a spread over the clusters of one profile.
type ProfileSpread struct {
	Profile  string // empty: all of them; this line comes first
	Clusters int
	Spread
}

// Week counts what happened in one week, as far as it belongs to the time of the summary.
type Week struct {
	Week          time.Time // its Monday, 00:00 UTC
	Accepted      int       // clusters
	Ready         int       // clusters that became ready
	FailedCreates int       // attempts to create that failed, or whose runner was lost
	Destroyed     int       // clusters of which nothing was left
	Spread                  // until ready, of the clusters that became ready
}

// Failure counts the attempts that failed for one reason.
type Failure struct {
	Kind, Reason, Profile string // Reason is the runner's class of the failure; a runner that was lost has the reason "lost"
	Attempts, Clusters    int
	LastAt                time.Time
}

// Teardown counts the clusters whose teardown ended, or was abandoned.
type Teardown struct {
	Profile   string // empty: all of them; this line comes first
	Clusters  int
	Unaided   int // counted empty without a person's help
	Blocked   int // at some time the teardown was blocked, and a person had to help
	Abandoned int // an admin abandoned it
	Spread        // from the start of the first teardown until nothing was left
}

// Unused counts what was saved on clusters that nobody used.
type Unused struct {
	Profile       string  // empty: all of them; this line comes first
	Ended         int     // clusters of which nothing is left, and that ended because nobody used them
	SleptIdle     int     // how often one fell asleep because nobody used it
	SleptOffHours int     // how often one fell asleep outside working hours
	SleptAsked    int     // how often one fell asleep because a person asked for it
	AsleepHours   float64 // of all clusters together, as far as they cost less or no machine ran
	SavedCents    int64   // what they would have cost more awake, by list prices
}

// Leak is an orphan that people were told of: resources that belong to no living cluster.
type Leak struct {
	Identity, Class, Cluster, Name, Team string // the last three are empty if they are not known
	Why                                  string
	FirstSeenAt, LastSeenAt              time.Time
	ResolvedAt                           *time.Time // nil: it is still there
	Cents                                *int64     // what it cost by list prices since it was first seen, as far as known; nil: not known
	Unpriced                             int        // resources whose price is not known, and is not in Cents
}

// Bounds are the upper bounds of Ages and Lifetimes; one more bar has none.
var Bounds = []time.Duration{time.Hour, 4 * time.Hour, 8 * time.Hour, 24 * time.Hour, 3 * 24 * time.Hour, 7 * 24 * time.Hour}

// Summary reads a summary.
func (s *Store) Summary(ctx context.Context, f Filter) (sum Summary, err error) {
	if sum.At, err = s.db.Now(ctx); err != nil {
		return Summary{}, err
	}
	err = pgx.BeginTxFunc(ctx, s.db.Pool(), pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error {
		r := &reader{ctx: ctx, from: tx, args: pgx.NamedArgs{"now": sum.At, "from": f.From, "to": f.To, "teams": f.Teams}}
		read(r, "inventory", inventory, &sum.Inventory)
		read(r, "oldest clusters", oldest, &sum.Oldest)
		readHistory(r, f, &sum)
		read(r, "failures", failures, &sum.Failures)
		read(r, "what was not used", unused, &sum.Unused)
		read(r, "leaks", leaks, &sum.Leaks)
		sum.Ages = readAges(r)
		return r.err
	})
	if err != nil {
		return Summary{}, fmt.Errorf("summarize from %s to %s: %w", f.From.Format(time.RFC3339), f.To.Format(time.RFC3339), err)
	}
	return sum, nil
}

// reader reads one table after the other, until one fails.
type reader struct {
	ctx  context.Context
	from db.Source
	args pgx.NamedArgs
	err  error
}

func read[T any](r *reader, what, sql string, into *[]T) {
	if r.err != nil {
		return
	}
	if *into, r.err = db.All[T](r.ctx, r.from, sql, r.args); r.err != nil {
		r.err = fmt.Errorf("%s: %w", what, r.err)
	}
}

// readAges counts clusters by Bounds.
func readAges(r *reader) []Bar {
	bounds, out := make([]float64, len(Bounds)), emptyBars()
	for i, b := range Bounds {
		bounds[i] = b.Seconds()
	}
	r.args["bounds"] = bounds
	var counted []struct{ Bar, Clusters int }
	read(r, "ages", ages, &counted)
	for _, c := range counted {
		out[c.Bar].Clusters = c.Clusters
	}
	return out
}

func emptyBars() []Bar {
	out := make([]Bar, len(Bounds)+1)
	for i, b := range Bounds {
		out[i].Below = b
	}
	return out
}
