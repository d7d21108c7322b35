package script

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/internal/devstack/installer"
	"github.com/ocpctl/ocpctl/internal/devstack/installer/act"
)

// step is one mark of the install with its action in the cloud.
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
		step{"image", 0, "", unless(!i.copies(), b.CopyImage)},
		step{"image-tags", 0, "", unless(!i.copies() || i.Leaks(installer.LeakImage), b.TagImage)},
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
		step{"bucket-tags", 0, "", unless(i.Leaks(installer.LeakBucket), b.TagBucket)},
	)
	if err != nil {
		return err
	}
	i.info("Network infrastructure is ready")
	err = i.steps(ctx,
		step{"zone", 1, "Creating Route53 records for control plane load balancer", b.CreateZone},
		step{"zone-tags", 0, "", unless(i.Leaks(installer.LeakZone), b.TagZone)},
		step{"public-record", 0, "", b.PublicRecord},
		step{"private-records", 0, "", i.privateRecords},
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

// bootstrapping waits for the API and the end of the bootstrap machine, and deletes the machine.
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

// published are the regions with the release's boot image.
var published = strings.Fields(`af-south-1 ap-east-1 ap-east-2 ap-northeast-1 ap-northeast-2 ap-northeast-3 ap-south-1 ap-south-2 ap-southeast-1
	ap-southeast-2 ap-southeast-3 ap-southeast-4 ap-southeast-5 ap-southeast-7 ca-central-1 ca-west-1 eu-central-1 eu-central-2 eu-north-1 eu-south-1
	eu-south-2 eu-west-1 eu-west-2 eu-west-3 il-central-1 me-central-1 me-south-1 mx-central-1 sa-east-1 us-east-1 us-east-2 us-west-1 us-west-2
	us-gov-east-1 us-gov-west-1`)

// copies reports whether the boot image has to be copied into the region.
func (i *install) copies() bool {
	return i.Leaks(installer.LeakImage) || i.config.Platform.AWS.AMIID == "" && !slices.Contains(published, i.cloud.Region)
}

func (i *install) privateRecords(ctx context.Context) error {
	return i.build.PrivateRecords(ctx, !i.Leaks(installer.LeakRecord))
}
