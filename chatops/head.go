package chatops

import (
	"fmt"
	"strings"

	"github.com/ocpctl/ocpctl/lifecycle"
)

// face is how a phase looks from far away: one sign, a headline and what is going on, in words.
type face struct {
	sign, head string
	doing      string // what Why does not say about the phase; mostly empty
}

var faces = map[lifecycle.Phase]face{
	lifecycle.Queued:           {"⚪", "is waiting to begin", "It begins as soon as a runner is free."},
	lifecycle.AwaitingApproval: {"⚪", "is waiting for an approval", "Nothing runs before a maintainer has approved it."},
	lifecycle.AwaitingCapacity: {"⚪", "is waiting for room", "It begins as soon as the cloud account has room; waiting spends no try."},

	lifecycle.Preflight:   {"🔵", "is being created", ""},
	lifecycle.Claiming:    {"🔵", "is being created", ""},
	lifecycle.Rendering:   {"🔵", "is being created", ""},
	lifecycle.Recording:   {"🔵", "is being created", ""},
	lifecycle.Installing:  {"🔵", "is being created", ""},
	lifecycle.Configuring: {"🔵", "is being created", ""},
	lifecycle.Cleaning:    {"🟠", "is being cleaned up for another try", ""},

	lifecycle.PhaseReady: {"🟢", "is ready", ""},
	lifecycle.Degraded:   {"🟠", "is up, but not well", ""},
	lifecycle.ScaledDown: {"🟢", "is ready, with fewer workers", ""},
	lifecycle.Expiring:   {"🟡", "is ready, and ends soon", ""},

	lifecycle.Stopping:       {"🟠", "is being taken down", "Nothing is deleted beside a running install, so that one ends first."},
	lifecycle.Restoring:      {"🟠", "is being taken down", ""},
	lifecycle.DestroyingRuns: {"🟠", "is being taken down", ""},
	lifecycle.Verifying:      {"🟠", "is being taken down", "It counts as gone after two clean passes, taken apart."},

	lifecycle.Released: {"⚫", "is gone", ""},

	lifecycle.CreateFailed:   {"🔴", "could not be created", "What it made is being removed; that needs nobody."},
	lifecycle.DestroyBlocked: {"🔴", "cannot be taken down yet", "Teardown goes on and never gives up, but somebody has to help."},
	lifecycle.Abandoned:      {"🔴", "was given up by an admin", "Nobody is called for it any more. It keeps its name and its cost, and tries go on, until a count of zero."},
}

// faceOf never comes back empty: a phase without a face shows its own name. While it moves, the phase is in the headline.
func faceOf(c lifecycle.Card) face {
	f, known := faces[c.Phase]
	if !known {
		f = face{sign: "⚪", head: "is " + plain(string(c.Phase))}
	}
	if c.Phase == lifecycle.Released && neverReady(c) {
		f.head = "could not be created, and is gone"
	}
	if c.NeedsTurn && c.Phase == lifecycle.AwaitingCapacity {
		f.head, f.doing = "is waiting for its turn", "It begins as soon as its quota has room and those before it had their turn."
	}
	if c.Phase == lifecycle.AwaitingApproval && !c.ApproveBy.IsZero() {
		by := c.ApproveBy
		if at := ending(c); at.Before(by) {
			by = at
		}
		f.doing = fmt.Sprintf("Nothing runs before a person whose word counts has approved it; if nobody does, it ends at %s.", moment(by, life(c)))
	}
	if line := Line(c); line != "" {
		f.doing = strings.TrimSpace(f.doing + " " + line)
	}
	if known && moving(c) && c.Phase != lifecycle.Cleaning {
		f.head += ": " + string(c.Phase)
	}
	return f
}

// moving says that a runner may be at work.
func moving(c lifecycle.Card) bool {
	return c.Status == lifecycle.Creating || c.Status == lifecycle.Destroying
}

// wanted says that the cluster is still meant to be there.
func wanted(c lifecycle.Card) bool { return c.Wish != lifecycle.Absent }

// created says that it was ready at least once.
func created(c lifecycle.Card) bool { return !c.ReadyAt.IsZero() }
