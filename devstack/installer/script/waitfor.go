package script

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/devstack/must"
)

// waitForInstall is `wait-for install-complete`. The real installer queries the cluster; the stand-in has none and queries the cloud
// for what exists of it. It always prints the password.
func (r *run) waitForInstall(ctx context.Context) (err error) {
	defer must.Catch(&err)
	i := must.Get(r.takeUp(ctx))
	must.Do(i.steps(ctx, step{"initialize", 1, fmt.Sprintf("Waiting up to %s for the cluster at https://api.%s:6443 to initialize...", until(40*time.Minute), i.config.domain()), nil}))
	degraded, err := i.degraded(ctx)
	if err != nil {
		return inCloud(ctx, err, exitInstall, worded(exitInstall, err.Error()))
	}
	if len(degraded) > 0 {
		return i.withoutCredentials(degraded)
	}
	there := must.Get(i.build.ingress(ctx))
	if !there {
		return fail(exitInstall, "%s", worded(exitInstall, "Cluster operators authentication, console, ingress are not available"))
	}
	return i.settled(ctx)
}

// waitForBootstrap is `wait-for bootstrap-complete`.
func (r *run) waitForBootstrap(ctx context.Context) (err error) {
	defer must.Catch(&err)
	i := must.Get(r.takeUp(ctx))
	must.Do(i.steps(ctx,
		step{"api", 1, fmt.Sprintf("Waiting up to %s for the Kubernetes API at https://api.%s:6443...", until(20*time.Minute), i.config.domain()), nil},
		step{"bootstrap", 1, "Waiting up to " + until(45*time.Minute) + " for bootstrapping to complete...", nil},
	))
	i.info("It is now safe to remove the bootstrap resources")
	i.info("Time elapsed: %s", time.Since(i.started).Round(time.Second))
	return nil
}

// takeUp continues an install that another process began; without a control plane in the cloud nothing responds.
func (r *run) takeUp(ctx context.Context) (_ *install, err error) {
	defer must.Catch(&err)
	if !r.exists("auth", "kubeconfig") {
		return nil, fail(exitGeneric, "loading kubeconfig: stat %s: no such file or directory", r.path("auth", "kubeconfig"))
	}
	i := must.Get(r.newInstall(ctx))
	masters := must.Get(i.build.Machines(ctx, "master"))
	if len(masters) == 0 {
		code, text := exitInstall, "failed to initialize the cluster: "
		if strings.HasSuffix(r.leaf, "bootstrap-complete") {
			code, text = exitBootstrap, "failed waiting for Kubernetes API: "
		}
		return nil, fail(code, "%sGet \"https://api.%s:6443/version\": dial tcp: connect: connection refused", text, i.config.domain())
	}
	return i, nil
}
