package lifecycle

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// informs decides as a server whose clusters have an identity card and links.
func informs(c Cluster, f Facts, l Limits) Decision {
	l.InformEvery = 30 * time.Minute
	f.Described = "Maya\nacme/shop#41"
	return Decide(c, f, l)
}

// informWorld is a world in which runners write cards.
func informWorld(decide decider, pick func(int) int) *world {
	w := newWorld(decide, pick)
	w.decide = func(c Cluster, f Facts, l Limits) Decision {
		d := decide(c, f, l)
		if what := informBreach(c, f, d); what != "" {
			w.breach(what, 0)
		}
		return d
	}
	w.added = map[Kind]func(*world, *runner){Inform: (*world).informing}
	w.asks = []func(*world){(*world).extend}
	return w
}

// informing is the way of a runner that writes a card.
func (w *world) informing(r *runner) {
	if !r.phaseReported {
		w.say(r, false)
		r.installing, r.steps = true, 1+w.pick(3)
		return
	}
	w.needsPower(r)
	if r.steps--; r.steps > 0 {
		return
	}
	r.installing = false
	r.result = &Attempt{Outcome: Succeeded, Message: "its card was written"}
	if w.untaggable || !w.fair && w.chance(3) {
		r.result = &Attempt{Outcome: Failure, Reason: "NotInformed", Message: "the cluster refused it", Retryable: w.pick(3) < 2}
	}
}

// informBreach returns the rule of cards that a decision breaks.
func informBreach(c Cluster, f Facts, d Decision) string {
	n, was, w := d.Next, c.Work[Inform], d.Next.Work[Inform]
	switch {
	case d.Open == Inform && (n.Status != Ready || n.Desired != Present || n.SleepWanted || n.Power != Awake || w.Done == w.Wanted || f.Now.Before(w.RetryAt)):
		return "a card is written that nobody wants now"
	case d.Open == Inform && (d.OpenJob != JobInform || d.Request != w.Wanted || !d.Quiet):
		return "a card is of another request, of another job, or not quiet"
	case w.Wanted > was.Wanted+1:
		return "a card is asked for twice at once"
	case w.Wanted > was.Wanted && was.IsRequested() && w.Of == was.Of:
		return "a card is asked for again that says the same"
	case w.Failures >= workTries || w.Failures > 0 && !w.IsRequested():
		return "a card that fails is tried for ever"
	case w.IsRequested() && n.Phase == Released:
		return "a card is wanted in a cluster that is gone"
	}
	return ""
}

func readyToInform() *world {
	w := informWorld(informs, func(int) int { return 0 })
	w.fair = true
	w.until(func() bool { return w.row.Status == Ready && w.row.Work[Inform].Done == 1 })
	return w
}

// cards are the numbers of the attempts to write the card.
func (w *world) cards() (n int) {
	for _, a := range w.attempts {
		if a.Kind == Inform {
			n++
		}
	}
	return n
}

func TestACardIsWrittenWhenAClusterIsReadyAndWheneverItWouldSaySomethingElse(t *testing.T) {
	w := readyToInform()
	require.Contains(t, w.jobs, publicJob{JobInform, JobSucceeded})
	require.Equal(t, []any{Ready, PhaseReady}, []any{w.row.Status, w.row.Phase}, "people see nothing of it")
	first := w.row.Work[Inform].Of
	w.extend()
	w.until(func() bool { return w.open() != nil && w.open().Kind == Inform && !w.open().ClaimedAt.IsZero() })
	w.extend()
	w.until(func() bool { return w.open() == nil && !w.row.Work[Inform].IsRequested() })
	require.Equal(t, 3, w.row.Work[Inform].Done, "one that was running when the end changed again said too little")
	require.NotEqual(t, first, w.row.Work[Inform].Of)
	require.Equal(t, 3, w.cards())
}

func TestLooksForLinksGetRarerUntilSomethingIsDeployed(t *testing.T) {
	w := readyToInform()
	deployed := time.Time{}
	w.decide = func(c Cluster, f Facts, l Limits) Decision {
		f.DeployedAt = deployed
		return informs(c, f, l)
	}
	looks := func(d time.Duration) int {
		before, end := w.cards(), w.now.Add(d)
		w.until(func() bool { return !w.now.Before(end) })
		return w.cards() - before
	}
	require.LessOrEqual(t, looks(2*time.Hour), 9, "after 1, 2, 4, 8, 16 and 32 minutes, then every 30")
	deployed, w.reconcileAsked = w.now, true
	require.GreaterOrEqual(t, looks(10*time.Minute), 3)
}

func TestUseDoesNotChangeTheCard(t *testing.T) {
	c := Cluster{Ends: Ends{TTL: epoch.Add(4 * time.Hour), Max: epoch.Add(9 * time.Hour), Idle: epoch.Add(time.Hour)}}
	require.Equal(t, c.Ends.TTL, c.CardEnd())
	c.UseExtends = true
	require.Equal(t, c.Ends.Max, c.CardEnd())
	c.Ends.PRClosed = epoch.Add(2 * time.Hour)
	require.Equal(t, c.Ends.PRClosed, c.CardEnd())
}

func TestACardThatKeepsFailingIsShownAndTriedAgainLater(t *testing.T) {
	w := readyToInform()
	w.untaggable = true
	w.extend()
	w.until(func() bool { return w.row.Work[Inform].Done == 2 })
	require.Equal(t, 1+workTries, w.cards())
	require.Contains(t, w.jobs, publicJob{JobInform, JobFailed})
	w.untaggable = false
	w.until(func() bool { return w.row.Work[Inform].Done == 3 })
	require.Equal(t, JobSucceeded, w.jobs[len(w.jobs)-1].status)
}

func TestASleepingClusterGetsItsCardWhenItWakes(t *testing.T) {
	w := readyToInform()
	w.putToSleep(3 * time.Hour)
	w.until(func() bool { return w.row.Phase == PhaseAsleep })
	before := w.cards()
	w.extend()
	end := w.now.Add(2 * time.Hour)
	w.until(func() bool { return !w.now.Before(end) })
	require.Equal(t, before, w.cards())
	w.until(func() bool {
		return w.row.Power == Awake && w.row.Work[Inform].Done == w.row.Work[Inform].Wanted && w.cards() > before
	})
}

func TestCardsKeepTheRulesInRandomLives(t *testing.T) {
	written := 0
	for seed := range uint64(lives(1500)) {
		w := informWorld(informs, seeded(seed))
		if b := caught(func() { w.live(hostileSteps) }); b != nil {
			require.Failf(t, "a rule is broken", "seed %d, rule %v: %s\n%s", seed, b.rules, b.what, w.historyText())
		}
		written += w.cards()
		require.NotContains(t, w.jobs, publicJob{JobInform, JobRunning}, "no job is left over")
	}
	require.NotZero(t, written)
}

func TestEveryMutantOfCardsIsCaught(t *testing.T) {
	for name, decide := range map[string]decider{
		"the card is asked for at each decision": func(c Cluster, f Facts, l Limits) Decision {
			c.ChangeWork(Inform, func(w *Work) { w.Of = "another" })
			f.Described = ""
			d := informs(c, f, l)
			d.Next.ChangeWork(Inform, func(w *Work) { w.Of = "another" })
			return d
		},
		"what fails is tried for ever": func(c Cluster, f Facts, l Limits) Decision {
			l.More = []WorkKind{}
			kinds := ownKinds
			defer func() { ownKinds = kinds }()
			ownKinds = workKinds()
			ownKinds[len(ownKinds)-1].Tries = 0
			return informs(c, f, l)
		},
		"it is done while the cluster sleeps": func(c Cluster, f Facts, l Limits) Decision {
			kinds := ownKinds
			defer func() { ownKinds = kinds }()
			ownKinds = workKinds()
			ownKinds[len(ownKinds)-1].ready = func(*deciding) bool { return true }
			return informs(c, f, l)
		},
	} {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(allLives(3000)) {
				w := informWorld(decide, seeded(seed))
				if caught(func() { w.live(hostileSteps) }) != nil {
					return
				}
			}
			require.Fail(t, "the mutant lives")
		})
	}
}
