package runner

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/runner/cloud"
	"github.com/ocpctl/ocpctl/runner/installer"
	"github.com/ocpctl/ocpctl/runner/status"
)

func isWorker(m cloud.Machine) bool       { return !m.ControlPlane }
func isControlPlane(m cloud.Machine) bool { return m.ControlPlane }

// stopMachines stops the workers and then the control plane, so that the API is there while the workers' pods end.
func (a *attempt) stopMachines(ctx context.Context) error {
	until := time.Now().Add(a.cfg.Timings.Power)
	if err := a.compareAccount(ctx); err != nil {
		return err
	}
	if err := a.refuseToStop(ctx); err != nil {
		return err
	}
	if err := a.bringTo(ctx, "workers", isWorker, cloud.MachineStopped, until); err != nil {
		return err
	}
	return a.bringTo(ctx, "control plane", isControlPlane, cloud.MachineStopped, until)
}

// startMachines starts the control plane and then the workers, and waits until all nodes are ready.
func (a *attempt) startMachines(ctx context.Context, until time.Time) error {
	began := time.Now()
	if err := a.compareAccount(ctx); err != nil {
		return err
	}
	if err := a.bringTo(ctx, "control plane", isControlPlane, cloud.MachineRunning, until); err != nil {
		return err
	}
	if err := a.awaitAPI(ctx, until); err != nil {
		return err
	}
	if err := a.bringTo(ctx, "workers", isWorker, cloud.MachineRunning, until); err != nil {
		return err
	}
	return a.awaitNodes(ctx, began, until)
}

// machinesOfCluster lists the cluster's machines. One without our tags is not ours to stop, and a cluster without a control plane is gone.
func (a *attempt) machinesOfCluster(ctx context.Context) ([]cloud.Machine, error) {
	machines, err := a.cloud.Machines(ctx, a.target())
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil {
		return nil, failure{
			Reason: "CloudUnanswered", Whose: contract.WhoseCloud, Retryable: true, Message: fmt.Sprintf("the cluster's machines could not be listed: %v", err),
			Next: "try again later; if it happens again, ask an administrator of this installation to check the runner's permissions",
		}
	}
	if i := slices.IndexFunc(machines, func(m cloud.Machine) bool { return !m.Ours }); i >= 0 {
		return nil, failure{
			Reason: "MachineNotOurs", Whose: contract.WhoseUser,
			Message: fmt.Sprintf("machine %s (%s) belongs to the cluster and lacks ocpctl's tags, so ocpctl may not stop or start it", machines[i].Name, machines[i].ID),
			Next:    "remove the machine, or give it the tags of the cluster's other machines",
		}
	}
	if !slices.ContainsFunc(machines, isControlPlane) {
		return nil, failure{
			Reason: "NoControlPlane", Whose: contract.WhoseUser, Message: "no machine of the cluster's control plane is there any more",
			Next: "destroy the cluster and request a new one",
		}
	}
	return machines, nil
}

// refuseToStop refuses before anything is stopped: AWS ends spot machines instead of stopping them.
func (a *attempt) refuseToStop(ctx context.Context) error {
	machines, err := a.machinesOfCluster(ctx)
	if err != nil {
		return err
	}
	var spot []string
	for _, m := range machines {
		if m.Spot {
			spot = append(spot, m.Name)
		}
	}
	if len(spot) == 0 {
		return nil
	}
	return failure{
		Reason: "SpotMachines", Whose: contract.WhoseUser, Message: "spot machines cannot be stopped: " + strings.Join(spot, ", "),
		Next: "replace them by on-demand machines, or let the cluster run",
	}
}

// bringTo starts or stops the machines of a part and waits until all of them are there. A machine on its way elsewhere is waited for first.
func (a *attempt) bringTo(ctx context.Context, part string, of func(cloud.Machine) bool, to string, until time.Time) error {
	for wait := a.cfg.Timings.RetryMin; ; wait = min(2*wait, a.cfg.Timings.ScalePoll) {
		machines, err := a.machinesOfCluster(ctx)
		if err != nil {
			return err
		}
		machines = slices.DeleteFunc(machines, func(m cloud.Machine) bool { return !of(m) })
		var turn, left []string
		for _, m := range machines {
			if m.State != to {
				left = append(left, fmt.Sprintf("%s is %s", m.Name, m.State))
			}
			if m.State != to && (m.State == cloud.MachineRunning || m.State == cloud.MachineStopped) {
				turn = append(turn, m.ID)
			}
		}
		if len(left) == 0 {
			return nil
		}
		if len(turn) > 0 {
			a.note("%s: %d machines are to be %s", part, len(turn), to)
			err = a.cloud.SetRunning(ctx, a.target(), turn, to == cloud.MachineRunning)
		}
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case time.Now().After(until):
			return notBrought(part, to, left, err)
		case err != nil:
			a.note("%s: %v", part, err)
		}
		a.say.Step(20, fmt.Sprintf("%s: %d of %d machines %s", part, len(machines)-len(left), len(machines), to))
		if err := status.Sleep(ctx, wait); err != nil {
			return err
		}
	}
}

// notBrought says which machines are not as they should be, and what the cloud said about it.
func notBrought(part, to string, left []string, said error) error {
	f := failure{
		Reason: "MachinesNotRunning", Whose: contract.WhoseCloud, Retryable: true,
		Message: fmt.Sprintf("not all machines of the %s are %s: %s", part, to, strings.Join(left, ", ")),
		Next:    "look at the machines in the cloud's console; ocpctl tries again",
	}
	if to == cloud.MachineStopped {
		f.Reason = "MachinesNotStopped"
	}
	if said == nil {
		return f
	}
	f.Message += ". The cloud said: " + said.Error()
	if known, ok := installer.Recognize(said.Error()); ok {
		f.Reason, f.Whose, f.Next = known.Reason, known.Whose, known.Next
	}
	return f
}
