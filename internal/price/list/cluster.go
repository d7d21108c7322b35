package list

import (
	"fmt"
	"slices"
	"strings"
)

// DiskGB is the size of a machine's disk that the installer makes on AWS if the install-config names none, and its kind.
const (
	DiskGB   = 120
	diskKind = "gp3"
)

// Cluster is what an installation on AWS consists of.
type Cluster struct {
	Region   string
	Zones    int // the installer makes a NAT gateway in each
	Machines []Machines
	Internal bool // it publishes nothing to the internet
}

// Machines are machines of one type.
type Machines struct {
	Count int
	Type  string
}

// Item is a part of a cluster's price.
type Item struct {
	What    string
	Count   int
	Cents   float64 // an hour, of all of them
	Running bool    // only while the machines run
}

// Cluster returns what a cluster costs by the hour, part by part. An error names every price that the list does not have.
func (l List) Cluster(c Cluster) ([]Item, error) {
	r, there := l.Regions[c.Region]
	if !there {
		return nil, fmt.Errorf("the price list of %s has no region %s; it has %s", l.Cloud, c.Region, strings.Join(l.regionNames(), ", "))
	}
	b := &bill{}
	machines := 0
	for _, m := range c.Machines {
		if m.Count > 0 {
			machines += m.Count
			b.running(m.Type+" instances", m.Count, r.Instances[m.Type], 1)
		}
	}
	b.add(fmt.Sprintf("%s disks of %d GB", diskKind, DiskGB), machines, r.Volumes[diskKind], float64(DiskGB)/hoursInMonth)
	b.add("NAT gateways", c.Zones, r.NAT, 1)
	// Two load balancers for the API, inside and outside, and one for the router. Each public one has an address in every zone, as has each
	// NAT gateway.
	balancers, addresses := 3, 3*c.Zones
	if c.Internal {
		balancers, addresses = 2, c.Zones
	}
	b.add("network load balancers", balancers, r.NetworkLB, 1)
	b.add("public addresses", addresses, r.Address, 1)
	b.add("private hosted zones", 1, zoneMonth, 1.0/hoursInMonth)
	if l.Traffic.NAT > 0 {
		b.running("GB through NAT gateways, an estimate", machines, r.NATGB, float64(l.Traffic.NAT)/micros)
	}
	if l.Traffic.Egress > 0 {
		b.running("GB to the internet, an estimate", machines, r.EgressGB, float64(l.Traffic.Egress)/micros)
	}
	if len(b.missing) > 0 {
		return nil, fmt.Errorf("the price list of %s of %s has no price in %s of: %s", l.Cloud, l.AsOf, c.Region, strings.Join(b.missing, ", "))
	}
	return b.items, nil
}

// Stopped are the parts that cost the same while the machines are stopped.
func Stopped(items []Item) (out []Item) {
	for _, i := range items {
		if !i.Running {
			out = append(out, i)
		}
	}
	return out
}

// Sum is the sum of parts in cents.
func Sum(items []Item) (sum float64) {
	for _, i := range items {
		sum += i.Cents
	}
	return sum
}

// Cents is the sum of parts, rounded half up to whole cents.
func Cents(items []Item) int { return int(Sum(items) + 0.5) }

type bill struct {
	items   []Item
	missing []string
}

// running adds a part that is paid only while the machines run.
func (b *bill) running(what string, count int, price Price, times float64) {
	before := len(b.items)
	b.add(what, count, price, times)
	for i := range b.items[before:] {
		b.items[before+i].Running = true
	}
}

func (b *bill) add(what string, count int, price Price, times float64) {
	switch {
	case count == 0 || price == 0 && slices.Contains(b.missing, what):
	case price == 0:
		b.missing = append(b.missing, what)
	default:
		b.items = append(b.items, Item{What: what, Count: count, Cents: hourly(price) * times * float64(count)})
	}
}
