// Package price is the only place that computes what a cluster costs. Every figure that people see (dry run, comment, page, CLI,
// approval, transfer, budget, report) comes from here, so that all of them agree to the cent.
//
// Prices are list prices in US cents. Two rules determine every figure:
//
//   - Rate: a profile's list price is for the number of workers that the profile gives. Each worker more or fewer costs what the price
//     list says of one, rounded half up to the cent per hour. Without a price list each machine costs the same share.
//   - Amount: an amount is the sum of rate x time, counted exactly in whole milliseconds. It is rounded once, half up to the
//     cent, when it is shown. A sum over several clusters adds the rounded amounts of its clusters.
//
// It is pure: no clock, no database. The store sums rate x time in SQL with the SQL forms of Millis and Cents; a test in package
// store compares the two.
package price

import (
	"fmt"
	"time"
)

// PerHour is how many units of Amount are one cent: the milliseconds of an hour.
const PerHour = int64(time.Hour / time.Millisecond)

// Amount is an exact sum of money: cents per hour x milliseconds.
type Amount int64

// Cents rounds the amount half up to whole cents. An amount is never negative.
func (a Amount) Cents() int64 { return (int64(a) + PerHour/2) / PerHour }

// Between returns what the rate costs between two times; zero if the second is not later.
func Between(hourlyCents int, from, to time.Time) Amount {
	return Amount(int64(hourlyCents) * max(0, to.UnixMilli()-from.UnixMilli()))
}

// For returns what the rate costs for a duration, in whole cents.
func For(hourlyCents int, d time.Duration) int64 {
	return Amount(int64(hourlyCents) * max(0, d.Milliseconds())).Cents()
}

// microsOfCent is how many millionths of a dollar are a cent.
const microsOfCent = 10_000

// WithWorkers returns the price of an hour of a cluster that has workers instead of the base workers, each of which costs worker
// millionths of a dollar; list is the price with the base workers.
func WithWorkers(list, worker, base, workers int) int {
	return max(0, list*microsOfCent+worker*(workers-base)+microsOfCent/2) / microsOfCent
}

// Hourly is WithWorkers if the price of a worker is not known: each machine costs the same. If its machines were not counted (0), it is
// the list price.
func Hourly(list, machines, base, workers int) int {
	if machines <= 0 {
		return list
	}
	return (2*list*Machines(machines, base, workers) + machines) / (2 * machines)
}

// Machines returns how many machines a cluster has with workers instead of the base workers.
func Machines(machines, base, workers int) int { return max(0, machines+workers-base) }

// Meter computes what one cluster has cost and will cost.
type Meter struct {
	Ran    Amount    // exact, until Since
	Since  time.Time // the current rate applies since then
	Rate   int       // cents per hour since then; 0: no cost, because it waits or is destroyed
	ToCome int       // cents per hour from now until its end, with the requested number of workers

	Less    Amount // what it cost less until Since, because it was asleep
	LessNow int    // cents per hour that it costs less since then
}

// Spent returns the cost until that time, in cents.
func (m Meter) Spent(at time.Time) int64 { return m.amountUntil(at).Cents() }

func (m Meter) amountUntil(at time.Time) Amount { return m.Ran + Between(m.Rate, m.Since, at) }

// Saved returns what it cost less until that time because it was asleep, in cents.
func (m Meter) Saved(at time.Time) int64 { return (m.Less + Between(m.LessNow, m.Since, at)).Cents() }

// Left returns the cost from that time until its end, in cents.
func (m Meter) Left(at, end time.Time) int64 { return Between(m.ToCome, at, end).Cents() }

// Total returns the whole cost if the cluster lives until its end, in cents. It is rounded once, so it may differ by a cent from the
// sum of Spent and Left.
func (m Meter) Total(at, end time.Time) int64 {
	return (m.amountUntil(at) + Between(m.ToCome, at, end)).Cents()
}

// Dollars formats US cents: $1,234.50.
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
