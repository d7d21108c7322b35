package lifecycle

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestDestroyAtIsTheEarliestEndAndNamesIt(t *testing.T) {
	at := func(h int) time.Time { return epoch.Add(time.Duration(h) * time.Hour) }
	drained := Reason{Code: ReasonDrain, By: "Ada", Words: "the account is closed", Where: Place{Region: "us-east-1"}}
	for name, c := range map[string]struct {
		ends Ends
		at   time.Time
		why  string
	}{
		"the time to live":             {Ends{TTL: at(4), Max: at(12)}, at(4), "the end of its time to live"},
		"the maximum before the rest":  {Ends{TTL: at(14), Max: at(12), PRClosed: at(13)}, at(12), "the profile's maximum lifetime"},
		"a closed pull request":        {Ends{TTL: at(4), Max: at(12), PRClosed: at(2)}, at(2), "the pull request was closed"},
		"one that became a draft":      {Ends{TTL: at(4), Max: at(12), PRClosed: at(2), PRWhy: Reason{Code: ReasonPRDraft}}, at(2), "the pull request became a draft"},
		"a removed label":              {Ends{TTL: at(4), Max: at(12), PRClosed: at(3), LabelRemoved: at(2)}, at(2), "its label was removed"},
		"a finished run":               {Ends{TTL: at(4), Max: at(12), RunFinished: at(1)}, at(1), "its workflow run finished"},
		"an ended claim":               {Ends{TTL: at(4), Max: at(12), Claim: at(3)}, at(3), "its claim ended"},
		"a hold before the first end":  {Ends{TTL: at(4), Max: at(12), Hold: at(3)}, at(4), "the end of its time to live"},
		"a hold after the first end":   {Ends{TTL: at(4), Max: at(12), PRClosed: at(2), Hold: at(6)}, at(6), "the pull request was closed, postponed by a hold"},
		"a hold up to the maximum":     {Ends{TTL: at(4), Max: at(12), Hold: at(12)}, at(12), "the profile's maximum lifetime"},
		"a hold past the maximum":      {Ends{TTL: at(4), Max: at(12), Hold: at(20)}, at(12), "the profile's maximum lifetime"},
		"a drain, whatever holds it":   {Ends{TTL: at(4), Max: at(12), Drain: at(3), DrainWhy: drained, Hold: at(6)}, at(3), "Ada is draining the clusters in the region us-east-1: the account is closed"},
		"a drain after the rest":       {Ends{TTL: at(4), Max: at(12), Drain: at(7), DrainWhy: drained, Hold: at(6)}, at(6), "the end of its time to live, postponed by a hold"},
		"a drain past the maximum":     {Ends{TTL: at(14), Max: at(12), Drain: at(13), DrainWhy: drained}, at(12), "the profile's maximum lifetime"},
		"an end after the one present": {Ends{TTL: at(4), Max: at(12), PRClosed: at(5)}, at(4), "the end of its time to live"},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.at, c.ends.DestroyAt())
			require.Equal(t, c.why, c.ends.Reason().String())
		})
	}
}

func TestExtendAddsToThePresentEndAndStopsAtTheMaximum(t *testing.T) {
	ends := Ends{TTL: epoch.Add(4 * time.Hour), Max: epoch.Add(12 * time.Hour)}
	next, capped := ends.Extend(4 * time.Hour)
	require.False(t, capped)
	require.Equal(t, epoch.Add(8*time.Hour), next.TTL)
	next, capped = next.Extend(4*time.Hour + 1)
	require.True(t, capped)
	require.Equal(t, ends.Max, next.TTL)
	next, capped = next.Extend(time.Hour)
	require.True(t, capped, "the maximum never moves")
	require.Equal(t, ends.Max, next.DestroyAt())
}

func TestTheWaitDoublesUpToADay(t *testing.T) {
	l := Limits{RetryBase: 10 * time.Minute, RetryMax: 24 * time.Hour}
	for failures, want := range map[int]time.Duration{
		0: 10 * time.Minute, 1: 10 * time.Minute, 2: 20 * time.Minute, 3: 40 * time.Minute, 8: 1280 * time.Minute,
		9: 24 * time.Hour, 500: 24 * time.Hour,
	} {
		require.Equal(t, want, l.backoff(failures), "after %d failures", failures)
	}
}

// What is decided about an open attempt, by what is known of it.
func TestAnOpenAttemptIsJudgedByWhatIsKnownOfIt(t *testing.T) {
	opened := epoch.Add(-5 * time.Minute)
	unclaimed := Attempt{Number: 3, Kind: Create, OpenedAt: opened}
	impatient := Attempt{Number: 3, Kind: Create, OpenedAt: epoch.Add(-limits.LaunchPatience)}
	claimed := Attempt{Number: 3, Kind: Create, OpenedAt: opened, ClaimedAt: opened, LeaseUntil: epoch, Phase: Installing}
	launched := unclaimed
	launched.LaunchedAt = opened
	silent := claimed
	silent.LeaseUntil = epoch.Add(-limits.LeaseGrace - 1)
	for name, c := range map[string]struct {
		open    Attempt
		runner  Sighting
		desired Desired
		close   Outcome
		effect  EffectKind
	}{
		"an unseen launch is asked for again":                   {unclaimed, Unknown, Present, "", Launch},
		"a launch seen undone is asked for again":               {unclaimed, NotStarted, Present, "", Launch},
		"a runner seen running is left to claim":                {launched, Alive, Present, "", ""},
		"a start that may be incomplete is asked for again":     {unclaimed, Alive, Present, "", Launch},
		"a runner that ended before it began is lost":           {unclaimed, Ended, Present, Lost, ""},
		"a launch nobody claims is given up":                    {impatient, Unknown, Present, Lost, ""},
		"an unwanted launch is cancelled":                       {unclaimed, Unknown, Absent, Cancelled, ""},
		"an unseen runner works on within its lease":            {claimed, Unknown, Present, "", ""},
		"a runner never started by this dispatcher keeps going": {claimed, NotStarted, Present, "", ""},
		"a runner seen ended is lost":                           {claimed, Ended, Present, Lost, ""},
		"a silent runner is lost after lease and grace":         {silent, Unknown, Present, Lost, ""},
		"an unwanted install is asked to stop":                  {claimed, Alive, Absent, "", StopRunner},
		"an unwanted install that ended is lost":                {claimed, Ended, Absent, Lost, ""},
	} {
		t.Run(name, func(t *testing.T) {
			row := kindWorld().row
			row.Status, row.Phase, row.Desired, row.DesiredWhy = Creating, Installing, c.desired, Reason{Code: ReasonAsked, Words: "somebody asked for its end"}
			d := Decide(row, Facts{Now: epoch, Open: &c.open, Runner: c.runner}, limits)
			require.Empty(t, d.Open)
			if c.close == "" {
				require.Nil(t, d.Close)
			} else {
				require.Equal(t, c.close, d.Close.Outcome)
				require.Equal(t, epoch, d.Next.WakeAt, "what follows a closing follows at once")
			}
			if c.effect == "" {
				require.Empty(t, d.Effects)
			} else {
				require.Equal(t, []Effect{{c.effect, 3}}, d.Effects)
			}
			require.Equal(t, c.effect == StopRunner, d.StopNow)
		})
	}
}

// What is wrong with a runner reaches people while it does not start and when it is given up.
func TestTroubleWithARunnerIsShownAndThenTold(t *testing.T) {
	trouble := Trouble{Code: "RunnerUnschedulable", Message: "no node takes the runner's pod", Whose: "ocpctl", Next: "add a node"}
	told := func(t *testing.T, d Decision, before string) {
		require.Equal(t, &Closing{Number: 1, Lease: d.Close.Lease, Outcome: Lost, Message: before + ": no node takes the runner's pod",
			Reason: "RunnerUnschedulable", Whose: "ocpctl", Next: "add a node"}, d.Close)
	}
	row := kindWorld().row
	row.Status, row.Phase = Creating, Preflight
	open := Attempt{Number: 1, Kind: Create, OpenedAt: epoch}
	f := Facts{Now: epoch, Open: &open, Runner: Alive, Trouble: trouble}
	d := Decide(row, f, limits)
	require.Equal(t, Progress{Step: trouble.Message}, d.Next.Progress)

	f.Trouble, open.Refused = Trouble{}, trouble
	d = Decide(d.Next, f, limits)
	require.Equal(t, Progress{Step: trouble.Message}, d.Next.Progress, "a start that was refused")
	f.Now = epoch.Add(limits.LaunchPatience)
	told(t, Decide(d.Next, f, limits), "no runner claimed it within 10m0s")

	open.Refused = Trouble{}
	require.Equal(t, Progress{}, Decide(d.Next, Facts{Now: epoch, Open: &open, Runner: Alive}, limits).Next.Progress, "it is over")
	open.ClaimedAt, open.LeaseUntil = epoch, epoch.Add(lease)
	told(t, Decide(row, Facts{Now: epoch, Open: &open, Runner: Ended, Trouble: trouble}, limits), "the runner ended without a result")
}

// A teardown waits for the runner of the attempt before it, whatever it does there.
func TestNothingBeginsBesideALivingRunner(t *testing.T) {
	last := Attempt{Number: 2, Kind: Create, OpenedAt: epoch, ClosedAt: epoch, Outcome: Lost, Recorded: true}
	for name, c := range map[string]struct {
		row  func(*Cluster)
		show func(*testing.T, Cluster)
	}{
		"a teardown": {func(c *Cluster) {
			c.Desired, c.DesiredWhy = Absent, Reason{Code: ReasonAsked, Words: "somebody asked for its end"}
		}, func(t *testing.T, n Cluster) {
			require.Equal(t, Stopping, n.Phase)
			require.Equal(t, "somebody asked for its end; stopping the previous attempt first", n.Why.String())
		}},
		"a clean-up": {func(*Cluster) {}, func(t *testing.T, n Cluster) {
			require.Equal(t, Cleaning, n.Phase)
			require.Equal(t, "stopping the previous attempt first", n.Progress.Step)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			row := kindWorld().row
			row.Status, row.Phase, row.Seen, row.Tries = Creating, Cleaning, 2, 1
			c.row(&row)
			d := Decide(row, Facts{Now: epoch, Last: &last, Beside: []int{1}}, limits)
			require.Empty(t, d.Open)
			require.Empty(t, d.Jobs)
			require.Equal(t, []Effect{{StopRunner, 1}}, d.Effects)
			require.Equal(t, epoch.Add(limits.LookAgain), d.Next.WakeAt)
			c.show(t, d.Next)
			d = Decide(d.Next, Facts{Now: epoch, Last: &last}, limits)
			require.Equal(t, Destroy, d.Open)
			require.Empty(t, d.Next.Progress)
		})
	}
}

// What counts as a proof of zero, one thing wrong at a time.
func TestOnlyTwoCountsApartAfterTheEndProveZero(t *testing.T) {
	names := []string{"ccoctl-1", "infra-1"}
	exit := epoch.Add(-30 * time.Minute)
	pass := func(after time.Duration) Pass {
		return Pass{At: exit.Add(after), Clean: true, Identities: names}
	}
	proof := func(change func(*Attempt)) Attempt {
		a := Attempt{Number: 2, Kind: Destroy, Outcome: Succeeded, ClosedAt: epoch, ToolExitedAt: exit, Passes: []Pass{pass(0), pass(limits.VerifyGap)}}
		change(&a)
		return a
	}
	for name, c := range map[string]struct {
		last     Attempt
		released bool
	}{
		"two clean passes of every name":        {proof(func(*Attempt) {}), true},
		"an earlier dirty pass does not matter": {proof(func(a *Attempt) { a.Passes = append([]Pass{{At: exit}}, a.Passes...) }), true},
		"one pass":                              {proof(func(a *Attempt) { a.Passes = a.Passes[1:] }), false},
		"no pass, whatever the exit code":       {proof(func(a *Attempt) { a.Passes = nil }), false},
		"passes too close together":             {proof(func(a *Attempt) { a.Passes[1].At = exit.Add(limits.VerifyGap - 1) }), false},
		"a dirty pass between":                  {proof(func(a *Attempt) { a.Passes[1].Clean = false }), false},
		"a name that was not looked for":        {proof(func(a *Attempt) { a.Passes[0].Identities = names[1:] }), false},
		"a pass beside the living destroyer":    {proof(func(a *Attempt) { a.Passes[0].At = exit.Add(-1) }), false},
		"a destroyer whose end nobody saw":      {proof(func(a *Attempt) { a.ToolExitedAt = time.Time{} }), false},
		"an attempt that did not succeed":       {proof(func(a *Attempt) { a.Outcome = Lost }), false},
		"a create":                              {proof(func(a *Attempt) { a.Kind = Create }), false},
	} {
		t.Run(name, func(t *testing.T) {
			row := kindWorld().row
			row.Status, row.Phase, row.Desired, row.DesiredWhy = Destroying, Verifying, Absent, Reason{Code: ReasonAsked, Words: "somebody asked for its end"}
			d := Decide(row, Facts{Now: epoch, Last: &c.last, Identities: names}, limits)
			require.Equal(t, c.released, d.Next.Phase == Released, "%s", d.Next.Why)
		})
	}
}

func TestARecordIsCleanedUpAfterWhateverItsRunnerSaid(t *testing.T) {
	for _, how := range []Outcome{Failure, Stopped, Waiting, Lost} {
		row := kindWorld().row
		row.Status, row.Phase, row.Tries = Creating, Recording, 1
		last := Attempt{Number: 1, Kind: Create, Recorded: true, Outcome: how, Message: "no word", Retryable: true}
		d := Decide(row, Facts{Now: epoch, Last: &last, Identities: []string{"infra-1"}}, limits)
		require.Equal(t, Cleaning, d.Next.Phase, "%s", how)
		row = d.Next
		d = Decide(row, Facts{Now: row.RetryAt, Last: &last, Identities: []string{"infra-1"}}, limits)
		require.Equal(t, Destroy, d.Open, "%s", how)
	}
}

func TestAReleasedClusterIsLeftAlone(t *testing.T) {
	w := kindWorld()
	w.destroy()
	w.reach(t, Released)
	d := Decide(w.row, w.facts(true), limits)
	require.Equal(t, Decision{Next: w.row}, d)
	require.Zero(t, d.Next.WakeAt)
}

func TestAnAttemptThatCountedNothingKeepsTheKnownBlockers(t *testing.T) {
	row := kindWorld().row
	row.Status, row.Phase, row.Desired, row.DesiredWhy = Failed, DestroyBlocked, Absent, Reason{Code: ReasonAsked, Words: "somebody asked for its end"}
	row.Blockers, row.DestroyFailures, row.Seen = []Blocker{{Name: "vpc of infra-1"}}, 3, 4
	row.StuckReason, row.StuckWhose, row.StuckNext = "TerminationProtected", "user", "run this"
	last := Attempt{Number: 5, Kind: Destroy, Outcome: Lost, Message: "the runner ended without a result"}
	d := Decide(row, Facts{Now: epoch, Last: &last, Identities: []string{"infra-1"}}, limits)
	require.Equal(t, []Blocker{{Name: "vpc of infra-1"}}, d.Next.Blockers)
	require.Equal(t, []string{"TerminationProtected", "user", "run this"}, []string{d.Next.StuckReason, d.Next.StuckWhose, d.Next.StuckNext})
	require.Equal(t, 4, d.Next.DestroyFailures)
	require.Equal(t, epoch.Add(limits.backoff(4)), d.Next.RetryAt)
	require.Equal(t, d.Next.RetryAt, d.Next.WakeAt)
}

func TestATeardownThatLeftSomethingSaysWhoMustActUntilOneLeavesNothing(t *testing.T) {
	row := kindWorld().row
	row.Status, row.Phase, row.Desired, row.DesiredWhy, row.Seen = Destroying, Verifying, Absent, Reason{Code: ReasonAsked, Words: "somebody asked for its end"}, 4
	last := Attempt{Number: 5, Kind: Destroy, Outcome: Failure, Reason: "TerminationProtected", Whose: "user", Next: "run this", Message: "an instance has termination protection"}
	d := Decide(row, Facts{Now: epoch, Last: &last, Identities: []string{"infra-1"}}, limits)
	require.Equal(t, []string{"TerminationProtected", "user", "run this"}, []string{d.Next.StuckReason, d.Next.StuckWhose, d.Next.StuckNext})
	clean := func(after time.Duration) Pass {
		return Pass{At: epoch.Add(time.Hour + after), Clean: true, Identities: []string{"infra-1"}}
	}
	last = Attempt{Number: 6, Kind: Destroy, Outcome: Succeeded, ToolExitedAt: epoch.Add(time.Hour), Passes: []Pass{clean(time.Minute), clean(time.Hour)}}
	d = Decide(d.Next, Facts{Now: epoch.Add(3 * time.Hour), Last: &last, Identities: []string{"infra-1"}}, limits)
	require.Equal(t, Released, d.Next.Phase, d.Next.Why)
	require.Empty(t, d.Next.StuckReason+d.Next.StuckWhose+d.Next.StuckNext)
}
