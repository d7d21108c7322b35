package script

import (
	"context"
	"errors"
	"fmt"
	"time"

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
