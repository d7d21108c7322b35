package store

import (
	"cmp"
	"context"
)

// Deed is who does something, through which door, and why: what the audit trail says of it.
type Deed struct {
	Actor   string // principal id, e.g. "saml:maya@acme.example"
	Name    string // how people are shown the actor; empty: by the id
	Door    string // where it came in, e.g. "api" or "pr_comment"
	Why     string // in the actor's words; empty: the actor asked for it
	Version int64  // of the row that the actor saw (If-Match); 0: whichever it is now

	Afford *Afford // judges what the deed makes the cluster cost more; nil: nobody does
}

// why is never empty.
func (d Deed) why() string {
	if d.Why == "" {
		return d.name() + " asked for it"
	}
	return d.Why
}

// name is the actor in words that people read.
func (d Deed) name() string { return cmp.Or(d.Name, d.Actor) }

// meant is ErrStale when the row is no longer the one the actor saw.
func (d Deed) meant(cur held) error {
	if d.Version != 0 && d.Version != cur.Version {
		return ErrStale
	}
	return nil
}

// act is the metadata of a person's act: why, and what was so before and is now.
type act struct {
	move
	Before   any    `json:"before,omitempty"`
	After    any    `json:"after,omitempty"`
	Approval string `json:"approval,omitempty"`
	Note     string `json:"note,omitempty"`
}

// did writes an act into the trail.
func (c *change) did(d Deed, action, cluster string, a act) error {
	if a.Why == "" {
		a.Why = d.why()
	}
	return c.line(d.Actor, action, d.Door, cluster, a)
}

// turn runs do on the locked cluster, if it is still the one that the actor saw. The locks of who judges come before the row's,
// as wishes take them.
func (s *Store) turn(ctx context.Context, id string, d Deed, do func(*change, held) error) error {
	return s.write(ctx, func(c *change) error {
		if err := c.waitToAfford(ctx, d.Afford); err != nil {
			return err
		}
		cur, err := c.lock(ctx, id)
		if err != nil {
			return err
		}
		if err := d.meant(cur); err != nil {
			return err
		}
		return do(c, cur)
	})
}
