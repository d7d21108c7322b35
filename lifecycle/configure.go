package lifecycle

import (
	"fmt"
	"strings"
)

// configureKind is to apply the cluster's add-ons again. The try during the create counts as one. When it is given up, the cluster keeps what
// it has, and a new request tries again.
func configureKind() WorkKind {
	return WorkKind{
		Kind: Configure, Job: JobConfigure, Text: "refresh", Changed: "another refresh was requested", Tries: workTries, makesAccess: true,
		refuse: func(c Cluster) (code, why string) {
			if len(c.Addons) == 0 {
				return "NoAddons", "the cluster has no add-ons"
			}
			return "", ""
		},
		ready: func(m *deciding) bool { return m.next().powerPhase() == "" && !m.next().Work[Prepare].IsRequested() },
		begin: func(m *deciding) {
			n := m.next()
			m.say(n.Status, n.Phase, "applying its add-ons again: %s", strings.Join(n.Addons, ", "))
		},
		isMet: func(m *deciding, a Attempt) bool {
			return m.next().Work[Configure].IsRequested() && m.next().hasAllAddons(a)
		},
		met: func(m *deciding, _ Attempt) {
			n := m.next()
			m.say(n.Status, n.Phase, "its add-ons are installed: %s", strings.Join(n.Addons, ", "))
		},
		failure: func(m *deciding, a Attempt) string { return m.next().unbrought(a) },
		givenUp: func(m *deciding, why, _ string) {
			n := m.next()
			m.say(n.Status, n.Phase, "its add-ons could not be applied: %s. To try again, refresh the cluster", strings.TrimRight(why, "."))
		},
	}
}

// oweAddons schedules another try for the add-ons that the create did not install. A missing add-on is no reason to remove a cluster.
func (m *deciding) oweAddons(a Attempt) {
	n := m.next()
	if len(n.Addons) == 0 || n.hasAllAddons(a) {
		return
	}
	n.AskWork(Configure)
	m.owe(Configure, "AddonsMissing", n.unbrought(a))
	m.say(Ready, PhaseReady, "installed; %s; the others will be tried again", n.unbrought(a))
}

// settleAddons accounts for add-ons that a claimed cluster lacked and that were brought while it was prepared.
func (m *deciding) settleAddons(a Attempt) {
	n := m.next()
	switch {
	case !n.Work[Configure].IsRequested():
	case n.hasAllAddons(a):
		m.job(JobConfigure, JobSucceeded, "", a.Message)
		m.forget(m.kind(Configure))
	default:
		m.owe(Configure, "AddonsMissing", n.unbrought(a))
		m.say(Ready, n.usualPhase(), "claimed from the pool %s; %s; the others will be tried again", n.Pool, n.unbrought(a))
	}
}

// hasAllAddons reports that the attempt saw every add-on installed. An attempt that succeeded without seeing them did not install them.
func (c Cluster) hasAllAddons(a Attempt) bool {
	return a.Outcome == Succeeded && a.AddonsSeen != nil && *a.AddonsSeen >= len(c.Addons)
}

// unbrought says why not all add-ons are installed.
func (c Cluster) unbrought(a Attempt) string {
	switch {
	case a.Outcome != Succeeded && a.Message != "":
		return a.Message
	case a.AddonsSeen == nil:
		return "it is not known which of its add-ons are installed"
	}
	return fmt.Sprintf("%[2]d of its %[1]d add-ons are installed", len(c.Addons), *a.AddonsSeen)
}
