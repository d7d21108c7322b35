package lifecycle

import (
	"strings"
	"time"
)

// observeMutants are of looks for people's requests.
var observeMutants = []mutant{
	{0, false, "nobody looks into a cluster", func(c Cluster, f Facts, l Limits) Decision {
		was := c.Work[Observe].DoneAt
		c.ChangeWork(Observe, func(w *Work) { w.DoneAt = f.Now })
		d := Decide(c, f, l)
		if d.Next.Work[Observe].DoneAt.Equal(f.Now) {
			d.Next.ChangeWork(Observe, func(w *Work) { w.DoneAt = was })
		}
		return d
	}},
	{0, false, "a cluster is looked into again and again", func(c Cluster, f Facts, l Limits) Decision {
		was := c.Work[Observe].DoneAt
		c.ChangeWork(Observe, func(w *Work) { w.DoneAt = time.Time{} })
		d := Decide(c, f, l)
		if d.Next.Work[Observe].DoneAt.IsZero() {
			d.Next.ChangeWork(Observe, func(w *Work) { w.DoneAt = was })
		}
		return d
	}},
	{0, false, "a look that failed is tried for ever", func(c Cluster, f Facts, l Limits) Decision {
		c.ResetWork(Observe)
		return Decide(c, f, l)
	}},
	{0, false, "a look that failed counts as one that was answered", func(c Cluster, f Facts, l Limits) Decision {
		f.Last = altered(f.Last, func(a *Attempt) {
			if a.Kind == Observe {
				a.Outcome = Succeeded
			}
		})
		return Decide(c, f, l)
	}},
	{2, false, "that nobody could look counts as that nobody was there", func(c Cluster, f Facts, l Limits) Decision {
		d := Decide(c, f, l)
		d.Unobserved = false
		d.Next.SleepWhy, d.Next.DesiredWhy.Unobserved = strings.ReplaceAll(d.Next.SleepWhy, notObserved, ""), false
		return d
	}},
	{4, false, "a look spends a try", func(c Cluster, f Facts, l Limits) Decision {
		d := Decide(c, f, l)
		if d.Open == Observe {
			d.Next.Tries++
		}
		return d
	}},
	{4, false, "a cluster is looked into while it is put to sleep", func(c Cluster, f Facts, l Limits) Decision {
		d := Decide(c, f, l)
		if d.Open == Sleep {
			d.Open, d.OpenJob = Observe, JobObserve
		}
		return d
	}},
	{8, false, "nobody decides when a cluster is to be looked into", func(c Cluster, f Facts, l Limits) Decision {
		d := Decide(c, f, l)
		if at := stepOf(d.Next).Add(-observeAhead); d.Next.WakeAt.Equal(at) {
			d.Next.WakeAt = stepOf(d.Next)
		}
		return d
	}},
}
