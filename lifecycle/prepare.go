package lifecycle

import "fmt"

// NotPrepared is the reason of the failure of a claimed cluster that could not be prepared for its claimant.
const NotPrepared = "NotPrepared"

// prepareKind makes a claimed cluster of a pool ready for whoever claimed it: its health is proven again, the credentials of its install are
// replaced, it gets its new owner's tags and access, and add-ons that it lacks are tried once, as during a create. Until then the cluster cannot be used. It comes before all other work but revocations and
// what puts the cluster to sleep or wakes it. A cluster that cannot be prepared ends: nobody gets one that was not seen to be well.
func prepareKind() WorkKind {
	return WorkKind{
		Kind: Prepare, Job: JobPrepare, Text: "preparing for its claimant", Tries: workTries, makesAccess: true,
		ready: func(m *deciding) bool { return !m.next().SleepWanted && m.next().Power == Awake },
		met: func(m *deciding, a Attempt) {
			n := m.next()
			n.ReadyAt = m.f.Now
			n.ChangeWork(Prepare, func(w *Work) { w.Done = w.Wanted })
			m.say(Ready, n.usualPhase(), "claimed from the pool %s", n.Pool)
			m.settleAddons(a)
		},
		failed: func(m *deciding, a Attempt, why string) {
			m.say(Ready, Preparing, "%s; it is tried again", withNext(fmt.Sprintf("it could not be prepared: %s", why), a.Next))
		},
		givenUp: func(m *deciding, why, next string) {
			n := m.next()
			n.FailReason, n.FailMessage, n.FailNext = NotPrepared, why, next
			m.dismiss(Reason{Code: ReasonInstallFailed, Words: why})
			m.cancelWork() // as long as it is ready
			m.move(Failed, CreateFailed, MoveReason{Words: "the cluster from the pool " + n.Pool + " could not be prepared", Failure: why})
		},
	}
}

// AwaitsPreparing reports a ready cluster that somebody claimed from its pool and cannot use yet: it was never ready for them.
func (c Cluster) AwaitsPreparing() bool {
	return c.Status == Ready && c.Pool != "" && c.ReadyAt.IsZero()
}
