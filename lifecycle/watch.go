package lifecycle

// watch decides while an attempt is open. It never opens a second one.
func (m *deciding) watch(a Attempt) {
	if m.isWanted() && m.next().Status == Ready {
		m.wakeOnTime()
		m.keepHours()
		m.keepIdle()
		m.showReady()
	}
	if a.Kind == Destroy && !m.isWanted() {
		m.cancelWork() // of kinds that those did not know who opened it
	}
	needless := m.needless(a)
	if a.ClaimedAt.IsZero() {
		m.watchUnclaimed(a, needless)
		return
	}
	if m.isGone(a) {
		m.lose(a, "the runner ended without a result")
		return
	}
	if !m.isQuiet(a.Kind) {
		m.next().Progress = a.Progress
	}
	if needless != "" {
		if !m.isWanted() {
			m.move(Destroying, Stopping, MoveReason{Cause: m.next().DesiredWhy, Words: "the running " + m.text(a.Kind) + " is stopped first"})
		}
		if m.d.StopNow = !a.StopAsked; m.d.StopNow {
			m.d.StopWhy = needless
		}
		m.effect(StopRunner, a.Number)
		return
	}
	m.mirror(a)
}

// needless says why what the open attempt does is no longer wanted; empty: it goes on. A teardown always goes on.
func (m *deciding) needless(a Attempt) string {
	switch kind := m.kind(a.Kind); {
	case a.Kind == Destroy:
	case !m.isWanted():
		return m.next().DesiredWhy.String()
	case kind != nil && kind.needless != nil:
		return kind.needless(m, a)
	}
	return ""
}

// watchUnclaimed decides about an attempt that no runner has claimed: nothing was begun outside, so closing it is always safe.
func (m *deciding) watchUnclaimed(a Attempt, needless string) {
	switch {
	case needless != "":
		m.close(a, Cancelled, "%s before a runner began", needless)
	case m.f.Runner == Ended:
		m.lose(a, "the runner ended before it began")
	case m.f.Now.Sub(a.OpenedAt) >= m.l.LaunchPatience:
		m.lose(a, "no runner claimed it within %s", m.l.LaunchPatience)
	default:
		m.showTrouble(a)
		m.launch(a)
	}
}

// launch asks for the start until the runner is seen and the dispatcher has confirmed that the start is complete. Launching twice has no
// further effect. Nothing is launched while a runner of another attempt is alive: that is asked to stop. An attempt of an unknown kind is left to
// a server that knows it, which has runners that do.
func (m *deciding) launch(a Attempt) {
	switch {
	case len(m.f.Beside) > 0:
		m.stopOthers()
	case m.l.Knows(a.Kind) && (m.f.Runner != Alive || a.LaunchedAt.IsZero()):
		m.effect(Launch, a.Number)
	}
}

// stopOthers asks the runners of other attempts to stop.
func (m *deciding) stopOthers() {
	for _, number := range m.f.Beside {
		m.effect(StopRunner, number)
	}
}

// showTrouble shows why the runner does not start, as the progress of the attempt. A cluster that waits for capacity shows nothing of it,
// and of a quiet attempt nothing is shown.
func (m *deciding) showTrouble(a Attempt) {
	n := m.next()
	if n.Phase == AwaitingCapacity || m.isQuiet(a.Kind) {
		return
	}
	n.Progress = Progress{}
	if t := m.trouble(a); t.Code != "" {
		n.Progress.Step = t.Message
	}
}

// isGone reports that a claimed runner certainly acts no more: it was seen ended, or it is silent past its lease and the grace period.
func (m *deciding) isGone(a Attempt) bool {
	return m.f.Runner == Ended || m.f.Now.After(a.LeaseUntil.Add(m.l.LeaseGrace))
}

// mirror shows the running attempt's phase as the cluster's. A phase without a text is one that runners may not report.
func (m *deciding) mirror(a Attempt) {
	n := m.next()
	switch kind := m.kind(a.Kind); {
	case a.Kind == Create:
		m.mirrorCreate(a.Phase)
		return
	case kind != nil && kind.makesAccess:
		m.accessMet()
		return
	case a.Kind != Destroy: // the cluster stays READY
		return
	}
	text := destroyText[a.Phase]
	switch {
	case !m.isWanted() && n.Status != Destroying && n.Status != Failed: // the desired state became absent while a failed attempt was cleaned up
		phase := a.Phase
		if text == "" {
			phase = Restoring
		}
		m.move(Destroying, phase, MoveReason{Cause: n.DesiredWhy})
	case text != "" && n.Status == Destroying && a.Phase != n.Phase:
		m.say(Destroying, a.Phase, "%s", text)
	}
}

func (m *deciding) mirrorCreate(phase Phase) {
	n := m.next()
	if n.Phase == AwaitingCapacity && createText[phase] == "" {
		phase = Preflight
	}
	switch text := createText[phase]; {
	case m.looks(phase):
		n.Progress = Progress{}
	case text != "" && phase != n.Phase:
		m.say(Creating, phase, "%s", text)
	}
}

// PhaseText says what a runner does in a phase of a create or destroy; empty: the kind has no such phase.
func PhaseText(kind Kind, phase Phase) string {
	switch kind {
	case Create:
		return createText[phase]
	case Destroy:
		return destroyText[phase]
	}
	return ""
}

var createText = map[Phase]string{
	Preflight:   "checking the account, its limits and the names before anything is created",
	Claiming:    "recording the names of what is created outside the installer",
	Rendering:   "writing down what will be created; nothing exists yet",
	Recording:   "storing the cluster's identity before the first resource is created",
	Installing:  "the cluster is being created",
	Configuring: "the cluster is up; storing its addresses and credentials",
}

var destroyText = map[Phase]string{
	Restoring:      "fetching what was stored for the teardown",
	DestroyingRuns: "the cluster's resources are being removed",
	Verifying:      "counting what is left in the cloud",
}
