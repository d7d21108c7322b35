package lifecycle

import "fmt"

// scaleKind is the change to a requested number of workers. A request is cleared once it is met, given up or out of bounds, so that nothing is
// tried for ever. The cluster keeps the workers it has.
func scaleKind() WorkKind {
	return WorkKind{
		Kind: Scale, Job: JobScale, Text: "scaling", Changed: otherWorkers, Tries: workTries, makesAccess: true,
		owed: func(m *deciding) bool {
			n := m.next()
			return n.WorkersWanted != nil && n.Work[Scale].IsRequested()
		},
		refuse: func(c Cluster) (code, why string) {
			switch {
			case c.WorkersLeast == nil || c.WorkersMost == nil:
				return "NotScalable", "its profile does not allow scaling"
			case *c.WorkersWanted < *c.WorkersLeast || *c.WorkersWanted > *c.WorkersMost:
				return "OutOfBounds", fmt.Sprintf("its profile allows %d to %d workers", *c.WorkersLeast, *c.WorkersMost)
			}
			return "", ""
		},
		begin: func(m *deciding) {
			n := m.next()
			m.d.Workers = n.WorkersWanted
			m.say(n.Status, n.Phase, "scaling from %d to %s", n.workers(), workers(*n.WorkersWanted))
		},
		see: func(m *deciding, a Attempt) {
			if a.WorkersSeen != nil {
				m.next().Workers = a.WorkersSeen
			}
		},
		outdated: isOtherNumber,
		isMet: func(m *deciding, a Attempt) bool {
			return a.Outcome == Succeeded && a.WorkersSeen != nil && *a.WorkersSeen == a.WorkersWanted && !isOtherNumber(*m.next(), a)
		},
		met: func(m *deciding, a Attempt) {
			n := m.next()
			m.say(n.Status, n.Phase, "it has %s now", workers(a.WorkersWanted))
		},
		failure: func(_ *deciding, a Attempt) string { return describeMiss(a) },
		givenUp: func(m *deciding, why, _ string) {
			n := m.next()
			m.say(n.Status, n.Phase, "scaling to %s failed: %s", workers(*n.WorkersWanted), why)
		},
		forget: func(c *Cluster) { c.WorkersWanted = nil },
		needless: func(m *deciding, a Attempt) string {
			if isOtherNumber(*m.next(), a) {
				return otherWorkers
			}
			return ""
		},
	}
}

const otherWorkers = "another number of workers was requested"

// isOtherNumber reports that an attempt is for a number of workers that is not the requested one.
func isOtherNumber(c Cluster, a Attempt) bool {
	return c.WorkersWanted == nil || *c.WorkersWanted != a.WorkersWanted
}

// workers returns the number of workers, as far as it is known.
func (c *Cluster) workers() int {
	switch {
	case c.Workers != nil:
		return *c.Workers
	case c.WorkersBase != nil:
		return *c.WorkersBase
	}
	return 0
}

// fewer reports that it runs with fewer workers than its profile defines.
func (c *Cluster) fewer() bool { return c.WorkersBase != nil && c.workers() < *c.WorkersBase }

// describeMiss says why a scale attempt did not reach its number. A successful attempt without a count did not reach it either.
func describeMiss(a Attempt) string {
	switch {
	case a.Outcome != Succeeded:
		return a.Message
	case a.WorkersSeen == nil:
		return "the workers were not counted"
	}
	return fmt.Sprintf("%s ready", workers(*a.WorkersSeen))
}

func workers(n int) string {
	if n == 1 {
		return "1 worker"
	}
	return fmt.Sprintf("%d workers", n)
}
