// Package list is a cloud's price list: what resources cost by the hour, and what a cluster made of them costs.
//
// Prices are public list prices in US dollars, without discounts and taxes, as of the list's day. What a list does not say is unknown, never
// free. It is pure: it reads files that it is given and asks nobody.
package list

import (
	"bytes"
	"fmt"
	"maps"
	"math/big"
	"regexp"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// List is the price list of one cloud.
type List struct {
	Cloud       string            `yaml:"cloud"`       // as in a profile's platform
	AsOf        string            `yaml:"asOf"`        // the day on which the prices were published, YYYY-MM-DD
	Source      string            `yaml:"source"`      // where they come from
	SpotPercent int               `yaml:"spotPercent"` // of the on-demand price, an estimate for spot machines whose type has no spot price
	Traffic     Traffic           `yaml:"trafficGB"`   // an estimate too
	Regions     map[string]Region `yaml:"regions"`
}

// Traffic is how many GB a machine is assumed to send and receive in an hour.
type Traffic struct {
	NAT    Price `yaml:"nat"`    // through NAT gateways
	Egress Price `yaml:"egress"` // to the internet
}

// Region is the prices of one region. A price of 0 is unknown.
type Region struct {
	Name      string           `yaml:"name"`           // for people
	Instances map[string]Price `yaml:"instances"`      // on demand, Linux, an hour, by type
	Spot      map[string]Price `yaml:"spot,omitempty"` // the same of spot machines: no public list has them, so people write what they pay
	Volumes   map[string]Price `yaml:"volumes"`        // a GB for a month, by kind: gp3, io2, general-purpose …

	Snapshot      Price `yaml:"snapshotGBMonth"`
	Storage       Price `yaml:"storageGBMonth"` // in a bucket
	Image         Price `yaml:"imageGBMonth"`   // of machines; zero: an image costs nothing, and its snapshots do
	NAT           Price `yaml:"natGateway"`     // an hour of each
	NATGB         Price `yaml:"natGB"`
	NetworkLB     Price `yaml:"networkLoadBalancer"`
	ApplicationLB Price `yaml:"applicationLoadBalancer"`
	ClassicLB     Price `yaml:"classicLoadBalancer"`
	Address       Price `yaml:"publicAddress"` // a public IPv4 address, used or not; on IBM Cloud a floating IP
	Endpoint      Price `yaml:"interfaceEndpoint"`
	EgressGB      Price `yaml:"egressGB"`
}

// Price is an amount in millionths of a US dollar. In files it is a number of dollars.
type Price int64

const micros = 1_000_000

// priceForm keeps a number within what is exact and plausible.
var priceForm = regexp.MustCompile(`^[0-9]{1,6}(\.[0-9]{1,12})?$`)

// ParsePrice reads dollars, rounded half up to a millionth.
func ParsePrice(text string) (Price, error) {
	if !priceForm.MatchString(text) {
		return 0, fmt.Errorf("%q is no price; write dollars, such as 0.192", text)
	}
	n, _ := new(big.Rat).SetString(text)
	n.Mul(n, big.NewRat(2*micros, 1)).Add(n, big.NewRat(1, 1))
	return Price(new(big.Int).Quo(n.Num(), new(big.Int).Mul(n.Denom(), big.NewInt(2))).Int64()), nil
}

// String is the price in dollars, without trailing zeros.
func (p Price) String() string {
	text := strings.TrimRight(fmt.Sprintf("%d.%06d", p/micros, p%micros), "0")
	return strings.TrimSuffix(text, ".")
}

// UnmarshalYAML implements yaml.Unmarshaler.
func (p *Price) UnmarshalYAML(n *yaml.Node) (err error) {
	if *p, err = ParsePrice(n.Value); err != nil {
		return fmt.Errorf("line %d: %w", n.Line, err)
	}
	return nil
}

// MarshalYAML implements yaml.Marshaler.
func (p Price) MarshalYAML() (any, error) {
	return &yaml.Node{Kind: yaml.ScalarNode, Value: p.String()}, nil
}

// Parse reads a list's file.
func Parse(raw []byte) (List, error) {
	var l List
	in := yaml.NewDecoder(bytes.NewReader(raw))
	in.KnownFields(true)
	if err := in.Decode(&l); err != nil {
		return List{}, err
	}
	if _, err := time.Parse(time.DateOnly, l.AsOf); err != nil {
		return List{}, fmt.Errorf("asOf is %q; write a date in quotes, YYYY-MM-DD", l.AsOf)
	}
	for _, missing := range []struct {
		is   bool
		what string
	}{{l.Cloud == "", "cloud"}, {l.Source == "", "source"}, {len(l.Regions) == 0, "regions"}} {
		if missing.is {
			return List{}, fmt.Errorf("%s is missing", missing.what)
		}
	}
	if _, known := clouds[l.Cloud]; !known {
		return List{}, fmt.Errorf("cloud is %q; give %s", l.Cloud, strings.Join(slices.Sorted(maps.Keys(clouds)), " or "))
	}
	if l.SpotPercent < 0 || l.SpotPercent > 100 {
		return List{}, fmt.Errorf("spotPercent is %d; it is a percentage, 0 to 100", l.SpotPercent)
	}
	return l, nil
}

// Format writes a list's file. Comments are not kept.
func (l List) Format() ([]byte, error) {
	var out bytes.Buffer
	w := yaml.NewEncoder(&out)
	w.SetIndent(2)
	if err := w.Encode(l); err != nil {
		return nil, fmt.Errorf("write the price list of %s: %w", l.Cloud, err)
	}
	return out.Bytes(), w.Close()
}

// RegionName returns a region's name for people, or its id.
func (l List) RegionName(id string) string {
	if r := l.Regions[id]; r.Name != "" {
		return r.Name
	}
	return id
}

// regionNames lists the regions, in alphabetical order.
func (l List) regionNames() []string { return slices.Sorted(maps.Keys(l.Regions)) }
