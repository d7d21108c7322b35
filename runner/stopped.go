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
func isNotRunning(m cloud.Machine) bool   { return m.State != cloud.MachineRunning }

// part is some of a cluster's machines.
type part struct {
	name   string
	of     func(cloud.Machine) bool
	enough func(there int) bool // so many will do; nil: all of them are needed
}

var (
	allWorkers      = part{name: "workers", of: isWorker}
	allControlPlane = part{name: "control plane", of: isControlPlane}
)

// stopMachines stops the workers and then the control plane, so that the API is there while the workers' pods end.
func (a *attempt) stopMachines(ctx context.Context) error {
	until := time.Now().Add(a.cfg.Timings.Power)
	if err := a.compareAccount(ctx); err != nil {
		return err
	}
	if err := a.refuseToStop(ctx); err != nil {
		return err
	}
	if err := a.bringTo(ctx, allWorkers, cloud.MachineStopped, until); err != nil {
		return err
	}
	return a.bringTo(ctx, allControlPlane, cloud.MachineStopped, until)
}

// startMachines starts the control plane and then the workers, and waits until all nodes are ready.
func (a *attempt) startMachines(ctx context.Context, until time.Time) error {
	began := time.Now()
	if err := a.compareAccount(ctx); err != nil {
		return err
	}
	if err := a.startControlPlane(ctx, began, until); err != nil {
		return err
	}
	if err := a.awaitAPI(ctx, until); err != nil {
		return err
	}
	if err := a.bringTo(ctx, allWorkers, cloud.MachineRunning, until); err != nil {
		return err
	}
	return a.awaitNodes(ctx, began, until)
}

// machinesOfCluster lists the cluster's machines. One without our tags is not ours to stop, and a cluster without a control plane is gone.
func (a *attempt) machinesOfCluster(ctx context.Context) ([]cloud.Machine, error) {
	machines, err := a.cloud.Machines(ctx, a.cloudTarget())
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if r, ok := installer.RefusalOf("the cluster's machines", err); ok && !r.Retryable {
		return nil, failure{
			Reason: r.Reason, Whose: r.Whose, Next: r.Advice(), Message: fmt.Sprintf("the cluster's machines could not be listed: %s. The cloud said: %s", r.Message, r.Words),
		}
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

// bringTo starts or stops the machines of a part and waits until all of them, or enough, are there. A machine on its way elsewhere is waited for
// first. A refusal that does not heal ends it at once.
func (a *attempt) bringTo(ctx context.Context, p part, to string, until time.Time) error {
	for wait := a.cfg.Timings.RetryMin; ; wait = min(2*wait, a.cfg.Timings.ScalePoll) {
		machines, err := a.machinesOfCluster(ctx)
		if err != nil {
			return err
		}
		machines = slices.DeleteFunc(machines, func(m cloud.Machine) bool { return !p.of(m) })
		left := slices.DeleteFunc(slices.Clone(machines), func(m cloud.Machine) bool { return m.State == to })
		there := len(machines) - len(left)
		if len(left) == 0 || p.enough != nil && p.enough(there) {
			return nil
		}
		said, err := a.turnMachines(ctx, p, left, to)
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil:
			return err
		case time.Now().After(until):
			return notBrought(p.name, to, left, said)
		}
		step := fmt.Sprintf("%s: %d of %d machines %s", p.name, there, len(machines), to)
		if said != nil {
			a.noteLine("%s: %s", p.name, said.Message)
			step += "; " + said.Message
		}
		a.say.Step(20, step)
		if err := status.Sleep(ctx, wait); err != nil {
			return err
		}
	}
}

// turnMachines starts or stops the machines that are not on their way, one by one: one that is refused keeps no other from it, and it is known whether
// anything was changed. It returns something that the cloud said and that may heal; a refusal that does not heal is an error.
func (a *attempt) turnMachines(ctx context.Context, p part, left []cloud.Machine, to string) (said *failure, err error) {
	hear := func(f failure) {
		if said == nil || said.Reason == "" || said.Reason == installer.RefusedByCloud { // what is recognised says more
			said = &f
		}
	}
	for _, m := range left {
		if to == cloud.MachineRunning && m.Trouble != "" {
			r, _ := installer.RefusalOf(m.Name, notStarted(m.Trouble))
			hear(notTurned(m, to, r))
		}
		if m.State != cloud.MachineRunning && m.State != cloud.MachineStopped {
			continue
		}
		a.noteLine("%s: %s is to be %s", p.name, m.Name, to)
		err := a.cloud.SetRunning(ctx, a.cloudTarget(), []string{m.ID}, to == cloud.MachineRunning)
		r, answered := installer.RefusalOf(m.Name+" "+m.ID, err)
		a.turned = a.turned || !answered
		switch {
		case err == nil:
		case !answered:
			hear(failure{Message: err.Error()})
		case r.Retryable:
			hear(notTurned(m, to, r))
		default:
			return nil, notTurned(m, to, r)
		}
	}
	return said, nil
}

// notStarted is what the cloud says of a machine that it could not start after it had accepted to.
type notStarted string

func (n notStarted) Error() string        { return string(n) }
func (n notStarted) ErrorCode() string    { return "" }
func (n notStarted) ErrorMessage() string { return string(n) }

func notTurned(m cloud.Machine, to string, r installer.Refusal) failure {
	verb := map[string]string{cloud.MachineRunning: "started", cloud.MachineStopped: "stopped"}[to]
	if r.Reason == installer.RefusedByCloud { // the list speaks of deletions; a start can exceed a quota, as an install can
		r.Message, r.Next = "the cloud refused it for a reason that this version of ocpctl does not recognize", "read what the cloud says about it; ocpctl tries again"
		if known, ok := installer.Recognize(r.Words); ok {
			r.Reason, r.Whose, r.Message, r.Next = known.Reason, known.Whose, known.Message, known.Next
		}
	}
	return failure{
		Reason: r.Reason, Whose: r.Whose, Retryable: r.Retryable, Next: r.Advice(),
		Message: fmt.Sprintf("%s was not %s: %s. The cloud said: %s", machineText(m), verb, r.Message, r.Words),
	}
}

// machineText names a machine with its type and zone.
func machineText(m cloud.Machine) string {
	if m.Type == "" || m.Zone == "" {
		return m.Name
	}
	return fmt.Sprintf("%s (%s in %s)", m.Name, m.Type, m.Zone)
}

// notBrought says which machines are not as they should be, and what the cloud said about it.
func notBrought(part, to string, left []cloud.Machine, said *failure) error {
	f := failure{
		Reason: "MachinesNotRunning", Whose: contract.WhoseCloud, Retryable: true,
		Next: "look at the machines in the cloud's console; ocpctl tries again",
	}
	if to == cloud.MachineStopped {
		f.Reason = "MachinesNotStopped"
	}
	var states []string
	for _, m := range left {
		states = append(states, fmt.Sprintf("%s is %s", machineText(m), m.State))
	}
	f.Message = fmt.Sprintf("not all machines of the %s are %s: %s", part, to, strings.Join(states, ", "))
	if said == nil {
		return f
	}
	f.Message += ". " + said.Message
	if said.Reason != "" {
		f.Reason, f.Whose, f.Next = said.Reason, said.Whose, said.Next
	}
	return f
}
