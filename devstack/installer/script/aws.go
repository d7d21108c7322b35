package script

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/devstack/installer"
	"github.com/ocpctl/ocpctl/devstack/installer/resources"
	"github.com/ocpctl/ocpctl/devstack/must"
)

// awsBuild is an install on AWS.
type awsBuild struct {
	*install
	*resources.Build
}

func (b *awsBuild) check(ctx context.Context) (err error) {
	defer must.Catch(&err)
	zone := must.Get(b.PublicZone(ctx, b.BaseDomain))
	taken := must.Get(b.RecordsUnder(ctx, zone, b.Domain()))
	if len(taken) > 0 {
		return fail(exitGeneric, `failed to fetch Cluster: failed to fetch dependency of "Cluster": failed to generate asset "Platform Provisioning Check": metadata.name: Invalid value: %q: the zone already has record sets for the domain of the cluster: [%s]`,
			b.config.Metadata.Name, strings.Join(taken, ", "))
	}
	return nil
}

func (b *awsBuild) variables() map[string]any {
	return map[string]any{"aws_region": b.Region, "aws_master_availability_zones": b.Zones, "custom_tags": b.UserTags}
}

// infrastructure creates everything up to a running control plane.
func (b *awsBuild) infrastructure(ctx context.Context) (err error) {
	defer must.Catch(&err)
	i := b.install
	must.Do(i.steps(ctx,
		step{"infrastructure", 0.5, "Creating infrastructure resources...", nil},
		step{"iam", 1, "Reconciling IAM roles for control-plane and compute nodes", b.roles},
		step{"image", 0, "", unless(!b.copies(), b.CopyImage)},
		step{"image-tags", 0, "", unless(!b.copies() || i.Leaks(installer.LeakImage), b.TagImage)},
	))
	must.Do(i.infraManifests())
	must.Do(i.steps(ctx,
		step{"network", 2, "Waiting up to " + until(15*time.Minute) + " for network infrastructure to become ready...", b.Network},
		step{"balancers", 1, "", b.Balancers},
		step{"bucket", 0, "", b.CreateBucket},
		step{"bucket-tags", 0, "", unless(i.Leaks(installer.LeakBucket), b.TagBucket)},
	))
	i.info("Network infrastructure is ready")
	must.Do(i.steps(ctx,
		step{"zone", 1, "Creating Route53 records for control plane load balancer", b.CreateZone},
		step{"zone-tags", 0, "", unless(i.Leaks(installer.LeakZone), b.TagZone)},
		step{"public-record", 0, "", b.PublicRecord},
		step{"private-records", 0, "", b.privateRecords},
	))
	i.debug("Created private Hosted Zone")
	must.Do(b.PutIgnition(ctx, i.ignition("bootstrap")))
	machines := i.announceMachines()
	must.Do(i.steps(ctx, step{"machines", 2, fmt.Sprintf("Waiting up to %s for machines [%s] to provision...", until(15*time.Minute), strings.Join(machines, " ")), b.ControlPlane}))
	i.info("Control-plane machines are ready")
	i.info("Cluster API resources have been created. Waiting for cluster to become ready...")
	return nil
}

func (b *awsBuild) roles(ctx context.Context) error {
	for _, kind := range []string{"master", "worker"} {
		b.info("Creating IAM role for %s", kind)
		if err := b.Role(ctx, kind); err != nil {
			return err
		}
	}
	return nil
}

// published are the regions with the release's boot image.
var published = strings.Fields(`af-south-1 ap-east-1 ap-east-2 ap-northeast-1 ap-northeast-2 ap-northeast-3 ap-south-1 ap-south-2 ap-southeast-1
	ap-southeast-2 ap-southeast-3 ap-southeast-4 ap-southeast-5 ap-southeast-7 ca-central-1 ca-west-1 eu-central-1 eu-central-2 eu-north-1 eu-south-1
	eu-south-2 eu-west-1 eu-west-2 eu-west-3 il-central-1 me-central-1 me-south-1 mx-central-1 sa-east-1 us-east-1 us-east-2 us-west-1 us-west-2
	us-gov-east-1 us-gov-west-1`)

// copies reports whether the boot image has to be copied into the region.
func (b *awsBuild) copies() bool {
	return b.Leaks(installer.LeakImage) || b.config.Platform.AWS.AMIID == "" && !slices.Contains(published, b.Region)
}

func (b *awsBuild) privateRecords(ctx context.Context) error {
	return b.PrivateRecords(ctx, !b.Leaks(installer.LeakRecord))
}

func (b *awsBuild) ingress(ctx context.Context) (bool, error) {
	zone, err := b.PublicZone(ctx, b.BaseDomain)
	if err != nil {
		return false, err
	}
	records, err := b.RecordsUnder(ctx, zone, b.Domain())
	return strings.Contains(strings.Join(records, " "), ".apps."+b.Domain()), err
}

func (b *awsBuild) workloads() map[string]func(context.Context) error {
	return map[string]func(context.Context) error{
		installer.LeakBalancer:   func(ctx context.Context) error { _, err := b.ServiceBalancer(ctx, 443); return err },
		installer.LeakVolume:     func(ctx context.Context) error { _, err := b.ClaimedVolume(ctx); return err },
		installer.LeakSnapshot:   b.RetainedSnapshot,
		installer.LeakDNS:        b.ExternalRecord,
		installer.LeakForeign:    b.ForeignResource,
		installer.LeakGroupInUse: b.ForeignInterface,
	}
}

// awsDestroyer destroys a cluster on AWS by the identifiers in its metadata.
type awsDestroyer struct {
	*run
	metadata
	cloud *resources.Cloud
}

func (d *awsDestroyer) begin(ctx context.Context) (err error) {
	d.cloud, err = resources.Open(ctx, d.AWS.Region, d.Wrote)
	for _, identifier := range d.AWS.Identifier {
		d.debug("search for matching resources by tag in %s matching aws.Filter%v", d.AWS.Region, identifier)
	}
	return err
}

func (d *awsDestroyer) destroy(ctx context.Context, leave []string) error {
	for class, kind := range map[string]string{installer.LeakUser: "user", installer.LeakProfile: "instance-profile"} {
		if d.Leaks(class) {
			d.cloud.Blind = append(d.cloud.Blind, kind)
		}
	}
	destroyer := &resources.Destroy{
		Cloud: d.cloud, InfraID: d.InfraID, Identifiers: d.AWS.Identifier, Leave: leave,
		Interval: max(d.Pace/2, 5*time.Millisecond), Info: d.info, Warn: d.warn, Debug: d.debug,
	}
	return destroyer.Run(ctx)
}

func (d *awsDestroyer) destroyBootstrap(ctx context.Context) error {
	return d.cloud.NewBuild(resources.Spec{InfraID: d.InfraID}).DestroyBootstrap(ctx)
}
