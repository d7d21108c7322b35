package resources

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

// image stands for the RHCOS boot image of the release.
const image = "ami-0d5a2b1c7e9f43608"

// ControlPlane starts the bootstrap machine and the control plane, and waits until they run.
func (b *Build) ControlPlane(ctx context.Context) error {
	id, err := b.instance(ctx, b.InfraID+"-bootstrap", b.MasterType, b.InfraID+"-master-profile", b.publicSubnets[0])
	if err != nil {
		return err
	}
	b.bootstrap = id
	for i := range b.Masters {
		subnet := b.privateSubnets[i%len(b.privateSubnets)]
		id, err := b.instance(ctx, fmt.Sprintf("%s-master-%d", b.InfraID, i), b.MasterType, b.InfraID+"-master-profile", subnet)
		if err != nil {
			return err
		}
		b.masterIDs = append(b.masterIDs, id)
	}
	all := append([]string{b.bootstrap}, b.masterIDs...)
	return b.running(ctx, all)
}

// WorkerMachines starts the compute machines; the cluster's own machine API does that once the bootstrap machine is gone.
func (b *Build) WorkerMachines(ctx context.Context) error {
	var ids []string
	for i := range b.Workers {
		zone := i % len(b.Zones)
		name := fmt.Sprintf("%s-worker-%s-%s", b.InfraID, b.Zones[zone], RandomSuffix())
		id, err := b.instance(ctx, name, b.WorkerType, b.InfraID+"-worker-profile", b.privateSubnets[zone])
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

// instance starts one machine with its root volume, tagged in the same call.
func (b *Build) instance(ctx context.Context, name, kind, profile, subnet string) (string, error) {
	tags := append(b.ec2Tags(types.ResourceTypeInstance, name), b.ec2Tags(types.ResourceTypeVolume, name)...)
	out, err := b.ec2.RunInstances(ctx, &ec2.RunInstancesInput{
		ImageId: aws.String(image), InstanceType: types.InstanceType(kind), MinCount: aws.Int32(1), MaxCount: aws.Int32(1),
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

// DestroyBootstrap ends the bootstrap machine and empties away its bucket.
func (b *Build) DestroyBootstrap(ctx context.Context) error {
	if _, err := b.ec2.TerminateInstances(ctx, &ec2.TerminateInstancesInput{InstanceIds: []string{b.bootstrap}}); err != nil {
		return fmt.Errorf("failed to delete bootstrap machine: %w", err)
	}
	waiter := ec2.NewInstanceTerminatedWaiter(b.ec2, func(o *ec2.InstanceTerminatedWaiterOptions) {
		o.MinDelay, o.MaxDelay = 20*time.Millisecond, time.Second
	})
	if err := waiter.Wait(ctx, &ec2.DescribeInstancesInput{InstanceIds: []string{b.bootstrap}}, 15*time.Minute); err != nil {
		return fmt.Errorf("timed out waiting for bootstrap machine deletion: %w", err)
	}
	return b.deleteBucket(ctx, b.BootstrapBucket())
}
