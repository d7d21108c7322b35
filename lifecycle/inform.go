package lifecycle

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/ocpctl/ocpctl/internal/kinds"
)

// informSoon is how soon after a cluster was used, or something was deployed to it, ocpctl looks for links in it. The time to the next look
// doubles, up to the limit.
const informSoon = time.Minute

// Link is the address of something that runs in a cluster. It comes from a user of the cluster, who may be anybody.
type Link struct {
	Title string `json:"title,omitempty"` // empty: it has none
	URL   string `json:"url"`             // http or https, of a host below the cluster's own apps domain
}

// LinksNow returns the links that lead somewhere: those of a cluster that can be used.
func (c Card) LinksNow() []Link {
	if !c.Usable() || c.Desired != Present {
		return nil
	}
	return c.Links
}

// CardEnd returns the end that a cluster's identity card names. Use does not move it: the card says apart what follows from use.
func (c Cluster) CardEnd() time.Time {
	ends := c.Ends
	ends.Idle = time.Time{}
	if c.UseExtends {
		ends.TTL = ends.Max
	}
	return ends.DestroyAt()
}

// informKind writes the identity card and reads the links, in one attempt. It is requested when the card would say something else, and when it
// is time for another look. Nobody waits for it, so it is the last of all work, and waits in no queue.
func informKind() WorkKind {
	return WorkKind{
		Kind: Inform, Job: JobInform, Text: "change of its identity card", Changed: "what it says changed meanwhile", Quiet: true, Unqueued: true, Tries: workTries,
		prepare: (*deciding).askInform,
		due:     (*deciding).informAt,
		owed:    func(m *deciding) bool { return m.next().Work[Inform].IsRequested() },
		met:     func(m *deciding, _ Attempt) { m.noteLook() },
		givenUp: func(m *deciding, _, _ string) { m.noteLook() },
	}
}

// informs reports that the cluster has a card and links, and is awake.
func (m *deciding) informs() bool {
	n := m.next()
	return m.l.InformEvery > 0 && kinds.Can(n.Provisioner, kinds.Look) && n.Status == Ready && n.powerPhase() == ""
}

func (m *deciding) askInform() {
	if !m.informs() {
		return
	}
	n := m.next()
	w, says := n.Work[Inform], m.digestCard()
	if w.Of == says && (w.IsRequested() || m.f.Now.Before(m.lookAt())) {
		return
	}
	n.AskWork(Inform)
	n.ChangeWork(Inform, func(w *Work) { w.Of = says })
}

// informAt returns when something is next to be done; zero: nothing, as things stand.
func (m *deciding) informAt() time.Time {
	switch w := m.next().Work[Inform]; {
	case !m.informs():
		return time.Time{}
	case w.IsRequested():
		return latest(w.RetryAt, m.next().ReadyAt)
	}
	return m.lookAt()
}

// lookAt returns when to look for links again. They mostly change soon after a use or a deployment.
func (m *deciding) lookAt() time.Time {
	n := m.next()
	since, last := latest(n.ReadyAt, n.AwakeSince, n.ActiveAt, m.f.DeployedAt), n.Work[Inform].DoneAt
	return latest(since, last).Add(min(max(informSoon, last.Sub(since)), m.l.InformEvery))
}

func (m *deciding) noteLook() {
	m.next().ChangeWork(Inform, func(w *Work) { w.DoneAt = m.f.Now })
}

// digestCard returns a digest of what the card is to say. Its first line changes with the card's form.
func (m *deciding) digestCard() string {
	sum := sha256.Sum256(fmt.Appendf(nil, "1\n%s\n%d", m.f.Described, m.next().CardEnd().Unix()))
	return hex.EncodeToString(sum[:6])
}
