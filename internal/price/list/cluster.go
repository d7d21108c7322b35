package list

import (
	"fmt"
	"slices"
	"strings"
)

// cloud is what the list has to know of a cloud itself.
type cloud struct {
	diskGB   int // of each machine that the installer makes, if the install-config says nothing else
	diskKind string
	network  func(*bill, Region, Cluster) // adds what the installer makes around the machines
}

// clouds are those that a list can be of, by their names in a profile. The disks are those of the installer's defaults
// (pkg/types/aws/defaults/machinepool.go) and of IBM Cloud's machine images, whose boot volumes have 100 GB.
var clouds = map[string]cloud{
	"aws":      {diskGB: 120, diskKind: "gp3", network: networkOnAWS},
	"ibmcloud": {diskGB: 100, diskKind: "general-purpose", network: networkOnIBMCloud},
}

// Cluster is what an installation consists of.
type Cluster struct {
	Region   string
	Zones    int // the installer makes a gateway to the internet in each
	Machines []Machines
	Internal bool // it publishes nothing to the internet
}

// Machines are machines of one type.
type Machines struct {
	Count int
	Type  string
	Spot  bool // spot machines, which the cloud may take back
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
			if m.Spot {
				b.addRunning(m.Type+" spot instances", m.Count, r.Spot[m.Type], 1)
				continue
			}
			b.addRunning(m.Type+" instances", m.Count, r.Instances[m.Type], 1)
		}
	}
	on := clouds[l.Cloud]
	b.addPart(fmt.Sprintf("%s disks of %d GB", on.diskKind, on.diskGB), machines, r.Volumes[on.diskKind], float64(on.diskGB)/hoursInMonth)
	on.network(b, r, c)
	if l.Traffic.NAT > 0 {
		b.addRunning("GB through NAT gateways, an estimate", machines, r.NATGB, float64(l.Traffic.NAT)/micros)
	}
	if l.Traffic.Egress > 0 {
		b.addRunning("GB to the internet, an estimate", machines, r.EgressGB, float64(l.Traffic.Egress)/micros)
	}
	if len(b.missing) > 0 {
		return nil, fmt.Errorf("the price list of %s of %s has no price in %s of: %s", l.Cloud, l.AsOf, c.Region, strings.Join(b.missing, ", "))
	}
	return b.items, nil
}

// networkOnAWS adds two load balancers for the API, inside and outside, and one for the router. Each public one has an address in every
// zone, as has each NAT gateway.
func networkOnAWS(b *bill, r Region, c Cluster) {
	balancers, addresses := 3, 3*c.Zones
	if c.Internal {
		balancers, addresses = 2, c.Zones
	}
	b.addPart("NAT gateways", c.Zones, r.NAT, 1)
	b.addPart("network load balancers", balancers, r.NetworkLB, 1)
	b.addPart("public addresses", addresses, r.Address, 1)
	b.addPart("private hosted zones", 1, zoneMonth, 1.0/hoursInMonth)
}

// networkOnIBMCloud adds the same load balancers, and a floating IP for the public gateway of each zone. The gateway itself and the
// addresses of load balancers cost nothing. The DNS zone is the installation's own.
func networkOnIBMCloud(b *bill, r Region, c Cluster) {
	balancers := 3
	if c.Internal {
		balancers = 2
	}
	b.addPart("application load balancers", balancers, r.ApplicationLB, 1)
	b.addPart("floating IPs", c.Zones, r.Address, 1)
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

// addRunning adds a part that is paid only while the machines run.
func (b *bill) addRunning(what string, count int, price Price, times float64) {
	before := len(b.items)
	b.addPart(what, count, price, times)
	for i := range b.items[before:] {
		b.items[before+i].Running = true
	}
}

func (b *bill) addPart(what string, count int, price Price, times float64) {
	switch {
	case count == 0 || price == 0 && slices.Contains(b.missing, what):
	case price == 0:
		b.missing = append(b.missing, what)
	default:
		b.items = append(b.items, Item{What: what, Count: count, Cents: hourlyCents(price) * times * float64(count)})
	}
}
