package clusters

import (
	"time"

	"cmp"
	"context"
	"fmt"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/usage"
)

// Origin is who does something, through which entry point, and why. The audit trail records it.
type Origin struct {
	Actor   string           // principal id, e.g. "saml:maya@acme.example"
	Name    string           // display name of the actor; empty: the id
	Source  string           // the entry point, e.g. "api" or "pr_comment"
	Why     string           // in the actor's words; empty: the actor asked for it
	Instead lifecycle.Reason // a reason that the actor did not word; zero: Why
	Version int64            // of the row that the actor saw (If-Match); 0: any

	Verdict any // policy's answer, kept in the audit trail; nil: policy was not asked

	Afford *usage.Afford // judges what the change adds to the cluster's usage; nil: not judged
	Reply  *ReplyOnce    // is saved with the change; nil: there is none
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
	Awake         time.Time      // of a request to keep it awake: until then
	EventsBefore  []string       // of a subscription
	EventsAfter   []string       // of a subscription
	Warning       string         // policy's warning about a change that it allows; empty: none
	Approval      Approval       // as it stands after a vote
	Handle        string         // of a one-time link that was made; empty: none
	HandleOf      string         // what that link gives: its kind
	HandleUntil   time.Time
}

// Because is the reason; never zero.
func (d Origin) Because() lifecycle.Reason {
	if !d.Instead.IsZero() {
		return d.Instead
	}
	return lifecycle.Reason{Code: lifecycle.ReasonAsked, By: d.DisplayName(), Words: d.Why}
}

// Reason is the reason as a sentence.
func (d Origin) Reason() string { return d.Because().String() }

// DisplayName is the actor's display name, else the id.
func (d Origin) DisplayName() string { return cmp.Or(d.Name, d.Actor) }

// CheckVersion returns ErrStale if the row is no longer the version that the actor saw.
func (d Origin) CheckVersion(cur usage.Held) error {
	if d.Version != 0 && d.Version != cur.Version {
		return db.ErrStale
	}
	return nil
}

// Unwanted begins the reason of what ends because its cluster is no longer wanted; why that is follows.
const Unwanted = "the cluster is no longer wanted: "

// Action is the metadata of a person's action: why, and the values before and after.
type Action struct {
	db.Move
	Before   any    `json:"before,omitempty"`
	After    any    `json:"after,omitempty"`
	Approval string `json:"approval,omitempty"`
	Note     string `json:"note,omitempty"`
	Verdict  any    `json:"verdict,omitempty"`
}

// RecordAction writes an action to the audit trail.
func RecordAction(c *db.Tx, d Origin, action, cluster string, a Action) error {
	if why := d.Because(); a.Why == "" {
		a.Why = why.String()
		if why.IsUnworded() {
			a.Reason = why
		}
	}
	a.Verdict = d.Verdict
	return c.RecordLine(d.Actor, action, d.Source, cluster, a)
}

// ChangeSeen runs do on the locked cluster. ErrStale: the row is not the version that the actor saw.
func ChangeSeen(ctx context.Context, s *db.DB, id string, d Origin, do func(*db.Tx, usage.Held, *Outcome) error) (Outcome, error) {
	return ChangeOnce(ctx, s, id, d, func(c *db.Tx, cur usage.Held, out *Outcome) error {
		if err := d.CheckVersion(cur); err != nil {
			return err
		}
		return do(c, cur, out)
	})
}

// ChangeOnce runs do on the locked cluster and saves the reply with it, unless the cause was answered before. The locks of the
// usage count come before the row's, as in a create.
func ChangeOnce(ctx context.Context, s *db.DB, id string, d Origin, do func(*db.Tx, usage.Held, *Outcome) error) (out Outcome, err error) {
	err = s.Write(ctx, func(c *db.Tx) error {
		if err := usage.WaitToAfford(ctx, c, d.Afford); err != nil {
			return err
		}
		cur, err := Lock(ctx, c, id) // from here on, one change at a time
		if err != nil {
			return err
		}
		if done, err := AnsweredBefore(ctx, c, d.Reply); err != nil || done {
			return err
		}
		if err := do(c, cur, &out); err != nil {
			return err
		}
		return SaveReplyOnce(ctx, c, d.Reply, out)
	})
	if err != nil {
		return Outcome{}, err
	}
	return out, nil
}

// AnsweredBefore reports whether the cause of a change has its reply; nil: it needs none.
func AnsweredBefore(ctx context.Context, c *db.Tx, a *ReplyOnce) (done bool, err error) {
	if a == nil {
		return false, nil
	}
	if err := c.QueryRow(ctx, Answered, a.Cause).Scan(&done); err != nil {
		return false, fmt.Errorf("look for the answer to %s: %w", a.Cause, err)
	}
	return done, nil
}

func SaveReplyOnce(ctx context.Context, c *db.Tx, a *ReplyOnce, out Outcome) error {
	if a == nil {
		return nil
	}
	reply := a.Build(out)
	reply.Cause = a.Cause
	return SaveReply(ctx, c, reply)
}
