package script

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/devstack/must"
)

// initialising waits for the operators and prints the cluster's address. They run in the cluster: an installer that stops waiting
// does not stop them.
func (i *install) initialising(ctx context.Context) error {
	waited := i.steps(ctx, step{"initialize", 1, fmt.Sprintf("Waiting up to %s for the cluster at https://api.%s:6443 to initialize...", until(40*time.Minute), i.config.domain()), nil})
	var gaveUp *failure
	if waited != nil && !errors.As(waited, &gaveUp) {
		return waited
	}
	if err := i.checkCredentials(ctx); err != nil {
		return err
	}
	if err := i.build.Operators(ctx); err != nil {
		return notInstalled(ctx, err)
	}
	if waited != nil {
		return waited
	}
	if err := i.workloads(ctx); err != nil {
		return notInstalled(ctx, err)
	}
	return i.settled(ctx)
}

// checkCredentials fails if operators have no access to the cloud: in Manual mode each needs a Secret that works.
func (i *install) checkCredentials(ctx context.Context) error {
	if i.config.on().mints(i.config.CredentialsMode) {
		return nil
	}
	degraded := false
	for _, request := range i.requests() {
		there, err := i.usable(ctx, i.assets, request)
		if err != nil {
			return notInstalled(ctx, err)
		}
		if !there {
			operator := strings.TrimSuffix(strings.TrimPrefix(request.Namespace, "openshift-"), "-operator")
			i.say("error", "Cluster operator %s Degraded is True with CredentialsFailing: no usable cloud credentials in namespace %s", operator, request.Namespace)
			degraded = true
		}
	}
	if degraded {
		return fail(exitInstall, "%s", worded(exitInstall, "Cluster operators authentication, console, image-registry, ingress are not available"))
	}
	return nil
}

func notInstalled(ctx context.Context, err error) error {
	return inCloud(ctx, err, exitInstall, worded(exitInstall, err.Error()))
}

// workloads creates what users of the cluster create, if a fault asks for it.
func (i *install) workloads(ctx context.Context) error {
	for class, make := range i.build.workloads() {
		if !i.Leaks(class) {
			continue
		}
		if err := make(ctx); err != nil {
			return err
		}
	}
	return nil
}

// settled waits until the operators are done and prints the cluster's address.
func (i *install) settled(ctx context.Context) (err error) {
	defer must.Catch(&err)
	for _, done := range []int{312, 640, 884} {
		i.debug("Still waiting for the cluster to initialize: Working towards %s: %d of 903 done (%d%% complete)", i.version, done, done*100/903)
		must.Do(i.Mark(ctx, "operators", 0.7))
	}
	must.Do(i.steps(ctx, step{"stable", 1, "Waiting up to " + until(30*time.Minute) + " to ensure each cluster operator has finished progressing...", nil}))
	i.info("All cluster operators have completed progressing")
	must.Do(i.steps(ctx, step{"complete", 0.5, "Checking to see if there is a route at openshift-console/console...", nil}))
	i.info("Install complete!")
	kubeconfig := must.Get(filepath.Abs(i.path("auth", "kubeconfig")))
	i.info("To access the cluster as the system:admin user when using 'oc', run\n    export KUBECONFIG=%s", kubeconfig)
	i.info("Access the OpenShift web-console here: https://console-openshift-console.apps.%s", i.config.domain())
	if !i.skipPassword {
		i.info("Login to the console with user: %q, and password: %q", "kubeadmin", i.password)
	}
	i.info("Time elapsed: %s", time.Since(i.started).Round(time.Second))
	return nil
}

// waitForInstall is `wait-for install-complete`. The real installer queries the cluster; the stand-in has none and queries the cloud
// for what exists of it. It always prints the password.
func (r *run) waitForInstall(ctx context.Context) (err error) {
	defer must.Catch(&err)
	i := must.Get(r.takeUp(ctx))
	must.Do(i.steps(ctx, step{"initialize", 1, fmt.Sprintf("Waiting up to %s for the cluster at https://api.%s:6443 to initialize...", until(40*time.Minute), i.config.domain()), nil}))
	must.Do(i.checkCredentials(ctx))
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
