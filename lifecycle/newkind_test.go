package lifecycle

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// backup is a kind of work that exists in this test alone, and nothing outside this file knows it: how it is described, asked for and done, and
// which rules it keeps.
const (
	backup    Kind    = "backup"
	jobBackup JobType = "BACKUP"
)

var backupKind = WorkKind{Kind: backup, Job: jobBackup, Text: "backup", Changed: "another backup was requested", Tries: workTries}

// ofNextRelease decides as a server that knows backups.
func ofNextRelease(c Cluster, f Facts, l Limits) Decision {
	l.More = []WorkKind{backupKind}
	return Decide(c, f, l)
}

// backupWorld is a world in which people ask for backups, and runners make them.
func backupWorld(decide decider, pick func(int) int) *world {
	w := newWorld(nil, pick)
	w.decide = func(c Cluster, f Facts, l Limits) Decision {
		d := decide(c, f, l)
		if what := backupBreach(c, f, d); what != "" {
			w.breach(what, 0)
		}
		return d
	}
	w.added = map[Kind]func(*world, *runner){backup: (*world).backingUp}
	w.asks = []func(*world){(*world).askBackup}
	return w
}

func (w *world) askBackup() {
	if w.row.Status == Ready && w.row.Desired == Present {
		w.note("somebody asks for a backup")
		w.touch(func(c *Cluster) { c.AskWork(backup) })
		w.moveJob(JobMove{Type: jobBackup, To: JobPending})
	}
}

// backingUp is the way of a runner that makes a backup.
func (w *world) backingUp(r *runner) {
	if !r.phaseReported {
		w.say(r, false)
		r.installing, r.steps = true, 1+w.pick(4)
		return
	}
	w.needsPower(r)
	if r.steps--; r.steps > 0 {
		return
	}
	r.installing = false
	r.result = &Attempt{Outcome: Succeeded, Message: "3 volumes were copied"}
	if !w.fair && w.chance(2) {
		r.result = &Attempt{Outcome: Failure, Reason: "NotCopied", Message: "a volume was refused", Retryable: w.pick(3) > 0}
	}
}

// backupBreach returns the rule of backups that a decision breaks.
func backupBreach(c Cluster, f Facts, d Decision) string {
	n, now, was, a := d.Next, d.Next.Work[backup], c.Work[backup], f.Last
	over := f.Open == nil && a != nil && a.Kind == backup && a.Number > was.Seen
	kept := over && n.Desired == Present && was.Wanted > was.Done
	ended := false
	for _, j := range d.Jobs {
		ended = ended || j.Type == jobBackup && (j.To == JobSucceeded || j.To == JobFailed)
	}
	switch {
	case d.Open == backup && (n.Status != Ready || n.Desired != Present || n.SleepWanted || n.Power != Awake || now.Wanted == now.Done || f.Now.Before(now.RetryAt)):
		return "a backup begins that nobody wants now"
	case d.Open == backup && (d.OpenJob != jobBackup || d.Request != now.Wanted):
		return "a backup is of another request, or another job"
	case over && now.Seen != a.Number || !over && len(f.Missed) == 0 && now.Seen != was.Seen:
		return "a backup is accounted for that was not, or the other way round"
	case kept && a.Outcome == Succeeded && now.Done < a.Request, kept && a.Outcome == Succeeded && a.Request < was.Wanted && now.Done == was.Wanted:
		return "a backup that was made is made again, or one that was asked for later is not"
	case kept && a.Outcome != Succeeded && a.Request < was.Wanted && now.Done > was.Done:
		return "a backup is given up that was asked for later"
	case kept && a.Outcome != Succeeded && !a.wasStopped() && a.Request == was.Wanted && now.Wanted > now.Done && now.Failures != was.Failures+1:
		return "a backup that failed counts for nothing"
	case now.Done != was.Done && now.Done == now.Wanted && !ended:
		return "a request was forgotten, and its job goes on"
	case now.Failures >= workTries || now.Failures > 0 && now.Wanted == now.Done:
		return "a backup that fails is tried for ever"
	case now.Wanted > now.Done && (n.Phase == Restoring || n.Phase == Released):
		return "backups are wanted of a cluster that goes"
	}
	return ""
}

func TestAKindThatIsAddedKeepsTheRulesInRandomLives(t *testing.T) {
	ends := map[JobStatus]int{}
	for seed := range uint64(lives(1500)) {
		w := backupWorld(ofNextRelease, seeded(seed))
		if b := caught(func() { w.live(hostileSteps) }); b != nil {
			require.Failf(t, "a rule is broken", "seed %d, rule %v: %s\n%s", seed, b.rules, b.what, w.historyText())
		}
		for _, j := range w.jobs {
			if j.kind == jobBackup {
				ends[j.status]++
			}
		}
	}
	require.Len(t, ends, 2, "no job is left over: %v", ends)
	require.NotZero(t, min(ends[JobSucceeded], ends[JobFailed]))
}

func TestEveryMutantOfAnAddedKindIsCaught(t *testing.T) {
	of := func(change func(*Attempt)) decider {
		return func(c Cluster, f Facts, l Limits) Decision {
			f.Last = altered(f.Last, func(a *Attempt) {
				if a.Kind == backup {
					change(a)
				}
			})
			return ofNextRelease(c, f, l)
		}
	}
	for name, decide := range map[string]decider{
		"backups that fail are tried for ever": func(c Cluster, f Facts, l Limits) Decision {
			l.More = []WorkKind{backupKind}
			l.More[0].Tries = 0
			return Decide(c, f, l)
		},
		"a backup that failed is one that was made": of(func(a *Attempt) { a.Outcome = Succeeded }),
		"a backup meets what is asked for later":    of(func(a *Attempt) { a.Request += 9 }),
		"a backup that failed was stopped":          of(func(a *Attempt) { a.Outcome = Stopped }),
		"backups are made while a cluster sleeps": func(c Cluster, f Facts, l Limits) Decision {
			l.More = []WorkKind{backupKind}
			l.More[0].ready = func(*deciding) bool { return true }
			return Decide(c, f, l)
		},
	} {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(allLives(3000)) {
				w := backupWorld(nil, seeded(seed))
				w.decide = func(c Cluster, f Facts, l Limits) Decision {
					d := decide(c, f, l)
					if what := backupBreach(c, f, d); what != "" {
						w.breach(what, 0)
					}
					return d
				}
				if caught(func() { w.live(hostileSteps) }) != nil {
					return
				}
			}
			require.Fail(t, "the mutant lives")
		})
	}
}

// Decisions of servers that know backups and of servers that do not alternate at random. Those that do not leave backups alone.
func TestReleasesThatKnowAKindAndThatDoNotRunBesideEachOther(t *testing.T) {
	made := 0
	for seed := range uint64(lives(1500)) {
		w := backupWorld(ofNextRelease, seeded(seed))
		next := w.decide
		w.decide = func(c Cluster, f Facts, l Limits) Decision {
			if w.blind = !w.fair && c.Version%2 == 1; !w.blind {
				return next(c, f, l)
			}
			d := Decide(c, f, l)
			if what := touchesBackups(c, f, d); what != "" {
				w.breach(what, 0)
			}
			return d
		}
		if b := caught(func() { w.live(hostileSteps) }); b != nil {
			require.Failf(t, "a rule is broken", "seed %d, rule %v: %s\n%s", seed, b.rules, b.what, w.historyText())
		}
		for _, a := range w.attempts {
			if a.Kind == backup && a.Outcome == Succeeded {
				made++
			}
		}
	}
	require.NotZero(t, made)
}

// touchesBackups returns what a decision does to backups that should leave them alone.
func touchesBackups(c Cluster, f Facts, d Decision) string {
	if d.Open == backup || d.Next.Work[backup] != c.Work[backup] {
		return fmt.Sprintf("backups were %+v and are %+v", c.Work[backup], d.Next.Work[backup])
	}
	for _, j := range d.Jobs {
		if j.Type == jobBackup {
			return fmt.Sprintf("the job of a backup moves to %s", j.To)
		}
	}
	for _, e := range d.Effects {
		if e.Kind == Launch && f.Open != nil && f.Open.Kind == backup {
			return "a runner starts that cannot make backups"
		}
	}
	return ""
}
