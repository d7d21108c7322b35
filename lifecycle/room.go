package lifecycle

import (
	"fmt"
	"slices"
	"strings"
)

// Quota is one limit of a cloud account and region as it was measured, and what one cluster needs of it.
type Quota struct {
	Service string         `json:"service"`           // ec2, vpc
	Code    string         `json:"code"`              // L-0263D0A3
	Scope   string         `json:"scope,omitempty"`   // the zone, of a limit per zone
	Name    string         `json:"name"`              // for people
	Limit   int            `json:"limit"`             // meaningless when Unknown
	Used    int            `json:"used"`              // everybody's, measured
	Need    int            `json:"need"`              // at most, while it installs
	Lasting int            `json:"lasting"`           // of Need, what stays once it is ready
	UsedBy  map[string]int `json:"usedBy,omitempty"`  // of Used, by cluster id
	Unknown string         `json:"unknown,omitempty"` // why it could not be measured; such a quota never blocks
}

// key tells quotas apart.
func (q Quota) key() string { return q.Service + " " + q.Code + " " + q.Scope }

// Holding is what was set aside for one cluster, or what it waits for.
type Holding struct {
	Cluster string
	Ready   bool // it was ready once: from then on it holds only what lasts
	Quotas  []Quota
}

// of is how much of a quota it holds.
func (h Holding) of(key string) int {
	for _, q := range h.Quotas {
		if q.key() != key {
			continue
		}
		if h.Ready {
			return q.Lasting
		}
		return q.Need
	}
	return 0
}

// Fits says whether a demand has room beside what is held, and beside what others have waited for longer. wait names
// every quota that has no room now; never names those that an empty account would not have either. Both empty: it fits.
//
// What a holder already made is part of the measured usage, so of each holder the larger of the two counts, once. A quota
// that could not be measured is left to the cloud to refuse: only a proven shortfall blocks.
func Fits(demand []Quota, held, ahead []Holding) (wait, never string) {
	var waits, nevers []string
	for _, q := range demand {
		if q.Unknown != "" || q.Need == 0 {
			continue
		}
		if q.Need > q.Limit {
			nevers = append(nevers, fmt.Sprintf("%s: %d needed and the limit is %d", q.words(), q.Need, q.Limit))
			continue
		}
		taken, longer := q.taken(held), 0
		for _, h := range ahead {
			longer += h.of(q.key())
		}
		if q.Need > q.Limit-taken-longer {
			waits = append(waits, fmt.Sprintf("%s: %d needed, %d of %d are in use or set aside%s", q.words(), q.Need, taken, q.Limit, forOthers(longer)))
		}
	}
	return strings.Join(waits, "; "), strings.Join(nevers, "; ")
}

// FirstPast says whether a demand that only those ahead keep waiting may be let past them: it fits beside what is held, and
// none of those ahead does, so that it is the first in line that can use the room there is.
func FirstPast(demand []Quota, held, ahead []Holding) bool {
	if wait, never := Fits(demand, held, nil); wait != "" || never != "" {
		return false
	}
	for _, h := range ahead {
		if wait, _ := Fits(h.as(demand), held, nil); wait == "" {
			return false
		}
	}
	return true
}

// as is what it waits for, with limits and usage as they were measured just now.
func (h Holding) as(measured []Quota) []Quota {
	quotas := slices.Clone(h.Quotas)
	for i, q := range quotas {
		for _, now := range measured {
			if now.key() == q.key() {
				quotas[i].Limit, quotas[i].Used, quotas[i].UsedBy, quotas[i].Unknown = now.Limit, now.Used, now.UsedBy, now.Unknown
			}
		}
	}
	return quotas
}

// taken is what strangers use and what holders use or may still use.
func (q Quota) taken(held []Holding) int {
	strangers, ours := q.Used, 0
	for _, h := range held {
		used := q.UsedBy[h.Cluster]
		strangers -= used
		ours += max(used, h.of(q.key()))
	}
	return max(strangers, 0) + ours
}

func (q Quota) words() string {
	name := q.Name
	if name == "" {
		name = q.Service + " " + q.Code
	}
	if q.Scope != "" {
		name += " in " + q.Scope
	}
	return name
}

func forOthers(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" and %d are waited for longer", n)
}
