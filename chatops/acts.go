package chatops

import (
	"fmt"
	"time"
)

// Act is something that somebody did about a cluster, apart from its steps.
type Act struct {
	Action string    // as the audit trail names it
	By     string    // who did it; empty: the server
	With   string    // shared, offered, transferred: with or to whom
	Until  time.Time // extended: when its lifetime ends now; held: until when
	Count  int       // scaled: to how many workers
	Why    string    // in the person's words; empty: they gave none
}

// Moment returns how a cluster's thread tells an act. told is false for what the thread does not tell: what its steps tell, and what
// concerns nobody else.
func (a Act) Moment(at time.Time) (m Moment, told bool) {
	m.At = at
	why := a.Why
	switch a.Action {
	case "extended":
		m.What, m.Why = "extended", "its lifetime ends "+precise(a.Until)
	case "hold_set":
		m.What, m.Why = "held", "until "+precise(a.Until)
		if why != "" {
			m.Why += " (" + why + ")"
		}
	case "hold_lifted":
		m.What, m.Why = "hold lifted", why
	case "shared":
		m.What, m.Why = "shared", "with "+a.With
	case "unshared":
		m.What, m.Why = "share taken back", "with "+a.With
	case "approval_voted", "approval_approved":
		m.What, m.Why = "approved", why
	case "handover_offered":
		m.What = "offered to " + a.With
	case "handover_accepted":
		m.What = "offer accepted"
	case "handover_declined":
		m.What = "offer declined"
	case "handover_withdrawn":
		m.What, m.Why = "offer withdrawn", why
	case "handover_expired":
		m.What, m.Why = "offer expired", why
	case "transferred":
		m.What, m.Why = "transferred", "its owner is now "+a.With
	case "scale_asked":
		m.What = fmt.Sprintf("scaled to %d workers", a.Count)
	case "refresh_asked":
		m.What, m.Why = "add-ons applied again", why
	case "sleep_asked":
		m.What, m.Why = "put to sleep", why
	case "wake_asked":
		m.What, m.Why = "woken", why
	case "retry_asked":
		m.What, m.Why = "teardown tried again", why
	default:
		return Moment{}, false
	}
	if a.By != "" {
		m.What += " by " + a.By
	}
	return m, true
}
