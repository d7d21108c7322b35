package lifecycle

import (
	"maps"
	"slices"
	"time"
)

// workTries is how many tries in a row at a request may fail before it is given up.
const workTries = 3

// Work is how work of one kind on a living cluster stands. It has the same shape for every kind, and a server that does not know a kind
// leaves it as it is.
type Work struct {
	Wanted   int       `json:"wanted,omitzero"`   // number of the newest request; 0: none. Work that follows from the clock is not requested
	Done     int       `json:"done,omitzero"`     // number of the newest request that was met or given up
	Failures int       `json:"failures,omitzero"` // tries in a row that failed
	RetryAt  time.Time `json:"retry_at,omitzero"` // no new try before this; zero: at once
	DoneAt   time.Time `json:"done_at,omitzero"`  // when it was last done, for kinds that follow from the clock; zero: never
	Seen     int       `json:"seen,omitzero"`     // number of the newest closed attempt whose outcome was accounted for
	Of       string    `json:"of,omitzero"`       // digest of what the newest request is for, for kinds that follow from a text
}

// IsRequested reports a request that is neither met nor given up.
func (w Work) IsRequested() bool { return w.Wanted > w.Done }

// ChangeWork changes the work of a kind. Other copies of the cluster keep theirs.
func (c *Cluster) ChangeWork(k Kind, change func(*Work)) {
	w, all := c.Work[k], maps.Clone(c.Work)
	change(&w)
	if delete(all, k); w != (Work{}) {
		if all == nil {
			all = map[Kind]Work{}
		}
		all[k] = w
	}
	if c.Work = all; len(all) == 0 {
		c.Work = nil
	}
}

// AskWork counts a request for work of the kind. Failures for an older request say nothing about this one.
func (c *Cluster) AskWork(k Kind) {
	c.ChangeWork(k, func(w *Work) { w.Wanted, w.Failures, w.RetryAt = w.Wanted+1, 0, time.Time{} })
}

// ResetWork makes the next try of the kind the first one.
func (c *Cluster) ResetWork(k Kind) {
	c.ChangeWork(k, func(w *Work) { w.Failures, w.RetryAt = 0, time.Time{} })
}

// WorkKind describes a kind of work on a ready cluster. Decide opens its attempts, tries again and gives up; this says what is special about
// the kind. A kind without special rules needs only the exported fields: its attempts run, while the cluster is awake, until one succeeds for
// the newest request.
type WorkKind struct {
	Kind     Kind
	Job      JobType
	Text     string        // names it for people
	Changed  string        // says that a newer request came while an attempt at an older one ran
	Quiet    bool          // it takes little time, and the cluster shows nothing of it. Its attempt's row shows it
	Unqueued bool          // it waits in no queue for a free runner
	Single   bool          // each attempt has a job of its own, which fails with it
	Tries    int           // failed tries in a row after which a request is given up; 0: it never is
	RetryMax time.Duration // longest wait between two tries; 0: the limits'

	job      func(Cluster) JobType               // its job type, if it has several
	prepare  func(*deciding)                     // what comes before the question whether to open an attempt
	due      func(*deciding) time.Time           // from when it has to be done, for kinds that follow from the clock; zero: not at all
	owed     func(*deciding) bool                // it has to be done; nil: it is due, or it is requested
	ready    func(*deciding) bool                // it may be done now; nil: while the cluster is awake
	refuse   func(Cluster) (code, why string)    // why a request is given up without a try; empty: it is not
	begin    func(*deciding)                     // what opening an attempt changes
	see      func(*deciding, Attempt)            // takes in what an attempt saw, however it ended
	isMet    func(*deciding, Attempt) bool       // the attempt did what is owed; nil: it succeeded
	met      func(*deciding, Attempt)            // what follows from that
	outdated func(Cluster, Attempt) bool         // the attempt was for something else than is owed; nil: for an older request
	failure  func(*deciding, Attempt) string     // why the attempt did not do it; nil: its message
	failed   func(*deciding, Attempt, string)    // what follows from a failed try that is followed by another
	drop     func(*deciding)                     // ends what is owed, as far as it can be given up; nil: the requests
	givenUp  func(m *deciding, why, next string) // what follows from that; next is what to do about it
	forget   func(*Cluster)                      // clears what a request set besides its number
	needless func(*deciding, Attempt) string     // why a running attempt is no longer wanted; empty: it goes on
	cancel   func(*deciding)                     // cancels it when the cluster is no longer wanted; nil: the requests

	makesAccess bool // its runner also changes access, while it waits
}

// workKinds returns the kinds of this release, in the order in which they are decided about.
func workKinds() []WorkKind {
	return []WorkKind{accessKind(), sleepKind(), wakeKind(), prepareKind(), scaleKind(), configureKind(), observeKind(), tagKind(), informKind()}
}

// ownKinds are the kinds of work of this release, made once: every decision reads them.
var ownKinds = workKinds()

// Kinds returns the kinds of attempt of this release.
func Kinds() []Kind {
	all := []Kind{Create, Destroy}
	for _, k := range workKinds() {
		all = append(all, k.Kind)
	}
	return all
}

// Knows reports whether a kind of attempt is known. What is unknown is another release's, and left to its servers and runners.
func (l Limits) Knows(k Kind) bool {
	return slices.Contains(Kinds(), k) || slices.ContainsFunc(l.More, func(w WorkKind) bool { return w.Kind == k })
}

// kind returns what describes a kind of work; nil: it is none, or unknown to this release.
func (m *deciding) kind(k Kind) *WorkKind {
	for i := range m.kinds {
		if m.kinds[i].Kind == k {
			return &m.kinds[i]
		}
	}
	return nil
}

// isQuiet reports a kind of which the cluster shows nothing. What is unknown is shown by a server that knows it.
func (m *deciding) isQuiet(k Kind) bool {
	kind := m.kind(k)
	return k != Create && k != Destroy && (kind == nil || kind.Quiet)
}

// text names what an attempt does, for people.
func (m *deciding) text(k Kind) string {
	switch kind := m.kind(k); {
	case kind != nil:
		return kind.Text
	case m.l.Knows(k):
		return "install"
	}
	return "work"
}

func (k *WorkKind) jobType(c Cluster) JobType {
	if k.job != nil {
		return k.job(c)
	}
	return k.Job
}

func (k *WorkKind) isOwed(m *deciding) bool {
	switch {
	case k.owed != nil:
		return k.owed(m)
	case k.due != nil:
		at := k.due(m)
		return !at.IsZero() && !m.f.Now.Before(at)
	}
	return m.next().Work[k.Kind].IsRequested()
}

func (k *WorkKind) isOutdated(c Cluster, a Attempt) bool {
	if k.outdated != nil {
		return k.outdated(c, a)
	}
	return c.Work[k.Kind].Wanted > a.Request
}

// advance opens an attempt at the work if it is owed and may be done now. The cluster stays READY meanwhile. Requests are numbered, and an
// attempt meets the newest: one more is enough for all that arrive while one runs.
func (m *deciding) advance(k *WorkKind) {
	if k.prepare != nil {
		k.prepare(m)
	}
	n := m.next()
	if m.d.Open != "" || m.d.Wait != nil || m.f.Now.Before(n.Work[k.Kind].RetryAt) || !k.isOwed(m) {
		return
	}
	if k.ready != nil && !k.ready(m) || k.ready == nil && n.powerPhase() != "" {
		return
	}
	if k.refuse != nil {
		if code, why := k.refuse(*n); code != "" {
			m.giveUp(k, code, why, "")
			return
		}
	}
	if k.Unqueued && !m.l.Runners.MayRun(k.Kind, m.f.Slot) || !k.Unqueued && !m.mayRun(k.Kind) {
		return
	}
	job := k.jobType(*n)
	if k.begin != nil {
		k.begin(m)
	}
	m.d.Request, m.d.Quiet = n.Work[k.Kind].Wanted, k.Quiet
	m.open(k.Kind, job)
}

// settleWork accounts for an attempt at work. It recorded no names, so a lost attempt leaves nothing to remove. A failure for an older request
// says nothing about the newest one.
func (m *deciding) settleWork(k *WorkKind, a Attempt) {
	n := m.next()
	n.ChangeWork(k.Kind, func(w *Work) { w.Seen = a.Number })
	if k.see != nil {
		k.see(m, a)
	}
	met := a.Outcome == Succeeded
	if k.isMet != nil {
		met = k.isMet(m, a)
	}
	job := k.jobType(*n)
	switch {
	case k.Single && met:
		m.job(job, JobSucceeded, "", a.Message)
	case k.Single:
		m.job(job, JobFailed, reasonOf(a), m.failure(k, a))
	case !m.isWanted() || !met && !k.isOwed(m):
	case met:
		m.meet(k, a)
	case k.isOutdated(*n, a):
		n.ResetWork(k.Kind)
		m.job(job, JobRetrying, "Changed", k.Changed)
	case a.wasStopped():
		n.ChangeWork(k.Kind, func(w *Work) { w.RetryAt = m.f.Now.Add(m.l.RetryBase) })
		m.job(job, JobRetrying, reasonOf(a), a.Message)
	default:
		m.failWork(k, a)
	}
}

// meet completes the requests that the attempt met: all, or those that had come when it was opened.
func (m *deciding) meet(k *WorkKind, a Attempt) {
	n := m.next()
	if !k.isOutdated(*n, a) {
		m.job(k.jobType(*n), JobSucceeded, "", a.Message)
		if k.met != nil {
			k.met(m, a)
		}
		m.forget(k)
		return
	}
	n.ResetWork(k.Kind)
	n.ChangeWork(k.Kind, func(w *Work) { w.Done = max(w.Done, a.Request) })
	m.job(k.jobType(*n), JobRetrying, "Changed", k.Changed)
}

// failWork counts a failed try, and gives up or has it tried again.
func (m *deciding) failWork(k *WorkKind, a Attempt) {
	n, why := m.next(), m.failure(k, a)
	n.ChangeWork(k.Kind, func(w *Work) { w.Failures++ })
	failures := n.Work[k.Kind].Failures
	if k.Tries > 0 && (failures >= k.Tries || a.Outcome == Failure && !a.Retryable) && m.giveUp(k, reasonOf(a), why, a.Next) {
		return
	}
	m.retryLater(k, failures)
	m.job(k.jobType(*n), JobRetrying, reasonOf(a), why)
	if k.failed != nil {
		k.failed(m, a, why)
	}
}

// retryLater sets the wait after that many failed tries.
func (m *deciding) retryLater(k *WorkKind, failures int) {
	wait := m.l.backoff(failures)
	if k.RetryMax > 0 {
		wait = min(wait, k.RetryMax)
	}
	m.next().ChangeWork(k.Kind, func(w *Work) { w.Failures, w.RetryAt = failures, m.f.Now.Add(wait) })
}

// owe counts the try of a create as the first one at work that it should have done as well.
func (m *deciding) owe(k Kind, code, why string) {
	kind := m.kind(k)
	m.retryLater(kind, 1)
	m.job(kind.Job, JobRetrying, code, why)
}

// giveUp ends what is owed. It reports false if something is still owed: that is never given up.
func (m *deciding) giveUp(k *WorkKind, code, why, next string) bool {
	n := m.next()
	job := k.jobType(*n)
	n.ChangeWork(k.Kind, func(w *Work) { w.Done = w.Wanted })
	if k.drop != nil {
		k.drop(m)
	}
	if k.isOwed(m) {
		return false
	}
	m.job(job, JobFailed, code, why)
	if k.givenUp != nil {
		k.givenUp(m, why, next)
	}
	m.forget(k)
	return true
}

// cancelWork cancels all work when the cluster is no longer wanted. Waits after failed tries must not delay the teardown.
func (m *deciding) cancelWork() {
	n := m.next()
	for i := range m.kinds {
		k := &m.kinds[i]
		switch w := n.Work[k.Kind]; {
		case k.cancel != nil:
			k.cancel(m)
		case !k.Single && (w.IsRequested() || w.Failures > 0):
			m.job(k.jobType(*n), JobFailed, "Cancelled", n.DesiredWhy.String())
			m.forget(k)
		}
	}
}

// forget clears the requests: they were met, given up or cancelled.
func (m *deciding) forget(k *WorkKind) {
	n := m.next()
	n.ResetWork(k.Kind)
	n.ChangeWork(k.Kind, func(w *Work) { w.Done = w.Wanted })
	if k.forget != nil {
		k.forget(n)
	}
}

func (m *deciding) failure(k *WorkKind, a Attempt) string {
	if k.failure != nil {
		return k.failure(m, a)
	}
	return a.Message
}
