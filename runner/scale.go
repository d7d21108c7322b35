package runner

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/ocpctl/ocpctl/internal/artifacts"
	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/internal/duration"
	"github.com/ocpctl/ocpctl/internal/secret"
	"github.com/ocpctl/ocpctl/runner/installer"
	"github.com/ocpctl/ocpctl/runner/status"
)

// runScale brings a ready cluster to another number of workers, through the cluster's own machine sets. It changes nothing in the cloud
// itself and records nothing: what the machine sets create has the cluster's name, as the installer set it.
func (a *attempt) runScale(ctx context.Context) error {
	if a.spec.Scale == nil {
		return failure{
			Reason: "RunnerError", Whose: contract.WhoseOurs, Message: "the server did not send the number of workers",
			Next: "ask an administrator of this installation to upgrade the server and ocpctl-runner together",
		}
	}
	for _, p := range []phase{
		{"restoring", 2, "fetching the kubeconfig", func(ctx context.Context) error { return a.fetchKubeconfig(ctx, a.spec.Scale.KubeconfigRef) }},
		{"scaling", 10, fmt.Sprintf("scaling to %s", formatWorkers(a.spec.Scale.Workers)), a.scaleWorkers},
	} {
		if err := a.beginPhase(ctx, p); err != nil {
			return err
		}
	}
	return nil
}

// fetchKubeconfig writes the cluster's kubeconfig where only oc reads it; it is removed at the end of the attempt.
func (a *attempt) fetchKubeconfig(ctx context.Context, ref string) (err error) {
	if a.oc, err = a.tools.OC(); err != nil {
		return a.noTool(ctx, "oc", err)
	}
	missing := failure{
		Reason: "KubeconfigMissing", Whose: contract.WhoseOurs, Message: "no kubeconfig of the cluster is stored, so the cluster cannot be accessed",
		Next: "ask an administrator of this installation to check the artifact bucket below operate/ and the runner's permissions for it",
	}
	if ref == "" {
		return missing
	}
	var raw []byte
	err = a.keepTrying(ctx, a.cfg.Timings.Restore, "kubeconfig", func(ctx context.Context) (err error) {
		if raw, err = a.store.Read(ctx, ref); errors.Is(err, artifacts.ErrMissing) {
			return nil // retrying does not bring it back
		}
		return err
	})
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		missing.Message, missing.Retryable = fmt.Sprintf("the cluster's kubeconfig could not be fetched from the artifact bucket (%v); nothing was changed", err), true
		return missing
	case len(raw) == 0:
		return missing
	}
	if err := a.hideKeys(raw); err != nil {
		missing.Message = "the stored kubeconfig cannot be read: " + err.Error()
		return missing
	}
	a.kubeconfig, err = a.secretFile("kubeconfig", secret.New(string(raw)))
	return err
}

// hideKeys registers a kubeconfig's secrets with the redactor.
func (a *attempt) hideKeys(kubeconfig []byte) error {
	var parsed struct {
		Users []struct {
			User struct {
				Key      string `yaml:"client-key-data"`
				Token    string `yaml:"token"`
				Password string `yaml:"password"`
			} `yaml:"user"`
		} `yaml:"users"`
	}
	if yaml.Unmarshal(kubeconfig, &parsed) != nil || len(parsed.Users) == 0 {
		return errors.New("it names no user") // without the parser's message, which quotes the input
	}
	for _, each := range parsed.Users {
		for _, value := range []string{each.User.Key, each.User.Token, each.User.Password} {
			if value != "" {
				a.cfg.Redact.Add(secret.New(value))
			}
		}
	}
	return nil
}

// scaleWorkers sets the machine sets' replicas and waits until that many workers are ready.
func (a *attempt) scaleWorkers(ctx context.Context) error {
	until := time.Now().Add(a.cfg.Timings.Scale)
	sets, err := a.machineSets(ctx)
	if err != nil {
		return err
	}
	a.countWorkers(sets)
	wanted := spreadWorkers(a.spec.Scale.Workers, sets)
	if err := a.openControlPlane(ctx, until); err != nil {
		return err
	}
	for _, set := range sets { // sets that shrink come first: what they free may be needed by the others
		if wanted[set.Name] < set.Wanted {
			if err := a.setReplicas(ctx, set.Name, wanted[set.Name]); err != nil {
				return err
			}
		}
	}
	for _, set := range sets {
		if wanted[set.Name] > set.Wanted {
			if err := a.setReplicas(ctx, set.Name, wanted[set.Name]); err != nil {
				return err
			}
		}
	}
	if err := a.awaitWorkers(ctx, wanted, until); err != nil {
		return err
	}
	return a.closeControlPlane(ctx)
}

// countWorkers stores the number of ready workers for the result.
func (a *attempt) countWorkers(sets []machineSet) { a.counted = new(countReady(sets)) }

// setReplicas sets the number of machines of one set.
func (a *attempt) setReplicas(ctx context.Context, set string, replicas int) error {
	a.noteLine("machine set %s: %s", set, formatWorkers(replicas))
	_, err := a.askPatiently(ctx, "scale", "machineset", set, "-n", machineAPI, fmt.Sprintf("--replicas=%d", replicas))
	return err
}

// awaitWorkers waits until every set has exactly the requested machines, all ready.
func (a *attempt) awaitWorkers(ctx context.Context, wanted map[string]int, until time.Time) error {
	began, total := 0, a.spec.Scale.Workers
	for wait, first := a.cfg.Timings.RetryMin, true; ; wait, first = min(2*wait, a.cfg.Timings.ScalePoll), false {
		sets, err := a.machineSets(ctx)
		if err != nil {
			return err
		}
		a.countWorkers(sets)
		if first {
			began = *a.counted
		}
		for _, set := range sets {
			if set.Wanted != wanted[set.Name] {
				return explainOtherScaling(set, wanted[set.Name])
			}
		}
		if areSettled(sets) {
			a.say.Step(95, formatWorkers(total)+" counted")
			return nil
		}
		a.say.Step(10+80*percentTravelled(began, *a.counted, total)/100, fmt.Sprintf("%d of %s ready", *a.counted, formatWorkers(total)))
		if time.Now().After(until) {
			return a.notReady(ctx, sets)
		}
		if err := a.accessBeside(ctx); err != nil {
			return err
		}
		if err := status.Sleep(ctx, wait); err != nil {
			return err
		}
	}
}

// percentTravelled returns how much of the way from one number to another is done, in percent.
func percentTravelled(from, at, to int) int {
	if from == to {
		return 50
	}
	return min(max(100*(at-from)/(to-from), 0), 100)
}

func explainOtherScaling(set machineSet, wanted int) failure {
	return failure{
		Reason: "ScaledElsewhere", Whose: contract.WhoseUser, Retryable: true,
		Message: fmt.Sprintf("machine set %s was set to %d while ocpctl scaled it to %d: something else scales the cluster as well", set.Name, set.Wanted, wanted),
		Next:    "remove the cluster's MachineAutoscalers and scale again, or let them control the number of workers",
	}
}

// notReady returns the complaints about machines that did not appear or disappear.
func (a *attempt) notReady(ctx context.Context, sets []machineSet) error {
	message := fmt.Sprintf("%d of %s were ready after %s (%s)", *a.counted, formatWorkers(a.spec.Scale.Workers), duration.Format(a.cfg.Timings.Scale), machineSetsText(sets))
	complaints := a.listComplaints(ctx)
	for _, line := range complaints {
		a.noteLine("%s", line)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if known, ok := installer.Recognize(complaints...); ok {
		return failure{Reason: known.Reason, Whose: known.Whose, Message: message + "; " + known.Message + ". The cluster said: " + known.Line, Next: known.Next, Retryable: known.Retryable}
	}
	if len(complaints) > 0 {
		message += ". The cluster said: " + complaints[len(complaints)-1]
	}
	return failure{
		Reason: "WorkersNotReady", Whose: contract.WhoseCloud, Retryable: true, Message: message,
		Next: "check the cluster's machines (oc get machines -n " + machineAPI + "): its machine sets keep trying until another number is requested",
	}
}

func formatWorkers(n int) string {
	if n == 1 {
		return "1 worker"
	}
	return fmt.Sprintf("%d workers", n)
}
