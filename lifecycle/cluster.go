package lifecycle

import (
	"cmp"
	"time"
)

// Cluster is the part of a cluster's row that Decide reads and changes. Names, tags, owner and the frozen spec stay in the store: no
// decision depends on them.
type Cluster struct {
	ID      string
	Version int64 // row version; guards store.Apply

	Status Status
	Phase  Phase
	Why    MoveReason // of the last move

	Desired    Desired
	DesiredWhy Reason  // why the desired state became absent; zero while present
	Teardown   JobType // job type of the teardown once the desired state is absent: DESTROY or JANITOR_DESTROY

	Ends          Ends
	NeedsApproval bool      // nothing runs before a person approves
	ApproveBy     time.Time // without an approval by then it is no longer wanted; zero: no deadline
	NeedsTurn     bool      // a quota was full at acceptance: nothing runs before its turn
	Abandoned     bool      // an admin gave up waiting for zero; the cluster still counts

	MaxTries        int       // create attempts the profile allows
	Tries           int       // create attempts opened so far
	DestroyFailures int       // teardown attempts in a row that did not prove zero
	Seen            int       // number of the newest closed attempt whose outcome was accounted for
	RetryAt         time.Time // no new attempt before this; zero: at once
	WakeAt          time.Time // when to decide again; zero only after release

	ReadyAt     time.Time // first time READY; zero: never
	ReleasedAt  time.Time // zero until released
	ReopenedAt  time.Time // when its teardown was last opened again because of a leak; zero: never
	Reopened    int       // how often that was
	FailReason  string    // reason code of the last failed create attempt
	FailMessage string    // the same as text
	FailWhose   string    // whose problem it was: user, quota, cloud, installer or ocpctl; empty: unknown
	FailNext    string    // what to do about it
	Blockers    []Blocker // what the last verification still counted
	StuckReason string    // reason code of the last teardown that left something
	StuckWhose  string    // who has to act so that the next one does not: user, quota, cloud, installer or ocpctl; empty: unknown
	StuckNext   string    // what to do about it
	Position    int       // position in the queue for its turn, for capacity in its account and region, or for a free runner; 1 is next, 0: not waiting
	Progress    Progress

	WarnBefore   []time.Duration // how long before its end its people are warned, frozen at acceptance; empty: the limit's
	WarnedEnd    time.Time       // the end that the newest warning was about; zero: there was none
	WarnedBefore time.Duration   // which of that end's warnings was the newest

	Workers       *int // as last seen; nil: the profile's number
	WorkersWanted *int // requested, not seen yet; nil: no request
	WorkersBase   *int // the profile's number; nil: accepted before it was stored
	WorkersLeast  *int // bounds of scaling, frozen at acceptance; nil: cannot be scaled
	WorkersMost   *int

	Addons []string // names, frozen at acceptance, in the order of installation

	Provisioner string // its kind, frozen at acceptance; empty: the installer's. What it can do stands in internal/kinds

	Pool   string // the pool for which it was made; empty: for none
	Pooled bool   // it is that pool's: nobody has claimed it

	Spot Spot // whether its workers are spot machines; frozen at acceptance, until the last try

	SleepMode   SleepMode // how it sleeps, frozen at acceptance; empty: it cannot
	SleepWanted bool      // it should be asleep
	SleepUntil  time.Time // it is woken at this time; zero: somebody has to
	SleepWhy    string    // why it should be asleep, for people
	Power       Power     // whether it is asleep, as last seen
	Degraded    string    // what its control plane lacks since it woke last, for people; empty: nothing
	PowerBy     PowerBy   // who, or what, said last whether it should be asleep

	OffHours   bool      // it sleeps outside working hours, frozen at acceptance
	AwakeUntil time.Time // no schedule puts it to sleep before this; zero: nobody keeps it awake
	ActiveAt   time.Time // when it was last used, as far as ocpctl knows; zero: never
	ActiveWhat Activity  // what that was
	HoursAt    time.Time // when to look at the schedule again; zero: there is no need
	RestAt     time.Time // when its schedule puts it to sleep next, if it stays as it is; zero: never, or unknown
	RestWarned time.Time // the time to fall asleep that the newest warning was about; zero: there was none

	Idle       Idle      // what is done if nobody uses it, frozen at acceptance
	UseExtends bool      // its time to live begins anew with each use, frozen at acceptance; the store moves that end, and Decide does not
	AwakeSince time.Time // when it was last seen awake after it had slept; zero: it never slept
	IdleTold   time.Time // when its people were last told that nobody uses it; zero: never

	Work map[Kind]Work // how each kind of work on it stands; nothing: it was never wanted
}

// Progress is the progress that the runner reports for the running attempt.
type Progress struct {
	Percent int       // 0..100
	Step    string    // the current step, as the runner describes it
	ETA     time.Time // half of comparable attempts were done by then; zero: unknown or past
	Late    time.Time // nine of ten comparable attempts were done by then; zero: unknown or past
}

// Ends holds every reason for which a cluster may end, each with its grace period already added. Zero means that the reason does not
// apply. TTL and Max are always set. PRClosed, LabelRemoved, RunFinished and Drain can be reversed. Idle follows from the cluster's use at each
// decision.
type Ends struct {
	TTL          time.Time // acceptance + TTL, moved by extensions and, if the profile says so, by use; never past Max
	Max          time.Time // acceptance + the profile's maximum; never moves
	PRClosed     time.Time // the pull request closed + grace
	PRWhy        Reason    // why PRClosed is set, and how that was noticed; zero: it was closed
	LabelRemoved time.Time // the label was removed + grace
	RunFinished  time.Time // the pipeline run finished + grace
	RunWhy       Reason    // why RunFinished is set; zero: its workflow run finished
	Claim        time.Time // the claim's lifetime ended
	Idle         time.Time // nobody used it for too long
	Hold         time.Time // a floor: no end except Max and Drain comes before it
	Drain        time.Time // an admin ends what lives there; a hold does not postpone it, and a thaw lifts it
	DrainWhy     Reason    // who drains where, and why
}

// WhyClosed returns why the pull request counts as closed.
func (e Ends) WhyClosed() Reason { return cmp.Or(e.PRWhy, Reason{Code: ReasonPRClosed}) }

// WhyFinished returns how its run or job finished.
func (e Ends) WhyFinished() Reason { return cmp.Or(e.RunWhy, Reason{Code: ReasonRunFinished}) }

// DestroyAt returns the earliest end, but not before a hold, and never later than Drain and Max.
func (e Ends) DestroyAt() time.Time { at, _ := e.first(); return at }

// Reason is why the end that comes first ends it, and whether a hold postponed that.
func (e Ends) Reason() Reason { _, why := e.first(); return why }

// IsIdle reports that the end that comes first is that nobody uses the cluster, also if a hold postponed it.
func (e Ends) IsIdle() bool { return e.Reason().Code == ReasonIdle }

// Latest returns the latest end that an extension or a hold can reach.
func (e Ends) Latest() time.Time {
	if !e.Drain.IsZero() && e.Drain.Before(e.Max) {
		return e.Drain
	}
	return e.Max
}

// first computes the same as the generated column clusters.destroy_at, with the reason.
func (e Ends) first() (at time.Time, why Reason) {
	if at, why = e.firstOfRest(); !e.Drain.IsZero() && e.Drain.Before(at) {
		return e.Drain, e.DrainWhy
	}
	return at, why
}

// firstOfRest is first as if nobody drained.
func (e Ends) firstOfRest() (at time.Time, why Reason) {
	at, why = e.Max, Reason{Code: ReasonMaximum}
	for _, end := range []struct {
		at  time.Time
		why Reason
	}{
		{e.TTL, Reason{Code: ReasonTTL}},
		{e.PRClosed, e.WhyClosed()},
		{e.LabelRemoved, Reason{Code: ReasonLabelRemoved}},
		{e.RunFinished, e.WhyFinished()},
		{e.Claim, Reason{Code: ReasonClaim}},
		{e.Idle, Reason{Code: ReasonIdle}},
	} {
		if !end.at.IsZero() && end.at.Before(at) {
			at, why = end.at, end.why
		}
	}
	switch {
	case !e.Hold.After(at):
		return at, why
	case e.Hold.Before(e.Max):
		why.Held = true
		return e.Hold, why
	}
	return e.Max, Reason{Code: ReasonMaximum}
}

// Extend moves the TTL's end by d, but not past Max. capped reports that Max limited it.
func (e Ends) Extend(d time.Duration) (next Ends, capped bool) {
	next = e
	next.TTL = e.TTL.Add(d)
	if next.TTL.After(e.Max) {
		next.TTL, capped = e.Max, true
	}
	return next, capped
}
