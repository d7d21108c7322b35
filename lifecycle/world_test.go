package lifecycle

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// The numbers of the simulated service. A runner's answer may travel for up to transit and its installer may need stopping
// to end; together they stay below LeaseGrace, which is what the grace is for.
const (
	lease    = 15 * time.Minute
	transit  = 40 * time.Second
	stopping = 60 * time.Second
	endGrace = time.Hour // added to a pull request's or run's end
)

var limits = Limits{
	LaunchPatience: 10 * time.Minute, LeaseGrace: 2 * time.Minute, LookAgain: time.Minute,
	RetryBase: 30 * time.Second, RetryMax: 24 * time.Hour, BlockAfter: 3,
	VerifyGap: 3 * time.Minute, WarnBefore: time.Hour, Runners: RunnerCaps{All: 4, Region: 3},
}

var epoch = time.Date(2030, 1, 1, 8, 0, 0, 0, time.UTC)

type decider func(Cluster, Facts, Limits) Decision

// world is everything around one cluster, in memory: the store's rows, a cloud, runners, people, a clock and a hostile
// outside. Its only source of chance is pick, so that the same picks live the same life.
type world struct {
	decide decider
	pick   func(n int) int // 0 … n-1; 0 is always the kindest choice
	now    time.Time
	fair   bool // nothing new goes wrong any more
	freed  bool // a person removed what held the stubborn things
	blind  bool // decisions are not judged; only what becomes of them is

	row            Cluster
	reconcileAsked bool // somebody asked for a reconcile
	jobs           []publicJob
	attempts       []*attempt    // as stored, oldest first
	identities     []string      // ever recorded
	owed           bool          // something was recorded since zero was last proven
	queue          QueuePosition // those that wait for capacity, as far as it is this cluster's
	turn           Turn          // those that wait for a full quota, as far as it is this cluster's
	brake          *Brake        // an admin's freeze; nil: none

	slot Slot // free runners, as far as they are this cluster's

	leaks *leaked // what was found of it after its release and may be removed; nil: nothing

	access []*grant // who asked for access to it, oldest first
	power  Power    // of its machines
	slept  bool     // somebody put it to sleep before

	requested  time.Time // when people last sent requests to its API; zero: never
	unanswered bool      // looks for that fail

	added map[Kind]func(*world, *runner) // what runners do of kinds that a test adds
	asks  []func(*world)                 // who asks for them

	untagged   []Untagged // what scans saw without the cluster's tags
	untaggable bool       // attempts to attach them leave something without

	ttl time.Duration // with which it was accepted

	day, night time.Duration // how long people work, and how long they do not, again and again; day is zero: nobody said so

	cloud   map[string][]thing // by identity; names nobody recorded are here too, should a runner make any
	runners []*runner
	held    []heldDecision
	effects []Effect
	late    []func() // requests still under way when their sender had given up

	path    []Phase       // every phase the cluster showed, in order
	moves   map[move]bool // transitions seen, where the caller collects them
	history []func() string
}

// thing is one resource in the cloud.
type thing struct {
	stubborn bool      // only a person can free it; nobody does while the outside is hostile
	hidden   bool      // the cloud does not list it yet
	shows    time.Time // when a hidden thing begins to be listed; zero: not before a destroyer ended
}

type publicJob struct {
	kind   JobType
	status JobStatus
}

type heldDecision struct {
	d       Decision
	version int64
}

// move is one transition and its reason, as the table in testdata/transitions.md shows it.
type move struct {
	fromStatus Status
	fromPhase  Phase
	toStatus   Status
	toPhase    Phase
	why        string
}

// broken is what a rule's breach is reported with.
type broken struct {
	rules []int // 1…14; 0 is a constraint of the tables or the promise that every life ends
	what  string
}

func (b *broken) Error() string { return fmt.Sprintf("rule %v: %s", b.rules, b.what) }

func newWorld(decide decider, pick func(int) int) *world {
	w := &world{decide: decide, pick: pick, now: epoch, reconcileAsked: true, cloud: map[string][]thing{}}
	ttl := []time.Duration{8 * time.Hour, 2 * time.Hour, 20 * time.Hour}[pick(3)]
	w.row = Cluster{
		ID: "clu_1", Version: 1, Status: Pending, Phase: Queued, Why: MoveReason{Code: MoveAccepted}, Desired: Present, Teardown: JobDestroy,
		Ends: Ends{TTL: epoch.Add(ttl), Max: epoch.Add(24 * time.Hour)}, MaxTries: 1 + pick(3), WakeAt: epoch,
		NeedsApproval: pick(6) == 5, NeedsTurn: pick(6) == 5,
	}
	if w.row.MaxTries > 1 { // otherwise the limit counts
		w.row.WarnBefore = []time.Duration{time.Hour, 15 * time.Minute}
	}
	if w.row.NeedsApproval {
		w.row.ApproveBy = epoch.Add([]time.Duration{time.Hour, 30 * time.Hour}[pick(2)])
	}
	if w.row.NeedsTurn {
		w.turn = Turn{Position: 1 + pick(3), For: "team platform has 5 of 5 clusters"}
	}
	if pick(4) < 3 {
		w.row.WorkersBase, w.row.WorkersLeast, w.row.WorkersMost = new(3), new(1), new(5)
	}
	if pick(4) < 3 {
		w.row.Addons = []string{"cert-manager", "pr-namespace"}
	}
	w.row.SleepMode = []SleepMode{SleepStopped, SleepWorkers, ""}[pick(3)]
	if w.row.SleepMode == "" && w.row.MaxTries > 1 {
		w.row.Spot = SpotWorkers
	}
	if pick(8) == 7 {
		w.row.Ends.Claim = epoch.Add(6 * time.Hour)
	}
	if pick(3) == 2 {
		w.row.OffHours = true
	}
	w.ttl = ttl
	if pick(3) == 2 {
		w.row.Idle = []Idle{{TellAfter: time.Hour}, {time.Hour, 2 * time.Hour, 0}, {time.Hour, 0, 3 * time.Hour}, {30 * time.Minute, time.Hour, 4 * time.Hour}}[pick(4)]
		w.row.UseExtends = pick(2) == 1
	}
	w.reschedule()
	w.jobs = []publicJob{{JobCreate, JobPending}}
	if pick(4) < 3 { // whoever asked for the cluster gets access with the create
		w.row.AskWork(Access)
		w.access = []*grant{{number: 1}}
	}
	return w
}

// chance is true once in n, and never where every pick is kind.
func (w *world) chance(n int) bool { return w.pick(n) == n-1 }

func (w *world) note(format string, args ...any) {
	at := w.now
	w.history = append(w.history, func() string {
		return at.Sub(epoch).String() + " " + fmt.Sprintf(format, args...)
	})
}

// historyText is the history so far, its newest part where it is long.
func (w *world) historyText() string {
	var lines []string
	for _, line := range w.history {
		lines = append(lines, line())
	}
	return strings.Join(lines[max(0, len(lines)-120):], "\n")
}

// breach ends the life: a rule was broken.
func (w *world) breach(what string, rules ...int) {
	panic(&broken{rules: rules, what: what})
}

// caught runs a life and returns the rule it broke, if any.
func caught(life func()) (b *broken) {
	defer func() {
		if r := recover(); r != nil {
			var ok bool
			if b, ok = r.(*broken); !ok {
				panic(r)
			}
		}
	}()
	life()
	return nil
}

// tick lets time pass. Connected runners keep their heartbeat meanwhile; a runner whose own lease ran out stops itself.
func (w *world) tick(d time.Duration) {
	for d > 0 {
		slice := min(d, 4*time.Minute)
		d -= slice
		w.now = w.now.Add(slice)
		for _, r := range w.runners {
			if !r.alive || !r.claimed || r.over || r.fenced {
				continue
			}
			if !w.now.Before(r.limit) {
				w.note("runner %d of attempt %d stops: its own lease ran out", r.pod, r.attempt)
				r.over, r.installing = true, false
			} else if !r.cut && !r.hung {
				w.heard(r, w.beat(r.attempt, r.pod))
			}
		}
	}
}

// left counts what truly exists under an identity, listed or not.
func (w *world) left() int {
	n := 0
	for _, things := range w.cloud {
		n += len(things)
	}
	return n
}

func (t thing) listed(now time.Time) bool {
	return !t.hidden || (!t.shows.IsZero() && !now.Before(t.shows))
}

// count is an honest verification pass over the given names.
func (w *world) count(names []string) Pass {
	p := Pass{Clean: true, Identities: slices.Clone(names)}
	for _, name := range names {
		for _, t := range w.cloud[name] {
			if t.listed(w.now) {
				p.Clean = false
				p.Leftovers = append(p.Leftovers, Blocker{Name: "vpc of " + name})
			}
		}
	}
	if !w.fair && w.chance(12) {
		p.Clean, p.Leftovers = false, append(p.Leftovers, Blocker{Name: "refused-query DescribeVpcs"})
	}
	return p
}

// installing reports a living install process.
func (w *world) installing() bool {
	return slices.ContainsFunc(w.runners, func(r *runner) bool { return r.alive && r.installing })
}
