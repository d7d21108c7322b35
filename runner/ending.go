package runner

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/internal/artifacts"
	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/runner/status"
)

// The outcomes that a runner reports.
const (
	succeeded = "succeeded"
	failed    = "failed"
	stopped   = "stopped"
	waiting   = "waiting"
)

// failure ends an attempt with a reason for people.
type failure struct {
	Reason    string // reason code
	Message   string // what happened
	Line      string // of the log, by which it was recognized; empty: none
	Whose     string // whose problem it is: one of contract's Whose values
	Zone      string // which of the spec's zones had no capacity; empty: that was not it, or it is not known
	Next      string // what to do about it
	Retryable bool
}

func (f failure) Error() string { return f.Reason + ": " + f.Message }

// endAttempt converts the error that ended the work into a result. If the attempt was stopped, that is the reason, whatever followed from
// it.
func (a *attempt) endAttempt(ctx context.Context, err error) contract.Result {
	if ctx.Err() != nil {
		return a.explainInterruption(context.Cause(ctx))
	}
	var wait waitForQuota
	if errors.As(err, &wait) {
		return wait.waitResult()
	}
	var f failure
	if !errors.As(err, &f) {
		a.cfg.Log.Error("attempt failed with an internal error", "err", err.Error())
		inside := strings.ReplaceAll(err.Error(), a.cfg.WorkDir, "…") // host paths are nobody else's business
		f = failure{
			Reason: "RunnerError", Message: inside, Whose: contract.WhoseOurs, Retryable: true,
			Next: "try again later; an administrator can find details in the runner's log",
		}
	}
	result := contract.Result{
		Outcome: failed, Reason: f.Reason, Message: a.cfg.Redact.Text(f.Message), Line: a.cfg.Redact.Text(f.Line), Whose: f.Whose, Zone: f.Zone, Next: a.cfg.Redact.Text(f.Next), Retryable: f.Retryable,
		Workers: a.counted, Addons: a.readyAddons(),
	}
	if a.awake {
		result.Asleep = new(bool)
	}
	return result
}

func (a *attempt) explainInterruption(cause error) contract.Result {
	var asked status.StopAsked
	switch {
	case errors.As(cause, &asked):
		return contract.Result{Outcome: stopped, Reason: "StopAsked", Message: asked.Why, Retryable: true}
	case errors.Is(cause, status.ErrLeaseOver):
		// A failure, like a lost attempt: a persistent cause must not make it retry the install for ever.
		return contract.Result{
			Outcome: failed, Reason: "LeaseOver", Message: "the runner could not reach the server during its whole lease and stopped itself",
			Whose: contract.WhoseOurs, Next: "try again later; if it happens again, ask an administrator to check the network from the runners to the server", Retryable: true,
		}
	case errors.Is(cause, status.ErrFenced):
		return contract.Result{Outcome: stopped, Reason: "Fenced", Message: "the attempt was closed while it ran", Retryable: true}
	}
	return contract.Result{Outcome: stopped, Reason: "Interrupted", Message: "the host asked the runner to stop", Retryable: true}
}

// deliverResult delivers the result, after every earlier report, and spools what cannot be delivered.
func (a *attempt) deliverResult(signal, work context.Context, result contract.Result) error {
	ctx := context.WithoutCancel(signal)
	defer a.uploadLog(ctx)
	if errors.Is(context.Cause(work), status.ErrFenced) {
		return status.ErrFenced // the server would refuse it
	}
	farewell := time.Now().Add(a.cfg.Timings.Farewell)
	giveUp := func() bool {
		return time.Now().After(farewell) && (signal.Err() != nil || a.api.LeaseOver())
	}
	err := a.sendAfterReports(ctx, result, giveUp)
	if err == nil || errors.Is(err, status.ErrFenced) {
		return err
	}
	a.cfg.Log.Error("result not delivered", "err", err.Error())
	return errors.Join(status.ErrUntold, err, a.spoolResult(ctx, result))
}

// sendAfterReports sends the result after every earlier report was acknowledged. Once the lease is over, reports have ended and only the
// result is still retried.
func (a *attempt) sendAfterReports(ctx context.Context, result contract.Result, giveUp func() bool) error {
	for !a.say.hasEnded() {
		soon, cancel := context.WithTimeout(ctx, a.cfg.Timings.Flush)
		drained := a.say.drainReports(soon)
		cancel()
		if drained {
			break
		}
		if giveUp() {
			return errors.New("the last reports were not acknowledged")
		}
	}
	return a.api.sendResult(ctx, result, giveUp)
}

// spoolResult stores in the bucket what could not be delivered; the server imports it through the same checks.
func (a *attempt) spoolResult(ctx context.Context, result contract.Result) error {
	if a.store == nil {
		return errors.New("there is no spool")
	}
	a.say.stopSending()
	ctx, cancel := context.WithTimeout(ctx, a.cfg.Timings.LastSave)
	defer cancel()
	for _, report := range a.say.remainingReports() {
		if err := a.spoolOne(ctx, report.Seq, "report", report); err != nil {
			return err
		}
	}
	return a.spoolOne(ctx, a.say.nextSeq(), "result", result)
}

func (a *attempt) spoolOne(ctx context.Context, seq int, kind string, document any) error {
	raw, err := json.Marshal(document)
	if err != nil {
		return fmt.Errorf("spool %s: %w", kind, err)
	}
	var ref string
	err = a.keepTrying(ctx, a.cfg.Timings.LastSave, kind, func(ctx context.Context) (err error) {
		ref, err = a.store.PutOnce(ctx, artifacts.SpoolKey(a.cfg.Attempt, seq, kind), raw)
		return err
	})
	if err != nil {
		return fmt.Errorf("spool %s: %w", kind, err)
	}
	a.cfg.Log.Info("spooled", "what", kind, "ref", ref)
	return nil
}

// uploadLog stores the whole redacted log of the attempt. Losing it is not a failure.
func (a *attempt) uploadLog(ctx context.Context) {
	if a.log == nil || a.store == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, a.cfg.Timings.LastSave)
	defer cancel()
	size, err := a.hideLate()
	if err == nil && size > 0 {
		_, err = a.store.Keep(ctx, artifacts.Log, artifacts.LogKey(a.spec.Cluster, a.spec.Kind, a.spec.Number, a.cfg.Now()), a.log.Name())
	}
	if err != nil {
		a.cfg.Log.Warn("log not stored", "err", err.Error())
	}
}

// hideLate rewrites the attempt's log without values that became known as secrets only after they were printed, and returns its size.
func (a *attempt) hideLate() (size int64, err error) {
	in, err := os.Open(a.log.Name())
	if err != nil {
		return 0, err
	}
	defer in.Close()
	out, err := os.OpenFile(a.log.Name()+".new", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return 0, err
	}
	defer out.Close()
	buffer := bufio.NewWriter(out)
	lines := a.cfg.Redact.Lines(func(line string) { fmt.Fprintln(buffer, line) }) // Flush returns the first error
	_, err = io.Copy(lines, in)
	if err = errors.Join(err, lines.Close(), buffer.Flush()); err != nil {
		return 0, err
	}
	if size, err = out.Seek(0, io.SeekCurrent); err != nil {
		return 0, err
	}
	return size, os.Rename(out.Name(), a.log.Name())
}
