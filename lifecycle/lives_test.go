package lifecycle

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// hostileSteps is how much happens to one life before the outside turns fair.
const hostileSteps = 160

// lives is how many random lives a test lives: a sixth of them with -short. LIVES=n makes it n.
func lives(otherwise int) int {
	if testing.Short() {
		otherwise /= 6
	}
	return allLives(otherwise)
}

// allLives is how many random lives a test lives that needs them all, whether short or not. LIVES=n makes it n.
func allLives(otherwise int) int {
	if n, err := strconv.Atoi(os.Getenv("LIVES")); err == nil && n > 0 {
		return n
	}
	return otherwise
}

// seeded picks by a seed: the same seed is the same life.
func seeded(seed uint64) func(int) int {
	r := rand.New(rand.NewPCG(seed, 7))
	return r.IntN
}

// live lives one whole life: a hostile part, then a fair one to READY or DESTROYED, then on to DESTROYED. Half of them are hostile only once they
// are ready: otherwise few get that far.
func (w *world) live(hostile int) {
	if w.pick(2) == 1 && !w.row.NeedsApproval && !w.row.NeedsTurn {
		w.fair = true
		w.until(func() bool { return w.row.Status == Ready || w.row.Desired == Absent })
		w.fair = false
	}
	calm := []int{20, 10, 5, 2}[w.pick(4)] // things between two blows
	for range hostile {
		if len(w.asks) > 0 && w.chance(8) {
			w.asks[w.pick(len(w.asks))](w)
		} else if w.chance(calm) {
			actions[weighted[w.pick(len(weighted))]].do(w)
		} else {
			w.goOn()
		}
	}
	w.settleDown()
	w.until(func() bool {
		return w.over() || w.row.Status == Ready && w.row.Desired == Present && (w.accessWork() == AccessWork{} || w.row.OutOfReach()) && !w.row.powerOwed()
	})
	w.until(w.over)
	if w.chance(3) {
		w.afterwards(hostile/2, calm)
	}
	if w.left() > 0 || w.row.Desired != Absent {
		w.breach("the end of a life is not the end", 7)
	}
}

// afterwards is a hostile time after the release, in which something of the cluster is found and another one may take its name.
func (w *world) afterwards(hostile, calm int) {
	w.fair, w.freed = false, false
	for range hostile {
		switch {
		case !w.chance(calm):
			w.goOn()
		case w.row.Phase == Released:
			[]func(){w.leak, w.takeName, func() { w.reconcile(true) }, w.applyHeld}[w.pick(4)]()
		default:
			actions[weighted[w.pick(len(weighted))]].do(w)
		}
	}
	w.settleDown()
	w.until(w.over)
}

// settleDown ends the hostility: nets are mended, stubborn things can be removed, nothing new goes wrong.
func (w *world) settleDown() {
	w.fair, w.freed, w.reconcileAsked = true, true, true
	w.queue.Position = min(w.queue.Position, 1)
	if w.leaks != nil {
		w.leaks.nameOf = ""
	}
	w.slot.Everywhere, w.slot.InRegion, w.slot.Waiting = RunnerUse{}, RunnerUse{}, nil
	for w.row.NeedsTurn && w.row.Desired == Present {
		w.nextTurn()
	}
	w.note("from here on the outside is fair")
	for _, r := range w.runners {
		r.cut, r.hung = false, false
	}
	for len(w.held) > 0 {
		w.applyHeld()
	}
}

// until runs the fair world until done, within a bound in steps and in simulated time: a full backoff and a full life.
func (w *world) until(done func() bool) {
	bound := w.now.Add(limits.RetryMax + 30*time.Hour)
	for range 5000 {
		switch {
		case done():
			return
		case w.now.After(bound):
			w.breach(fmt.Sprintf("no end within %s: %+v", limits.RetryMax+30*time.Hour, w.row), 0)
		case !w.goOn():
			w.breach(fmt.Sprintf("it sleeps for ever: %+v", w.row), 8)
		}
	}
	w.breach(fmt.Sprintf("no end within 5000 steps: %+v", w.row), 0)
}

// goOn does what is next in a world that works. It reports false where nothing will ever be next.
func (w *world) goOn() bool {
	switch {
	case len(w.effects) > 0:
		w.deliver(false)
	case w.reconcileAsked || (!w.row.WakeAt.IsZero() && !w.now.Before(w.row.WakeAt)):
		w.reconcile(!w.fair && w.chance(6))
	case w.fair && w.slot.Kind != "" && !w.slot.Next && w.freeFor(w.slot.Kind):
		w.assignRunners()
	case w.busy():
		for _, r := range w.runners {
			w.work(r)
		}
		w.tick(10 * time.Second)
	case isLeak(w.row, w.facts(false)): // a periodic job asks again for what may be removed
		w.reconcile(false)
	case w.row.WakeAt.IsZero():
		return w.row.Phase == Released
	default:
		w.tick(min(w.row.WakeAt.Sub(w.now), time.Hour))
	}
	return true
}

func (w *world) busy() bool {
	for _, r := range w.runners {
		if r.alive {
			return true
		}
	}
	return false
}

// Every life keeps the thirteen rules and ends, whatever is lost, late, doubled, killed or cut off around it.
func TestEveryRandomLifeKeepsTheRulesAndEnds(t *testing.T) {
	set(t, "rapid.checks", strconv.Itoa(lives(400)))
	set(t, "rapid.seed", "1")
	set(t, "rapid.nofailfile", "true")
	rapid.Check(t, func(t *rapid.T) {
		draws := map[int]*rapid.Generator[int]{}
		w := newWorld(Decide, func(n int) int {
			if draws[n] == nil {
				draws[n] = rapid.IntRange(0, n-1)
			}
			return draws[n].Draw(t, "pick")
		})
		if b := caught(func() { w.live(hostileSteps) }); b != nil {
			t.Fatalf("rule %v: %s\n%s", b.rules, b.what, w.historyText())
		}
	})
}

// The same world under plain seeds is faster, so that more lives fit into the same time.
func TestEverySeededLifeKeepsTheRulesAndEnds(t *testing.T) {
	for seed := range uint64(lives(2000)) {
		w := newWorld(Decide, seeded(seed))
		if b := caught(func() { w.live(hostileSteps) }); b != nil {
			require.Failf(t, "a rule is broken", "seed %d, rule %v: %s\n%s", seed, b.rules, b.what, w.historyText())
		}
	}
}

// One blow of every kind, at every moment of an otherwise quiet life.
func TestOneBlowAtAnyMomentIsSurvived(t *testing.T) {
	breaches, _ := explored()
	for _, b := range breaches {
		require.Failf(t, "a rule is broken", "rule %v: %s", b.rules, b.what)
	}
}

// quiet are the lives in which nothing goes wrong but what each is about: before is done to the new cluster, and during
// before each step. Those after the first are like it but for one part: only there blows fall.
var quiet = []struct {
	before, during func(*world)
	part           []Status
}{
	{},
	{before: func(w *world) { w.row.NeedsApproval = true }, part: []Status{Pending}},
	{before: func(w *world) { w.row.NeedsTurn = true }, part: []Status{Pending}},
	{before: func(w *world) { w.row.MaxTries = 2 }, during: (*world).firstInstallFails, part: []Status{Creating}},
	{during: func(w *world) {
		switch {
		case w.row.Workers == nil && w.row.WorkersWanted == nil:
			w.rescale(1)
		case w.row.Phase == ScaledDown && w.row.Work[Configure].Wanted == 0:
			w.refresh()
		case w.row.Work[Configure].Wanted == 1 && !w.row.Work[Configure].IsRequested() && w.row.Work[Access].Wanted == 1:
			w.askAccess()
		case w.row.Work[Access].Wanted == 2 && w.row.Work[Access].Done == 2:
			w.revokeAccess()
		case w.row.Work[Access].Wanted == 3 && w.row.Work[Access].Done == 3 && w.row.Power == Awake && !w.slept:
			w.putToSleep(0)
		case w.row.Power == Asleep:
			w.wakeUp()
		}
	}, part: []Status{Ready}},
	{during: func(w *world) {
		if w.row.Reopened == 0 {
			w.leak()
		}
		if w.row.Phase != Released && w.row.Reopened == 0 {
			w.destroy()
		}
	}, part: []Status{Destroyed}},
	{before: func(w *world) { w.row.OffHours, w.day, w.night = true, 2*time.Hour, 3*time.Hour }, part: []Status{Ready}},
	{before: func(w *world) { w.row.Idle = Idle{30 * time.Minute, 90 * time.Minute, 6 * time.Hour} }, part: []Status{Ready}},
}

// firstInstallFails ends the first install with an error that a retry may mend.
func (w *world) firstInstallFails() {
	for _, r := range w.runners {
		if r.alive && r.attempt == 1 && r.phase == Installing && r.result == nil {
			r.installing = false
			r.result = &Attempt{Outcome: Failure, Reason: "InstallFailed", Message: "the installer ended with an error", Retryable: true}
		}
	}
}

// explored lives every quiet life once for every moment in it and every blow that can fall then; with -short, each blow for every fourth moment. It returns the rules that
// were broken and the transitions that happened.
var explored = sync.OnceValues(func() (breaches []*broken, moves map[move]bool) {
	moves = map[move]bool{}
	stride := 1
	if testing.Short() {
		stride = 4
	}
	blows := map[string]func(*world){}
	for _, a := range actions {
		blows[a.name] = a.do
	}
	for _, p := range people {
		blows[p.name] = p.do
	}
	for life := range quiet {
		for name, blow := range blows {
			for at, ended := len(name)%stride, false; !ended; at += stride {
				w := newWorld(Decide, func(int) int { return 0 })
				w.fair, w.moves = true, moves
				b := caught(func() {
					ended = w.quietly(life, at)
					if part := quiet[life].part; !ended && (part == nil || slices.Contains(part, w.row.Status)) {
						blow(w)
						w.live(0)
					}
				})
				if b != nil {
					b.what = fmt.Sprintf("%q at step %d of quiet life %d: %s\n%s", name, at, life, b.what, w.historyText())
					breaches = append(breaches, b)
				}
			}
		}
	}
	return breaches, moves
})

// quietly goes some steps into a quiet life. It reports that the life has ended.
func (w *world) quietly(life, steps int) bool {
	if before := quiet[life].before; before != nil {
		before(w)
	}
	for range steps {
		if during := quiet[life].during; during != nil {
			during(w)
		}
		w.goOn()
	}
	return w.over()
}

func set(t *testing.T, name, value string) {
	t.Helper()
	old := flag.Lookup(name).Value.String()
	require.NoError(t, flag.Set(name, value))
	t.Cleanup(func() { require.NoError(t, flag.Set(name, old)) })
}
