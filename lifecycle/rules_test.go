package lifecycle

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"
)

// rule is one of the fourteen, as far as one decision shows it.
type rule struct {
	number int
	breach func(w *world, c Cluster, f Facts, d Decision) string // empty: kept
}

var decisionRules = []rule{
	{1, desiredOneWay}, {2, unknownIsNotAbsent}, {4, neverBesideAnother}, {9, troubleIsReported}, {3, effectsAreEnsures}, {4, oneNumberedAttempt}, {5, installStopsFirst},
	{8, alwaysAWake}, {9, everyMoveHasAWhy}, {10, countedUntilReleased}, {11, nothingPassesTheEnd},
	{0, nothingBeginsBeforeItsTurn}, {0, scalingEnds}, {4, scalingIsOfReady}, {0, scalingAsksWithinBounds}, {9, workersAreReported},
	{4, addonsAreOfReady}, {0, addonsAreWanted}, {0, theNewestRequestIsMet}, {0, addonsEnd},
	{4, accessIsOfReady}, {0, accessIsOwed}, {0, accessIsDoneWhenSeen}, {0, accessIsGivenUp}, {8, revokingGoesOn}, {9, accessIsQuiet},
	{4, sleepIsOfReady}, {0, powerIsAsked}, {0, powerIsSeen}, {0, sleepEnds}, {8, wakingGoesOn}, {9, powerIsShown},
	{0, restIsOutsideHours}, {0, restIsKept}, {0, earlyWakeIsKept}, {2, unknownHoursDecideNothing}, {0, restIsGivenUpForTheNight}, {0, aPersonsSleepStays}, {8, hoursAreLookedAt}, {12, restIsWarnedOf}, {0, nextRestIsTold},
	{0, idleSleepIsDue}, {0, idleSleepEndsWithUse}, {11, idleEndFollowsFromUse}, {12, idleIsTold}, {2, unknownUseDecidesNothing}, {8, idleIsLookedAt},
	{4, observingIsOfReady}, {0, observingIsBeforeAStep}, {0, observingCountsWhenAnswered}, {2, unobservedIsSaid}, {8, observingIsLookedAt},
	{4, taggingIsOfReady}, {0, taggingIsDue}, {0, taggingCountsOnce}, {0, taggingGoesLast}, {8, taggingGoesOn},
	{0, waitingSpendsNoTry}, {8, theNextInLineGoes}, {8, theNextInLineLooksInTime}, {9, placeIsReported}, {9, aLookIsNoMove},
	{13, onlyALeakReopens},
	{14, brakesStopOnlyCreates},
	{0, spotEndsWithTheLastTry},
	{12, warnsOnce}, {12, warnsOfEveryEnd}, {12, wakesForTheNextWarning},
	{0, capsHold}, {0, freeRunnersAreUsed}, {9, runnerWaitIsShown},
}

// judge holds one decision against every rule that shows in it.
func (w *world) judge(c Cluster, f Facts, d Decision) {
	var numbers []int
	var says []string
	for _, r := range decisionRules {
		if what := r.breach(w, c, f, d); what != "" {
			numbers, says = append(numbers, r.number), append(says, what)
		}
	}
	if len(numbers) > 0 {
		w.breach(fmt.Sprintf("%s\nwas %+v\nnext %+v", strings.Join(says, "; "), c, d), numbers...)
	}
}

func same(a, b Cluster) bool { return reflect.DeepEqual(a, b) }

// Rule 1: the request goes one way, and only an end that passed, an approval that did not come, a failed create or a person turns it.
func desiredOneWay(_ *world, c Cluster, f Facts, d Decision) string {
	n := d.Next
	switch {
	case c.Desired == Absent && n.Desired != Absent:
		return "the desired state changed back"
	case c.Desired == Present && n.Desired == Absent && f.Now.Before(n.Ends.DestroyAt()) && n.Phase != CreateFailed && !nobodyApproved(c, f):
		return "the desired state changed before any end had passed"
	case n.Desired == Absent && (n.DesiredWhy.IsZero() || n.Teardown == ""):
		return "the desired state changed without a reason or a job"
	}
	return ""
}

// nobodyApproved reports that the time to approve it passed.
func nobodyApproved(c Cluster, f Facts) bool {
	return c.NeedsApproval && !c.ApproveBy.IsZero() && !f.Now.Before(c.ApproveBy)
}

// leaseHolds reports that the open attempt's runner must be taken for alive unless it was seen ended.
func leaseHolds(f Facts) bool {
	return f.Open != nil && !f.Open.ClaimedAt.IsZero() && !f.Now.After(f.Open.LeaseUntil.Add(limits.LeaseGrace))
}

// Rule 2: an answer that did not come closes nothing.
func unknownIsNotAbsent(_ *world, c Cluster, f Facts, d Decision) string {
	a := f.Open
	if d.Close == nil || a == nil || f.Runner != Unknown {
		return ""
	}
	patient := a.ClaimedAt.IsZero() && f.Now.Sub(a.OpenedAt) < limits.LaunchPatience
	n := d.Next
	replaced := a.Kind == Scale && (n.WorkersWanted == nil || *n.WorkersWanted != a.WorkersWanted) ||
		a.Kind == Sleep && !n.SleepWanted || a.Kind == Wake && n.SleepWanted || a.Kind == Tag && worksElsewhere(n, f)
	if leaseHolds(f) || (patient && (a.Kind == Destroy || n.Desired == Present && !replaced)) {
		return "an unknown sighting closed an attempt"
	}
	return ""
}

// Rule 3: the same question has the same answer, and an effect is asked for until the facts show it done.
func effectsAreEnsures(w *world, c Cluster, f Facts, d Decision) string {
	if again := w.decide(c, f, limits); !reflect.DeepEqual(d, again) {
		return "the same facts had two answers"
	}
	if a := f.Open; a != nil && d.Close == nil {
		if a.ClaimedAt.IsZero() && (f.Runner != Alive || a.LaunchedAt.IsZero()) && len(f.Beside) == 0 && !slices.Contains(d.Effects, Effect{Launch, a.Number}) {
			return "an attempt nobody started is not asked for again"
		}
		if !a.ClaimedAt.IsZero() && a.Kind != Destroy && d.Next.Desired == Absent && !slices.Contains(d.Effects, Effect{StopRunner, a.Number}) {
			return "an unwanted install is not asked to stop again"
		}
	}
	if d.Close != nil || d.Open != "" {
		return ""
	}
	after := w.decide(d.Next, f, limits)
	if !same(after.Next, d.Next) || len(after.Jobs) > 0 || !slices.Equal(after.Effects, d.Effects) {
		return fmt.Sprintf("asked again after it was applied, the answer moved on: %+v", after)
	}
	return ""
}

// Rule 4: one attempt is open, and the next number is one above all before.
func oneNumberedAttempt(w *world, _ Cluster, f Facts, d Decision) string {
	number := 0
	switch {
	case f.Open != nil && d.Open != "":
		return "an attempt is opened beside an open one"
	case d.Close != nil && (f.Open == nil || d.Close.Number != f.Open.Number):
		return "an attempt is closed that is not open"
	case d.Open != "":
		number = 1
		if f.Last != nil {
			number = f.Last.Number + 1
		}
		if !slices.Contains(d.Effects, Effect{Launch, number}) {
			return "an attempt is opened and not launched under the next number"
		}
	case f.Open != nil:
		number = f.Open.Number
	}
	for _, e := range d.Effects {
		if e.Kind == StopRunner && slices.Contains(f.Beside, e.Attempt) {
			continue
		}
		if e.Attempt != number {
			return fmt.Sprintf("an effect for attempt %d, but the open one is %d", e.Attempt, number)
		}
	}
	return ""
}

// Rule 4: no attempt is opened or launched while a runner of another one is alive, and that is asked to stop.
func neverBesideAnother(w *world, c Cluster, f Facts, d Decision) string {
	if len(f.Beside) == 0 {
		return ""
	}
	if d.Open != "" || slices.ContainsFunc(d.Effects, func(e Effect) bool { return e.Kind == Launch }) {
		return fmt.Sprintf("a runner is started beside the living one of attempt %d", f.Beside[0])
	}
	alone := f
	alone.Beside = nil
	free := w.decide(c, alone, limits)
	starts := free.Open != "" || slices.ContainsFunc(free.Effects, func(e Effect) bool { return e.Kind == Launch })
	if starts && !slices.Contains(d.Effects, Effect{StopRunner, f.Beside[0]}) {
		return "a start waits for a runner that nobody asks to stop"
	}
	return ""
}

// Rule 9: an attempt whose runner is given up says what was wrong with the runner, and one whose runner does not start shows
// it, unless it would have taken seconds.
func troubleIsReported(_ *world, _ Cluster, f Facts, d Decision) string {
	t := f.Trouble
	switch {
	case t.Code == "" || f.Open == nil:
	case d.Close != nil && d.Close.Outcome == Lost:
		if d.Close.Reason != t.Code || d.Close.Whose != t.Whose || d.Close.Next != t.Next || !strings.Contains(d.Close.Message, t.Message) {
			return "an attempt is given up without what was wrong with its runner"
		}
	case d.Close == nil && f.Open.ClaimedAt.IsZero() && d.Next.Phase != AwaitingCapacity && !isQuiet(f.Open.Kind) && d.Next.Progress.Step != t.Message:
		return "a runner does not start and nothing shows why"
	}
	return ""
}

// Rule 5, its half in the decision: a claimed install is closed only when seen ended or out of its lease.
// The other half, no destroyer acting beside an install, is watched where the destroyer acts.
func installStopsFirst(_ *world, _ Cluster, f Facts, d Decision) string {
	if d.Close != nil && leaseHolds(f) && f.Open.Kind != Destroy && f.Runner != Ended {
		return "a living install or scaling is closed before it stopped"
	}
	return ""
}

// Rule 8: there is always a time to look again, and it is not later than what happens next.
func alwaysAWake(_ *world, _ Cluster, f Facts, d Decision) string {
	n := d.Next
	latest := f.Now.Add(limits.RetryMax)
	if f.Open != nil || d.Open != "" || slices.ContainsFunc(d.Effects, func(e Effect) bool { return e.Kind == StopRunner }) {
		latest = f.Now.Add(limits.LookAgain)
		if f.Open != nil && f.Runner == Alive && leaseHolds(f) {
			latest = f.Now.Add(4 * limits.LookAgain)
		}
	} else if n.RetryAt.After(f.Now) && n.RetryAt.Before(latest) {
		latest = n.RetryAt
	}
	for _, at := range []time.Time{n.Work[Access].RetryAt, n.Work[Sleep].RetryAt, n.Work[Wake].RetryAt, n.Work[Scale].RetryAt, n.Work[Configure].RetryAt, n.SleepUntil} {
		if at.After(f.Now) && at.Before(latest) {
			latest = at
		}
	}
	if end := n.Ends.DestroyAt(); n.Desired == Present && end.Before(latest) {
		latest = end
	}
	if n.Desired == Present && n.NeedsApproval && !n.ApproveBy.IsZero() && n.ApproveBy.Before(latest) {
		latest = n.ApproveBy
	}
	switch {
	case n.Phase == Released && !n.WakeAt.IsZero():
		return "a released cluster wakes"
	case n.Phase != Released && n.WakeAt.IsZero():
		return "it sleeps for ever"
	case n.WakeAt.After(latest):
		return fmt.Sprintf("it sleeps until %s, past %s", n.WakeAt, latest)
	}
	return ""
}

// Rule 9: a move has a reason, and not the one of the move before.
func everyMoveHasAWhy(_ *world, c Cluster, _ Facts, d Decision) string {
	n := d.Next
	if (n.Status != c.Status || n.Phase != c.Phase) && (strings.TrimSpace(n.Why.String()) == "" || n.Why == c.Why) {
		return "a move without a reason of its own"
	}
	if d.Close != nil && d.Close.Message == "" {
		return "an attempt is closed without a reason"
	}
	for _, j := range d.Jobs {
		if (j.To == JobFailed || j.To == JobRetrying) && j.Code == "" {
			return "a job failed without a reason"
		}
	}
	return ""
}

// Rule 10: until it is released a cluster is counted.
func countedUntilReleased(_ *world, c Cluster, f Facts, d Decision) string {
	n := d.Next
	switch {
	case (n.Status == Destroyed) != (n.Phase == Released) || n.ReleasedAt.IsZero() == (n.Phase == Released):
		return "a cluster that is not released stopped counting"
	case n.ID != c.ID || n.MaxTries != c.MaxTries || n.Abandoned != (c.Abandoned && !isLeak(c, f)) || n.NeedsApproval != c.NeedsApproval,
		!n.ApproveBy.Equal(c.ApproveBy) || n.NeedsTurn != c.NeedsTurn || n.WorkersBase != c.WorkersBase,
		n.WorkersLeast != c.WorkersLeast || n.WorkersMost != c.WorkersMost || n.SleepMode != c.SleepMode:
		return "Decide changed what is not its own"
	}
	return ""
}

// Rule 11: the end is the earliest of all but not before a hold, never past a drain or the maximum, and nothing outlives it. An approval
// that did not come in time is an end too.
func nothingPassesTheEnd(_ *world, c Cluster, f Facts, d Decision) string {
	e := c.Ends
	e.Idle = d.Next.Ends.Idle // see idleEndFollowsFromUse
	end := e.Max
	for _, at := range []time.Time{e.TTL, e.PRClosed, e.LabelRemoved, e.RunFinished, e.Claim, e.Idle} {
		if !at.IsZero() && at.Before(end) {
			end = at
		}
	}
	if e.Hold.After(end) {
		end = e.Hold
	}
	for _, at := range []time.Time{e.Max, e.Drain} { // no hold postpones these
		if !at.IsZero() && end.After(at) {
			end = at
		}
	}
	switch {
	case d.Next.Ends != e:
		return "Decide moved an end"
	case !e.DestroyAt().Equal(end) || end.After(e.Max):
		return "destroy_at is not the earliest end"
	case c.Phase != Released && !f.Now.Before(end) && d.Next.Desired != Absent:
		return "its end passed and it is still desired"
	case c.Phase != Released && nobodyApproved(c, f) && d.Next.Desired != Absent:
		return "nobody approved it in time and it is still desired"
	}
	return ""
}

// inspect holds the world against what can only be seen in it, after a decision was applied.
func (w *world) inspect(before Cluster, d Decision) {
	n := w.row
	if !slices.Contains(Phases[n.Status], n.Phase) {
		w.breach(fmt.Sprintf("status %s cannot show phase %s", n.Status, n.Phase), 0)
	}
	if w.owed && (n.Status == Pending || d.Open == Create) {
		w.breach("something was recorded and is forgotten without a destroy and a count", 6)
	}
	if n.Status == Ready && before.Status != Ready && (len(w.jobs) == 0 || w.jobs[0].status != JobSucceeded) {
		w.breach("READY, but its CREATE is not SUCCEEDED", 0)
	}
	if n.Phase != Released || before.Phase == Released {
		return
	}
	if w.left() > 0 || w.installing() {
		w.breach(fmt.Sprintf("DESTROYED, and %d things are left", w.left()), 7)
	}
	if len(w.attempts) > 0 && !w.zeroProven(w.attempts[len(w.attempts)-1].Attempt) {
		w.breach("DESTROYED without two counts of zero", 7)
	}
	for _, j := range w.jobs {
		if j.status != JobSucceeded && j.status != JobFailed {
			w.breach(fmt.Sprintf("released with unfinished work: %v", w.jobs), 0)
		}
	}
}
