package store

import (
	"cmp"
	"context"
	"fmt"

	"github.com/ocpctl/ocpctl/lifecycle"
)

// Origin is who does something, through which entry point, and why. The audit trail records it.
type Origin struct {
	Actor   string // principal id, e.g. "saml:maya@acme.example"
	Name    string // display name of the actor; empty: the id
	Source  string // the entry point, e.g. "api" or "pr_comment"
	Why     string // in the actor's words; empty: the actor asked for it
	Version int64  // of the row that the actor saw (If-Match); 0: any

	Verdict any // policy's answer, kept in the audit trail; nil: policy was not asked

	Afford *Afford    // judges what the change adds to the cluster's usage; nil: not judged
	Reply  *ReplyOnce // is saved with the change; nil: there is none
}

// ReplyOnce is the reply to the cause of a change. It is saved in the same transaction, so that a cause that is processed twice
// (the process died in between, or the webhook came again) changes nothing the second time.
type ReplyOnce struct {
	Cause string
	Build func(Outcome) Reply // builds the reply from what was done; its Cause is filled in
}

// Outcome is what a change did. Only the fields that apply to the change are set; all are zero if the cause was answered before.
type Outcome struct {
	Job           string         // the job that does it
	Already       bool           // it was so before; nothing was changed
	Before, After lifecycle.Ends // of an extension or a hold
	Capped        bool           // the profile's maximum cut it short
	Warning       string         // policy's warning about a change that it allows; empty: none
	Approval      Approval       // as it stands after a vote
}

// why is the reason for the audit trail; never empty.
func (d Origin) why() string {
	if d.Why == "" {
		return d.name() + " asked for it"
	}
	return d.Why
}

// name is the actor's display name, else the id.
func (d Origin) name() string { return cmp.Or(d.Name, d.Actor) }

// meant returns ErrStale if the row is no longer the version that the actor saw.
func (d Origin) meant(cur held) error {
	if d.Version != 0 && d.Version != cur.Version {
		return ErrStale
	}
	return nil
}

// act is the metadata of a person's action: why, and the values before and after.
type act struct {
	move
	Before   any    `json:"before,omitempty"`
	After    any    `json:"after,omitempty"`
	Approval string `json:"approval,omitempty"`
	Note     string `json:"note,omitempty"`
	Verdict  any    `json:"verdict,omitempty"`
}

// did writes an action to the audit trail.
func (c *change) did(d Origin, action, cluster string, a act) error {
	if a.Why == "" {
		a.Why = d.why()
	}
	a.Verdict = d.Verdict
	return c.line(d.Actor, action, d.Source, cluster, a)
}

// changeSeen runs do on the locked cluster. ErrStale: the row is not the version that the actor saw.
func (s *Store) changeSeen(ctx context.Context, id string, d Origin, do func(*change, held, *Outcome) error) (Outcome, error) {
	return s.changeOnce(ctx, id, d, func(c *change, cur held, out *Outcome) error {
		if err := d.meant(cur); err != nil {
			return err
		}
		return do(c, cur, out)
	})
}

// changeOnce runs do on the locked cluster and saves the reply with it, unless the cause was answered before. The locks of the
// usage count come before the row's, as in a create.
func (s *Store) changeOnce(ctx context.Context, id string, d Origin, do func(*change, held, *Outcome) error) (out Outcome, err error) {
	err = s.write(ctx, func(c *change) error {
		if err := c.waitToAfford(ctx, d.Afford); err != nil {
			return err
		}
		cur, err := c.lock(ctx, id) // from here on, one change at a time
		if err != nil {
			return err
		}
		if done, err := c.answeredBefore(ctx, d.Reply); err != nil || done {
			return err
		}
		if err := do(c, cur, &out); err != nil {
			return err
		}
		return c.replyOnce(ctx, d.Reply, out)
	})
	if err != nil {
		return Outcome{}, err
	}
	return out, nil
}

func (c *change) answeredBefore(ctx context.Context, a *ReplyOnce) (done bool, err error) {
	if a == nil {
		return false, nil
	}
	if err := c.QueryRow(ctx, answered, a.Cause).Scan(&done); err != nil {
		return false, fmt.Errorf("look for the answer to %s: %w", a.Cause, err)
	}
	return done, nil
}

func (c *change) replyOnce(ctx context.Context, a *ReplyOnce, out Outcome) error {
	if a == nil {
		return nil
	}
	reply := a.Build(out)
	reply.Cause = a.Cause
	return c.reply(ctx, reply)
}
