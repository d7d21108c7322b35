package lifecycle

import (
	"cmp"
	"time"
)

// Cluster is the part of a cluster's row that Decide reads and moves.
// Names, tags, owner and the frozen spec stay in the store: no decision rests on them.
type Cluster struct {
	ID      string
	Version int64 // row version; guards store.Apply

	Status Status
	Phase  Phase
	Why    string // the reason of the last move, in words for people

	Wish     Wish
	WishWhy  string  // why the wish turned absent; empty while present
	Teardown JobType // the job a teardown runs under once the wish is absent: DESTROY or JANITOR_DESTROY

	Ends          Ends
	NeedsApproval bool      // nothing runs before a person approved
	ApproveBy     time.Time // nobody did by then: it is no longer wanted; zero: no such time
	NeedsTurn     bool      // a quota was full when it was accepted: nothing runs before its turn
	Abandoned     bool      // an admin gave up waiting for zero; the cluster stays counted

	MaxTries        int       // create attempts the profile allows
	Tries           int       // create attempts opened so far
	DestroyFailures int       // teardown attempts in a row that did not prove zero
	Seen            int       // number of the newest closed attempt whose outcome is already accounted for
	RetryAt         time.Time // no new attempt before this; zero: at once
	WakeAt          time.Time // look again then; zero only when released

	ReadyAt     time.Time // first time READY; zero: never was
	ReleasedAt  time.Time // zero until released
	FailReason  string    // reason of the last failed create attempt, one word
	FailMessage string    // the same in words
	FailWhose   string    // whose problem it was: user, quota, cloud, installer or ocpctl; empty: not told
	FailNext    string    // what to do about it
	Blockers    []string  // what the last verification still counted
	Place       int       // in line for its turn, or for room in its account and region, 1 is next; 0: not waiting
	Progress    Progress

	Workers       *int // as last seen; nil: as the profile's
	WorkersWanted *int // what somebody asked for and is not seen yet; nil: nothing
	WorkersBase   *int // the profile's; nil: of before it was kept
	WorkersLeast  *int // bounds of scaling, frozen at acceptance; nil: cannot be scaled
	WorkersMost   *int
	ScaleFailures int // scale attempts in a row that did not reach what is wanted

	Addons        []string // names, frozen at acceptance, in the order they are brought
	AddonsWanted  int      // number of the newest wish to have them brought anew; 0: nobody had one
	AddonsDone    int      // … of the newest that was met or given up
	AddonFailures int      // tries at them in a row that did not bring all
}

// Progress is how far the running attempt says it is.
type Progress struct {
	Percent int       // 0..100
	Step    string    // the runner's words for the present step
	ETA     time.Time // half of the like ones were done by then; zero: not known, or past
	Late    time.Time // nine of ten were; zero: not known, or past
}

// Ends holds every reason a cluster may end for, each with its grace already added. Zero means: no such reason.
// TTL and Max are always set. PRClosed, LabelRemoved and RunFinished are reversible.
type Ends struct {
	TTL          time.Time // accepted + ttl, moved by extensions, never past Max
	Max          time.Time // accepted + the profile's maximum; never moves
	PRClosed     time.Time // the pull request closed + grace
	PRWhy        string    // why PRClosed is set, and how that was seen; empty: BecauseClosed
	LabelRemoved time.Time // the label was taken off + grace
	RunFinished  time.Time // the workflow run finished + grace
	Claim        time.Time // the claim's lifetime ended
	Hold         time.Time // a floor: no end but Max comes before it
}

// What PRWhy begins with where the pull request itself is the reason. Any other names what became of its repository, or of the
// App there.
const (
	BecauseClosed = "the pull request was closed"
	BecauseMerged = "the pull request was merged"
	BecauseDraft  = "the pull request became a draft"
)

// BecauseInstallFailed is what WishWhy begins with where the cluster ends because its last try of creating failed.
const BecauseInstallFailed = "the install failed"

// DestroyAt is the earliest end, but not before a hold. It is never later than Max.
func (e Ends) DestroyAt() time.Time { at, _ := e.first(); return at }

// Reason says in words which end comes first, and whether a hold put it off.
func (e Ends) Reason() string { _, why := e.first(); return why }

// first is the generated column clusters.destroy_at, with its reason.
func (e Ends) first() (time.Time, string) {
	const longest = "the profile's maximum lifetime"
	at, why := e.Max, longest
	for _, end := range []struct {
		at  time.Time
		why string
	}{
		{e.TTL, "the end of its time to live"},
		{e.PRClosed, cmp.Or(e.PRWhy, BecauseClosed)},
		{e.LabelRemoved, "its label was removed"},
		{e.RunFinished, "its workflow run finished"},
		{e.Claim, "its claim ended"},
	} {
		if !end.at.IsZero() && end.at.Before(at) {
			at, why = end.at, end.why
		}
	}
	switch {
	case !e.Hold.After(at):
		return at, why
	case e.Hold.Before(e.Max):
		return e.Hold, why + ", postponed by a hold"
	}
	return e.Max, longest
}

// Extend moves the TTL's end by d, never past Max. capped says that Max cut it short.
func (e Ends) Extend(d time.Duration) (next Ends, capped bool) {
	next = e
	next.TTL = e.TTL.Add(d)
	if next.TTL.After(e.Max) {
		next.TTL, capped = e.Max, true
	}
	return next, capped
}
