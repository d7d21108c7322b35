package profiles

import (
	"fmt"
	"io/fs"
	"math"

	"github.com/ocpctl/ocpctl/internal/price/list"
)

// mostPriceDoubt is how much a profile's hourlyCents may differ from the price list before it is doubted, as a part of the list's price.
const mostPriceDoubt = 0.05

// readPrices reads a price list's file.
func readPrices(r *reader, body []byte) list.List {
	l, err := list.Parse(body)
	if err != nil {
		r.fail(0, "", err.Error(), "a price list; see docs/catalogue.md")
		return l
	}
	r.lines["name"] = 1
	named(r, l.Cloud)
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

// builtInPrices are the price lists of the embedded catalogue, for clouds of which a catalogue has no list of its own.
func (l *loader) builtInPrices() {
	files := EmbeddedFiles()
	names, _ := fs.Glob(files, "prices/*.yaml")
	for _, name := range names {
		body, _ := fs.ReadFile(files, name)
		r := &reader{file: name, lines: map[string]int{}}
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
		{Count: p.ControlPlane.Replicas, Type: p.ControlPlane.InstanceType}, {Count: p.Workers.Replicas, Type: p.Workers.InstanceType},
	}}
}

// agreePrices computes the price of each region that names none.
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
		for i, region := range e.value.Regions {
			if region.HourlyCents > 0 {
				continue
			}
			at := fmt.Sprintf("regions.allow[%d]", i)
			prices, known := c.PriceList(e.value.Platform)
			if !known {
				e.from.failAt(at+".hourlyCents", "missing", fmt.Sprintf("cents an hour, because there is no price list of %s", e.value.Platform))
				continue
			}
			items, err := prices.Cluster(e.value.cluster(region))
			if err != nil {
				e.from.failAt(at+".hourlyCents", "missing", fmt.Sprintf("cents an hour, because %s", err))
				continue
			}
			e.value.Regions[i].HourlyCents = list.Cents(items)
		}
	}
}

// PriceDoubts lists the profiles' prices that differ from the price list by more than a twentieth. Doubts block nothing: a profile's own
// price may include what no list has, such as subscriptions or a discount.
func (c Catalogue) PriceDoubts() (doubts []string) {
	for _, p := range c.profiles {
		prices, known := c.PriceList(p.Platform)
		if !known {
			continue
		}
		for _, region := range p.Regions {
			items, err := prices.Cluster(p.cluster(region))
			if err != nil {
				continue
			}
			listed := list.Cents(items)
			if math.Abs(float64(region.HourlyCents-listed)) > mostPriceDoubt*float64(listed) {
				doubts = append(doubts, fmt.Sprintf("profile %s in %s: hourlyCents is %d, and by the price list of %s it is %d; change it, or leave it out",
					p.Name, region.Name, region.HourlyCents, prices.AsOf, listed))
			}
		}
	}
	return doubts
}
