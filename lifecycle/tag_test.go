package lifecycle

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// tags are the numbers of the attempts to attach tags.
func (w *world) tags() (numbers []int) {
	for _, a := range w.attempts {
		if a.Kind == Tag {
			numbers = append(numbers, a.Number)
		}
	}
	return numbers
}

func TestWhatAScanSawWithoutTagsGetsThem(t *testing.T) {
	w := readyWorld()
	why := w.row.Why.String()
	w.tick(10 * time.Minute)
	w.scan()
	w.until(func() bool { return len(w.untagged) == 0 })
	w.until(func() bool { return w.open() == nil && !w.row.Work[Tag].DoneAt.IsZero() })
	require.Contains(t, w.jobs, publicJob{JobTag, JobSucceeded})
	require.Equal(t, []any{Ready, PhaseReady, why, 1}, []any{w.row.Status, w.row.Phase, w.row.Why.String(), w.row.Tries}, "people see nothing of it")
	w.scan()
	w.until(func() bool { return len(w.tags()) == 2 })
}

func TestWhatAScanSawDuringTheInstallWasTaggedByTheInstall(t *testing.T) {
	w := newWorld(Decide, func(int) int { return 0 })
	w.fair = true
	w.until(func() bool { return w.row.Phase == Installing })
	w.scan()
	w.until(func() bool { return w.row.Phase == Released })
	require.Empty(t, w.tags())
}

func TestWhatCannotBeTaggedIsTriedMoreAndMoreSeldom(t *testing.T) {
	w := readyWorld()
	w.untaggable = true
	w.row.Ends.TTL, w.row.Ends.Max = w.now.Add(1000*time.Hour), w.now.Add(1000*time.Hour)
	var after []int
	for n := 1; n <= 17; n++ {
		w.tick(6 * time.Hour)
		before := len(w.tags())
		w.scan()
		for range 40 {
			w.goOn()
		}
		if len(w.tags()) > before {
			after = append(after, n)
		}
		require.LessOrEqual(t, len(w.tags()), before+1, "once for a scan")
	}
	require.Equal(t, []int{1, 2, 4, 8, 16}, after)
	require.Contains(t, w.jobs, publicJob{JobTag, JobFailed})
}

func TestTagsAreStoppedForOtherWorkAndAttachedAfterIt(t *testing.T) {
	for name, other := range map[string]struct {
		do   func(*world)
		kind Kind
	}{
		"a scaling":          {func(w *world) { w.rescale(2) }, Scale},
		"a refresh":          {(*world).refresh, Configure},
		"a change of access": {(*world).askAccess, Access},
		"sleep":              {func(w *world) { w.putToSleep(0) }, Sleep},
		"a teardown":         {(*world).destroy, Destroy},
	} {
		t.Run(name, func(t *testing.T) {
			w := readyWorld()
			w.tick(10 * time.Minute)
			w.scan()
			w.until(func() bool { return w.open() != nil && w.open().Kind == Tag && !w.open().ClaimedAt.IsZero() })
			stoppedAt := len(w.attempts)
			other.do(w)
			w.until(func() bool { return len(w.attempts) > stoppedAt })
			require.Equal(t, []any{other.kind, Stopped, true}, []any{w.attempts[stoppedAt].Kind, w.attempts[stoppedAt-1].Outcome, w.row.Work[Tag].DoneAt.IsZero()})
			switch other.kind {
			case Destroy:
				w.until(func() bool { return w.row.Phase == Released })
				require.Len(t, w.tags(), 1)
				return
			case Sleep:
				w.until(func() bool { return w.row.Phase == PhaseAsleep })
				w.reconcile(false)
				require.Len(t, w.tags(), 1, "not while it sleeps")
				w.wakeUp()
			}
			w.until(func() bool { return len(w.untagged) == 0 })
			require.Len(t, w.tags(), 2)
		})
	}
}

func TestALostAttemptAtTheTagsWaitsForTheNextScan(t *testing.T) {
	w := readyWorld()
	w.row.Ends.TTL, w.row.Ends.Max = w.now.Add(100*time.Hour), w.now.Add(100*time.Hour)
	w.tick(10 * time.Minute)
	w.scan()
	w.until(func() bool { return w.open() != nil && w.open().Kind == Tag && !w.open().ClaimedAt.IsZero() })
	kill(w.runners[len(w.runners)-1])
	w.until(func() bool { return !w.row.Work[Tag].DoneAt.IsZero() })
	require.Contains(t, w.jobs, publicJob{JobTag, JobFailed})
	for range 40 {
		w.goOn()
	}
	require.Len(t, w.tags(), 1)
	w.scan()
	w.until(func() bool { return len(w.untagged) == 0 })
	require.Len(t, w.tags(), 2)
}

func TestTagsWaitForAFreeRunnerInNoQueue(t *testing.T) {
	w := readyWorld()
	w.tick(10 * time.Minute)
	c, f := w.row, w.facts(true)
	f.Untagged = []Untagged{{1, w.now}}
	for name, busy := range map[string]Slot{
		"all runners are in use":         {Everywhere: RunnerUse{All: limits.Runners.All}},
		"another cluster's create waits": {Waiting: map[Kind]int{Create: 1}},
	} {
		f.Slot = busy
		d := Decide(c, f, limits)
		require.Empty(t, d.Open, name)
		require.Nil(t, d.Wait, name)
		require.Equal(t, f.Now.Add(limits.LookAgain), d.Next.WakeAt, name)
	}
	f.Slot = Slot{}
	require.Equal(t, Tag, Decide(c, f, limits).Open)
}
