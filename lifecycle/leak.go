package lifecycle

import (
	"fmt"
	"strings"
	"time"
)

// Leak is what was seen in the cloud of a cluster after its release, once its removal was allowed: by a setting or by an admin.
type Leak struct {
	SeenAt    time.Time // the newest sight. One from before the release proves nothing
	Resources []string  // ARNs, or type and id
	NameOf    string    // id of the cluster that has its name now; empty: the name is free
}

// leakShown is how many resources the reason of a re-opened teardown names.
const leakShown = 3

// reopen takes a released cluster back to its teardown if something of it was found. It is the only way out of Released. Nothing is
// re-opened while another cluster has the name: the teardown deletes DNS records and roles by their exact names, which would then be that
// cluster's.
func (m *deciding) reopen() bool {
	n, leak := m.next(), m.f.Leaked
	if leak == nil || leak.NameOf != "" || !leak.SeenAt.After(m.c.ReleasedAt) {
		return false
	}
	m.say(Destroying, Restoring, "found again: %s seen after the final count was zero; the teardown is done again", leak.text())
	n.ReleasedAt, n.ReopenedAt, n.Reopened = time.Time{}, m.f.Now, n.Reopened+1
	n.DestroyFailures, n.RetryAt, n.Blockers, n.Abandoned = 0, time.Time{}, nil, false
	n.StuckReason, n.StuckWhose, n.StuckNext = "", "", ""
	n.Teardown = JobJanitorDestroy
	m.job(JobJanitorDestroy, JobPending, "", "")
	return true
}

func (l Leak) text() string {
	shown := l.Resources[:min(len(l.Resources), leakShown)]
	switch more := len(l.Resources) - len(shown); {
	case len(shown) == 0:
		return "something of it was"
	case more > 0:
		return fmt.Sprintf("%s and %d more were", strings.Join(shown, ", "), more)
	case len(shown) == 1:
		return shown[0] + " was"
	}
	return strings.Join(shown, ", ") + " were"
}

// Removable are the classes of orphans that a teardown of ocpctl can remove. What belongs to somebody else, or to nobody known, never is.
var Removable = []OrphanClass{ClassReleased, ClassUnrecorded, ClassUnknown}
