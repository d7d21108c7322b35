package scan

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/runner/cloud"
	"github.com/ocpctl/ocpctl/runner/status"
)

// The outcomes of a scan.
const (
	succeeded = "succeeded"
	failed    = "failed"
	stopped   = "stopped"
)

// failure ends a scan with a reason for people.
type failure struct {
	Reason  string
	Message string // what happened
	Next    string // what to do about it
}

func (f failure) Error() string { return f.Reason + ": " + f.Message }

// explainUnanswered is the failure of a scan that depends on an answer which the cloud did not give.
func (s *scan) explainUnanswered(reason, message string, err error) error {
	f := failure{Reason: reason, Message: fmt.Sprintf("%s (%v)", message, err), Next: "the next scan tries again; if it fails as well, run with the same credentials: " + s.platform.TestCredentials()}
	if errors.Is(err, cloud.ErrCredentials) || errors.Is(err, cloud.ErrCredentialsExpired) {
		f.Reason = "CredentialsRefused"
		f.Next = "ask an administrator of this installation to check what gives the scan its credentials, and to test them with: " + s.platform.TestCredentials()
		if advice := s.keys.Role.Advice(s.keys.Role.ExternalID); advice != "" {
			f.Reason, f.Next = roleRefused, advice
		}
	}
	return f
}

// endScan converts the error that ended the work into a result. If the scan was stopped, that is the reason, whatever followed from it.
func (s *scan) endScan(ctx context.Context, err error) contract.ScanResult {
	out := contract.ScanResult{Outcome: succeeded, Regions: s.regions}
	if out.Regions == nil {
		out.Regions = []string{}
	}
	if s.cloud != nil {
		out.Calls, out.Slowed = s.cloud.Calls(), s.cloud.Slowed()
	}
	var f failure
	var asked status.StopAsked
	switch cause := context.Cause(ctx); {
	case errors.As(cause, &asked):
		out.Outcome, f = stopped, failure{Reason: "StopAsked", Message: asked.Why}
	case errors.Is(cause, status.ErrLeaseOver):
		out.Outcome, f = failed, failure{
			Reason: "LeaseOver", Message: "the runner could not reach the server during its whole lease and stopped itself",
			Next: "the next scan tries again; if it fails as well, ask an administrator to check the network from the runners to the server",
		}
	case ctx.Err() != nil:
		out.Outcome, f = stopped, failure{Reason: "Interrupted", Message: "the host asked the runner to stop"}
	case errors.As(err, &f):
		out.Outcome = failed
	case err != nil:
		s.cfg.Log.Error("scan failed with an internal error", "err", err.Error())
		out.Outcome, f = failed, failure{Reason: "RunnerError", Message: err.Error(), Next: "an administrator can find details in the runner's log"}
	default:
		out.Outcome, f = s.judgeCompleteness()
	}
	if s.spec.Proof && out.Outcome != stopped {
		out.Proof = s.proof
	}
	out.Reason, out.Message, out.Next = f.Reason, s.cfg.Redact.Text(f.Message), s.cfg.Redact.Text(f.Next)
	return out
}

// named is how many incomplete parts a message quotes.
const named = 3

// judgeCompleteness says how much of the account was listed. A region that a policy denies does not make a scan fail: its parts prove
// nothing, and the others do.
func (s *scan) judgeCompleteness() (outcome string, f failure) {
	if len(s.incomplete) == 0 {
		return succeeded, failure{}
	}
	slices.SortFunc(s.incomplete, func(a, b failedPart) int { return strings.Compare(a.name, b.name) })
	var quoted []string
	for _, p := range s.incomplete[:min(named, len(s.incomplete))] {
		quoted = append(quoted, p.name+": "+p.err.Error())
	}
	f = failure{
		Reason: "PartsIncomplete", Message: fmt.Sprintf("%d of %d parts of the account were not answered completely (%s)", len(s.incomplete), s.parts, strings.Join(quoted, "; ")),
		Next: "give the scan's role the permissions in deploy/terraform/policies/scan-read.json, or list in scan.accounts only the regions that the account may use",
	}
	if len(s.incomplete) == s.parts && len(s.spec.Done) == 0 {
		return failed, f
	}
	return succeeded, f
}

// deliverResult sends the result. There is no spool: a scan whose result is lost is taken for lost, and another runner goes on with it.
func (s *scan) deliverResult(signal, work context.Context, result contract.ScanResult) error {
	if errors.Is(context.Cause(work), status.ErrFenced) {
		return status.ErrFenced // the server would refuse it
	}
	farewell := time.Now().Add(s.cfg.Timings.Farewell)
	giveUp := func() bool { return time.Now().After(farewell) && (signal.Err() != nil || s.api.LeaseOver()) }
	_, err := s.api.Send(context.WithoutCancel(signal), "result", result, giveUp)
	if err == nil || errors.Is(err, status.ErrFenced) {
		return err
	}
	s.cfg.Log.Error("result not delivered", "err", err.Error())
	return errors.Join(status.ErrUntold, err)
}
