package profiles

import (
	"fmt"
	"io/fs"
	"math"

	"github.com/ocpctl/ocpctl/internal/kinds"
	"github.com/ocpctl/ocpctl/internal/price/list"
)

// mostPriceDoubt is how much a profile's price may differ from the price list before it is doubted, as a part of the list's price.
const mostPriceDoubt = 0.05

// readPrices reads a price list's file.
func readPrices(r *reader, body []byte) list.List {
	l, err := list.Parse(body)
	if err != nil {
		r.fail(0, "", err.Error(), "a price list; see docs/catalogue.md")
		return l
	}
	r.lines["name"] = 1
	checkName(r, l.Cloud)
	return l
}

// PriceList returns the price list of a platform: the catalogue's own, else the one that is built in.
func (c Catalogue) PriceList(platform string) (list.List, bool) {
	for _, l := range c.Prices {
		if l.Cloud == platform {
			return l, true
		}
	}
	return list.List{}, false
}

// addEmbeddedPrices are the price lists of the embedded catalogue, for clouds of which a catalogue has no list of its own.
func (l *loader) addEmbeddedPrices() {
	files := EmbeddedFiles()
	names, _ := fs.Glob(files, "prices/*.yaml")
	for _, name := range names {
		body, _ := fs.ReadFile(files, name)
		r := &reader{file: name, lines: map[string]int{}, embedded: true}
		built := readPrices(r, body)
		own := false
		for _, p := range l.prices {
			own = own || p.value.Cloud == built.Cloud || p.from.file == name
		}
		if !own {
			l.prices = append(l.prices, entry[list.List]{built, r, ""})
		}
	}
}

// cluster is what a cluster of the profile consists of in a region.
func (p Profile) cluster(r Region) list.Cluster {
	return list.Cluster{Region: r.Name, Zones: len(r.Zones), Internal: p.Publish == "Internal", Machines: []list.Machines{
		{Count: p.ControlPlane.Replicas, Type: p.ControlPlane.InstanceType}, {Count: p.Workers.Replicas, Type: p.Workers.InstanceType, Spot: p.Spot != ""},
	}}
}

// agreePrices computes the prices of each region that names none.
func (l *loader) agreePrices() {
	c := Catalogue{}
	for _, p := range l.prices {
		if p.sound() {
			c.Prices = append(c.Prices, p.value)
		}
	}
	for _, e := range l.profiles {
		if !e.sound() {
			continue
		}
		for i := range e.value.Regions {
			region, at := &e.value.Regions[i], fmt.Sprintf("regions.allow[%d]", i)
			by, err := c.listPrice(e.value, *region)
			if e.value.Spot != "" && err != nil {
				e.from.failAt("spot", e.value.Spot, fmt.Sprintf("none, or spot prices of the workers' type in every region, because %s", err))
				break
			}
			if region.HourlyCents == 0 && err != nil {
				e.from.failAt(at+".hourlyCents", "missing", fmt.Sprintf("cents an hour, because %s", err))
				continue
			}
			if kind := e.value.Provisioner; err != nil && region.AsleepCents == nil && e.value.Sleep != SleepNever && kinds.Can(kind, kinds.OwnAPI) && !kinds.Can(kind, kinds.Installer) {
				e.from.failAt(at+".asleepCents", "missing", "cents an hour of its control plane, or sleep.mode: never")
			}
			if named := region.AsleepCents; err == nil {
				region.fill(by)
				if named != nil || e.value.Sleep == SleepNever {
					region.AsleepCents = named
				}
			}
			if cents := region.AsleepCents; cents != nil && *cents > region.HourlyCents {
				e.from.failAt(at+".asleepCents", fmt.Sprintf("%d", *cents), fmt.Sprintf("at most hourlyCents, %d", region.HourlyCents))
			}
		}
	}
}

// listed is what a price list says of a cluster, in cents an hour.
type listed struct {
	asOf   string
	awake  float64
	asleep float64 // as the profile lets it sleep
	worker float64 // what each worker adds

	onDemand float64 // awake, if no machine is a spot machine
}

// listPrice returns what the platform's price list says of a cluster of the profile in a region.
func (c Catalogue) listPrice(p Profile, in Region) (by listed, err error) {
	prices, known := c.PriceList(p.Platform)
	if !known {
		return by, fmt.Errorf("there is no price list of %s", p.Platform)
	}
	as := func(workers int) (items []list.Item) {
		if err == nil {
			p.Workers.Replicas = workers
			items, err = prices.Cluster(p.cluster(in))
		}
		return items
	}
	n := p.Workers.Replicas
	items, more, none := as(n), as(n+1), as(0)
	by = listed{asOf: prices.AsOf, awake: list.Sum(items), asleep: list.Sum(none), worker: list.Sum(more) - list.Sum(items)}
	if p.Spot != "" {
		p.Spot = ""
		by.onDemand = list.Sum(as(n))
	}
	if p.Sleep == SleepStopped {
		by.asleep = list.Sum(list.Stopped(items))
	}
	return by, err
}

// fill computes the prices of a region. If it names a price of its own, the others keep the proportions of the list.
func (r *Region) fill(by listed) {
	share := 1.0
	if r.HourlyCents > 0 {
		share = float64(r.HourlyCents) / by.awake
	} else {
		r.HourlyCents = round(by.awake)
	}
	asleep, worker := min(r.HourlyCents, round(share*by.asleep)), round(share*by.worker*microsOfCent)
	r.AsleepCents, r.WorkerMicros = &asleep, &worker
	if by.onDemand > 0 {
		r.OnDemand = new(max(r.HourlyCents, round(share*by.onDemand)))
	}
}

// microsOfCent is how many millionths of a dollar are a cent.
const microsOfCent = 10_000

func round(cents float64) int { return int(math.Round(cents)) }

// PriceDoubts lists the profiles' prices that differ from the price list by more than a twentieth and a cent. Doubts block nothing: a profile's own
// price may include what no list has, such as subscriptions or a discount.
func (c Catalogue) PriceDoubts() (doubts []string) {
	for _, p := range c.profiles {
		for _, region := range p.Regions {
			by, err := c.listPrice(p, region)
			if err != nil {
				continue
			}
			differs := func(field string, named, listed int) {
				if d := math.Abs(float64(named - listed)); d > mostPriceDoubt*float64(listed) && d > 1 {
					doubts = append(doubts, fmt.Sprintf("profile %s in %s: %s is %d, and by the price list of %s it is %d; change it, or leave it out",
						p.Name, region.Name, field, named, by.asOf, listed))
				}
			}
			differs("hourlyCents", region.HourlyCents, round(by.awake))
			if computed := region; p.Sleep != SleepNever && region.AsleepCents != nil {
				computed.fill(by)
				differs("asleepCents", *region.AsleepCents, *computed.AsleepCents)
			}
		}
	}
	return doubts
}
