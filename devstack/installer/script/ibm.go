package script

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/devstack/installer"
	"github.com/ocpctl/ocpctl/devstack/installer/act"
	"github.com/ocpctl/ocpctl/devstack/installer/resources/ibmcloud"
	"github.com/ocpctl/ocpctl/devstack/must"
)

// ibmBuild is an install on IBM Cloud.
type ibmBuild struct {
	*install
	*ibmcloud.Build
}

// check refuses a name whose API record exists. It does not look at a private zone.
func (b *ibmBuild) check(ctx context.Context) (err error) {
	defer must.Catch(&err)
	if b.Internal {
		return nil
	}
	zone := must.Get(b.FindZone(ctx, b.BaseDomain, false))
	name := "api." + b.Domain()
	taken := must.Get(b.HasRecord(ctx, zone, name))
	if taken {
		return fail(exitGeneric, `failed to fetch Cluster: failed to fetch dependency of "Cluster": failed to generate asset "Platform Provisioning Check": baseDomain: Duplicate value: "record %s already exists in CIS zone (%s) and might be in use by another cluster, please remove it to continue"`,
			name, zone.ID)
	}
	return nil
}

// variables contain the API key, as in the real installer.
func (b *ibmBuild) variables() map[string]any {
	return map[string]any{"ibmcloud_api_key": b.Key(), "ibmcloud_region": b.Cloud.Region, "ibmcloud_resource_group_name": b.Spec.ResourceGroup}
}

// failed adds the frame of a phase to a cloud's error. Faults and signals stay as they are.
func failed(ctx context.Context, err error, frame string) error {
	if err == nil || ctx.Err() != nil || act.Ends(err) {
		return err
	}
	return fail(exitInfrastructure, "%s", worded(exitInfrastructure, frame+": "+err.Error()))
}

// timedOut is failed for what the installer's controllers do. They log the reason and try again, so that the installer itself only knows
// that the time was up.
func timedOut(ctx context.Context, err error, frame string) error {
	if ctx.Err() != nil || act.Ends(err) {
		return err
	}
	return failed(ctx, errors.New("client rate limiter Wait returned an error: context deadline exceeded"), frame)
}

// infrastructure creates everything up to a running control plane.
func (b *ibmBuild) infrastructure(ctx context.Context) error {
	if err := b.preProvision(ctx); err != nil {
		return failed(ctx, err, "failed during pre-provisioning")
	}
	if err := b.infraManifests(); err != nil {
		return err
	}
	err := b.steps(ctx,
		step{"network", 2, "Waiting up to " + until(30*time.Minute) + " for network infrastructure to become ready...", b.VPC},
		step{"image", 0, "", b.Image},
		step{"subnets", 0, "", b.Network},
		step{"balancers", 1, "", b.Balancers},
	)
	if err != nil {
		b.debug(`E0227 10:12:13.402118 204 ibmvpccluster_controller.go:241] "failed to reconcile" err=%q logger="controllers.IBMVPCCluster"`, err)
		return timedOut(ctx, err, "infrastructure was not ready within 30m0s")
	}
	b.info("Network infrastructure is ready")
	err = b.steps(ctx,
		step{"public-record", 1, "Created DNS records for control plane load balancers", b.APIRecord},
		step{"private-records", 0, "", b.InternalRecord},
	)
	if err != nil {
		return failed(ctx, err, "failed provisioning resources after infrastructure ready: failed to create DNS records")
	}
	if err := b.PutIgnition(ctx, b.ignition("bootstrap")); err != nil {
		return failed(ctx, err, "unable to upload bootstrap ignition")
	}
	machines := b.announceMachines()
	err = b.steps(ctx,
		step{"machines", 2, fmt.Sprintf("Waiting up to %s for machines [%s] to provision...", until(25*time.Minute), strings.Join(machines, " ")), b.ControlPlane},
		step{"bootstrap-address", 0, "", b.BootstrapAddress},
	)
	if err != nil {
		b.debug(`E0227 10:12:13.402118 204 ibmvpcmachine_controller.go:312] "could not reconcile machine" err=%q logger="controllers.IBMVPCMachine"`, err)
		return timedOut(ctx, err, "failed to provision control-plane machines: machines are not ready")
	}
	b.info("Control-plane machines are ready")
	b.info("Cluster API resources have been created. Waiting for cluster to become ready...")
	return nil
}

// preProvision makes what the boot image needs.
func (b *ibmBuild) preProvision(ctx context.Context) error {
	return b.steps(ctx,
		step{"infrastructure", 0.5, "Creating infrastructure resources...", b.ResourceGroup},
		step{"storage", 0, "", b.Storage},
		step{"bucket", 0, "", b.ImageBucket},
		step{"upload", 1, "", b.UploadImage},
		step{"authorization", 0, "", b.Authorize},
	)
}

// DestroyBootstrap ends the bootstrap machine.
func (b *ibmBuild) DestroyBootstrap(ctx context.Context) error {
	return b.Build.DestroyBootstrap(ctx, b.Leaks(installer.LeakBucket))
}

func (b *ibmBuild) ingress(ctx context.Context) (bool, error) {
	zone, err := b.FindZone(ctx, b.BaseDomain, b.Internal)
	if err != nil {
		return false, err
	}
	return b.HasRecord(ctx, zone, "*.apps."+b.Domain())
}

func (b *ibmBuild) workloads() map[string]func(context.Context) error {
	return map[string]func(context.Context) error{
		installer.LeakBalancer:        b.ServiceBalancer,
		installer.LeakVolume:          func(ctx context.Context) error { _, err := b.ClaimedVolume(ctx); return err },
		installer.LeakSnapshot:        b.RetainedSnapshot,
		installer.LeakDNS:             b.ExternalRecord,
		installer.LeakNetwork:         b.Permit,
		installer.LeakForeignBalancer: b.ForeignBalancer,
		installer.LeakAddress:         b.SpareAddress,
		installer.LeakKey:             b.SSHKey,
		installer.LeakGhost:           b.Ghost,
	}
}

// ibmDestroyer destroys a cluster on IBM Cloud by the names in its metadata.
type ibmDestroyer struct {
	*run
	metadata
	cloud *ibmcloud.Cloud
}

func (d *ibmDestroyer) begin(ctx context.Context) (err error) {
	defer must.Catch(&err)
	d.cloud = must.Get(ibmcloud.Open(d.IBM.Region, d.Wrote, "IC_API_KEY"))
	must.EndIf(!d.cloud.HasKey(), fail(exitGeneric, "Failed while preparing to destroy cluster: IC_API_KEY is not set"))
	d.debug("Logging into IBM Cloud, resource group %s", d.IBM.ResourceGroupName)
	return d.cloud.Login(ctx)
}

func (d *ibmDestroyer) destroy(ctx context.Context, leave []string) error {
	destroyer := &ibmcloud.Destroy{
		Cloud: d.cloud, Metadata: *d.IBM, InfraID: d.InfraID, Name: d.ClusterName, Leave: leave, Leaks: d.Leaks,
		Interval: max(d.Pace/2, 5*time.Millisecond), Info: d.info, Warn: d.warn, Debug: d.debug,
	}
	err := destroyer.Run(ctx)
	if err == nil || act.Ends(err) || ctx.Err() != nil {
		return err
	}
	return fail(exitGeneric, "Failed to destroy cluster: %s", err)
}

func (d *ibmDestroyer) destroyBootstrap(ctx context.Context) error {
	return d.cloud.NewBuild(ibmcloud.Spec{InfraID: d.InfraID}).DestroyBootstrap(ctx, false)
}
