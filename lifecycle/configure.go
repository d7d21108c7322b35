package lifecycle

import (
	"fmt"
	"strings"
	"time"
)

// configureTries is how many tries in a row to install a cluster's add-ons may fail before ocpctl gives up. The try during the create
// counts as one.
const configureTries = 3

// configure opens an attempt to apply the cluster's add-ons again if that was requested. The cluster stays READY meanwhile. Requests
// are numbered, and an attempt meets the newest: one more attempt is enough for all requests that arrive while one runs.
func (m *deciding) configure() {
	n := m.next()
	switch {
	case !n.addonsOwed() || m.d.Open != "" || m.d.Wait != nil || !m.due():
	case len(n.Addons) == 0:
		m.dropConfigure("NoAddons", "the cluster has no add-ons")
	case m.mayRun(Configure):
		m.say(n.Status, n.Phase, "applying its add-ons again: %s", strings.Join(n.Addons, ", "))
		m.open(Configure, JobConfigure)
	}
}

// settleConfigure accounts for an attempt at the add-ons. It recorded nothing, so a lost attempt leaves nothing to remove. A failure
// for an older request says nothing about the newest one.
func (m *deciding) settleConfigure(a Attempt) {
	n := m.next()
	n.RetryAt = time.Time{}
	ours := a.stopped()
	switch {
	case !n.addonsOwed() || !m.wanted():
	case m.brought(a):
		m.addonsBrought(a)
	case n.AddonsWanted > a.AddonsWanted:
		n.AddonFailures = 0
		m.job(JobConfigure, JobRetrying, "Changed", "another refresh was requested")
	case ours:
		n.RetryAt = m.f.Now.Add(m.l.RetryBase)
		m.job(JobConfigure, JobRetrying, reasonOf(a), a.Message)
	case n.AddonFailures+1 >= configureTries || a.Outcome == Failure && !a.Retryable:
		m.dropConfigure(reasonOf(a), "%s", m.unbrought(a))
	default:
		n.AddonFailures++
		n.RetryAt = m.f.Now.Add(m.l.backoff(n.AddonFailures))
		m.job(JobConfigure, JobRetrying, reasonOf(a), m.unbrought(a))
	}
}

func (m *deciding) addonsBrought(a Attempt) {
	n := m.next()
	n.AddonsDone, n.AddonFailures = a.AddonsWanted, 0
	if n.addonsOwed() {
		m.job(JobConfigure, JobRetrying, "Changed", "another refresh was requested")
		return
	}
	m.say(n.Status, n.Phase, "its add-ons are installed: %s", strings.Join(n.Addons, ", "))
	m.job(JobConfigure, JobSucceeded, "", "")
}

// oweAddons schedules another try for the add-ons that the create did not install. A missing add-on is no reason to remove a cluster.
func (m *deciding) oweAddons(a Attempt) {
	n := m.next()
	if len(n.Addons) == 0 || m.brought(a) {
		return
	}
	n.AddonsWanted, n.AddonFailures = n.AddonsWanted+1, 1
	n.RetryAt = m.f.Now.Add(m.l.backoff(1))
	m.job(JobConfigure, JobRetrying, "AddonsMissing", m.unbrought(a))
	m.say(Ready, PhaseReady, "installed; %s; the others will be tried again", m.unbrought(a))
}

// dropConfigure gives up the request. The cluster keeps what it has, and a new request tries again.
func (m *deciding) dropConfigure(code, format string, args ...any) {
	n, why := m.next(), fmt.Sprintf(format, args...)
	m.job(JobConfigure, JobFailed, code, why)
	m.say(n.Status, n.Phase, "its add-ons could not be applied: %s. To try again, refresh the cluster", strings.TrimRight(why, "."))
	n.forgetAddons()
}

// cancelConfigure cancels the request when the cluster is no longer wanted.
func (m *deciding) cancelConfigure() {
	if n := m.next(); n.addonsOwed() {
		m.job(JobConfigure, JobFailed, "Cancelled", n.DesiredWhy)
		n.forgetAddons()
	}
}

// addonsOwed reports a request for the add-ons that is neither met nor given up.
func (c *Cluster) addonsOwed() bool { return c.AddonsWanted > c.AddonsDone }

func (c *Cluster) forgetAddons() { c.AddonsDone, c.AddonFailures = c.AddonsWanted, 0 }

// brought reports that the attempt saw every add-on installed. An attempt that succeeded without seeing them did not install them.
func (m *deciding) brought(a Attempt) bool {
	return a.Outcome == Succeeded && a.AddonsSeen != nil && *a.AddonsSeen >= len(m.next().Addons)
}

// unbrought says why not all add-ons are installed.
func (m *deciding) unbrought(a Attempt) string {
	switch {
	case a.Outcome != Succeeded && a.Message != "":
		return a.Message
	case a.AddonsSeen == nil:
		return "it is not known which of its add-ons are installed"
	}
	return fmt.Sprintf("%[2]d of its %[1]d add-ons are installed", len(m.next().Addons), *a.AddonsSeen)
}
