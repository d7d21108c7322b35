package script

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/internal/house/installer/act"
)

// step is one mark of the install with what it does in the cloud.
type step struct {
	name  string
	share float64 // of the pace
	say   string
	do    func(context.Context) error
}

func (i *install) steps(ctx context.Context, steps ...step) error {
	for _, s := range steps {
		if s.say != "" {
			i.info("%s", s.say)
		}
		if err := i.Mark(ctx, s.name, s.share); err != nil {
			return err
		}
		if s.do == nil {
			continue
		}
		if err := s.do(ctx); err != nil {
			return err
		}
	}
	return nil
}

// infrastructure creates everything up to a running control plane.
func (i *install) infrastructure(ctx context.Context) error {
	b := i.build
	err := i.steps(ctx,
		step{"infrastructure", 0.5, "Creating infrastructure resources...", nil},
		step{"iam", 1, "Reconciling IAM roles for control-plane and compute nodes", i.roles},
	)
	if err != nil {
		return err
	}
	if err := i.startCAPI(); err != nil {
		return err
	}
	i.info("Creating infra manifests...")
	i.info("Created manifest *v1.Namespace, namespace= name=openshift-cluster-api-guests")
	i.info("Created manifest *v1beta2.AWSCluster, namespace=openshift-cluster-api-guests name=%s", i.infraID)
	i.info("Done creating infra manifests")
	i.info("Creating kubeconfig entry for capi cluster %s", i.infraID)
	err = i.steps(ctx,
		step{"network", 2, "Waiting up to " + until(15*time.Minute) + " for network infrastructure to become ready...", b.Network},
		step{"balancers", 1, "", b.Balancers},
		step{"bucket", 0, "", b.CreateBucket},
		step{"bucket-tags", 0, "", b.TagBucket},
	)
	if err != nil {
		return err
	}
	i.info("Network infrastructure is ready")
	err = i.steps(ctx,
		step{"zone", 1, "Creating Route53 records for control plane load balancer", b.CreateZone},
		step{"zone-tags", 0, "", b.TagZone},
		step{"public-record", 0, "", b.PublicRecord},
		step{"private-records", 0, "", b.PrivateRecords},
	)
	if err != nil {
		return err
	}
	i.debug("Created private Hosted Zone")
	if err := b.PutIgnition(ctx, i.ignition("bootstrap")); err != nil {
		return err
	}
	machines := []string{i.infraID + "-bootstrap"}
	for n := range b.Masters {
		machines = append(machines, fmt.Sprintf("%s-master-%d", i.infraID, n))
	}
	for _, m := range machines {
		i.info("Created manifest *v1beta2.AWSMachine, namespace=openshift-cluster-api-guests name=%s", m)
	}
	err = i.steps(ctx, step{"machines", 2, fmt.Sprintf("Waiting up to %s for machines [%s] to provision...", until(15*time.Minute), strings.Join(machines, " ")), b.ControlPlane})
	if err != nil {
		return err
	}
	i.info("Control-plane machines are ready")
	i.info("Cluster API resources have been created. Waiting for cluster to become ready...")
	return nil
}

func (i *install) roles(ctx context.Context) error {
	for _, kind := range []string{"master", "worker"} {
		i.info("Creating IAM role for %s", kind)
		if err := i.build.Role(ctx, kind); err != nil {
			return err
		}
	}
	return nil
}

// bootstrapping waits for the API and the end of the bootstrap machine, and takes that away.
func (i *install) bootstrapping(ctx context.Context) error {
	err := i.steps(ctx, step{"api", 1.5, fmt.Sprintf("Waiting up to %s for the Kubernetes API at https://api.%s:6443...", until(20*time.Minute), i.config.domain()), nil})
	if err != nil {
		return err
	}
	i.info("API v1.33.5 up")
	err = i.steps(ctx, step{"bootstrap", 2, "Waiting up to " + until(45*time.Minute) + " for bootstrapping to complete...", nil})
	if err != nil {
		return err
	}
	i.info("Waiting for the bootstrap etcd member to be removed...")
	i.info("Bootstrap etcd member has been removed")
	err = i.steps(ctx, step{"bootstrap-destroy", 1, "Destroying the bootstrap resources...", nil})
	if err != nil {
		return err
	}
	i.info("Waiting up to 5m0s for bootstrap machine deletion openshift-cluster-api-guests/%s-bootstrap...", i.infraID)
	if err := i.build.DestroyBootstrap(ctx); err != nil {
		return inCloud(ctx, err, exitGeneric, "error destroying bootstrap resources "+err.Error())
	}
	i.stopCAPI()
	i.info("Finished destroying bootstrap resources")
	return nil
}

// inCloud is how a phase ends whose calls to the cloud failed: interrupted, as a fault says, or with its own code and words.
func inCloud(ctx context.Context, err error, code int, words string) error {
	var struck *failure
	switch {
	case ctx.Err() != nil || errors.Is(err, act.ErrInterrupted):
		return act.ErrInterrupted
	case errors.As(err, &struck):
		return struck
	}
	return fail(code, "%s", words)
}

// initialising lets the operators do their work and says where the cluster is.
func (i *install) initialising(ctx context.Context) error {
	err := i.steps(ctx, step{"initialize", 1, fmt.Sprintf("Waiting up to %s for the cluster at https://api.%s:6443 to initialize...", until(40*time.Minute), i.config.domain()), nil})
	if err != nil {
		return err
	}
	if err := i.build.Operators(ctx); err != nil {
		return inCloud(ctx, err, exitInstall, worded(exitInstall, err.Error()))
	}
	for _, done := range []int{312, 640, 884} {
		i.debug("Still waiting for the cluster to initialize: Working towards %s: %d of 903 done (%d%% complete)", i.version, done, done*100/903)
		if err := i.Mark(ctx, "operators", 0.7); err != nil {
			return err
		}
	}
	err = i.steps(ctx, step{"stable", 1, "Waiting up to " + until(30*time.Minute) + " to ensure each cluster operator has finished progressing...", nil})
	if err != nil {
		return err
	}
	i.info("All cluster operators have completed progressing")
	err = i.steps(ctx, step{"complete", 0.5, "Checking to see if there is a route at openshift-console/console...", nil})
	if err != nil {
		return err
	}
	i.info("Install complete!")
	kubeconfig := i.path("auth", "kubeconfig")
	if dir, err := os.Getwd(); err == nil && !strings.HasPrefix(kubeconfig, "/") {
		kubeconfig = dir + "/" + kubeconfig
	}
	i.info("To access the cluster as the system:admin user when using 'oc', run\n    export KUBECONFIG=%s", kubeconfig)
	i.info("Access the OpenShift web-console here: https://console-openshift-console.apps.%s", i.config.domain())
	if !i.skipPassword {
		i.info("Login to the console with user: %q, and password: %q", "kubeadmin", i.password)
	}
	i.info("Time elapsed: %s", time.Since(i.started).Round(time.Second))
	return nil
}
