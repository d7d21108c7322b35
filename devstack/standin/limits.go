package standin

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Lag is how far reads are behind writes. Writes see everything at once, and so does the stand-in's own count.
type Lag struct {
	Create time.Duration // a new resource appears in lists and searches only after that
	Delete time.Duration // a deleted resource is still found there until then; on AWS one of a type with an ARN
	IAM    time.Duration // every read of AWS's IAM shows the state before that
	Groups time.Duration // a new resource group of IBM Cloud appears in its list only after that
}

func (l *Lag) of(name string) *time.Duration {
	return map[string]*time.Duration{"create": &l.Create, "delete": &l.Delete, "iam": &l.IAM, "groups": &l.Groups}[name]
}

// SetLag makes reads eventually consistent from now on; the zero Lag ends it. The world's initial resources are always visible.
func (c *Control[T, R, V]) SetLag(l Lag) {
	c.Mutex.Lock()
	defer c.Mutex.Unlock()
	c.World.Lag = l
}

// ReadLag is SetLag with Go durations by name. An error names what would be accepted.
func (c *Control[T, R, V]) ReadLag(texts map[string]string) (err error) {
	var l Lag
	for name, text := range texts {
		if !slices.Contains(c.Lags, name) {
			return fmt.Errorf("there is no lag %q; give %s", name, strings.Join(c.Lags, ", "))
		}
		if *l.of(name), err = time.ParseDuration(text); err != nil && text != "" {
			return fmt.Errorf("lag %s: %w", name, err)
		}
	}
	c.SetLag(l)
	return nil
}

// generous is by how much a stand-in multiplies the cloud's own limit where nobody set one: a demo and most tests run more clusters at once
// than a new account could.
const generous = 200

// SetLimit sets what the cloud reports of a quota and what the create calls enforce, in every region; a negative value restores the
// configured one. Existing resources above it stay.
func (c *Control[T, R, V]) SetLimit(name string, value int) error {
	if _, known := c.Quotas[name]; !known {
		return fmt.Errorf("set a limit: %q is no quota of this stand-in, which knows %v", name, slices.Sorted(maps.Keys(c.Quotas)))
	}
	return c.Change(func() {
		if c.World.Limits[name] = value; value < 0 {
			delete(c.World.Limits, name)
		}
	})
}

// Limit returns a quota's current limit: as set, as configured, or generous. The world's mutex is held.
func (c *Control[T, R, V]) Limit(name string) int {
	for _, limits := range []map[string]int{c.World.Limits, c.Given} {
		if v, set := limits[name]; set {
			return v
		}
	}
	return generous * c.Quotas[name]
}

// Exceed counts a refusal because of a limit. The world's mutex is held.
func (c *Control[T, R, V]) Exceed() { c.exceeded++ }

// Exceeded returns how many calls were refused because of a limit.
func (c *Control[T, R, V]) Exceeded() int {
	c.Mutex.Lock()
	defer c.Mutex.Unlock()
	return c.exceeded
}
