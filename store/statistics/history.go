package statistics

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"sort"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
)

const week = 7 * 24 * time.Hour

// life is what a summary needs of one cluster.
type life struct {
	profile                       string
	requested, abandoned, blocked bool // one that is not gone is abandoned only if it was in the time of the summary
	created                       time.Time
	ready, teardown, gone         pgtype.Timestamptz
}

// history counts lives. It reads each once; a query for every table takes several times as long.
type history struct {
	from, to               time.Time
	lifetimes, ready, torn map[string][]time.Duration // how long it took, by profile
	teardowns              map[string]*Teardown       // by profile
	bars                   []Bar
	weeks                  []Week
	untilReady             [][]time.Duration // by week
}

// readHistory fills in the tables of a summary that say what became of clusters.
func readHistory(r *reader, f Filter, sum *Summary) {
	h := newHistory(f)
	var l life
	each(r, "lives", lives, []any{&l.profile, &l.requested, &l.created, &l.ready, &l.gone, &l.teardown, &l.abandoned, &l.blocked}, func() { h.count(l) })
	var failed time.Time
	each(r, "failed creates", failedCreates, []any{&failed}, func() { h.weeks[h.weekIndex(failed)].FailedCreates++ })
	if r.err == nil {
		h.finish(sum)
	}
}

// each reads every row of a query into the same variables.
func each(r *reader, what, sql string, into []any, do func()) {
	if r.err != nil {
		return
	}
	rows, _ := r.from.Query(r.ctx, sql, r.args) // the rows return its error again
	if _, err := pgx.ForEachRow(rows, into, func() error { do(); return nil }); err != nil {
		r.err = fmt.Errorf("%s: %w", what, err)
	}
}

func newHistory(f Filter) *history {
	h := &history{
		from: f.From, to: f.To, bars: emptyBars(), weeks: []Week{}, teardowns: map[string]*Teardown{},
		lifetimes: map[string][]time.Duration{}, ready: map[string][]time.Duration{}, torn: map[string][]time.Duration{},
	}
	for monday := mondayOf(f.From); monday.Before(f.To); monday = monday.Add(week) {
		h.weeks = append(h.weeks, Week{Week: monday})
	}
	h.untilReady = make([][]time.Duration, len(h.weeks))
	return h
}

// mondayOf is the start of the week, in UTC.
func mondayOf(at time.Time) time.Time {
	day := at.UTC().Truncate(24 * time.Hour)
	return day.AddDate(0, 0, -(int(day.Weekday())+6)%7)
}

func (h *history) isIn(at time.Time) bool { return !at.Before(h.from) && at.Before(h.to) }

func (h *history) weekIndex(at time.Time) int { return int(at.Sub(h.weeks[0].Week) / week) }

func (h *history) count(l life) {
	if l.requested && h.isIn(l.created) {
		h.weeks[h.weekIndex(l.created)].Accepted++
	}
	if l.ready.Valid && h.isIn(l.ready.Time) {
		took, i := max(0, l.ready.Time.Sub(l.created)), h.weekIndex(l.ready.Time)
		h.ready[l.profile] = append(h.ready[l.profile], took)
		h.untilReady[i] = append(h.untilReady[i], took)
	}
	isGone := l.gone.Valid && h.isIn(l.gone.Time)
	if isGone && l.requested {
		h.weeks[h.weekIndex(l.gone.Time)].Destroyed++
	}
	if isGone && l.ready.Valid {
		took := max(0, l.gone.Time.Sub(l.created))
		h.lifetimes[l.profile] = append(h.lifetimes[l.profile], took)
		h.bars[sort.Search(len(Bounds), func(i int) bool { return took < Bounds[i] })].Clusters++
	}
	if isGone && l.teardown.Valid || (isGone || !l.gone.Valid) && l.abandoned {
		h.countTeardown(l)
	}
}

func (h *history) countTeardown(l life) {
	t := h.teardowns[l.profile]
	if t == nil {
		t = &Teardown{Profile: l.profile}
		h.teardowns[l.profile] = t
	}
	t.Clusters++
	if l.blocked {
		t.Blocked++
	}
	if l.abandoned {
		t.Abandoned++
	}
	if !l.blocked && !l.abandoned {
		t.Unaided++
	}
	if l.gone.Valid && l.teardown.Valid {
		h.torn[l.profile] = append(h.torn[l.profile], max(0, l.gone.Time.Sub(l.teardown.Time)))
	}
}

// finish makes the tables from what was counted.
func (h *history) finish(sum *Summary) {
	sum.Lifetime, sum.Ready, sum.Lifetimes, sum.Weeks = byProfile(h.lifetimes), byProfile(h.ready), h.bars, h.weeks
	for i, took := range h.untilReady {
		sum.Weeks[i].Ready, sum.Weeks[i].Spread = len(took), spreadOf(took)
	}
	torn := map[string]Spread{}
	for _, p := range byProfile(h.torn) {
		torn[p.Profile] = p.Spread
	}
	sum.Teardowns = []Teardown{}
	all := Teardown{Spread: torn[""]}
	for _, profile := range slices.Sorted(maps.Keys(h.teardowns)) {
		t := *h.teardowns[profile]
		t.Spread = torn[profile]
		all.Clusters, all.Unaided, all.Blocked, all.Abandoned = all.Clusters+t.Clusters, all.Unaided+t.Unaided, all.Blocked+t.Blocked, all.Abandoned+t.Abandoned
		sum.Teardowns = append(sum.Teardowns, t)
	}
	if all.Clusters > 0 {
		sum.Teardowns = slices.Insert(sum.Teardowns, 0, all)
	}
}

// byProfile returns a line for all profiles together, and one for each; none if there is nothing.
func byProfile(took map[string][]time.Duration) []ProfileSpread {
	lines := []ProfileSpread{}
	if len(took) == 0 {
		return lines
	}
	all := slices.Concat(slices.Collect(maps.Values(took))...)
	lines = append(lines, ProfileSpread{Clusters: len(all), Spread: spreadOf(all)})
	for _, profile := range slices.Sorted(maps.Keys(took)) {
		lines = append(lines, ProfileSpread{Profile: profile, Clusters: len(took[profile]), Spread: spreadOf(took[profile])})
	}
	return lines
}

// spreadOf sorts the durations. Between two of them it interpolates, as percentile_cont of PostgreSQL does.
func spreadOf(took []time.Duration) Spread {
	if len(took) == 0 {
		return Spread{}
	}
	slices.Sort(took)
	at := func(share float64) int64 {
		place := share * float64(len(took)-1)
		low, high := took[int(place)].Seconds(), took[int(math.Ceil(place))].Seconds()
		return int64(math.RoundToEven(low + (high-low)*(place-math.Floor(place))))
	}
	return Spread{P50: at(.5), P90: at(.9), P99: at(.99), Longest: at(1)}
}
