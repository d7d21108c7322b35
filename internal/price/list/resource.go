package list

import (
	"strconv"
	"strings"
)

// hoursInMonth is how AWS turns a month's price into an hour's.
const hoursInMonth = 730

// zoneMonth is the price of a hosted zone of AWS for a month, the same in every region.
const zoneMonth Price = 500_000

// free are the kinds of resources that cost nothing by themselves.
var free = map[string]bool{
	"vpc": true, "subnet": true, "route-table": true, "internet-gateway": true, "egress-only-gateway": true, "carrier-gateway": true,
	"peering-connection": true, "security-group": true, "network-interface": true, "network-acl": true, "dhcp-options": true, "target-group": true, "listener": true, "record": true, "role": true,
	"user": true, "instance-profile": true, "policy": true, "oidc-provider": true, "key-pair": true, "launch-template": true, "placement-group": true,
	// On IBM Cloud alone. The floating IP of a public gateway is a resource of its own, and what a service instance or its reclamation
	// costs depends on its content.
	"public-gateway": true, "virtual-network-interface": true, "key": true, "resource-group": true, "service-id": true, "api-key": true,
	"access-policy": true, "authorization-policy": true, "resource-key": true, "permitted-network": true, "user-tag": true,
}

// Resource returns what a resource costs by the hour, in US cents. kind and detail are those of contract.SeenResource: an instance's type,
// with "spot" if it is one, a volume's kind and size in GB, and the size of a snapshot, an image or a bucket's content. What depends on use
// (traffic, requests) is not included. Unknown: the list has no price for it.
func (l List) Resource(kind, region, detail string, stopped bool) (centsPerHour float64, known bool) {
	if cents, known := l.priceResource(kind, region, detail, stopped); known {
		return cents, true
	}
	return 0, false
}

func (l List) priceResource(kind, region, detail string, stopped bool) (cents float64, known bool) {
	if free[kind] {
		return 0, true
	}
	switch {
	case kind == "hosted-zone" && l.Cloud == "aws":
		return monthlyCents(zoneMonth, 1), true
	case kind == "image" && l.Cloud == "aws":
		return 0, true // its snapshots are listed and priced beside it
	}
	r, there := l.Regions[region]
	if !there {
		return 0, false
	}
	d := parseDetail(detail)
	switch kind {
	case "instance":
		price := r.Instances[d.first]
		if stopped || price == 0 {
			return 0, stopped
		}
		if spot := r.Spot[d.first]; d.words["spot"] && spot > 0 {
			return hourlyCents(spot), true
		}
		if d.words["spot"] {
			return hourlyCents(price) * float64(l.SpotPercent) / 100, l.SpotPercent > 0
		}
		return hourlyCents(price), true
	case "volume":
		return monthlyCents(r.Volumes[d.first], d.size), r.Volumes[d.first] > 0 && d.size > 0
	case "snapshot":
		return monthlyCents(r.Snapshot, d.size), r.Snapshot > 0 && d.size > 0 // of a full one, which is the most that it can cost
	case "image":
		return monthlyCents(r.Image, d.size), r.Image > 0 && d.size > 0
	case "bucket":
		return monthlyCents(r.Storage, d.size), r.Storage > 0 && d.size > 0
	case "nat-gateway":
		return hourlyCents(r.NAT), r.NAT > 0
	case "address", "floating-ip":
		return hourlyCents(r.Address), r.Address > 0
	case "classic-load-balancer":
		return hourlyCents(r.ClassicLB), r.ClassicLB > 0
	case "load-balancer":
		price := r.NetworkLB
		if d.words["application"] {
			price = r.ApplicationLB
		}
		return hourlyCents(price), price > 0
	case "vpc-endpoint":
		if d.words["gateway"] {
			return 0, true
		}
		return hourlyCents(r.Endpoint), d.words["interface"] && r.Endpoint > 0
	}
	return 0, false
}

func hourlyCents(p Price) float64 { return float64(p) * 100 / micros }

func monthlyCents(p Price, size int) float64 { return hourlyCents(p) * float64(size) / hoursInMonth }

// detail is the words of a resource's detail.
type detail struct {
	first string // the first word that is no size: a type or kind
	size  int    // GB
	words map[string]bool
}

func parseDetail(text string) detail {
	d := detail{words: map[string]bool{}}
	for _, word := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return strings.ContainsRune(" ,;/", r) }) {
		number := strings.TrimSuffix(strings.TrimSuffix(word, "gib"), "gb")
		if n, err := strconv.Atoi(number); err == nil && n > 0 {
			d.size = n
			continue
		}
		if d.first == "" && number != "" {
			d.first = word
		}
		d.words[word] = true
	}
	return d
}
