package runner

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/runner/status"
)

// openControlPlane lets the control plane accept workloads before the last worker is removed: without a node for its routers a cluster loses
// its ingress, and the last workers would not be drained.
func (a *attempt) openControlPlane(ctx context.Context, until time.Time) error {
	if a.spec.Scale.Workers > 0 {
		return nil
	}
	if err := a.setSchedulable(ctx, true); err != nil {
		return err
	}
	for wait := a.cfg.Timings.RetryMin; ; wait = min(2*wait, a.cfg.Timings.ScalePoll) {
		nodes, err := a.listNodes(ctx)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err == nil && !slices.ContainsFunc(nodes, func(n node) bool { return n.control && n.tainted }) {
			return nil
		}
		if time.Now().After(until) {
			return failure{
				Reason: "ControlPlaneNotSchedulable", Whose: contract.WhoseInstaller, Retryable: true,
				Message: "the control plane did not become schedulable, so the last workers were not removed",
				Next:    "check the cluster's machine-config operator (oc get clusteroperators), then scale again",
			}
		}
		a.say.Step(12, "making the control plane schedulable")
		if err := status.Sleep(ctx, wait); err != nil {
			return err
		}
	}
}

// closeControlPlane keeps workloads off the control plane again, once there are workers, if the profile has some. The cluster's own
// routers need two.
func (a *attempt) closeControlPlane(ctx context.Context) error {
	if a.spec.Scale.Usual == 0 || a.spec.Scale.Workers < 2 {
		return nil
	}
	return a.setSchedulable(ctx, false)
}

// setSchedulable does nothing if it is already so.
func (a *attempt) setSchedulable(ctx context.Context, schedulable bool) error {
	raw, err := a.askPatiently(ctx, "get", "schedulers.config.openshift.io", "cluster", "-o", "json")
	if err != nil {
		return err
	}
	var scheduler struct {
		Spec struct{ MastersSchedulable bool }
	}
	if err := json.Unmarshal(raw, &scheduler); err != nil {
		return explainUnreadable("scheduler")
	}
	if scheduler.Spec.MastersSchedulable == schedulable {
		return nil
	}
	a.noteLine("control plane schedulable: %t", schedulable)
	patch := fmt.Sprintf(`{"spec":{"mastersSchedulable":%t}}`, schedulable)
	_, err = a.askPatiently(ctx, "patch", "schedulers.config.openshift.io", "cluster", "--type=merge", "--patch="+patch)
	return err
}
