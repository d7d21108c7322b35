package resources

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/smithy-go"

	"github.com/ocpctl/ocpctl/devstack/must"
)

// ControlPlane starts the bootstrap machine and the control plane, and waits until they run.
func (b *Build) ControlPlane(ctx context.Context) (err error) {
	defer must.Catch(&err)
	id := must.Get(b.instance(ctx, b.InfraID+"-bootstrap", b.MasterType, b.InfraID+"-master-profile", b.publicSubnets[0], false))
	b.bootstrap = id
	for i := range b.Masters {
		subnet := b.privateSubnets[i%len(b.privateSubnets)]
		id := must.Get(b.instance(ctx, fmt.Sprintf("%s-master-%d", b.InfraID, i), b.MasterType, b.InfraID+"-master-profile", subnet, false))
		b.masterIDs = append(b.masterIDs, id)
	}
	all := append([]string{b.bootstrap}, b.masterIDs...)
	return b.running(ctx, all)
}

// WorkerMachines starts the compute machines, which the cluster's own machine API does once the bootstrap machine is gone.
func (b *Build) WorkerMachines(ctx context.Context) error {
	var ids []string
	for i := range b.Workers {
		zone := i % len(b.Zones)
		name := fmt.Sprintf("%s-worker-%s-%s", b.InfraID, b.Zones[zone], RandomSuffix())
		id, err := b.instance(ctx, name, b.WorkerType, b.InfraID+"-worker-profile", b.privateSubnets[zone], b.SpotWorkers)
		if err != nil && b.SpotWorkers {
			return b.missWorkers(ctx, zone, err)
		}
		if err != nil {
			return err
		}
		ids = append(ids, id)
	}
	if len(ids) == 0 {
		return nil
	}
	return b.running(ctx, ids)
}

// missWorkers keeps why a zone's machine was not created, which only the cluster's own machine API tells, and returns what the installer says.
func (b *Build) missWorkers(ctx context.Context, zone int, err error) error {
	text := err.Error()
	if api := smithy.APIError(nil); errors.As(err, &api) {
		text = api.ErrorCode() + ": " + api.ErrorMessage()
	}
	if err := (awsLiving{b}).Note(ctx, b.privateSubnets[zone], errorTag, fmt.Sprintf("%.250s", text)); err != nil {
		return err
	}
	return fmt.Errorf("Cluster operator machine-api Degraded is True with SyncingFailed: minimum worker replica count (%d) not yet met: current running replicas 0, waiting for [%s-worker-%s]",
		b.Workers, b.InfraID, b.Zones[zone])
}

// instance starts one machine with its root volume, tagged in the same call.
func (b *Build) instance(ctx context.Context, name, kind, profile, subnet string, spot bool) (string, error) {
	tags := append(b.ec2Tags(types.ResourceTypeInstance, name), b.ec2Tags(types.ResourceTypeVolume, name)...)
	var market *types.InstanceMarketOptionsRequest
	if spot {
		market = &types.InstanceMarketOptionsRequest{MarketType: types.MarketTypeSpot, SpotOptions: &types.SpotMarketOptions{
			SpotInstanceType: types.SpotInstanceTypeOneTime, InstanceInterruptionBehavior: types.InstanceInterruptionBehaviorTerminate,
		}}
	}
	out, err := b.ec2.RunInstances(ctx, &ec2.RunInstancesInput{
		InstanceMarketOptions: market,
		ImageId:               aws.String(cmp.Or(b.image, image)), InstanceType: types.InstanceType(kind), MinCount: aws.Int32(1), MaxCount: aws.Int32(1),
		SubnetId: &subnet, SecurityGroupIds: []string{b.nodeGroup}, IamInstanceProfile: &types.IamInstanceProfileSpecification{Name: &profile},
		BlockDeviceMappings: []types.BlockDeviceMapping{{DeviceName: aws.String("/dev/xvda"), Ebs: &types.EbsBlockDevice{
			VolumeSize: aws.Int32(120), VolumeType: types.VolumeTypeGp3, DeleteOnTermination: aws.Bool(true),
		}}},
		TagSpecifications: tags,
	})
	if err != nil {
		return "", fmt.Errorf("failed to run instance %q: %w", name, err)
	}
	return aws.ToString(out.Instances[0].InstanceId), nil
}

func (b *Build) running(ctx context.Context, ids []string) error {
	waiter := ec2.NewInstanceRunningWaiter(b.ec2, func(o *ec2.InstanceRunningWaiterOptions) {
		o.MinDelay, o.MaxDelay = 20*time.Millisecond, time.Second
	})
	if err := waiter.Wait(ctx, &ec2.DescribeInstancesInput{InstanceIds: ids}, 15*time.Minute); err != nil {
		return fmt.Errorf("machines are not running: %w", err)
	}
	return nil
}

// Machines lists the cluster's instances whose name starts with kind, "bootstrap" or "master"; terminated ones are omitted.
func (b *Build) Machines(ctx context.Context, kind string) (ids []string, err error) {
	out, err := b.ec2.DescribeInstances(ctx, &ec2.DescribeInstancesInput{Filters: []types.Filter{
		{Name: aws.String("tag:" + KubernetesTag(b.InfraID)), Values: []string{"owned"}},
		{Name: aws.String("instance-state-name"), Values: []string{"pending", "running"}},
	}})
	if err != nil {
		return nil, err
	}
	for _, r := range out.Reservations {
		for _, i := range r.Instances {
			for _, t := range i.Tags {
				if aws.ToString(t.Key) == "Name" && strings.HasPrefix(aws.ToString(t.Value), b.InfraID+"-"+kind) {
					ids = append(ids, aws.ToString(i.InstanceId))
				}
			}
		}
	}
	return ids, nil
}

// DestroyBootstrap deletes the bootstrap machine and its bucket.
func (b *Build) DestroyBootstrap(ctx context.Context) error {
	if b.bootstrap == "" { // another process created it
		ids, err := b.Machines(ctx, "bootstrap")
		if err != nil || len(ids) == 0 {
			return errors.Join(errors.New("failed to find the bootstrap machine"), err)
		}
		b.bootstrap = ids[0]
	}
	if _, err := b.ec2.TerminateInstances(ctx, &ec2.TerminateInstancesInput{InstanceIds: []string{b.bootstrap}}); err != nil {
		return fmt.Errorf("failed to delete bootstrap machine: %w", err)
	}
	waiter := ec2.NewInstanceTerminatedWaiter(b.ec2, func(o *ec2.InstanceTerminatedWaiterOptions) {
		o.MinDelay, o.MaxDelay = 20*time.Millisecond, time.Second
	})
	if err := waiter.Wait(ctx, &ec2.DescribeInstancesInput{InstanceIds: []string{b.bootstrap}}, 15*time.Minute); err != nil {
		return fmt.Errorf("timed out waiting for bootstrap machine deletion: %w", err)
	}
	if b.KeepBootstrapBucket {
		return nil
	}
	return b.deleteBucket(ctx, b.BootstrapBucket())
}

// image represents the RHCOS boot image of the release.
const image = "ami-0d5a2b1c7e9f43608"

// CopyImage copies the boot image into a region in which it is not published. It has no tags until TagImage: two calls, as in the
// real installer.
func (b *Build) CopyImage(ctx context.Context) error {
	name := b.InfraID + "-master"
	out, err := b.ec2.CopyImage(ctx, &ec2.CopyImageInput{
		Name: &name, SourceImageId: aws.String(image), SourceRegion: aws.String("us-east-1"), Description: aws.String("Created by Openshift Installer"),
	})
	if err != nil {
		return fmt.Errorf("failed to copy AMI: %w", err)
	}
	b.image = aws.ToString(out.ImageId)
	return nil
}

// TagImage tags the copied image, so that destroy finds it; destroy tags its snapshot.
func (b *Build) TagImage(ctx context.Context) error {
	_, err := b.ec2.CreateTags(ctx, &ec2.CreateTagsInput{
		Resources: []string{b.image}, Tags: sorted(b.tags(b.InfraID+"-master"), func(k, v *string) types.Tag { return types.Tag{Key: k, Value: v} }),
	})
	if err != nil {
		return fmt.Errorf("failed to tag AMI: %w", err)
	}
	return nil
}

// deleteImage first copies the image's tags to its snapshots, so that a later round finds them.
func (c *Cloud) deleteImage(ctx context.Context, id string) (err error) {
	defer must.Catch(&err)
	out := must.Get(c.ec2.DescribeImages(ctx, &ec2.DescribeImagesInput{ImageIds: []string{id}}))
	for _, found := range out.Images {
		var snapshots []string
		for _, device := range found.BlockDeviceMappings {
			if device.Ebs != nil && device.Ebs.SnapshotId != nil {
				snapshots = append(snapshots, *device.Ebs.SnapshotId)
			}
		}
		if len(snapshots) == 0 {
			continue
		}
		_, err = c.ec2.CreateTags(ctx, &ec2.CreateTagsInput{Resources: snapshots, Tags: found.Tags})
		must.Wrap(err, "tagging snapshots for %s", id)
	}
	_, err = c.ec2.DeregisterImage(ctx, &ec2.DeregisterImageInput{ImageId: &id})
	return err
}
