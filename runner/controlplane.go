package runner

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/runner/cloud"
)

// startControlPlane starts the control plane. If a machine of it does not exist any more, or does not start within a third of the time, the
// cluster wakes without it as long as the others are a majority: etcd then works, and the cluster is degraded.
func (a *attempt) startControlPlane(ctx context.Context, began, until time.Time) error {
	machines, err := a.controlPlane(ctx)
	if err != nil {
		return err
	}
	wanted := max(a.spec.Power.ControlPlane, len(machines))
	if 2*len(machines) <= wanted {
		return noMajority(machines, wanted)
	}
	patience := began.Add(a.cfg.Timings.Power / 3)
	starts := allControlPlane
	starts.enough = func(there int) bool { return 2*there > wanted && time.Now().After(patience) }
	if err := a.bringTo(ctx, starts, cloud.MachineRunning, until); err != nil {
		return err
	}
	if machines, err = a.controlPlane(ctx); err == nil {
		a.lacking = a.explainMissingMachines(machines, wanted)
	}
	return err
}

func (a *attempt) controlPlane(ctx context.Context) ([]cloud.Machine, error) {
	machines, err := a.machinesOfCluster(ctx)
	return slices.DeleteFunc(machines, isWorker), err
}

func noMajority(machines []cloud.Machine, wanted int) failure {
	return failure{
		Reason: "NoMajority", Whose: contract.WhoseUser,
		Message: fmt.Sprintf("of the control plane's %d machines only %s is there. Without a majority etcd does not work, so nothing was started", wanted, strings.Join(machineNames(machines), ", ")),
		Next:    "destroy the cluster and request a new one",
	}
}

// explainMissingMachines says which machines of the control plane do not run, what that means and what to do; zero: all of them run.
func (a *attempt) explainMissingMachines(machines []cloud.Machine, wanted int) failure {
	var missing, next []string
	for _, m := range machines {
		if isNotRunning(m) {
			missing = append(missing, fmt.Sprintf("%s is %s", machineText(m), m.State))
		}
	}
	if len(missing) > 0 {
		next = append(next, "put the cluster to sleep and wake it again later, or start the machine in the cloud's console")
	}
	if gone := wanted - len(machines); gone > 0 {
		names := nameMissingMachines(machines, gone)
		missing = append(missing, names+" does not exist any more")
		next = append(next, a.platform.ReplaceControlPlane(names))
	}
	if len(missing) == 0 {
		return failure{}
	}
	running := wanted - len(missing)
	return failure{
		Reason: "ControlPlaneIncomplete", Whose: contract.WhoseCloud, Next: strings.Join(next, "; "),
		Message: fmt.Sprintf("the control plane runs with %d of %d machines: %s. They are a majority, so etcd and the API work, but the cluster does not survive the loss of another one",
			running, wanted, strings.Join(missing, ", ")),
	}
}

// nameMissingMachines names the machines that do not exist any more. The installers number those of a control plane from 0.
func nameMissingMachines(machines []cloud.Machine, gone int) string {
	have, missing := machineNames(machines), []string{}
	prefix := have[0][:strings.LastIndex(have[0], "-")+1]
	for i := range len(machines) + gone {
		if name := fmt.Sprintf("%s%d", prefix, i); !slices.Contains(have, name) {
			missing = append(missing, name)
		}
	}
	if len(missing) != gone { // one was replaced before, and the new one has another name
		return fmt.Sprintf("a machine besides %s", strings.Join(have, ", "))
	}
	return strings.Join(missing, ", ")
}

func machineNames(machines []cloud.Machine) (names []string) {
	for _, m := range machines {
		names = append(names, m.Name)
	}
	return names
}
