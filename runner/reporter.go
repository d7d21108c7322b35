package runner

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/runner/installer"
	"github.com/ocpctl/ocpctl/runner/status"
)

const (
	chunkSize = 64 << 10 // bytes of log in one report
	keptLog   = 1 << 20  // bytes of log kept while the API is unreachable; the whole log is in the work directory and is uploaded to S3
)

// reporter collects what the phases report and sends it: facts at once, log lines every Flush, otherwise a heartbeat. One goroutine
// sends; a numbered report is repeated unchanged until it is acknowledged.
type reporter struct {
	api       *client
	log       *slog.Logger
	redact    *installer.Redactor
	flush     time.Duration
	heartbeat time.Duration
	kick      chan struct{} // something is worth a report now
	done      chan struct{} // closed when run has ended
	hush      context.CancelFunc

	mu      sync.Mutex
	now     contract.Report   // phase, percent, step, account
	step    string            // of the phase, without retried steps
	retried map[string]string // steps being retried, with the reason
	news    bool              // now has unsent changes
	begun   bool              // the phase of now is unsent
	passed  []contract.Report // phases that ended before they were sent, oldest first; each is sent as a report of its own
	facts   []contract.Report // passes, exits, snapshots, add-ons, oldest first; each is sent as a report of its own
	lines   bytes.Buffer
	dropped int
	seq     int
	unsent  *contract.Report // numbered and not acknowledged
	settled chan struct{}    // closed and replaced whenever a report was acknowledged
	refused int              // how many reports the server refused
}

// startReporter begins to send. It goes on after the context ends: reports continue while the work is being stopped, because the
// lease has to last until the installer has ended. The caller must call stop.
func startReporter(ctx context.Context, cfg Config, api *client, heartbeat time.Duration) *reporter {
	if heartbeat <= 0 {
		heartbeat = 15 * time.Second
	}
	r := &reporter{
		api: api, log: cfg.Log, redact: cfg.Redact, flush: cfg.Timings.Flush, heartbeat: heartbeat,
		kick: make(chan struct{}, 1), done: make(chan struct{}), settled: make(chan struct{}),
		retried: map[string]string{},
	}
	ctx, r.hush = context.WithCancel(context.WithoutCancel(ctx))
	go r.runLoop(ctx)
	return r
}

// stopSending ends the sending and waits for it.
func (r *reporter) stopSending() {
	r.hush()
	<-r.done
}

// hasEnded reports whether nothing more will be sent.
func (r *reporter) hasEnded() bool {
	select {
	case <-r.done:
		return true
	default:
		return false
	}
}

// Phase reports that a phase began.
func (r *reporter) Phase(phase string, percent int, step string) {
	r.log.Info("phase started", "phase", phase)
	r.updateReport(func(now *contract.Report) {
		if r.begun {
			r.passed = append(r.passed, *now)
		}
		now.Phase, now.Percent, r.step, r.begun = phase, percent, step, true
	})
}

// Step reports how far the phase is. Percent never decreases in an attempt.
func (r *reporter) Step(percent int, step string) {
	r.updateReport(func(now *contract.Report) { now.Percent, r.step = max(percent, now.Percent), step })
}

// Account reports which account the credentials belong to.
func (r *reporter) Account(account string) {
	r.updateReport(func(now *contract.Report) { now.Account = account })
}

func (r *reporter) updateReport(change func(*contract.Report)) {
	r.mu.Lock()
	before := r.now
	change(&r.now)
	r.now.Step = r.stepText()
	changed := before.Phase != r.now.Phase || before.Percent != r.now.Percent || before.Step != r.now.Step || before.Account != r.now.Account
	r.news = r.news || changed
	r.mu.Unlock()
	if changed {
		r.wakeUp()
	}
}

// Fact queues what must not be lost: a pass, an exit, snapshots. Facts arrive in the order in which they were queued.
func (r *reporter) Fact(fact contract.Report) {
	r.mu.Lock()
	r.facts = append(r.facts, fact)
	r.mu.Unlock()
	r.wakeUp()
}

// deliverFact queues a fact, waits for the server, and reports whether it took everything.
func (r *reporter) deliverFact(ctx context.Context, fact contract.Report) bool {
	r.mu.Lock()
	before := r.refused
	r.mu.Unlock()
	r.Fact(fact)
	drained := r.drainReports(ctx)
	r.mu.Lock()
	defer r.mu.Unlock()
	return drained && r.refused == before
}

// Line queues a log line. It is redacted again, because more secrets may be known by now.
func (r *reporter) Line(line string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lines.WriteString(line)
	r.lines.WriteByte('\n')
	if over := r.lines.Len() - keptLog; over > 0 {
		cut := over + 1 + bytes.IndexByte(r.lines.Bytes()[over:], '\n')
		r.lines.Next(cut)
		r.dropped += cut
	}
}

func (r *reporter) wakeUp() {
	select {
	case r.kick <- struct{}{}:
	default:
	}
}

// runLoop sends until its context ends, the lease is over or the attempt is not ours any more; the last two end the work too.
func (r *reporter) runLoop(ctx context.Context) {
	defer close(r.done)
	tick := time.NewTicker(r.flush)
	defer tick.Stop()
	last := time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case <-r.kick:
		case <-tick.C:
		}
		for r.awaitNext(time.Since(last) >= r.heartbeat) {
			last = time.Now()
			if err := r.sendNext(ctx); err != nil {
				return
			}
		}
		if r.api.LeaseOver() {
			r.api.Stop(status.ErrLeaseOver)
			return
		}
	}
}

// awaitNext numbers the next report, if there is something to say or a heartbeat is due.
func (r *reporter) awaitNext(due bool) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.unsent != nil {
		return true
	}
	if !due && !r.news && len(r.facts) == 0 && r.lines.Len() == 0 {
		return false
	}
	r.seq++
	if len(r.passed) > 0 { // a phase that was shorter than the report interval belongs in the timeline too
		report := r.passed[0]
		report.Seq, r.passed, r.unsent = r.seq, r.passed[1:], &report
		return true
	}
	report := r.now
	report.Seq, report.Log = r.seq, r.nextChunk()
	if len(r.facts) > 0 {
		fact := r.facts[0]
		report.Pass, report.ToolExit, report.Snapshots, report.Addons, report.Access = fact.Pass, fact.ToolExit, fact.Snapshots, fact.Addons, fact.Access
		report.ReplacedAt = fact.ReplacedAt
		r.facts = r.facts[1:]
	}
	r.news, r.begun, r.unsent = false, false, &report
	return true
}

// nextChunk takes whole lines, at most chunkSize bytes.
func (r *reporter) nextChunk() string {
	raw := r.lines.Bytes()
	if len(raw) > chunkSize {
		if end := bytes.LastIndexByte(raw[:chunkSize], '\n'); end >= 0 {
			raw = raw[:end+1]
		} else {
			raw = raw[:chunkSize]
		}
	}
	text := string(r.lines.Next(len(raw)))
	if r.dropped > 0 {
		text = fmt.Sprintf("[%d bytes of log are missing here: the server could not be reached]\n", r.dropped) + text
		r.dropped = 0
	}
	if text == "" {
		return ""
	}
	return r.redact.Text(text) + "\n"
}

// sendNext delivers the numbered report. An error means that nothing more will be sent.
func (r *reporter) sendNext(ctx context.Context) error {
	_, err := r.api.sendReport(ctx, *r.unsent) // only this goroutine replaces unsent
	switch {
	case errors.Is(err, status.ErrRefused): // it would be refused for ever; its content is lost, and the log says so
		r.log.Error("report refused", "err", err.Error())
	case errors.Is(err, status.ErrFenced), errors.Is(err, status.ErrLeaseOver):
		r.api.Stop(err)
		return err
	case err != nil:
		if ctx.Err() == nil { // without reports the lease ends unnoticed, so the work must not go on
			r.api.Stop(err)
		}
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil {
		r.refused++
	}
	r.unsent = nil
	close(r.settled)
	r.settled = make(chan struct{})
	return nil
}

// drainReports waits until everything said so far was acknowledged, and reports whether it was.
func (r *reporter) drainReports(ctx context.Context) bool {
	r.wakeUp()
	for {
		r.mu.Lock()
		empty, settled := r.unsent == nil && !r.news && len(r.facts) == 0 && r.lines.Len() == 0, r.settled
		r.mu.Unlock()
		if empty {
			return true
		}
		select {
		case <-settled:
		case <-r.done:
			return false
		case <-ctx.Done():
			return false
		}
	}
}

// remainingReports returns the reports that were not acknowledged, numbered. Call it after stop.
func (r *reporter) remainingReports() []contract.Report {
	var all []contract.Report
	for r.awaitNext(false) {
		all = append(all, *r.unsent)
		r.unsent = nil
	}
	return all
}

// nextSeq returns the number under which a result is spooled.
func (r *reporter) nextSeq() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.seq + 1
}
