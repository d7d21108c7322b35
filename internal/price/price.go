// Package price is the one place that says what a cluster costs. Every figure that people see (dry run, comment, page, CLI,
// approval, transfer, budget, report) comes from here, so that all of them agree to the cent.
//
// Prices are list prices in US cents. Two rules decide every figure:
//
//   - Rate: a profile's list price is for the number of machines that the profile gives. A scaled cluster costs its share by
//     machine: list price x machines it has / machines it was accepted with, rounded half up to the cent per hour.
//   - Amount: an amount is the sum of rate x time, counted exactly in whole milliseconds. It is rounded once, half up to the
//     cent, when it is shown. A sum over several clusters adds the rounded amounts of its clusters.
//
// It is pure: no clock, no database. The store sums rate x time in SQL, by Millis and Cents as SQL spells them; a test in
// package store holds the two together.
package price

import (
	"fmt"
	"time"
)

// PerHour is how many of Amount's units are one cent: the milliseconds of an hour.
const PerHour = int64(time.Hour / time.Millisecond)

// Amount is an exact sum of money: cents per hour x milliseconds.
type Amount int64

// Cents rounds the amount half up to whole cents. An amount is never negative.
func (a Amount) Cents() int64 { return (int64(a) + PerHour/2) / PerHour }

// Between is what the rate costs between two moments; nothing where the second is not later.
func Between(hourlyCents int, from, to time.Time) Amount {
	return Amount(int64(hourlyCents) * max(0, to.UnixMilli()-from.UnixMilli()))
}

// For is what the rate costs for so long, in whole cents.
func For(hourlyCents int, d time.Duration) int64 {
	return Amount(int64(hourlyCents) * max(0, d.Milliseconds())).Cents()
}

// Hourly is what an hour of a cluster costs that has workers in place of the base workers among its machines; list is the
// price of all machines. A cluster whose machines were not counted (0) costs the list price whatever it has.
func Hourly(list, machines, base, workers int) int {
	if machines <= 0 {
		return list
	}
	return (2*list*Machines(machines, base, workers) + machines) / (2 * machines)
}

// Machines is how many machines a cluster has with workers in place of the base workers.
func Machines(machines, base, workers int) int { return max(0, machines+workers-base) }

// Meter is what one cluster cost so far, and costs from now on.
type Meter struct {
	Ran    Amount    // exact, until Since
	Since  time.Time // the present rate runs since then
	Rate   int       // cents an hour since then; 0: the meter stands still, because it waits or is gone
	ToCome int       // cents an hour from now until its end, with the workers that somebody asked for
}

// Spent is what it cost until the moment, in cents.
func (m Meter) Spent(at time.Time) int64 { return m.spent(at).Cents() }

func (m Meter) spent(at time.Time) Amount { return m.Ran + Between(m.Rate, m.Since, at) }

// Left is what it still costs from the moment until its end, in cents.
func (m Meter) Left(at, end time.Time) int64 { return Between(m.ToCome, at, end).Cents() }

// Total is what it costs in all if it lives from the moment to its end, in cents. It is rounded once, so it may differ by a
// cent from Spent and Left together.
func (m Meter) Total(at, end time.Time) int64 {
	return (m.spent(at) + Between(m.ToCome, at, end)).Cents()
}

// Dollars writes US cents: $1,234.50.
func Dollars(cents int64) string {
	if cents < 0 {
		return "-" + Dollars(-cents)
	}
	whole := fmt.Sprint(cents / 100)
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	return fmt.Sprintf("$%s.%02d", whole, cents%100)
}
