package app

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"

	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store"
)

// Deed is how something is asked for.
type Deed struct {
	Door    policy.Door
	Why     string // in the caller's words; required where the use case says so
	Version int64  // of the cluster as the caller saw it; 0: whichever it is now
	Once    string // the caller's key: what is asked for with it again is done once; empty: each asking is for itself

	Repository *policy.Request  // who asks on a pull request, with GitHub's permission; nil: it is asked elsewhere
	Reply      *store.ReplyOnce // is saved with what is done; nil: the caller answers

	verdict *policy.Verdict // policy's answer, once it was asked
}

// once names what is asked for once, by whom.
func (d Deed) IdempotencyKey(p policy.Principal) string {
	if d.Once == "" {
		return store.NewID("ask")
	}
	return fmt.Sprintf("%x", sha256.Sum256([]byte(p.ID+"\n"+d.Once)))
}

// cause is what asks: what gets the reply, or else the caller's key.
func (d Deed) cause(p policy.Principal) string {
	if d.Reply != nil {
		return d.Reply.Cause
	}
	return d.IdempotencyKey(p)
}

// by is the deed as the store keeps it.
func (d *Service) Origin(deed Deed, p policy.Principal) store.Deed {
	said := store.Deed{Actor: p.ID, Name: d.NameOf(p.ID), Door: string(deed.Door), Why: deed.Why, Version: deed.Version, Reply: deed.Reply}
	if deed.verdict != nil {
		said.Verdict = deed.verdict.Checks
	}
	return said
}

// Change is what came of a deed.
type Change struct {
	Row    store.Row
	Words  string // what changed
	Capped bool   // the profile's maximum cut it short
}

// maxReason bounds what the audit trail keeps of a reason.
const maxReason = 500

// reasoned is the deed with its reason as the audit trail keeps it. Where it is required an empty one is refused.
func CheckReason(d Deed, required bool) (Deed, error) {
	d.Why = strings.TrimSpace(strings.ReplaceAll(d.Why, "\x00", ""))
	if d.Why == "" && !required {
		return d, nil
	}
	if d.Why == "" || len(d.Why) > maxReason {
		return d, &Error{Kind: Invalid, Message: "Add a reason for the audit trail.", Fields: []Field{
			{Name: "reason", Detail: fmt.Sprintf("it has %d bytes", len(d.Why)), Accept: []string{fmt.Sprintf("1 to %d bytes", maxReason)}},
		}}
	}
	return d, nil
}

// after is the cluster as it stands after a change. contradicts are the words for what the store refused; what somebody
// else changed first is stale.
func (d *Service) after(ctx context.Context, row store.Row, err error, contradicts string) (store.Row, error) {
	refused := Unaffordable(err)
	switch {
	case refused != nil:
		return store.Row{}, refused
	case errors.Is(err, store.ErrStale):
		return store.Row{}, stale(row)
	case errors.Is(err, store.ErrConflict) && contradicts != "":
		return store.Row{}, Fail(Conflict, "%s", contradicts)
	case err != nil:
		return store.Row{}, fmt.Errorf("change cluster: %w", err)
	}
	now, err := d.store.Cluster(ctx, row.ID)
	if err != nil {
		return store.Row{}, fmt.Errorf("read cluster: %w", err)
	}
	return now, nil
}

func stale(row store.Row) error {
	return Fail(Stale, "%s has changed since you last saw it, and nothing was done. Load it again and repeat the request.", row.Name)
}

// wanted refuses what makes no sense for a cluster that is going.
func wantedStill(row store.Row, what string) error {
	switch {
	case IsGone(row):
		return Fail(Conflict, "%s It cannot be %s. Create a new cluster.", GoneSince(row), what)
	case row.Wish == lifecycle.Present:
		return nil
	}
	return Fail(Conflict, "%s is already being destroyed (%s) and cannot be %s. Create a new cluster.", row.Name, row.WishWhy, what)
}

// IsGone says that nothing is left of a cluster.
func IsGone(row store.Row) bool { return row.Phase == lifecycle.Released }

// GoneSince says since when nothing is left of a cluster that is gone.
func GoneSince(row store.Row) string {
	return fmt.Sprintf("%s was destroyed: nothing has been left of it since %s.", row.Name, chatops.Time(row.ReleasedAt))
}

// Destroying says what came of asking for a cluster to be destroyed.
func Destroying(row store.Row) string {
	if IsGone(row) {
		return GoneSince(row)
	}
	return row.Name + " is being destroyed. It counts as destroyed after two counts in a row have found nothing left."
}
