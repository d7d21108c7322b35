package script

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ocpctl/ocpctl/devstack/installer"
	"github.com/ocpctl/ocpctl/devstack/installer/act"
	"github.com/ocpctl/ocpctl/devstack/must"
)

// step is one mark of the install with its action in the cloud.
type step struct {
	name  string
	share float64 // of the pace
	say   string
	do    func(context.Context) error
}

func (i *install) steps(ctx context.Context, steps ...step) (err error) {
	defer must.Catch(&err)
	for _, s := range steps {
		if s.say != "" {
			i.info("%s", s.say)
		}
		must.Do(i.Mark(ctx, s.name, s.share))
		if s.do == nil {
			continue
		}
		must.Do(s.do(ctx))
	}
	return nil
}

// bootstrapping waits for the API and the end of the bootstrap machine, and deletes the machine.
func (i *install) bootstrapping(ctx context.Context) (err error) {
	defer must.Catch(&err)
	must.Do(i.steps(ctx, step{"api", 1.5, fmt.Sprintf("Waiting up to %s for the Kubernetes API at https://api.%s:6443...", until(20*time.Minute), i.config.domain()), nil}))
	i.info("API v1.33.5 up")
	must.Do(i.steps(ctx, step{"bootstrap", 2, "Waiting up to " + until(45*time.Minute) + " for bootstrapping to complete...", nil}))
	i.info("Waiting for the bootstrap etcd member to be removed...")
	i.info("Bootstrap etcd member has been removed")
	must.Do(i.steps(ctx, step{"bootstrap-destroy", 1, "Destroying the bootstrap resources...", nil}))
	i.info("Waiting up to 5m0s for bootstrap machine deletion openshift-cluster-api-guests/%s-bootstrap...", i.infraID)
	if err := i.build.DestroyBootstrap(ctx); err != nil {
		return inCloud(ctx, err, exitGeneric, "error destroying bootstrap resources "+err.Error())
	}
	i.stopCAPI()
	i.info("Finished destroying bootstrap resources")
	return nil
}

// inCloud returns the error of a phase whose cloud calls failed: interrupted, as a fault says, or with its own exit code and text.
func inCloud(ctx context.Context, err error, code int, text string) error {
	var struck *failure
	switch {
	case ctx.Err() != nil || errors.Is(err, act.ErrInterrupted):
		return act.ErrInterrupted
	case errors.As(err, &struck):
		return struck
	}
	return fail(code, "%s", text)
}

// unless returns an empty step if the condition holds.
func unless(condition bool, do func(context.Context) error) func(context.Context) error {
	if condition {
		return nil
	}
	return do
}

// failing returns a fault's failure, with the step's own exit code and text by default.
func failing(step string, fault installer.Fault) *failure {
	code, text := ownFailure(step)
	if fault.Exit != 0 {
		code = fault.Exit
	}
	if fault.Message != "" {
		text = fault.Message
	}
	switch { // the real installer has words of its own for these two
	case step == "quota" && code == exitGeneric:
		text = `failed to fetch Cluster: failed to generate asset "Platform Quota Check": ` + text
	case step == "api" && code == exitBootstrap:
		text += "\nFailed waiting for Kubernetes API. This error usually happens when there is a problem on the bootstrap host that prevents creating a temporary control plane."
	default:
		text = worded(code, text)
	}
	return &failure{Code: code, Message: text}
}

// ownFailure returns how a step fails if the fault does not say.
func ownFailure(step string) (code int, text string) {
	switch step {
	case "quota":
		return exitGeneric, "error(MissingQuota): ec2/L-0263D0A3 is not available in this region because the required number of resources (3) is more than the limit of 2"
	case "api":
		return exitBootstrap, "failed waiting for Kubernetes API: context deadline exceeded"
	case "bootstrap":
		return exitBootstrap, "failed to wait for bootstrapping to complete: context deadline exceeded"
	case "bootstrap-destroy":
		return exitGeneric, "error destroying bootstrap resources failed during the destroy bootstrap hook"
	case "initialize":
		return exitInstall, "Cluster operators authentication, console, ingress are not available"
	case "stable":
		return exitUnstable, "timed out waiting for the condition"
	case "complete":
		return exitInstall, "failed to get the console route"
	case "start":
		return exitGeneric, "told to fail"
	}
	return exitInfrastructure, "infrastructure was not ready within 15m0s: context deadline exceeded"
}

// worded formats a message as the real installer does for this exit code. Each line is logged separately.
func worded(code int, message string) string {
	switch code {
	case exitConfig:
		return `failed to fetch Cluster: failed to load asset "Install Config": failed to create install config: ` + message
	case exitInfrastructure:
		return `failed to fetch Cluster: failed to generate asset "Cluster": failed to create cluster: ` + message
	case exitBootstrap:
		return "Bootstrap failed to complete: " + message +
			"\nFailed to wait for bootstrapping to complete. This error usually happens when there is a problem with control plane hosts that prevents the control plane operators from creating the control plane."
	case exitInstall:
		return "Cluster initialization failed because one or more operators are not functioning properly.\n" +
			"The cluster should be accessible for troubleshooting as detailed in the documentation linked below,\n" +
			"https://docs.openshift.com/container-platform/latest/support/troubleshooting/troubleshooting-installations.html\n" +
			"The 'wait-for install-complete' subcommand can then be used to continue the installation\n" +
			"failed to initialize the cluster: " + message
	case exitUnstable:
		return "cluster operators are not stable: " + message
	}
	return message
}
