package list

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Change is a price that a refresh changed.
type Change struct {
	Region, What string
	Was, Is      Price // Was 0: it was unknown
}

// String is the change for people.
func (c Change) String() string {
	if c.Was == 0 {
		return fmt.Sprintf("%s: %s is %s", c.Region, c.What, c.Is)
	}
	return fmt.Sprintf("%s: %s was %s, is %s", c.Region, c.What, c.Was, c.Is)
}

// Refresh takes prices from one of AWS's public offer files, JSON or CSV
// (https://docs.aws.amazon.com/awsaccountbilling/latest/aboutv2/reading-service-price-list-files.html): those of the list's regions, of the
// instance types that each region names, and the others that a list knows. What the file does not say stays as it is.
func (l List) Refresh(offer io.Reader) (List, []Change, error) {
	if l.Cloud != "aws" {
		return l, nil, fmt.Errorf("the price list is of %s; only a list of aws is refreshed from offer files, change this one by hand", l.Cloud)
	}
	in := bufio.NewReaderSize(offer, 1<<16)
	first, err := in.Peek(1)
	if err != nil {
		return l, nil, fmt.Errorf("read the offer file: %w", err)
	}
	l.Regions = maps.Clone(l.Regions) // the caller's list stays as it is
	found := &finding{list: l, prices: map[target]tier{}}
	read := found.readCSV
	if first[0] == '{' {
		read = found.readJSON
	}
	if err := read(in); err != nil {
		return l, nil, fmt.Errorf("read the offer file: %w", err)
	}
	if len(found.prices) == 0 {
		return l, nil, errors.New("the offer file has no price that the list needs; AmazonEC2, AmazonVPC, AWSELB, AmazonS3 and AWSDataTransfer of the list's regions have some")
	}
	return found.applyToList()
}

// With adds regions and instance types, whose prices a refresh then looks for.
func (l List) With(regions, instances []string) List {
	types := map[string]bool{}
	for _, name := range instances {
		types[name] = true
	}
	for _, r := range l.Regions {
		for name := range r.Instances {
			types[name] = true
		}
	}
	all := maps.Clone(l.Regions)
	for _, name := range regions {
		all[name] = l.Regions[name]
	}
	for name, r := range all {
		_, added := l.Regions[name]
		r.Instances = maps.Clone(r.Instances)
		if r.Instances == nil {
			r.Instances = map[string]Price{}
		}
		for t := range types {
			if _, there := r.Instances[t]; !there && (!added || slices.Contains(instances, t)) {
				r.Instances[t] = 0
			}
		}
		all[name] = r
	}
	l.Regions = all
	return l
}

// Missing names the prices that a region should have and does not.
func (l List) Missing() (missing []string) {
	for _, name := range l.regionNames() {
		r := l.Regions[name]
		for _, t := range slices.Sorted(maps.Keys(r.Instances)) {
			if r.Instances[t] == 0 {
				missing = append(missing, t+" in "+name)
			}
		}
		for _, what := range slices.Sorted(maps.Keys(r.pricesByName())) {
			if *r.pricesByName()[what] == 0 {
				missing = append(missing, what+" in "+name)
			}
		}
		if kind := clouds[l.Cloud].diskKind; r.Volumes[kind] == 0 {
			missing = append(missing, kind+" volumes in "+name)
		}
	}
	return missing
}

// target is a place in the list.
type target struct{ region, what, detail string }

// tier is a price with the amount from which it applies; the first that is not free is taken.
type tier struct {
	from  float64
	price Price
}

// finding collects the prices of an offer file.
type finding struct {
	list   List
	day    string // of the publication
	prices map[target]tier
}

// product is what an offer file says of a product, with keys in small letters and digits alone: the two formats spell them differently.
type product map[string]string

// regionCode is what AWS puts before a usage type outside us-east-1.
var regionCode = regexp.MustCompile(`^[A-Z]{2,4}[0-9]?-`)

// byUsage are the places of products that their usage type tells.
var byUsage = map[string]string{
	"NatGateway-Hours": "natGateway", "NatGateway-Bytes": "natGB", "PublicIPv4:InUseAddress": "publicAddress", "VpcEndpoint-Hours": "interfaceEndpoint",
	"EBS:SnapshotUsage": "snapshotGBMonth", "TimedStorage-ByteHrs": "storageGBMonth", "DataTransfer-Out-Bytes": "egressGB",
}

// byFamily are the places of load balancers, which share one usage type.
var byFamily = map[string]string{
	"Load Balancer-Network": "networkLoadBalancer", "Load Balancer-Application": "applicationLoadBalancer", "Load Balancer": "classicLoadBalancer",
}

// targetOf says where a product's price belongs.
func (f *finding) targetOf(p product) (target, bool) {
	region := p["regioncode"]
	if region == "" {
		region = p["fromregioncode"]
	}
	in, ours := f.list.Regions[region]
	if !ours {
		return target{}, false
	}
	if in.Name == "" && p["regioncode"] != "" {
		in.Name = p["location"]
		f.list.Regions[region] = in
	}
	usage := regionCode.ReplaceAllString(p["usagetype"], "")
	switch {
	case strings.HasPrefix(usage, "BoxUsage:"):
		_, wanted := in.Instances[p["instancetype"]]
		plain := p["operatingsystem"] == "Linux" && p["tenancy"] == "Shared" && p["preinstalledsw"] == "NA" && p["capacitystatus"] == "Used" && p["operation"] == "RunInstances"
		return target{region, "instances", p["instancetype"]}, wanted && plain
	case strings.HasPrefix(usage, "EBS:VolumeUsage") && p["productfamily"] == "Storage" && p["volumeapiname"] != "":
		return target{region, "volumes", p["volumeapiname"]}, true
	case usage == "LoadBalancerUsage":
		what := byFamily[p["productfamily"]]
		return target{region, what, ""}, what != ""
	case usage == "DataTransfer-Out-Bytes" && p["transfertype"] != "AWS Outbound":
		return target{}, false
	}
	what := byUsage[usage]
	return target{region, what, ""}, what != ""
}

// addPrice keeps a price, unless a lower tier that is not free is known.
func (f *finding) addPrice(at target, from float64, text string) error {
	price, err := ParsePrice(text)
	if err != nil {
		return err
	}
	if known, there := f.prices[at]; price > 0 && (!there || from < known.from) {
		f.prices[at] = tier{from, price}
	}
	return nil
}

// applyToList returns the list with what was found.
func (f *finding) applyToList() (List, []Change, error) {
	l := f.list
	l.Regions = map[string]Region{}
	for name, r := range f.list.Regions {
		r.Instances, r.Volumes = maps.Clone(r.Instances), maps.Clone(r.Volumes)
		if r.Volumes == nil {
			r.Volumes = map[string]Price{}
		}
		l.Regions[name] = r
	}
	if f.day > l.AsOf {
		l.AsOf = f.day
	}
	var changes []Change
	for at, is := range f.prices {
		r := l.Regions[at.region]
		c := Change{Region: at.region, What: strings.TrimSpace(at.what + " " + at.detail), Is: is.price}
		switch at.what {
		case "instances":
			c.Was, r.Instances[at.detail] = r.Instances[at.detail], is.price
		case "volumes":
			c.Was, r.Volumes[at.detail] = r.Volumes[at.detail], is.price
		default:
			to := r.pricesByName()[at.what]
			c.Was, *to = *to, is.price
		}
		l.Regions[at.region] = r
		if c.Was != c.Is {
			changes = append(changes, c)
		}
	}
	slices.SortFunc(changes, func(a, b Change) int { return strings.Compare(a.Region+a.What, b.Region+b.What) })
	return l, changes, nil
}

// pricesByName are the single prices, by their names in a list's file.
func (r *Region) pricesByName() map[string]*Price {
	return map[string]*Price{
		"natGateway": &r.NAT, "natGB": &r.NATGB, "publicAddress": &r.Address, "interfaceEndpoint": &r.Endpoint, "snapshotGBMonth": &r.Snapshot,
		"storageGBMonth": &r.Storage, "egressGB": &r.EgressGB, "networkLoadBalancer": &r.NetworkLB, "applicationLoadBalancer": &r.ApplicationLB,
		"classicLoadBalancer": &r.ClassicLB,
	}
}
