package breaker

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/ocpctl/ocpctl/lifecycle"
)

var (
	start  = time.Date(2030, 1, 1, 8, 0, 0, 0, time.UTC)
	limits = Limits{After: 3, Pause: 10 * time.Minute, Most: time.Hour}
	here   = lifecycle.Place{Platform: "aws", Account: "1", Region: "us-east-1", Profile: "small", Team: "shop", Version: "4.20.1"}
)

// failed is a create that failed that many minutes after the start.
func failed(minute int, cluster, code, whose string, where lifecycle.Place) Try {
	at := start.Add(time.Duration(minute) * time.Minute)
	return Try{Cluster: cluster, Place: where, Began: at.Add(-time.Minute), At: at, Outcome: lifecycle.Failure, Code: code, Whose: whose}
}

func succeeded(minute int, cluster string, where lifecycle.Place) Try {
	t := failed(minute, cluster, "", "", where)
	t.Outcome = lifecycle.Succeeded
	return t
}

func TestItOpensAfterSoManyFailuresOfOneClassInARow(t *testing.T) {
	other, region := here, lifecycle.Place{Platform: "aws", Account: "1", Region: "us-east-1"}
	other.Profile = "large"
	elsewhere := other
	elsewhere.Region = "eu-west-1"
	const code = "NoCapacity"
	three := []Try{failed(1, "a", code, "cloud", here), failed(2, "b", code, "cloud", other), failed(3, "a", code, "cloud", here)}
	with := func(i int, t Try) []Try { return slices.Insert(slices.Clone(three), i, t) }
	as := func(whose string, places ...lifecycle.Place) (all []Try) {
		for i, p := range places {
			all = append(all, failed(i, fmt.Sprint("c", i), code, whose, p))
		}
		return all
	}
	for what, one := range map[string]struct {
		tries []Try
		want  []lifecycle.Place
	}{
		"three":                               {three, []lifecycle.Place{region}},
		"two":                                 {three[:2], nil},
		"of one cluster alone":                {[]Try{three[0], three[2], failed(4, "a", code, "cloud", here)}, nil},
		"a success between":                   {with(2, succeeded(2, "c", here)), nil},
		"a success elsewhere":                 {with(2, succeeded(2, "c", elsewhere)), []lifecycle.Place{region}},
		"another class between":               {with(2, failed(2, "c", "Throttled", "cloud", here)), []lifecycle.Place{region}},
		"of the requester":                    {as("user", here, other, here, other), nil},
		"of spot machines":                    {[]Try{failed(1, "a", lifecycle.SpotUnavailable, "cloud", here), failed(2, "b", lifecycle.SpotUnavailable, "cloud", here), failed(3, "c", lifecycle.SpotUnavailable, "cloud", here)}, nil},
		"of nobody that is known":             {as("", here, other, here, other), nil},
		"a quota's":                           {as("quota", here, other, here), []lifecycle.Place{region}},
		"ours, with one profile":              {as("ocpctl", here, here, here), []lifecycle.Place{{Profile: "small"}}},
		"the installer's, with many profiles": {as("installer", here, other, elsewhere), []lifecycle.Place{{Platform: "aws", Version: "4.20.1"}}},
		"the cloud's, in two regions":         {as("cloud", here, elsewhere, here, elsewhere), nil},
	} {
		var got []lifecycle.Place
		for _, c := range Decide(Facts{Now: start.Add(time.Hour), Tries: one.tries}, limits) {
			require.Equal(t, Opened, c.Event, what)
			require.Equal(t, start.Add(time.Hour+limits.Pause), c.Until, what)
			got = append(got, c.Where)
		}
		require.Equal(t, one.want, got, what)
	}
	require.Empty(t, Decide(Facts{Now: start.Add(25 * time.Hour), Tries: three}, limits), "it is too long ago")
	require.Empty(t, Decide(Facts{Now: start.Add(time.Hour), Tries: three}, Limits{}), "it is switched off")
	closed := State{ID: "b1", Where: region, Code: code, Since: start, ClosedAt: start.Add(5 * time.Minute)}
	require.Empty(t, Decide(Facts{Now: start.Add(time.Hour), Tries: three, States: []State{closed}}, limits), "they opened one before")
}

func TestOneClusterIsTriedAndWhatBecomesOfItDecides(t *testing.T) {
	open := State{ID: "b1", Where: lifecycle.Place{Region: "us-east-1"}, Code: "NoCapacity", Whose: "cloud", Failures: 3, Since: start, Until: start.Add(10 * time.Minute)}
	here, elsewhere := lifecycle.Place{Platform: "aws", Region: "us-east-1"}, lifecycle.Place{Platform: "aws", Region: "us-east-2"}
	waiting := []Waiter{{"late", here, "b1", start.Add(2 * time.Minute)}, {"early", here, "b1", start.Add(time.Minute)}, {"other", elsewhere, "b2", start}}
	decide := func(after time.Duration, s State, change func(*Facts)) Change {
		f := Facts{Now: start.Add(after), States: []State{s}, Waiting: waiting, Probing: map[string]Probing{"early": {Wanted: true}}}
		if change != nil {
			change(&f)
		}
		changes := Decide(f, limits)
		if len(changes) == 0 {
			return Change{}
		}
		require.Len(t, changes, 1)
		return changes[0]
	}
	require.Empty(t, decide(9*time.Minute, open, nil).Event, "not yet")
	tried := decide(10*time.Minute, open, nil)
	require.Equal(t, Probes, tried.Event)
	require.Equal(t, "early", tried.Probe, "who waits longest")
	require.Empty(t, decide(11*time.Minute, tried.State, nil).Event, "one at a time")
	ended := func(outcome lifecycle.Outcome, whose string) func(*Facts) {
		return func(f *Facts) {
			try := failed(15, "early", "NoCapacity", whose, here)
			try.Began, try.Outcome = tried.ProbeAt, outcome
			f.Tries = []Try{try}
		}
	}
	again := decide(16*time.Minute, tried.State, ended(lifecycle.Failure, "cloud"))
	require.Equal(t, ProbeFailed, again.Event)
	require.Equal(t, start.Add(36*time.Minute), again.Until, "it waits twice as long")
	require.Empty(t, again.Probe)
	closed := decide(16*time.Minute, tried.State, ended(lifecycle.Succeeded, ""))
	require.Equal(t, Succeeded, closed.Event)
	require.Equal(t, start.Add(16*time.Minute), closed.ClosedAt)
	for what, change := range map[string]func(*Facts){
		"its requester's fault": ended(lifecycle.Failure, "user"), "stopped": ended(lifecycle.Stopped, ""), "no capacity": ended(lifecycle.Waiting, ""),
		"nobody wants it": func(f *Facts) { f.Probing = nil },
	} {
		next := decide(16*time.Minute, tried.State, change)
		require.Equal(t, Withdrawn, next.Event, what)
		require.Equal(t, open.Until, next.Until, "another is tried at once")
	}
	require.Equal(t, Withdrawn, decide(20*time.Minute, tried.State, nil).Event, "it did not begin")
	require.Empty(t, decide(5*time.Hour, tried.State, func(f *Facts) { f.Probing["early"] = Probing{Wanted: true, Runs: true} }).Event, "an install takes its time")
	nobody := func(f *Facts) { f.Waiting = waiting[2:] }
	require.Empty(t, decide(19*time.Minute, open, nobody).Event)
	require.Equal(t, NobodyWaits, decide(20*time.Minute, open, nobody).Event)
	frozen := func(f *Facts) { f.Waiting = []Waiter{{"frozen", here, "frz_1", start}} }
	require.Empty(t, decide(5*time.Hour, open, frozen).Event, "who waits here for a freeze would begin untried after it")
	require.Equal(t, time.Hour, limits.pause(9), "a pause is bounded")
}

// Random lives of an installation: creates succeed and fail for all kinds of reasons, clusters come and go, and two servers decide in any order.
func TestBreakersKeepTheirRules(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := &world{now: start, runs: map[string]Try{}, waits: map[string]lifecycle.Place{}, since: map[string]time.Time{}}
		for range rapid.IntRange(20, 120).Draw(t, "steps") {
			w.step(t)
		}
		for range 200 { // from now on the cloud works: everything closes
			w.now = w.now.Add(11 * time.Minute)
			w.pass(t)
			w.begin()
			for _, id := range w.running() {
				w.end(id, lifecycle.Succeeded, "", "")
			}
		}
		for _, s := range w.states {
			require.False(t, s.ClosedAt.IsZero(), "breaker %+v stays open", s)
		}
		require.Empty(t, w.waits, "somebody waits for ever")
	})
}

// world is what the store and Decide of clusters do about breakers.
type world struct {
	now    time.Time
	states []State
	tries  []Try
	runs   map[string]Try // by cluster
	waits  map[string]lifecycle.Place
	since  map[string]time.Time
	made   int
}

func (w *world) step(t *rapid.T) {
	w.now = w.now.Add(time.Duration(rapid.IntRange(1, 400).Draw(t, "seconds")) * time.Second)
	switch rapid.IntRange(0, 5).Draw(t, "what") {
	case 0, 1:
		w.made++
		id := fmt.Sprintf("c%03d", w.made)
		w.waits[id] = lifecycle.Place{Platform: "aws", Region: rapid.SampledFrom([]string{"a", "b"}).Draw(t, "region"), Profile: rapid.SampledFrom([]string{"p", "q"}).Draw(t, "profile"), Version: "4.20"}
		w.since[id] = w.now
	case 2, 3:
		if ids := w.running(); len(ids) > 0 {
			id := rapid.SampledFrom(ids).Draw(t, "which")
			how := rapid.SampledFrom([]string{"cloud", "cloud", "ocpctl", "ocpctl", "user", "stopped", ""}).Draw(t, "how")
			switch how {
			case "":
				w.end(id, lifecycle.Succeeded, "", "")
			case "stopped":
				w.end(id, lifecycle.Stopped, "", "")
			default:
				w.end(id, lifecycle.Failure, "Broken", how)
			}
		}
	case 4:
		if ids := w.waiting(); len(ids) > 0 { // its requester wants it no more
			delete(w.waits, rapid.SampledFrom(ids).Draw(t, "gone"))
		}
	}
	if rapid.Bool().Draw(t, "a server looks") {
		w.pass(t)
	}
	w.begin()
}

func (w *world) running() (ids []string) {
	for id := range w.runs {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

func (w *world) waiting() (ids []string) {
	for id := range w.waits {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// held is the open breaker that keeps a cluster from beginning, as store/brakes tells it.
func (w *world) held(id string) (by *State) {
	for i, s := range w.states {
		begun := slices.ContainsFunc(w.tries, func(t Try) bool { return t.Cluster == id && !t.Began.Before(s.ProbeAt) })
		if s.ClosedAt.IsZero() && s.Where.Covers(w.waits[id]) && (s.Probe != id || begun) && (by == nil || s.Until.After(by.Until)) {
			by = &w.states[i]
		}
	}
	return by
}

// begin begins every create that no breaker holds.
func (w *world) begin() {
	for _, id := range w.waiting() {
		if w.held(id) == nil {
			w.runs[id] = Try{Cluster: id, Place: w.waits[id], Began: w.now}
			delete(w.waits, id)
		}
	}
}

func (w *world) end(id string, how lifecycle.Outcome, code, whose string) {
	try := w.runs[id]
	try.At, try.Outcome, try.Code, try.Whose = w.now, how, code, whose
	w.tries = append(w.tries, try)
	delete(w.runs, id)
}

func (w *world) facts() Facts {
	f := Facts{Now: w.now, States: slices.Clone(w.states), Tries: slices.Clone(w.tries), Probing: map[string]Probing{}}
	for _, id := range w.waiting() {
		f.Probing[id] = Probing{Wanted: true}
		if by := w.held(id); by != nil {
			f.Waiting = append(f.Waiting, Waiter{id, w.waits[id], by.ID, w.since[id]})
		}
	}
	for id := range w.runs {
		f.Probing[id] = Probing{Wanted: true, Runs: true}
	}
	return f
}

// pass is a server's look, and at once another one's: under the lock that one sees what the first did.
func (w *world) pass(t *rapid.T) {
	for range 2 {
		for _, c := range Decide(w.facts(), limits) {
			i := slices.IndexFunc(w.states, func(s State) bool { return s.ID != "" && s.ID == c.ID })
			if c.Event == Opened {
				require.GreaterOrEqual(t, c.Failures, limits.After)
				require.False(t, slices.ContainsFunc(w.states, func(s State) bool { return s.Where == c.Where && s.ClosedAt.IsZero() }), "two breakers for one place")
				c.ID = fmt.Sprintf("b%03d", len(w.states))
				w.states = append(w.states, c.State)
				continue
			}
			was := w.states[i]
			require.True(t, was.ClosedAt.IsZero(), "a closed breaker changes")
			if c.Event == Probes {
				require.Empty(t, was.Probe, "two are tried at once")
				require.False(t, w.now.Before(was.Until), "one is tried before the pause is over")
			}
			w.states[i] = c.State
		}
	}
}
