package standin

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ocpctl/ocpctl/devstack/meter"
	"github.com/ocpctl/ocpctl/devstack/pick"
	"github.com/ocpctl/ocpctl/devstack/statefile"
)

// Control is what a test or a demo may do with the world of a stand-in, whose resources it copies as type V. It is safe for concurrent use.
type Control[Tags any, R Record[Tags], V any] struct {
	World *World[Tags, R]
	Mutex *sync.Mutex // guards the world
	Copy  func(R) V   // without secrets
	Ways  []string    // in which a resource can be protected
	Lags  []string    // that the cloud has, by the names of Lag's fields
	// Quotas are the limits of a new account, by code or name, and Given those of the configuration, which count instead.
	Quotas, Given map[string]int

	exceeded int // refusals because of a limit
}

// Open makes the world, or reads it from its state file. A new one has nothing in it; the caller puts there what accounts in use have, and
// writes the first snapshot.
func (c *Control[T, R, V]) Open(path, account string) (found bool, err error) {
	w := c.World
	w.Account, w.Pinned, w.Protected, w.Limits = account, map[string]bool{}, map[string]string{}, map[string]int{}
	all := func() []R { return slices.Concat(w.Resources, w.Dead) }
	w.File = statefile.New(path, c.Mutex, func() (any, []R) { return w, all() })
	records, found, err := w.File.Read(w, all, w.replay)
	if err != nil || !found {
		return false, err
	}
	w.Resources, w.Dead = nil, nil
	for _, r := range records {
		r.Prepare()
		w.LastSeq = max(w.LastSeq, r.Number())
		if r.Base().Gone.IsZero() {
			w.Resources = append(w.Resources, r)
		} else {
			w.Dead = append(w.Dead, r)
		}
	}
	slices.SortStableFunc(w.Dead, func(a, b R) int { return a.Base().Gone.Compare(b.Base().Gone) })
	return true, nil
}

// Change changes the world and waits until the state file has it.
func (c *Control[T, R, V]) Change(do func()) error {
	c.Mutex.Lock()
	c.World.Tick()
	do()
	err := c.World.Note()
	c.Mutex.Unlock()
	if err != nil {
		return err
	}
	return c.World.File.Save(false)
}

// SetAccount makes the callers without an account of their own belong to another one. Resources of the former account are then
// invisible, and visible again when the account is set back. Tokens keep the account for which they were issued.
func (c *Control[T, R, V]) SetAccount(id string) error {
	return c.Change(func() { c.World.Account = id })
}

// Account is the account of those callers.
func (c *Control[T, R, V]) Account() string {
	c.Mutex.Lock()
	defer c.Mutex.Unlock()
	return c.World.Account
}

// Pin makes every deletion of a resource (by id or name) fail as if something still used it.
func (c *Control[T, R, V]) Pin(id string) error {
	return c.Change(func() { c.World.Pinned[id] = true })
}

// Protect makes every deletion of a resource (by id or name) fail in one of the ways in which the cloud refuses.
func (c *Control[T, R, V]) Protect(id, how string) error {
	if !slices.Contains(c.Ways, how) {
		return fmt.Errorf("there is no protection %q; give %s", how, strings.Join(c.Ways, ", "))
	}
	return c.Change(func() { c.World.Protected[id] = how })
}

// Unpin ends Pin and Protect.
func (c *Control[T, R, V]) Unpin(id string) error {
	return c.Change(func() {
		delete(c.World.Pinned, id)
		delete(c.World.Protected, id)
	})
}

// Free unpins a resource and removes it with everything inside it, ignoring the rules of deletion.
func (c *Control[T, R, V]) Free(id string) error {
	return c.Change(func() {
		w := c.World
		delete(w.Pinned, id)
		delete(w.Protected, id)
		inside := map[string]bool{}
		for _, r := range w.Resources {
			if b := r.Base(); !b.Stands && (b.ID == id || b.Name == id) {
				delete(w.Pinned, b.ID)
				inside[b.ID] = true
			}
		}
		for _, r := range slices.Clone(w.Resources) {
			b := r.Base()
			if !b.Stands && (inside[b.ID] || b.VPC != "" && inside[b.VPC] || b.Group != "" && inside[b.Group]) {
				w.Remove(r)
			}
		}
	})
}

// Resources is the stand-in's own count: every living resource of every account that mentions text (an infraID, a name, a domain, a
// tag) and what is inside those. Empty text: everything. Tombstones and the world's initial resources, such as the base domain's
// zone, never count.
func (c *Control[T, R, V]) Resources(text string) []V {
	return c.look(func(w *World[T, R]) []R { return w.leftovers(text) })
}

// All returns everything, including tombstones, initial resources and other accounts.
func (c *Control[T, R, V]) All() []V {
	return c.look(func(w *World[T, R]) []R {
		return slices.SortedFunc(slices.Values(slices.Concat(w.Resources, w.Dead)), byCreation)
	})
}

func (c *Control[T, R, V]) look(choose func(*World[T, R]) []R) []V {
	c.Mutex.Lock()
	defer c.Mutex.Unlock()
	c.World.Tick()
	return pick.Map(choose(c.World), c.Copy)
}

// Meter returns everything that was used until now.
func (c *Control[T, R, V]) Meter() []meter.Used {
	c.Mutex.Lock()
	defer c.Mutex.Unlock()
	w := c.World
	w.Tick()
	var still []meter.Used
	for _, r := range w.Resources {
		still = append(still, w.used(r, w.Now())...)
	}
	return w.Meter.With(still)
}

// Elapse lets time pass for the meter alone: everything that exists is used for that much longer.
func (c *Control[T, R, V]) Elapse(d time.Duration) {
	c.Mutex.Lock()
	defer c.Mutex.Unlock()
	c.World.Tick()
	c.World.Meter.Elapse(d)
}

// DescribeInto adds the lag, limits, protections and pins to the set faults for the demo's page. The world's mutex is held.
func (c *Control[T, R, V]) DescribeInto(out map[string]string) {
	w := c.World
	if w.Lag != (Lag{}) {
		out["lag"] = strings.Join(pick.Map(c.Lags, func(name string) string { return name + " " + w.Lag.of(name).String() }), ", ")
	}
	for name, limit := range w.Limits {
		out[name] = fmt.Sprintf("limit %d", limit)
	}
	maps.Copy(out, w.Protected)
	for id := range w.Pinned {
		out[id] = "pinned"
	}
}
