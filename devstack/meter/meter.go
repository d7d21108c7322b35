// Package meter counts what is used in a stand-in of a cloud, as the cloud itself counts it for its bill: by the times at which resources came,
// changed their state and went. It knows nothing of those who asked for them. Which resources are billed is the stand-in's business.
package meter

import (
	"cmp"
	"slices"
	"time"

	"github.com/ocpctl/ocpctl/internal/price/list"
)

// Used says for how long something existed that a cloud bills by the hour. A machine counts while it runs.
type Used struct {
	Cluster      string        `json:"cluster,omitempty"` // whose it was, by tags; empty: no cluster's, or not known
	Kind, Detail string        // as package price/list takes them
	Region       string        `json:"region,omitempty"`
	For          time.Duration // of all of its kind together
}

// One is the lines of a bill that one resource of a kind causes.
func One(kind, detail string) []Used { return []Used{{Kind: kind, Detail: detail, For: 1}} }

// Cents is what it cost by a price list. Unknown: the list has no price for it.
func (u Used) Cents(l list.List) (cents float64, known bool) {
	hourly, known := l.Resource(u.Kind, u.Region, u.Detail, false)
	return hourly * u.For.Hours(), known
}

// what is u without a time.
func (u Used) what() Used {
	u.For = 0
	return u
}

func byWhat(a, b Used) int {
	return cmp.Or(cmp.Compare(a.Cluster, b.Cluster), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Region, b.Region), cmp.Compare(a.Detail, b.Detail))
}

// Meter adds up what was used. Its clock may be ahead of the world's. The zero value has counted nothing. It is not safe for concurrent use.
type Meter struct {
	Sums  []Used `json:"sums,omitempty"` // of what is gone, or stopped; one line for each kind
	ahead time.Duration
}

// Elapse lets time pass for the meter alone: everything that exists is used for that much longer.
func (m *Meter) Elapse(d time.Duration) { m.ahead += d }

// Clock returns a time of the world on the meter's clock.
func (m *Meter) Clock(at time.Time) time.Time { return at.Add(m.ahead) }

// Add counts something that was used.
func (m *Meter) Add(u Used) {
	i, known := slices.BinarySearchFunc(m.Sums, u, byWhat)
	if !known {
		m.Sums = slices.Insert(m.Sums, i, u.what())
	}
	m.Sums[i].For += u.For
}

// With returns everything that was used, and what is still used beside it.
func (m *Meter) With(still []Used) []Used {
	all := Meter{Sums: slices.Clone(m.Sums)}
	for _, u := range still {
		all.Add(u)
	}
	return all.Sums
}

// Since is what a resource used from a time on the meter's clock until a time of the world. lines are its lines of a bill, with how many of
// each in For.
func (m *Meter) Since(start, until time.Time, lines []Used, cluster, region string) []Used {
	for i := range lines {
		lines[i].Cluster, lines[i].Region = cluster, region
		lines[i].For *= max(0, m.Clock(until).Sub(start))
	}
	return lines
}
