package lifecycle

import "time"

// tagMutants are of the attaching of tags.
var tagMutants = []mutant{
	{0, false, "nobody attaches tags", func(c Cluster, f Facts, l Limits) Decision {
		f.Untagged = nil
		return Decide(c, f, l)
	}},
	{0, false, "what cannot be tagged is tried after every scan", func(c Cluster, f Facts, l Limits) Decision {
		once := make([]Untagged, len(f.Untagged))
		for i, u := range f.Untagged {
			once[i] = Untagged{1, u.At}
		}
		f.Untagged = once
		return Decide(c, f, l)
	}},
	{0, false, "an attempt at the tags that failed is tried again and again", func(c Cluster, f Facts, l Limits) Decision {
		f.Last = altered(f.Last, func(a *Attempt) {
			if a.Kind == Tag && a.Outcome == Failure {
				a.Outcome = Stopped
			}
		})
		return Decide(c, f, l)
	}},
	{0, false, "a stopped attempt at the tags counts", func(c Cluster, f Facts, l Limits) Decision {
		f.Last = altered(f.Last, func(a *Attempt) {
			if a.Kind == Tag && a.Outcome == Stopped {
				a.Outcome = Lost
			}
		})
		return Decide(c, f, l)
	}},
	{0, false, "what a create has tagged is tagged again", func(c Cluster, f Facts, l Limits) Decision {
		was := c.ReadyAt
		if c.Status == Ready {
			c.ReadyAt = epoch
		}
		d := Decide(c, f, l)
		if c.Status == Ready {
			d.Next.ReadyAt = was
		}
		return d
	}},
	{0, false, "other work waits for tags", func(c Cluster, f Facts, l Limits) Decision {
		d := Decide(c, f, l)
		if f.Open != nil && f.Open.Kind == Tag && d.Next.Desired == Present {
			d.Effects, d.StopNow = nil, false
		}
		return d
	}},
	{4, false, "tags are attached while the cluster is put to sleep", func(c Cluster, f Facts, l Limits) Decision {
		d := Decide(c, f, l)
		if d.Open == Sleep && len(f.Untagged) > 0 {
			d.Open, d.OpenJob = Tag, JobTag
		}
		return d
	}},
	{4, false, "the attaching of tags spends a try", func(c Cluster, f Facts, l Limits) Decision {
		d := Decide(c, f, l)
		if d.Open == Tag {
			d.Next.Tries++
		}
		return d
	}},
	{8, false, "nobody decides when a free runner may attach tags", func(c Cluster, f Facts, l Limits) Decision {
		d := Decide(c, f, l)
		if len(f.Untagged) > 0 && d.Open == "" && f.Open == nil && d.Next.WakeAt.Equal(f.Now.Add(l.LookAgain)) {
			d.Next.WakeAt = f.Now.Add(5 * time.Minute)
		}
		return d
	}},
}
