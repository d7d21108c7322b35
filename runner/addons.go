package runner

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/internal/duration"
	"github.com/ocpctl/ocpctl/runner/installer"
	"github.com/ocpctl/ocpctl/runner/status"
)

// runConfigure applies a ready cluster's add-ons again. It records nothing: what an add-on creates in the cloud is created by the
// cluster under its own name.
func (a *attempt) runConfigure(ctx context.Context) error {
	for _, p := range []phase{
		{"restoring", 2, "fetching the kubeconfig", func(ctx context.Context) error { return a.fetchKubeconfig(ctx, a.spec.KubeconfigRef) }},
		{"configuring", 10, "applying add-ons", func(ctx context.Context) error { return a.bringAll(ctx, 10, 95) }},
	} {
		if err := a.beginPhase(ctx, p); err != nil {
			return err
		}
	}
	return a.missingAddons()
}

// installAddons installs the add-ons on a new cluster. The cluster is up whatever happens to them: the create ends only if the attempt is
// stopped. Missing add-ons are tried again beside the ready cluster.
func (a *attempt) installAddons(ctx context.Context) error {
	if len(a.spec.Addons) == 0 {
		return nil
	}
	err := a.useOwnKubeconfig(ctx)
	if err == nil {
		err = a.bringAll(ctx, 97, 99)
	}
	var asked status.StopAsked
	switch {
	case ctx.Err() == nil && err != nil:
		a.noneOf(err)
		return nil
	case errors.As(err, &asked), errors.Is(err, status.ErrFenced), errors.Is(err, status.ErrLeaseOver):
		return err
	}
	return nil // the host ends the runner: an hour's install is not discarded because of its add-ons
}

// noneOf reports for every add-on that the cluster could not be reached.
func (a *attempt) noneOf(err error) {
	f := failure{Reason: "RunnerError", Message: strings.ReplaceAll(err.Error(), a.cfg.WorkDir, "…"), Next: "ask an administrator of this installation to check the runner's log"}
	_ = errors.As(err, &f)
	for _, addon := range a.spec.Addons {
		a.recordAddon(contract.AddonState{Name: addon.Name, Reason: f.Reason, Message: f.Message, Next: f.Next})
	}
}

// bringAll installs the add-ons in order and reports each. One failure does not stop the others. An error means that the attempt was
// stopped.
func (a *attempt) bringAll(ctx context.Context, from, to int) error {
	until := time.Now().Add(a.cfg.Timings.Addons)
	for i, addon := range a.spec.Addons {
		a.say.Step(from+(to-from)*i/len(a.spec.Addons), fmt.Sprintf("applying add-on %s (%d of %d)", addon.Name, i+1, len(a.spec.Addons)))
		if err := a.accessBeside(ctx); err != nil {
			return err
		}
		state := a.installAddon(ctx, addon, until)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		a.recordAddon(state)
	}
	a.say.Step(to, fmt.Sprintf("%d of %d add-ons are installed", a.countReadyAddons(), len(a.spec.Addons)))
	return nil
}

// recordAddon reports an add-on's state as a fact, which is delivered reliably.
func (a *attempt) recordAddon(state contract.AddonState) {
	state.Message, state.Next = a.cfg.Redact.Text(state.Message), a.cfg.Redact.Text(state.Next)
	a.addons = append(a.addons, state)
	a.noteLine("add-on %s: %s: %s", state.Name, state.Reason, state.Message)
	a.say.Fact(contract.Report{Addons: []contract.AddonState{state}})
}

// countReadyAddons counts the installed add-ons.
func (a *attempt) countReadyAddons() (n int) {
	for _, state := range a.addons {
		if state.There {
			n++
		}
	}
	return n
}

// readyAddons returns the count for the result; nil: there are no add-ons.
func (a *attempt) readyAddons() *int {
	if len(a.spec.Addons) == 0 {
		return nil
	}
	return new(a.countReadyAddons())
}

// missingAddons returns the failure of a refresh that did not install everything.
func (a *attempt) missingAddons() error {
	var messages []string
	f := failure{Reason: "AddonsMissing", Whose: contract.WhoseUser}
	for _, state := range a.addons {
		if state.There {
			continue
		}
		messages = append(messages, state.Name+": "+state.Message)
		f.Retryable = f.Retryable || state.Reason != addonRefused
		if f.Next == "" {
			f.Next = state.Next
		}
	}
	if len(messages) == 0 {
		return nil
	}
	f.Message = fmt.Sprintf("%d of %d add-ons are installed; %s", a.countReadyAddons(), len(a.spec.Addons), strings.Join(messages, "; "))
	return f
}

// The reasons of an add-on's state.
const (
	addonThere   = "Applied"
	addonRefused = "ApplyRefused"
	addonFailed  = "ApplyFailed"
	addonWaits   = "NotReady"
)

// installAddon applies one add-on and waits until it works.
func (a *attempt) installAddon(ctx context.Context, addon contract.Addon, until time.Time) contract.AddonState {
	state := contract.AddonState{Name: addon.Name, Next: "fix what the message names in the cluster, then run: ocpctl refresh " + a.spec.Name}
	patience := earlierOf(until, time.Now().Add(a.cfg.Timings.Reach))
	err := a.retryUntil(ctx, patience, func() error {
		return a.runOC(ctx, []byte(addon.Manifests), "apply", "--server-side", "--force-conflicts", "--field-manager=ocpctl", "-f", "-")
	})
	switch {
	case errors.Is(err, errRefusedByOC):
		state.Reason, state.Message = addonRefused, fmt.Sprintf("the cluster refused it: %v", err)
		return state
	case err != nil:
		state.Reason, state.Message = addonFailed, fmt.Sprintf("it could not be applied: %v", err)
		return state
	}
	for _, w := range addon.Waits {
		began := time.Now()
		if err := a.awaitAddon(ctx, w, earlierOf(until, began.Add(w.Timeout))); err != nil {
			state.Reason = addonWaits
			state.Message = fmt.Sprintf("%s is not %s after %s: %v", waitName(w), w.Condition, duration.Format(time.Since(began)), err)
			return state
		}
		a.noteLine("add-on %s: %s is %s", addon.Name, waitName(w), w.Condition)
	}
	state.There, state.Reason, state.Message, state.Next = true, addonThere, "it is applied and works", ""
	return state
}

// awaitAddon waits for one condition. oc wait fails for an object that does not exist yet, so it is repeated: operators create objects in
// their own time.
func (a *attempt) awaitAddon(ctx context.Context, w contract.AddonWait, until time.Time) error {
	return a.retryUntil(ctx, until, func() error {
		if err := a.accessBeside(ctx); err != nil {
			return err
		}
		slice := min(a.cfg.Timings.OC/2, max(time.Until(until), time.Second))
		args := []string{"wait", w.Kind + "/" + w.Name, "--for=condition=" + w.Condition, "--timeout=" + slice.Round(time.Second).String()}
		if w.Namespace != "" {
			args = append(args, "-n", w.Namespace)
		}
		return a.runOC(ctx, nil, args...)
	})
}

// retryUntil retries until it works, fails permanently, or time is up.
func (a *attempt) retryUntil(ctx context.Context, until time.Time, try func() error) error {
	for wait := a.cfg.Timings.RetryMin; ; wait = min(2*wait, a.cfg.Timings.ScalePoll) {
		err := try()
		if err == nil || ctx.Err() != nil || errors.Is(err, errRefusedByOC) || time.Now().Add(wait).After(until) {
			return err
		}
		if err := status.Sleep(ctx, wait); err != nil {
			return err
		}
	}
}

// runOC runs oc against the cluster. Its output goes to the log; the last complaint becomes the error.
func (a *attempt) runOC(ctx context.Context, input []byte, args ...string) error {
	last, complaint := "", ""
	code, err := a.callCluster(ctx, input, func(line string) {
		a.addLine(line)
		last = line
		if isComplaint(line) {
			complaint = line
		}
	}, args...)
	if err != nil || code == 0 {
		return err
	}
	if complaint == "" {
		complaint = last
	}
	if complaint == "" {
		complaint = fmt.Sprintf("exit code %d", code)
	}
	complaint = installer.Message(complaint)
	if isDenial(complaint) {
		return fmt.Errorf("oc %s: %w: %s", args[0], errRefusedByOC, complaint)
	}
	return fmt.Errorf("oc %s: %s", args[0], complaint)
}

// isComplaint reports a line that describes an error.
func isComplaint(line string) bool {
	for _, sign := range []string{"error:", "Error from server", "Unable to connect", "The connection to the server"} {
		if strings.HasPrefix(line, sign) {
			return true
		}
	}
	return false
}

// isDenial reports an answer that does not change by waiting. A missing kind may still appear: operators bring their own.
func isDenial(text string) bool {
	for _, sign := range []string{"(Forbidden)", "(Unauthorized)", "(Invalid)", "(BadRequest)", "must be logged in"} {
		if strings.Contains(text, sign) {
			return true
		}
	}
	return false
}

func waitName(w contract.AddonWait) string {
	if w.Namespace == "" {
		return w.Kind + " " + w.Name
	}
	return w.Kind + " " + w.Namespace + "/" + w.Name
}

func earlierOf(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}
