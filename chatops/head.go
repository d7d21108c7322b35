package chatops

import (
	"fmt"
	"strings"

	"github.com/ocpctl/ocpctl/lifecycle"
)

// face is how a phase is shown: a sign, a headline and what is going on.
type face struct {
	sign, head string
	doing      string // what Why does not say about the phase; usually empty
}

var faces = map[lifecycle.Phase]face{
	lifecycle.Queued:           {"⚪", "is waiting to start", "It starts as soon as a runner is free."},
	lifecycle.AwaitingApproval: {"⚪", "is waiting for approval", "Nothing runs before a maintainer approves it."},
	lifecycle.AwaitingCapacity: {"⚪", "is waiting for capacity", "It starts as soon as the cloud account has enough capacity. Waiting does not count as an attempt."},

	lifecycle.Preflight:   {"🔵", "is being created", ""},
	lifecycle.Claiming:    {"🔵", "is being created", ""},
	lifecycle.Rendering:   {"🔵", "is being created", ""},
	lifecycle.Recording:   {"🔵", "is being created", ""},
	lifecycle.Installing:  {"🔵", "is being created", ""},
	lifecycle.Configuring: {"🔵", "is being created", ""},
	lifecycle.Cleaning:    {"🟠", "is being cleaned up for another attempt", ""},

	lifecycle.PhaseReady: {"🟢", "is ready", ""},
	lifecycle.Degraded:   {"🟠", "is ready, but degraded", ""},
	lifecycle.ScaledDown: {"🟢", "is ready, with fewer workers", ""},
	lifecycle.Expiring:   {"🟡", "is ready and ends soon", ""},

	lifecycle.GoingToSleep: {"🌙", "is going to sleep", "It cannot be used until it is awake again."},
	lifecycle.PhaseAsleep:  {"🌙", "is asleep", ""},
	lifecycle.Waking:       {"🔵", "is waking up", "It can be used as soon as it is ready."},
	lifecycle.Preparing:    {"🔵", "is being prepared for you", "It waited in a pool: its credentials are replaced and its health is checked, which takes seconds."},

	lifecycle.Stopping:       {"🟠", "is being destroyed", "The running install is stopped first."},
	lifecycle.Restoring:      {"🟠", "is being destroyed", ""},
	lifecycle.DestroyingRuns: {"🟠", "is being destroyed", ""},
	lifecycle.Verifying:      {"🟠", "is being destroyed", "ocpctl is checking twice that nothing is left in the cloud."},

	lifecycle.Released: {"⚫", "is gone", ""},

	lifecycle.CreateFailed:   {"🔴", "could not be created", "What was created is being removed. You need not do anything."},
	lifecycle.DestroyBlocked: {"🔴", "cannot be destroyed yet", "The teardown is tried again until it succeeds, but somebody has to remove what blocks it."},
	lifecycle.Abandoned:      {"🔴", "was abandoned by an admin", "Nobody is alerted about it any more. It keeps its name and its cost, and the teardown is tried again until nothing is left."},
}

// faceOf never returns an empty face: an unknown phase shows its own name.
func faceOf(c lifecycle.Card) face {
	f, known := faces[c.Phase]
	if !known {
		f = face{sign: "⚪", head: "is " + plain(string(c.Phase))}
	}
	if c.AwaitsPreparing() && !isAsleep(c) {
		f = faces[lifecycle.Preparing]
	}
	if c.Phase == lifecycle.Released && c.NeverReady() {
		f.head = "could not be created and is destroyed"
	}
	if c.Reopened > 0 && c.Status == lifecycle.Destroying {
		f.head = "was found again and is being destroyed again"
	}
	if c.NeedsTurn && c.Phase == lifecycle.AwaitingCapacity {
		f.head, f.doing = "is waiting in the queue", "It starts as soon as the quota allows it and the clusters before it have started."
	}
	if waitsForRunner(c) && c.Phase == lifecycle.AwaitingCapacity {
		f.head, f.doing = "is waiting in the queue", "It starts as soon as a runner is free for it."
	}
	if !c.Why.Brake.IsZero() && c.Phase == lifecycle.AwaitingCapacity {
		f.head, f.doing = "is waiting because new clusters are frozen", "It starts by itself when the freeze ends."
		switch c.Why.Brake.Kind {
		case lifecycle.Breaker:
			f.head, f.doing = "is waiting because installs fail", "It starts by itself when one succeeds."
		case lifecycle.Proof:
			f.head, f.doing = "is waiting until its cloud account is proven", "It starts by itself within minutes."
		}
	}
	if c.Phase == lifecycle.AwaitingApproval && !c.ApproveBy.IsZero() {
		by := c.ApproveBy
		if at := c.End(); at.Before(by) {
			by = at
		}
		f.doing = fmt.Sprintf("If nobody approves it by %s, the request is dropped.", moment(by, life(c)))
	}
	if c.Phase == lifecycle.PhaseAsleep {
		f.doing = asleep(c)
	}
	if line := Line(c); line != "" {
		f.doing = strings.TrimSpace(f.doing + " " + line)
	}
	return f
}

// faceWithPhase is faceOf with the phase in the headline while the cluster changes, for texts that are read now or follow the
// progress.
func faceWithPhase(c lifecycle.Card) face {
	f := faceOf(c)
	if _, known := faces[c.Phase]; known && moving(c) && c.Phase != lifecycle.Cleaning {
		f.head += ": " + string(c.Phase)
	}
	return f
}

// moving reports that a runner may be working.
func moving(c lifecycle.Card) bool {
	return c.Status == lifecycle.Creating || c.Status == lifecycle.Destroying
}

// waitsForRunner reports that what comes next for the cluster waits for a free runner.
func waitsForRunner(c lifecycle.Card) bool {
	return c.Why.Runner != ""
}

// isWanted reports that the cluster is still meant to exist.
func isWanted(c lifecycle.Card) bool { return c.Desired != lifecycle.Absent }

// wasReady reports that it was ready at least once.
func wasReady(c lifecycle.Card) bool { return !c.ReadyAt.IsZero() }
