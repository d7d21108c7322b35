package aws

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	classic "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancing"
	classictypes "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancing/types"
	"github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	elbtypes "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/ocpctl/ocpctl/runner/cloud"
)

// ageCheck collects what a destroyer of a cluster would delete although it is older than the cluster: somebody put the cluster's tags on it. AWS
// tells no time for VPCs, subnets, route tables, gateways to the internet, addresses, security groups, network interfaces, target groups and
// zones. The destroyer also deletes what is in a VPC with the cluster's tags, tagged or not, so that is looked at, too.
type ageCheck struct {
	*Client
	region   string
	ageMark  func(made time.Time) string // cloud.Target.AgeMark
	found    map[string]string
	marked   map[string]bool // ids of resources of EC2, names of buckets, and ARNs, with a mark of the cluster
	networks []string        // VPCs among them
}

// addOlder looks at everything with a mark of the cluster in one region.
func (c *Client) addOlder(ctx context.Context, region string, t cloud.Target, arns []string, found map[string]string) error {
	if t.Accepted.IsZero() || len(arns) == 0 {
		return nil
	}
	o := ageCheck{Client: c, region: region, ageMark: t.AgeMark, found: found, marked: map[string]bool{}}
	for _, arn := range arns {
		o.marked[arn] = true
		_, resource, _ := strings.Cut(arn, ":ec2:")
		if kind, id, isEC2 := strings.Cut(resource[strings.LastIndex(resource, ":")+1:], "/"); isEC2 {
			o.marked[id] = true
			if kind == "vpc" {
				o.networks = append(o.networks, id)
			}
		}
		if name, isBucket := strings.CutPrefix(arn, "arn:aws:s3:::"); isBucket {
			o.marked[name] = true
		}
	}
	for _, look := range []func(context.Context) error{o.checkInstances, o.checkVolumes, o.checkCopies, o.checkGateways, o.checkBalancers, o.checkClassicBalancers, o.checkBuckets} {
		if err := look(ctx); err != nil {
			return fmt.Errorf("look for what is older than the cluster in %s: %w", region, err)
		}
	}
	return nil
}

// addTimes notes a resource that is older, if a destroyer would delete it: it is marked, or in a marked network.
func (o ageCheck) addTimes(id, network string, times ...*time.Time) {
	if !o.marked[id] && !slices.Contains(o.networks, network) {
		return
	}
	var made time.Time
	for _, at := range times {
		if at != nil && (made.IsZero() || at.Before(made)) {
			made = *at
		}
	}
	if mark := o.ageMark(made); mark != "" {
		o.found[id] = mark
	}
}

// checkInstances looks at instances. Their launch time is that of the last start; the disks' and interfaces' first attachment may be older.
func (o ageCheck) checkInstances(ctx context.Context) error {
	found, err := collectPages(ctx, ec2.NewDescribeInstancesPaginator(o.ec2In(o.region), &ec2.DescribeInstancesInput{Filters: []types.Filter{
		{Name: awssdk.String("instance-state-name"), Values: []string{"pending", "running", "stopping", "stopped"}},
	}}), func(page *ec2.DescribeInstancesOutput) (all []types.Instance) {
		for _, r := range page.Reservations {
			all = append(all, r.Instances...)
		}
		return all
	})
	for _, i := range found {
		times := []*time.Time{i.LaunchTime, i.UsageOperationUpdateTime}
		for _, face := range i.NetworkInterfaces {
			if face.Attachment != nil {
				times = append(times, face.Attachment.AttachTime)
			}
		}
		o.addTimes(awssdk.ToString(i.InstanceId), awssdk.ToString(i.VpcId), times...)
	}
	return err
}

func (o ageCheck) checkVolumes(ctx context.Context) error {
	found, err := collectPages(ctx, ec2.NewDescribeVolumesPaginator(o.ec2In(o.region), &ec2.DescribeVolumesInput{}), func(page *ec2.DescribeVolumesOutput) []types.Volume { return page.Volumes })
	for _, v := range found {
		o.addTimes(awssdk.ToString(v.VolumeId), "", v.CreateTime)
	}
	return err
}

func (o ageCheck) checkCopies(ctx context.Context) error {
	own := []string{"self"}
	snapshots, err := collectPages(ctx, ec2.NewDescribeSnapshotsPaginator(o.ec2In(o.region), &ec2.DescribeSnapshotsInput{OwnerIds: own}),
		func(page *ec2.DescribeSnapshotsOutput) []types.Snapshot { return page.Snapshots })
	if err != nil {
		return err
	}
	for _, s := range snapshots {
		o.addTimes(awssdk.ToString(s.SnapshotId), "", s.StartTime)
	}
	images, err := collectPages(ctx, ec2.NewDescribeImagesPaginator(o.ec2In(o.region), &ec2.DescribeImagesInput{Owners: own}), func(page *ec2.DescribeImagesOutput) []types.Image { return page.Images })
	for _, i := range images {
		if made, err := time.Parse(time.RFC3339, awssdk.ToString(i.CreationDate)); err == nil {
			o.addTimes(awssdk.ToString(i.ImageId), "", &made)
		}
	}
	return err
}

func (o ageCheck) checkGateways(ctx context.Context) error {
	nat, err := collectPages(ctx, ec2.NewDescribeNatGatewaysPaginator(o.ec2In(o.region), &ec2.DescribeNatGatewaysInput{}), func(page *ec2.DescribeNatGatewaysOutput) []types.NatGateway { return page.NatGateways })
	if err != nil {
		return err
	}
	for _, g := range nat {
		if g.State == types.NatGatewayStatePending || g.State == types.NatGatewayStateAvailable { // deleted ones are listed for a while
			o.addTimes(awssdk.ToString(g.NatGatewayId), awssdk.ToString(g.VpcId), g.CreateTime)
		}
	}
	endpoints, err := collectPages(ctx, ec2.NewDescribeVpcEndpointsPaginator(o.ec2In(o.region), &ec2.DescribeVpcEndpointsInput{}),
		func(page *ec2.DescribeVpcEndpointsOutput) []types.VpcEndpoint { return page.VpcEndpoints })
	for _, e := range endpoints {
		if !strings.EqualFold(string(e.State), "deleted") {
			o.addTimes(awssdk.ToString(e.VpcEndpointId), awssdk.ToString(e.VpcId), e.CreationTimestamp)
		}
	}
	return err
}

func (o ageCheck) checkBalancers(ctx context.Context) error {
	found, err := collectPages(ctx, elasticloadbalancingv2.NewDescribeLoadBalancersPaginator(o.elbIn(o.region), &elasticloadbalancingv2.DescribeLoadBalancersInput{}),
		func(page *elasticloadbalancingv2.DescribeLoadBalancersOutput) []elbtypes.LoadBalancer {
			return page.LoadBalancers
		})
	for _, b := range found {
		o.addTimes(awssdk.ToString(b.LoadBalancerArn), awssdk.ToString(b.VpcId), b.CreatedTime)
	}
	return err
}

func (o ageCheck) checkClassicBalancers(ctx context.Context) error {
	api := classic.NewFromConfig(o.cfg, func(options *classic.Options) { options.Region = o.region })
	found, err := collectPages(ctx, classic.NewDescribeLoadBalancersPaginator(api, &classic.DescribeLoadBalancersInput{}),
		func(page *classic.DescribeLoadBalancersOutput) []classictypes.LoadBalancerDescription {
			return page.LoadBalancerDescriptions
		})
	for _, b := range found {
		name := awssdk.ToString(b.LoadBalancerName)
		for arn := range o.marked {
			if strings.HasSuffix(arn, ":loadbalancer/"+name) {
				o.marked[name] = true
			}
		}
		o.addTimes(name, awssdk.ToString(b.VPCId), b.CreatedTime)
	}
	return err
}

// checkBuckets looks at the account's buckets. Outside us-east-1 a change of a bucket's policy makes it look newer.
func (o ageCheck) checkBuckets(ctx context.Context) error {
	found, err := collectPages(ctx, s3.NewListBucketsPaginator(o.s3, &s3.ListBucketsInput{}), func(page *s3.ListBucketsOutput) []s3types.Bucket { return page.Buckets })
	for _, b := range found {
		o.addTimes(awssdk.ToString(b.Name), "", b.CreationDate)
	}
	return err
}
