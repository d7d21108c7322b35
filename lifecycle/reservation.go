package lifecycle

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Quota is one limit of a cloud account and region as measured, and how much of it one cluster needs.
type Quota struct {
	Service string         `json:"service"`           // ec2, vpc
	Code    string         `json:"code"`              // L-0263D0A3
	Scope   string         `json:"scope,omitempty"`   // the zone, if the limit is per zone
	Name    string         `json:"name"`              // for people
	Limit   int            `json:"limit"`             // meaningless when Unknown
	Used    int            `json:"used"`              // by everybody, as measured
	Need    int            `json:"need"`              // at most, during the install
	Lasting int            `json:"lasting"`           // the part of Need that remains once it is ready
	UsedBy  map[string]int `json:"usedBy,omitempty"`  // the part of Used, by cluster id
	UsedIn  map[string]int `json:"usedIn,omitempty"`  // another part of Used, by the name of the resource group that it is in; see Attribute
	Unknown string         `json:"unknown,omitempty"` // why it could not be measured; such a quota never blocks
}

// Attribute returns the quota with what is used in a cluster's resource group as that cluster's. clusters are the clusters' ids by the names
// of their groups. What is in other groups is somebody else's.
func (q Quota) Attribute(clusters map[string]string) Quota {
	if len(q.UsedIn) == 0 {
		return q
	}
	by := map[string]int{}
	maps.Copy(by, q.UsedBy)
	for group, used := range q.UsedIn {
		if cluster := clusters[group]; cluster != "" {
			by[cluster] += used
		}
	}
	q.UsedBy, q.UsedIn = by, nil
	return q
}

// key identifies the quota.
func (q Quota) key() string { return q.Service + " " + q.Code + " " + q.Scope }

// Holding is what is reserved for one cluster, or what it waits for.
type Holding struct {
	Cluster string
	Ready   bool // it was ready once, so it holds only Lasting
	Quotas  []Quota
}

// of returns how much of a quota it holds.
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

// Fits reports whether there is capacity for a demand beside what others hold and what others have waited for longer. wait names
// every quota without enough capacity now; never names those whose limit is too low even in an empty account. Both are empty if it
// fits.
//
// A holder's existing resources are part of the measured usage, so the larger of usage and reservation counts for each holder. A
// quota that could not be measured does not block: the cloud itself refuses if it is exceeded.
func Fits(demand []Quota, held, ahead []Holding) (wait, never string) {
	var waits, nevers []string
	for _, q := range demand {
		if q.Unknown != "" || q.Need == 0 {
			continue
		}
		if q.Need > q.Limit {
			nevers = append(nevers, fmt.Sprintf("%s: %d needed, but the limit is %d", q.text(), q.Need, q.Limit))
			continue
		}
		taken, longer := q.sumTaken(held), 0
		for _, h := range ahead {
			longer += h.of(q.key())
		}
		if q.Need > q.Limit-taken-longer {
			waits = append(waits, fmt.Sprintf("%s: %d needed, %d of %d are in use or reserved%s", q.text(), q.Need, taken, q.Limit, forOthers(longer)))
		}
	}
	return strings.Join(waits, "; "), strings.Join(nevers, "; ")
}

// CountRoom returns how many more clusters fit beside what others hold, if each needs what one needed that was measured last. gone are clusters
// that were destroyed since the measurement. by is the limit that is reached first. known is false if no limit could be measured.
func CountRoom(measured []Quota, held []Holding, gone []string) (n int, by string, known bool) {
	for _, q := range measured {
		if q.Unknown != "" || q.Need == 0 {
			continue
		}
		for _, cluster := range gone {
			q.Used -= q.UsedBy[cluster]
		}
		if fits := max(0, q.Limit-q.sumTaken(held)) / q.Need; !known || fits < n {
			n, by, known = fits, fmt.Sprintf("%s: %d needed, %d of %d free", q.text(), q.Need, max(0, q.Limit-q.sumTaken(held)), q.Limit), true
		}
	}
	return n, by, known
}

// FirstPast reports whether a demand may pass the waiting clusters before it: it fits beside what is held, and none of those before
// it does, so it is the first in the queue that can use the free capacity.
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

// as returns what it waits for, with limits and usage as just measured.
func (h Holding) as(measured []Quota) []Quota { return Remeasure(h.Quotas, measured) }

// Remeasure returns what was needed at one time with limits and usage as measured at another.
func Remeasure(needed, measured []Quota) []Quota {
	quotas := slices.Clone(needed)
	for i, q := range quotas {
		for _, now := range measured {
			if now.key() == q.key() {
				quotas[i].Limit, quotas[i].Used, quotas[i].UsedBy, quotas[i].Unknown = now.Limit, now.Used, now.UsedBy, now.Unknown
			}
		}
	}
	return quotas
}

// sumTaken is what strangers use, plus what holders use or may still use.
func (q Quota) sumTaken(held []Holding) int {
	strangers, ours := q.Used, 0
	for _, h := range held {
		used := q.UsedBy[h.Cluster]
		strangers -= used
		ours += max(used, h.of(q.key()))
	}
	return max(strangers, 0) + ours
}

func (q Quota) text() string {
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
	return fmt.Sprintf(", and clusters ahead in the queue need %d", n)
}
