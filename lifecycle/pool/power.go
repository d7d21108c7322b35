package pool

import (
	"slices"
)

// changePower keeps as many ready clusters awake as should run. A fresh and young cluster is the last to fall asleep and the first to wake.
func (d *deciding) changePower() {
	running := d.p.Running
	switch {
	case !d.p.Sleeps:
		running = len(d.kept)
	case d.p.Closed:
		running = 0
	}
	byState := map[State][]Cluster{}
	for _, c := range d.kept {
		byState[c.State] = append(byState[c.State], c)
	}
	awake, asleep := d.sortBest(byState[Waiting]), d.sortBest(byState[Asleep])
	// Where those that change are going is not known. They count as waking, so that none is woken too many; if they fall asleep, the look
	// after that wakes one.
	missing := running - len(awake) - len(byState[Changing])
	d.acts.Sleep = listIDs(awake[min(running, len(awake)):])
	d.acts.Wake = listIDs(asleep[:min(max(missing, 0), len(asleep))])
}

// sortBest orders the fresh clusters first, and among them the youngest.
func (d *deciding) sortBest(all []Cluster) []Cluster {
	slices.SortFunc(all, func(a, b Cluster) int {
		switch fresh := a.Digest == d.p.Digest; {
		case fresh == (b.Digest == d.p.Digest):
			return compareAge(b, a)
		case fresh:
			return -1
		}
		return 1
	})
	return all
}

func listIDs(all []Cluster) (ids []string) {
	for _, c := range all {
		ids = append(ids, c.ID)
	}
	return ids
}
