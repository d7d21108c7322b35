package lifecycle

import (
	"math/bits"
	"slices"
	"time"

	"github.com/ocpctl/ocpctl/internal/kinds"
)

// Untagged says that scans of the account saw something of a cluster without the cluster's tags, which runners attach on its cloud. What
// was seen so equally often is one of these.
type Untagged struct {
	Sights int       // scans in a row that saw it so
	At     time.Time // when the newest of them did
}

// due reports that an attempt is worth it: at the first sight, and then after twice as many scans each time. What cannot be tagged is seen
// by every scan.
func (u Untagged) due() bool { return bits.OnesCount(uint(max(u.Sights, 0))) == 1 }

// tagAt returns since when the cluster's tags are to be attached to what scans saw without them, or from when it may be tried again after
// an attempt was stopped. Zero: there is no need, or other work goes first. A create attaches them at its end.
func (m *deciding) tagAt() (at time.Time) {
	n := m.next()
	if n.Status != Ready || !kinds.Can(n.Provisioner, kinds.Tags) || m.otherWork() {
		return time.Time{}
	}
	for _, u := range m.f.Untagged {
		if u.due() && u.At.After(latest(n.ReadyAt, n.Work[Tag].DoneAt)) {
			at = latest(at, u.At)
		}
	}
	if a := m.f.Last; a != nil && a.Kind == Tag && a.wasStopped() && !at.IsZero() {
		at = latest(at, a.ClosedAt.Add(m.l.RetryBase))
	}
	return at
}

// otherWork reports that something else is to be done to the ready cluster, or that it is not awake. Tags wait for that.
func (m *deciding) otherWork() bool {
	return m.next().powerPhase() != "" || slices.ContainsFunc(m.kinds, func(k WorkKind) bool { return k.Kind != Tag && k.Kind != Inform && k.isOwed(m) })
}

// tagKind attaches the cluster's tags. It comes after all other work, and waits in no queue: the next decision tries again. Unless ocpctl stopped
// it, an attempt counts for everything that scans had seen when it began, even if it failed: the scans to come say what still has no tags, and
// due says when that is tried again.
func tagKind() WorkKind {
	return WorkKind{
		Kind: Tag, Job: JobTag, Text: "attaching of tags", Quiet: true, Unqueued: true, Single: true,
		due: (*deciding).tagAt,
		see: func(m *deciding, a Attempt) {
			if !a.wasStopped() {
				m.next().ChangeWork(Tag, func(w *Work) { w.DoneAt = a.OpenedAt })
			}
		},
		needless: func(m *deciding, _ Attempt) string {
			if m.otherWork() {
				return "other work on the cluster came up"
			}
			return ""
		},
	}
}
