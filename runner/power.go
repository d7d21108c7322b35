package runner

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/runner/provision"
)

// runPower puts the cluster to sleep or wakes it. It records nothing: what it stops and starts has the cluster's tags, and all of it can be
// repeated. The kubeconfig comes first, because a cluster that nobody can enter could not be woken.
func (a *attempt) runPower(ctx context.Context) error {
	p := a.spec.Power
	if p == nil || p.Mode == contract.PowerWorkers && a.spec.Scale == nil {
		return failure{
			Reason: "RunnerError", Whose: contract.WhoseOurs, Message: "the server did not send how the cluster sleeps",
			Next: "ask an administrator of this installation to upgrade the server and ocpctl-runner together",
		}
	}
	do := phase{"going_to_sleep", 10, "putting the cluster to sleep", a.goToSleep}
	if a.spec.Kind == contract.KindWake {
		do = phase{"waking", 10, "waking the cluster", a.wakeUp}
	}
	for _, p := range []phase{
		{"restoring", 2, "fetching the kubeconfig", func(ctx context.Context) error { return a.fetchKubeconfig(ctx, p.KubeconfigRef) }}, do,
	} {
		if err := a.beginPhase(ctx, p); err != nil {
			a.counted = nil // a number of workers is the result of a scaling only
			a.awake = a.runsStill(ctx)
			return err
		}
	}
	return nil
}

// powerResult is the result of an attempt that succeeded.
func (a *attempt) powerResult() contract.Result {
	said := strings.TrimPrefix(strings.TrimSuffix(a.lacking.Message+"; "+a.warning, "; "), "; ")
	return contract.Result{
		Outcome: succeeded, Reason: a.lacking.Reason, Message: a.cfg.Redact.Text(said), Whose: a.lacking.Whose, Next: a.cfg.Redact.Text(a.lacking.Next),
		Asleep: new(a.spec.Kind == contract.KindSleep),
	}
}

// runsStill reports that all machines of a cluster that could not be put to sleep run. What was stopped a moment ago may be listed as running, so
// it is not known after this attempt may have stopped one.
func (a *attempt) runsStill(ctx context.Context) bool {
	if a.spec.Kind != contract.KindSleep || a.spec.Power.Mode != contract.PowerStopped || a.turned || ctx.Err() != nil {
		return false
	}
	if a.compareAccount(ctx) != nil {
		return false
	}
	machines, err := a.cloud.Machines(ctx, a.cloudTarget())
	return err == nil && slices.ContainsFunc(machines, isControlPlane) && !slices.ContainsFunc(machines, isNotRunning)
}

func (a *attempt) goToSleep(ctx context.Context) error {
	switch a.spec.Power.Mode {
	case contract.PowerWorkers:
		return a.turnWorkers(ctx)
	case contract.PowerStopped:
		return a.stopMachines(ctx)
	}
	return a.unknownMode()
}

// wakeUp brings everything back, and waits until the cluster is well: otherwise the first user would find it broken. Only operators that
// are not well in time do not keep it from being used.
func (a *attempt) wakeUp(ctx context.Context) error {
	until := time.Now().Add(a.cfg.Timings.Power)
	switch a.spec.Power.Mode {
	case contract.PowerWorkers:
		if err := a.turnWorkers(ctx); err != nil {
			return err
		}
	case contract.PowerStopped:
		if err := a.startMachines(ctx, until); err != nil {
			return err
		}
	default:
		return a.unknownMode()
	}
	return a.awaitOperators(ctx, until)
}

// turnWorkers has the workers end, or come back.
func (a *attempt) turnWorkers(ctx context.Context) error {
	if a.hosted == nil {
		return a.scaleWorkers(ctx)
	}
	on := a.spec.Kind == contract.KindWake
	return a.awaitHub(ctx, a.cfg.Timings.Power, func() (provision.Look, error) { return a.hosted.Turn(ctx, a.order(), on) })
}

func (a *attempt) unknownMode() error {
	return failure{
		Reason: "UnknownMode", Whose: contract.WhoseOurs, Message: fmt.Sprintf("this runner does not know the mode %q: it is older than the server", a.spec.Power.Mode),
		Next: "ask an administrator of this installation to upgrade ocpctl-runner",
	}
}
