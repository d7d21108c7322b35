package resources

import (
	"context"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/ocpctl/ocpctl/devstack/must"
)

// Adopt learns the ids of a network that the real installer created, so that the cluster's operators can work in it.
func (b *Build) Adopt(ctx context.Context) (err error) {
	defer must.Catch(&err)
	owned := []types.Filter{{Name: aws.String("tag:" + ProviderTag(b.InfraID)), Values: []string{"owned"}}}
	vpcs := must.Get(b.ec2.DescribeVpcs(ctx, &ec2.DescribeVpcsInput{Filters: owned})).Vpcs
	must.FailIf(len(vpcs) != 1, "the cluster %s has %d networks, not one", b.InfraID, len(vpcs))
	b.vpc = aws.ToString(vpcs[0].VpcId)
	subnets := map[string]string{}
	for _, s := range must.Get(b.ec2.DescribeSubnets(ctx, &ec2.DescribeSubnetsInput{Filters: owned})).Subnets {
		subnets[tag(s.Tags, "Name")] = aws.ToString(s.SubnetId)
	}
	b.publicSubnets, b.privateSubnets = nil, nil
	for _, zone := range b.Zones {
		public, private := subnets[b.InfraID+"-subnet-public-"+zone], subnets[b.InfraID+"-subnet-private-"+zone]
		must.FailIf(public == "" || private == "", "the cluster %s has no pair of subnets in %s: %v", b.InfraID, zone, subnets)
		b.publicSubnets, b.privateSubnets = append(b.publicSubnets, public), append(b.privateSubnets, private)
	}
	for _, g := range must.Get(b.ec2.DescribeSecurityGroups(ctx, &ec2.DescribeSecurityGroupsInput{Filters: owned})).SecurityGroups {
		switch aws.ToString(g.GroupName) {
		case b.InfraID + "-node":
			b.nodeGroup = aws.ToString(g.GroupId)
		case b.InfraID + "-apiserver-lb":
			b.lbGroup = aws.ToString(g.GroupId)
		}
	}
	b.publicZone = must.Get(b.PublicZone(ctx, b.BaseDomain))
	for _, z := range must.Get(b.zones(ctx)) {
		if strings.TrimSuffix(aws.ToString(z.Name), ".") == b.Domain() {
			b.privateZone = zoneID(z)
		}
	}
	must.FailIf(b.nodeGroup == "" || b.lbGroup == "" || b.privateZone == "", "the cluster %s has no security groups or no private zone", b.InfraID)
	return nil
}

// UserData returns what the cluster's bootstrap machine was started with, in base64; empty: it does not run.
func (b *Build) UserData(ctx context.Context) (_ string, err error) {
	defer must.Catch(&err)
	ids := must.Get(b.Machines(ctx, "bootstrap"))
	if len(ids) == 0 {
		return "", nil
	}
	out, err := b.ec2.DescribeInstanceAttribute(ctx, &ec2.DescribeInstanceAttributeInput{InstanceId: &ids[0], Attribute: types.InstanceAttributeNameUserData})
	must.Wrap(err, "read what the bootstrap machine was started with")
	must.FailIf(out.UserData == nil || out.UserData.Value == nil, "the bootstrap machine %s was started with nothing", ids[0])
	return *out.UserData.Value, nil
}

// Nodes returns the cluster's machines as Kubernetes knows them: the name of each node with its provider id.
func (b *Build) Nodes(ctx context.Context) (_ map[string]string, err error) {
	defer must.Catch(&err)
	nodes := map[string]string{}
	for _, kind := range []string{"master", "worker"} {
		ids := must.Get(b.Machines(ctx, kind))
		if len(ids) == 0 {
			continue
		}
		for _, r := range must.Get(b.ec2.DescribeInstances(ctx, &ec2.DescribeInstancesInput{InstanceIds: ids})).Reservations {
			for _, i := range r.Instances {
				nodes[aws.ToString(i.PrivateDnsName)] = fmt.Sprintf("aws:///%s/%s %s", aws.ToString(i.Placement.AvailabilityZone), aws.ToString(i.InstanceId), kind)
			}
		}
	}
	return nodes, nil
}
