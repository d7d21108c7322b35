package policy

import (
	"cmp"
	"slices"
	"time"

	"github.com/ocpctl/ocpctl/internal/kinds"
	"github.com/ocpctl/ocpctl/lifecycle"
)

// Verb is something that a person can do with a cluster. Texts, buttons, the API and the command line spell it the same.
type Verb string

// The verbs on a cluster.
const (
	VerbApprove    Verb = "approve"
	VerbRefuse     Verb = "refuse"
	VerbKubeconfig Verb = "kubeconfig"
	VerbConsole    Verb = "console" // sign in to its console, with an account of one's own
	VerbLogs       Verb = "logs"
	VerbWake       Verb = "wake"
	VerbExtend     Verb = "extend"
	VerbHold       Verb = "hold"
	VerbTonight    Verb = "hold-tonight" // keep it awake until the next working hours
	VerbUnhold     Verb = "unhold"
	VerbScale      Verb = "scale-workers"
	VerbRefresh    Verb = "refresh"
	VerbSleep      Verb = "sleep"
	VerbShare      Verb = "share"
	VerbTransfer   Verb = "transfer"
	VerbBundle     Verb = "log-bundle"
	VerbBreakGlass Verb = "break-glass"
	VerbDestroy    Verb = "destroy"
	VerbRetry      Verb = "retry"    // start the next teardown now
	VerbRecreate   Verb = "recreate" // request it again, because it never became ready
	VerbAbandon    Verb = "abandon"
)

// Obstacle is why a verb cannot be carried out; empty: it can.
type Obstacle string

// The obstacles. All but NotPermitted, OwnRequest and HasVoted are of the cluster's state, whoever asks.
const (
	NotPermitted Obstacle = "not_permitted"
	IsPooled     Obstacle = "pooled" // it waits in its pool for whoever claims it
	IsGone       Obstacle = "gone"
	IsEnding     Obstacle = "ending"         // it is to be destroyed
	IsWanted     Obstacle = "wanted"         // it is not to be destroyed
	NoTeardown   Obstacle = "no_teardown"    // nothing of it waits to be torn down
	NotReady     Obstacle = "not_ready"      // it is not READY
	NotStarted   Obstacle = "not_started"    // no runner has worked on it
	OutOfReach   Obstacle = "out_of_reach"   // its machines are stopped
	NotWaiting   Obstacle = "not_waiting"    // it waits for no approval
	OwnRequest   Obstacle = "own_request"    // it waits for an approval, which has to be another person's than the one who asked
	HasVoted     Obstacle = "voted"          // it waits for further approvals
	AtMaximum    Obstacle = "at_maximum"     // it ends at its profile's maximum
	EndsBefore   Obstacle = "ends_before"    // something ends it that the act does not move
	NotHeld      Obstacle = "not_held"       // nobody holds it
	NoOffHours   Obstacle = "no_off_hours"   // it does not sleep outside working hours
	AsleepByHand Obstacle = "asleep_by_hand" // a person put it to sleep
	CannotSleep  Obstacle = "cannot_sleep"   // its profile has no way to put it to sleep
	SpotMachines Obstacle = "spot_machines"  // its profile orders spot machines, which cannot be stopped
	IsAsleep     Obstacle = "asleep"         // it is asleep, or going to sleep
	IsAwake      Obstacle = "awake"          // it is awake, or waking up
	FixedWorkers Obstacle = "fixed_workers"  // its profile fixes the number of its workers
	NoAddons     Obstacle = "no_addons"      // it has no add-ons
	NotBlocked   Obstacle = "not_blocked"    // its teardown is not blocked
	GivenUp      Obstacle = "given_up"       // its teardown was given up already
	NeverFailed  Obstacle = "not_failed"     // it did not fail before it was ready
	WasReplaced  Obstacle = "replaced"       // a newer cluster is in its place
	NotOfKind    Obstacle = "not_of_kind"    // its kind has nothing of the sort
)

// Action is a verb with what keeps it from being carried out; empty: nothing that is known beforehand.
type Action struct {
	Verb     Verb
	Act      Act // the right that it takes
	Obstacle Obstacle
}

// verbs are all verbs on a cluster, the most useful first, each with its right and what the cluster's state says about it.
var verbs = []struct {
	verb     Verb
	act      Act
	obstacle func(c lifecycle.Card, now time.Time) Obstacle
}{
	{VerbApprove, ActApprove, obstacleToApprove},
	{VerbRefuse, ActApprove, obstacleToApprove},
	{VerbKubeconfig, ActKubeconfig, obstacleToUse},
	{VerbConsole, ActKubeconfig, func(c lifecycle.Card, now time.Time) Obstacle {
		return cmp.Or(lacks(c, kinds.Console), obstacleToUse(c, now))
	}},
	{VerbWake, ActSleep, func(c lifecycle.Card, _ time.Time) Obstacle { return cmp.Or(isReady(c), when(!c.SleepWanted, IsAwake)) }},
	{VerbExtend, ActExtend, obstacleToExtend},
	{VerbHold, ActHold, func(c lifecycle.Card, now time.Time) Obstacle {
		return cmp.Or(isPresent(c), when(!now.Before(c.Ends.Max), AtMaximum), when(!c.Ends.Drain.IsZero() && !c.Ends.DestroyAt().Before(c.Ends.Drain), EndsBefore))
	}},
	{VerbTonight, ActHold, obstacleToTonight},
	{VerbUnhold, ActHold, func(c lifecycle.Card, _ time.Time) Obstacle {
		return cmp.Or(isPresent(c), when(c.Ends.Hold.IsZero(), NotHeld))
	}},
	{VerbScale, ActScale, obstacleToScale},
	{VerbRefresh, ActRefresh, func(c lifecycle.Card, _ time.Time) Obstacle {
		return cmp.Or(isReady(c), when(len(c.Addons) == 0, NoAddons))
	}},
	{VerbSleep, ActSleep, obstacleToSleep},
	{VerbRetry, ActRetry, obstacleToRetry},
	{VerbRecreate, ActRetry, obstacleToRecreate},
	{VerbLogs, ActSee, obstacleToLogs},
	{VerbBundle, ActLogBundle, func(c lifecycle.Card, _ time.Time) Obstacle { return lacks(c, kinds.MustGather) }},
	{VerbShare, ActShare, func(c lifecycle.Card, _ time.Time) Obstacle { return isPresent(c) }},
	{VerbTransfer, ActTransfer, func(c lifecycle.Card, _ time.Time) Obstacle { return isPresent(c) }},
	{VerbBreakGlass, ActBreakGlass, func(c lifecycle.Card, _ time.Time) Obstacle { return cmp.Or(lacks(c, kinds.Kubeadmin), isReady(c)) }},
	{VerbDestroy, ActDestroy, func(c lifecycle.Card, _ time.Time) Obstacle { return isPresent(c) }},
	{VerbAbandon, ActAbandon, obstacleToAbandon},
}

// VerbsOf lists the verbs that take a right.
func VerbsOf(act Act) (list []Verb) {
	for _, v := range verbs {
		if v.act == act {
			list = append(list, v.verb)
		}
	}
	return list
}

// Actions returns every verb on a cluster, each possible or with its obstacle, for a reader with the given rights. Comments, messages in
// Slack, pages, the API and explanations offer exactly what is possible here, and what carries a verb out asks ObstacleTo, so that nothing
// is offered that would be refused for a reason known beforehand.
func Actions(c lifecycle.Card, may func(Act) bool, now time.Time) []Action {
	all := make([]Action, 0, len(verbs))
	for _, v := range verbs {
		all = append(all, Action{v.verb, v.act, cmp.Or(inItsPool(c, v.act), when(!may(v.act), NotPermitted), v.obstacle(c, now))})
	}
	return all
}

// Possible returns the verbs that can be carried out, in their order.
func Possible(actions []Action) (possible []Verb) {
	for _, a := range actions {
		if a.Obstacle == "" {
			possible = append(possible, a.Verb)
		}
	}
	return possible
}

// ObstacleTo returns what in a cluster's state keeps a verb from being carried out, whoever asks.
func ObstacleTo(verb Verb, c lifecycle.Card, now time.Time) Obstacle {
	for _, v := range verbs {
		if v.verb == verb {
			return cmp.Or(inItsPool(c, v.act), v.obstacle(c, now))
		}
	}
	return ""
}

// pooledActs are what may be done to a cluster that waits in its pool. Whoever claims it shares it with nobody and gets it as it was made, so
// until then nobody has access, and nothing is changed.
var pooledActs = []Act{ActSee, ActOutputs, ActApprove, ActDestroy, ActRetry, ActAbandon}

func inItsPool(c lifecycle.Card, act Act) Obstacle {
	return when(c.WaitsInPool() && !slices.Contains(pooledActs, act), IsPooled)
}

// MayAsOwner are the rights of a cluster's owner, for what many people read: they see what the owner may do, and that an approval is asked of
// those who may give it.
func MayAsOwner(act Act) bool { return act == ActApprove || slices.Contains(acts[act], Requester) }

// obstacleToUse says why nobody can work in the cluster now.
func obstacleToUse(c lifecycle.Card, _ time.Time) Obstacle {
	return cmp.Or(isReady(c), when(c.OutOfReach(), OutOfReach))
}

func obstacleToApprove(c lifecycle.Card, _ time.Time) Obstacle {
	return cmp.Or(isPresent(c), when(!c.NeedsApproval, NotWaiting))
}

func obstacleToExtend(c lifecycle.Card, _ time.Time) Obstacle {
	end := c.End()
	return cmp.Or(isPresent(c), when(!c.Ends.TTL.Before(c.Ends.Max) || !end.Before(c.Ends.Max), AtMaximum), when(end.Before(c.Ends.TTL) || !c.Ends.TTL.Before(c.Ends.Latest()), EndsBefore))
}

func obstacleToTonight(c lifecycle.Card, _ time.Time) Obstacle {
	return cmp.Or(isPresent(c), when(!c.OffHours, NoOffHours), when(c.SleepWanted && c.PowerBy == lifecycle.ByPerson, AsleepByHand))
}

func obstacleToScale(c lifecycle.Card, _ time.Time) Obstacle {
	fixed := c.WorkersLeast == nil || c.WorkersMost == nil || *c.WorkersLeast == *c.WorkersMost
	return cmp.Or(isPresent(c), when(fixed, FixedWorkers), isReady(c))
}

func obstacleToSleep(c lifecycle.Card, _ time.Time) Obstacle {
	return cmp.Or(isReady(c), when(c.SleepMode == "" && c.Spot != lifecycle.NoSpot, SpotMachines), when(c.SleepMode == "", CannotSleep), when(c.SleepWanted, IsAsleep))
}

func obstacleToRetry(c lifecycle.Card, _ time.Time) Obstacle {
	stuck := c.Phase == lifecycle.DestroyBlocked || c.Phase == lifecycle.Abandoned
	return cmp.Or(when(c.Phase == lifecycle.Released, IsGone), when(c.Desired == lifecycle.Present, IsWanted), when(!c.TearsDown(), NoTeardown), when(!stuck, NotBlocked))
}

func obstacleToAbandon(c lifecycle.Card, _ time.Time) Obstacle {
	return cmp.Or(when(c.Phase == lifecycle.Released, IsGone), when(c.Desired == lifecycle.Present, IsWanted), when(c.Phase != lifecycle.DestroyBlocked, NotBlocked), when(c.Abandoned, GivenUp))
}

func obstacleToRecreate(c lifecycle.Card, _ time.Time) Obstacle {
	return cmp.Or(when(!c.NeverReady(), NeverFailed), when(c.WasReplaced(), WasReplaced))
}

func obstacleToLogs(c lifecycle.Card, _ time.Time) Obstacle {
	// Capacity is measured by a runner; a turn and a free runner are waited for before the first one.
	hadRunner := c.Tries > 0 || !c.RetryAt.IsZero() || c.Phase == lifecycle.AwaitingCapacity && !c.NeedsTurn && c.Why.Runner == "" && c.Why.Brake.IsZero()
	return when(c.Status == lifecycle.Pending && !hadRunner, NotStarted)
}

// lacks returns the obstacle if clusters of its kind cannot do something.
func lacks(c lifecycle.Card, a kinds.Ability) Obstacle {
	return when(!kinds.Can(c.Provisioner, a), NotOfKind)
}

// isPresent returns the obstacle if a cluster is going away or gone.
func isPresent(c lifecycle.Card) Obstacle {
	return cmp.Or(when(c.Phase == lifecycle.Released, IsGone), when(c.Desired == lifecycle.Absent, IsEnding))
}

// isReady returns the obstacle if a cluster cannot be worked on.
func isReady(c lifecycle.Card) Obstacle {
	return cmp.Or(isPresent(c), when(c.Status != lifecycle.Ready, NotReady))
}

func when(so bool, obstacle Obstacle) Obstacle {
	if so {
		return obstacle
	}
	return ""
}
