package aws_test

import (
	"fmt"
	"testing"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	elb "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	elbtypes "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/aws"
)

func TestNetworkIsTakenDownInOrder(t *testing.T) {
	c := start(t, aws.Config{})
	ctx := t.Context()
	vpc := c.vpc(t)
	sub := c.subnet(t, vpc, "10.0.0.0/20", "us-east-1a")

	gw, err := c.ec2.CreateInternetGateway(ctx, &ec2.CreateInternetGatewayInput{TagSpecifications: spec("internet-gateway", infra+"-igw")})
	require.NoError(t, err)
	igw := gw.InternetGateway.InternetGatewayId
	_, err = c.ec2.AttachInternetGateway(ctx, &ec2.AttachInternetGatewayInput{InternetGatewayId: igw, VpcId: &vpc})
	require.NoError(t, err)
	ip, err := c.ec2.AllocateAddress(ctx, &ec2.AllocateAddressInput{Domain: "vpc", TagSpecifications: spec("elastic-ip", infra+"-eip")})
	require.NoError(t, err)
	made, err := c.ec2.CreateNatGateway(ctx, &ec2.CreateNatGatewayInput{SubnetId: &sub, AllocationId: ip.AllocationId, TagSpecifications: spec("natgateway", infra+"-nat")})
	require.NoError(t, err)
	nat := made.NatGateway.NatGatewayId
	require.Equal(t, types.NatGatewayStatePending, made.NatGateway.State)
	table, err := c.ec2.CreateRouteTable(ctx, &ec2.CreateRouteTableInput{VpcId: &vpc, TagSpecifications: spec("route-table", infra+"-public")})
	require.NoError(t, err)
	rtb := table.RouteTable.RouteTableId
	_, err = c.ec2.CreateRoute(ctx, &ec2.CreateRouteInput{RouteTableId: rtb, DestinationCidrBlock: sdk.String("0.0.0.0/0"), GatewayId: igw})
	require.NoError(t, err)
	assoc, err := c.ec2.AssociateRouteTable(ctx, &ec2.AssociateRouteTableInput{RouteTableId: rtb, SubnetId: &sub})
	require.NoError(t, err)
	endpoint, err := c.ec2.CreateVpcEndpoint(ctx, &ec2.CreateVpcEndpointInput{VpcId: &vpc, ServiceName: sdk.String("com.amazonaws.us-east-1.s3"), RouteTableIds: []string{*rtb},
		TagSpecifications: spec("vpc-endpoint", infra+"-s3")})
	require.NoError(t, err)

	tables, err := c.ec2.DescribeRouteTables(ctx, &ec2.DescribeRouteTablesInput{Filters: byTag()})
	require.NoError(t, err)
	require.Len(t, tables.RouteTables, 1)
	require.Equal(t, sub, *tables.RouteTables[0].Associations[0].SubnetId)
	require.Equal(t, *igw, *tables.RouteTables[0].Routes[0].GatewayId)

	// Everything that is in the way says so.
	_, err = c.ec2.DeleteVpc(ctx, &ec2.DeleteVpcInput{VpcId: &vpc})
	refused(t, err, "DependencyViolation")
	_, err = c.ec2.DeleteSubnet(ctx, &ec2.DeleteSubnetInput{SubnetId: &sub})
	refused(t, err, "DependencyViolation")
	_, err = c.ec2.ReleaseAddress(ctx, &ec2.ReleaseAddressInput{AllocationId: ip.AllocationId})
	refused(t, err, "InvalidIPAddress.InUse")
	_, err = c.ec2.DetachInternetGateway(ctx, &ec2.DetachInternetGatewayInput{InternetGatewayId: igw, VpcId: &vpc})
	refused(t, err, "DependencyViolation")
	_, err = c.ec2.DeleteInternetGateway(ctx, &ec2.DeleteInternetGatewayInput{InternetGatewayId: igw})
	refused(t, err, "DependencyViolation")
	_, err = c.ec2.DeleteRouteTable(ctx, &ec2.DeleteRouteTableInput{RouteTableId: rtb})
	refused(t, err, "DependencyViolation")

	_, err = c.ec2.DeleteNatGateway(ctx, &ec2.DeleteNatGatewayInput{NatGatewayId: nat})
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		out, err := c.ec2.DescribeNatGateways(ctx, &ec2.DescribeNatGatewaysInput{Filter: byTag()})
		return err == nil && len(out.NatGateways) == 1 && out.NatGateways[0].State == types.NatGatewayStateDeleted
	}, 5*time.Second, time.Millisecond, "a deleted NAT gateway stays listed as deleted")
	_, err = c.ec2.ReleaseAddress(ctx, &ec2.ReleaseAddressInput{AllocationId: ip.AllocationId})
	require.NoError(t, err)
	_, err = c.ec2.DetachInternetGateway(ctx, &ec2.DetachInternetGatewayInput{InternetGatewayId: igw, VpcId: &vpc})
	require.NoError(t, err)
	_, err = c.ec2.DeleteInternetGateway(ctx, &ec2.DeleteInternetGatewayInput{InternetGatewayId: igw})
	require.NoError(t, err)
	_, err = c.ec2.DisassociateRouteTable(ctx, &ec2.DisassociateRouteTableInput{AssociationId: assoc.AssociationId})
	require.NoError(t, err)
	_, err = c.ec2.DeleteRouteTable(ctx, &ec2.DeleteRouteTableInput{RouteTableId: rtb})
	require.NoError(t, err)
	gone, err := c.ec2.DeleteVpcEndpoints(ctx, &ec2.DeleteVpcEndpointsInput{VpcEndpointIds: []string{*endpoint.VpcEndpoint.VpcEndpointId, "vpce-0"}})
	require.NoError(t, err)
	require.Equal(t, "InvalidVpcEndpointId.NotFound", *gone.Unsuccessful[0].Error.Code)
	_, err = c.ec2.DeleteSubnet(ctx, &ec2.DeleteSubnetInput{SubnetId: &sub})
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		_, err := c.ec2.DeleteVpc(ctx, &ec2.DeleteVpcInput{VpcId: &vpc})
		return err == nil
	}, 5*time.Second, time.Millisecond, "the VPC goes once its endpoint is gone")
	_, err = c.ec2.DescribeVpcs(ctx, &ec2.DescribeVpcsInput{VpcIds: []string{vpc}})
	refused(t, err, "InvalidVpcID.NotFound")
	require.Empty(t, c.Resources(""), "the default group and the main route table went with their VPC")
}

func TestSecurityGroupsHoldEachOther(t *testing.T) {
	c := start(t, aws.Config{})
	ctx := t.Context()
	vpc := c.vpc(t)
	create := func(name string) *string {
		out, err := c.ec2.CreateSecurityGroup(ctx, &ec2.CreateSecurityGroupInput{VpcId: &vpc, GroupName: &name, Description: sdk.String("d"), TagSpecifications: spec("security-group", name)})
		require.NoError(t, err)
		return out.GroupId
	}
	master, worker := create(infra+"-controlplane"), create(infra+"-node")
	rule := []types.IpPermission{
		{IpProtocol: sdk.String("tcp"), FromPort: sdk.Int32(22623), ToPort: sdk.Int32(22623), UserIdGroupPairs: []types.UserIdGroupPair{{GroupId: worker}}},
		{IpProtocol: sdk.String("tcp"), FromPort: sdk.Int32(22), ToPort: sdk.Int32(22), IpRanges: []types.IpRange{{CidrIp: sdk.String("0.0.0.0/0")}}},
	}
	_, err := c.ec2.AuthorizeSecurityGroupIngress(ctx, &ec2.AuthorizeSecurityGroupIngressInput{GroupId: master, IpPermissions: rule})
	require.NoError(t, err)
	_, err = c.ec2.AuthorizeSecurityGroupIngress(ctx, &ec2.AuthorizeSecurityGroupIngressInput{GroupId: master, IpPermissions: rule})
	refused(t, err, "InvalidPermission.Duplicate")
	seen, err := c.ec2.DescribeSecurityGroups(ctx, &ec2.DescribeSecurityGroupsInput{GroupIds: []string{*master}})
	require.NoError(t, err)
	require.Equal(t, *worker, *seen.SecurityGroups[0].IpPermissions[0].UserIdGroupPairs[0].GroupId)

	_, err = c.ec2.DeleteSecurityGroup(ctx, &ec2.DeleteSecurityGroupInput{GroupId: worker})
	refused(t, err, "DependencyViolation")
	_, err = c.ec2.DeleteSecurityGroup(ctx, &ec2.DeleteSecurityGroupInput{GroupId: master})
	require.NoError(t, err)
	_, err = c.ec2.DeleteSecurityGroup(ctx, &ec2.DeleteSecurityGroupInput{GroupId: worker})
	require.NoError(t, err)

	all, err := c.ec2.DescribeSecurityGroups(ctx, &ec2.DescribeSecurityGroupsInput{Filters: []types.Filter{
		{Name: sdk.String("vpc-id"), Values: []string{vpc}}, {Name: sdk.String("group-name"), Values: []string{"default"}}}})
	require.NoError(t, err)
	require.Len(t, all.SecurityGroups, 1)
	_, err = c.ec2.DeleteSecurityGroup(ctx, &ec2.DeleteSecurityGroupInput{GroupId: all.SecurityGroups[0].GroupId})
	refused(t, err, "CannotDelete")
}

func (c *cloud) run(t *testing.T, subnet, name string, count int32) []string {
	t.Helper()
	tags := append(spec("instance", name), spec("volume", name)...)
	out, err := c.ec2.RunInstances(t.Context(), &ec2.RunInstancesInput{ImageId: sdk.String("ami-0123456789abcdef0"), InstanceType: "m6i.xlarge", MinCount: &count, MaxCount: &count,
		SubnetId: &subnet, TagSpecifications: tags})
	require.NoError(t, err)
	var ids []string
	for _, i := range out.Instances {
		require.Equal(t, types.InstanceStateNamePending, i.State.Name)
		ids = append(ids, *i.InstanceId)
	}
	return ids
}

func (c *cloud) states(t *testing.T, filters ...types.Filter) map[types.InstanceStateName]int {
	t.Helper()
	out, err := c.ec2.DescribeInstances(t.Context(), &ec2.DescribeInstancesInput{Filters: filters})
	require.NoError(t, err)
	states := map[types.InstanceStateName]int{}
	for _, r := range out.Reservations {
		for _, i := range r.Instances {
			states[i.State.Name]++
		}
	}
	return states
}

func TestInstancesLiveAndStayAsTombstones(t *testing.T) {
	now := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	c := start(t, aws.Config{Settle: time.Minute, Tombstone: time.Hour, Now: func() time.Time { return now }})
	ctx := t.Context()
	vpc := c.vpc(t)
	sub := c.subnet(t, vpc, "10.0.0.0/20", "us-east-1a")
	ids := c.run(t, sub, infra+"-master", 3)
	now = now.Add(time.Minute)
	require.Equal(t, map[types.InstanceStateName]int{"running": 3}, c.states(t, byTag()...))

	volumes, err := c.ec2.DescribeVolumes(ctx, &ec2.DescribeVolumesInput{Filters: byTag()})
	require.NoError(t, err)
	require.Len(t, volumes.Volumes, 3)
	_, err = c.ec2.DeleteVolume(ctx, &ec2.DeleteVolumeInput{VolumeId: volumes.Volumes[0].VolumeId})
	refused(t, err, "VolumeInUse")
	faces, err := c.ec2.DescribeNetworkInterfaces(ctx, &ec2.DescribeNetworkInterfacesInput{Filters: []types.Filter{{Name: sdk.String("subnet-id"), Values: []string{sub}}}})
	require.NoError(t, err)
	require.Len(t, faces.NetworkInterfaces, 3)

	out, err := c.ec2.TerminateInstances(ctx, &ec2.TerminateInstancesInput{InstanceIds: ids})
	require.NoError(t, err)
	require.Equal(t, types.InstanceStateNameRunning, out.TerminatingInstances[0].PreviousState.Name)
	require.Equal(t, map[types.InstanceStateName]int{"shutting-down": 3}, c.states(t, byTag()...))
	_, err = c.ec2.DeleteSubnet(ctx, &ec2.DeleteSubnetInput{SubnetId: &sub})
	refused(t, err, "DependencyViolation")

	now = now.Add(time.Minute)
	require.Equal(t, map[types.InstanceStateName]int{"terminated": 3}, c.states(t, byTag()...), "a terminated instance keeps its tags and stays listed")
	require.Empty(t, c.states(t, types.Filter{Name: sdk.String("instance-state-name"), Values: []string{"pending", "running", "shutting-down", "stopping", "stopped"}}))
	require.Empty(t, c.states(t, types.Filter{Name: sdk.String("vpc-id"), Values: []string{vpc}}), "it has left its VPC")
	volumes, err = c.ec2.DescribeVolumes(ctx, &ec2.DescribeVolumesInput{Filters: byTag()})
	require.NoError(t, err)
	require.Empty(t, volumes.Volumes, "its volumes went with it")
	_, err = c.ec2.DeleteSubnet(ctx, &ec2.DeleteSubnetInput{SubnetId: &sub})
	require.NoError(t, err)
	_, err = c.ec2.DeleteVpc(ctx, &ec2.DeleteVpcInput{VpcId: &vpc})
	require.NoError(t, err)
	require.Empty(t, c.Resources(infra))
	require.NotEmpty(t, c.All())

	now = now.Add(2 * time.Hour)
	require.Empty(t, c.states(t), "after an hour it is forgotten")
}

func TestDescribesPageAndFilter(t *testing.T) {
	c := start(t, aws.Config{})
	ctx := t.Context()
	sub := c.subnet(t, c.vpc(t), "10.0.0.0/20", "us-east-1b")
	for i := range 4 {
		c.run(t, sub, fmt.Sprintf("%s-worker-%d", infra, i), 3)
	}
	seen := map[string]bool{}
	pages := 0
	for p := ec2.NewDescribeInstancesPaginator(c.ec2, &ec2.DescribeInstancesInput{MaxResults: sdk.Int32(5), Filters: byTag()}); p.HasMorePages(); pages++ {
		page, err := p.NextPage(ctx)
		require.NoError(t, err)
		for _, r := range page.Reservations {
			for _, i := range r.Instances {
				require.False(t, seen[*i.InstanceId])
				seen[*i.InstanceId] = true
			}
		}
	}
	require.Equal(t, 3, pages)
	require.Len(t, seen, 12)

	for name, want := range map[string]int{infra + "-worker-1": 3, "*-worker-?": 12, "*-worker-9": 0} {
		require.Equal(t, want, sum(c.states(t, types.Filter{Name: sdk.String("tag:Name"), Values: []string{name}})), name)
	}
	require.Equal(t, 12, sum(c.states(t, types.Filter{Name: sdk.String("tag-key"), Values: []string{"kubernetes.io/cluster/*"}})))
	require.Zero(t, sum(clients(t, c.Server, "us-west-2", key, secret).states(t)), "regions do not see each other")

	_, err := c.ec2.DescribeInstances(ctx, &ec2.DescribeInstancesInput{Filters: []types.Filter{{Name: sdk.String("colour"), Values: []string{"red"}}}})
	refused(t, err, "InvalidParameterValue")
	_, err = c.ec2.DescribeInstances(ctx, &ec2.DescribeInstancesInput{MaxResults: sdk.Int32(2)})
	refused(t, err, "InvalidParameterValue")
	_, err = c.ec2.DescribeInstances(ctx, &ec2.DescribeInstancesInput{NextToken: sdk.String("!")})
	refused(t, err, "InvalidNextToken")
}

func sum(states map[types.InstanceStateName]int) int {
	n := 0
	for _, k := range states {
		n += k
	}
	return n
}

func TestPreflightIsAnswered(t *testing.T) {
	c := start(t, aws.Config{})
	ctx := t.Context()
	zones, err := c.ec2.DescribeAvailabilityZones(ctx, &ec2.DescribeAvailabilityZonesInput{Filters: []types.Filter{{Name: sdk.String("zone-type"), Values: []string{"availability-zone"}}}})
	require.NoError(t, err)
	require.Len(t, zones.AvailabilityZones, 6)
	_, err = c.ec2.DescribeAvailabilityZones(ctx, &ec2.DescribeAvailabilityZonesInput{ZoneNames: []string{"us-east-1z"}})
	refused(t, err, "InvalidParameterValue")
	regions, err := c.ec2.DescribeRegions(ctx, &ec2.DescribeRegionsInput{})
	require.NoError(t, err)
	require.Len(t, regions.Regions, 3)

	offerings, err := c.ec2.DescribeInstanceTypeOfferings(ctx, &ec2.DescribeInstanceTypeOfferingsInput{LocationType: "availability-zone",
		Filters: []types.Filter{{Name: sdk.String("instance-type"), Values: []string{"m6i.xlarge"}}}})
	require.NoError(t, err)
	require.Len(t, offerings.InstanceTypeOfferings, 5, "us-east-1e has none of the newer types")
	_, err = c.ec2.RunInstances(ctx, &ec2.RunInstancesInput{ImageId: sdk.String("ami-0"), InstanceType: "m6i.xlarge", MinCount: sdk.Int32(1), MaxCount: sdk.Int32(1),
		SubnetId: sdk.String(c.subnet(t, c.vpc(t), "10.0.0.0/20", "us-east-1e"))})
	refused(t, err, "Unsupported")
}

func TestImagesVolumesAndLateTags(t *testing.T) {
	c := start(t, aws.Config{})
	ctx := t.Context()
	image, err := c.ec2.CopyImage(ctx, &ec2.CopyImageInput{Name: sdk.String(infra + "-master"), SourceImageId: sdk.String("ami-1"), SourceRegion: sdk.String("us-east-2")})
	require.NoError(t, err)
	tagged, err := c.ec2.DescribeImages(ctx, &ec2.DescribeImagesInput{Owners: []string{"self"}, Filters: byTag()})
	require.NoError(t, err)
	require.Empty(t, tagged.Images, "a copied image is untagged until CreateTags")
	byName, err := c.ec2.DescribeImages(ctx, &ec2.DescribeImagesInput{Owners: []string{"self"}, Filters: []types.Filter{{Name: sdk.String("name"), Values: []string{infra + "-*"}}}})
	require.NoError(t, err)
	require.Len(t, byName.Images, 1)
	_, err = c.ec2.CreateTags(ctx, &ec2.CreateTagsInput{Resources: []string{*image.ImageId}, Tags: spec("image", "x")[0].Tags})
	require.NoError(t, err)
	tagged, err = c.ec2.DescribeImages(ctx, &ec2.DescribeImagesInput{Filters: byTag()})
	require.NoError(t, err)
	require.Len(t, tagged.Images, 1)
	_, err = c.ec2.CreateTags(ctx, &ec2.CreateTagsInput{Resources: []string{"vpc-0"}, Tags: spec("vpc", "x")[0].Tags})
	refused(t, err, "InvalidVpcID.NotFound")

	snaps, err := c.ec2.DescribeSnapshots(ctx, &ec2.DescribeSnapshotsInput{OwnerIds: []string{"self"}})
	require.NoError(t, err)
	require.Len(t, snaps.Snapshots, 1)
	_, err = c.ec2.DeleteSnapshot(ctx, &ec2.DeleteSnapshotInput{SnapshotId: snaps.Snapshots[0].SnapshotId})
	refused(t, err, "InvalidSnapshot.InUse")
	_, err = c.ec2.DeregisterImage(ctx, &ec2.DeregisterImageInput{ImageId: image.ImageId})
	require.NoError(t, err)
	_, err = c.ec2.DeleteSnapshot(ctx, &ec2.DeleteSnapshotInput{SnapshotId: snaps.Snapshots[0].SnapshotId})
	require.NoError(t, err)

	vol, err := c.ec2.CreateVolume(ctx, &ec2.CreateVolumeInput{AvailabilityZone: sdk.String("us-east-1a"), Size: sdk.Int32(10), TagSpecifications: spec("volume", "pvc-1")})
	require.NoError(t, err)
	_, err = c.ec2.DeleteVolume(ctx, &ec2.DeleteVolumeInput{VolumeId: vol.VolumeId})
	require.NoError(t, err)
	require.Empty(t, c.Resources(""))
}

func TestLoadBalancersKeepTheirSubnetsAMomentLonger(t *testing.T) {
	c := start(t, aws.Config{Settle: 20 * time.Millisecond})
	ctx := t.Context()
	vpc := c.vpc(t)
	sub := c.subnet(t, vpc, "10.0.0.0/20", "us-east-1a")
	tags := []elbtypes.Tag{{Key: sdk.String(owned), Value: sdk.String("owned")}}
	made, err := c.elb.CreateLoadBalancer(ctx, &elb.CreateLoadBalancerInput{Name: sdk.String(infra + "-int"), Scheme: "internal", Type: "network", Subnets: []string{sub}, Tags: tags})
	require.NoError(t, err)
	lb := made.LoadBalancers[0].LoadBalancerArn
	require.Equal(t, vpc, *made.LoadBalancers[0].VpcId)
	_, err = c.elb.CreateLoadBalancer(ctx, &elb.CreateLoadBalancerInput{Name: sdk.String(infra + "-ext"), Type: "network", Subnets: []string{sub}, Tags: tags})
	require.NoError(t, err)
	group, err := c.elb.CreateTargetGroup(ctx, &elb.CreateTargetGroupInput{Name: sdk.String("aint"), Protocol: "TCP", Port: sdk.Int32(6443), VpcId: &vpc, TargetType: "ip", Tags: tags})
	require.NoError(t, err)
	tg := group.TargetGroups[0].TargetGroupArn
	_, err = c.elb.CreateListener(ctx, &elb.CreateListenerInput{LoadBalancerArn: lb, Port: sdk.Int32(6443), Protocol: "TCP",
		DefaultActions: []elbtypes.Action{{Type: "forward", TargetGroupArn: tg}}})
	require.NoError(t, err)

	pages := 0
	for p := elb.NewDescribeLoadBalancersPaginator(c.elb, &elb.DescribeLoadBalancersInput{PageSize: sdk.Int32(1)}); p.HasMorePages(); pages++ {
		_, err := p.NextPage(ctx)
		require.NoError(t, err)
	}
	require.Equal(t, 2, pages)
	named, err := c.elb.DescribeLoadBalancers(ctx, &elb.DescribeLoadBalancersInput{Names: []string{infra + "-int"}})
	require.NoError(t, err)
	require.Len(t, named.LoadBalancers, 1)
	_, err = c.elb.DescribeLoadBalancers(ctx, &elb.DescribeLoadBalancersInput{Names: []string{"other-int"}})
	refused(t, err, "LoadBalancerNotFound")
	got, err := c.elb.DescribeTags(ctx, &elb.DescribeTagsInput{ResourceArns: []string{*lb}})
	require.NoError(t, err)
	require.Equal(t, owned, *got.TagDescriptions[0].Tags[0].Key)

	_, err = c.elb.DeleteTargetGroup(ctx, &elb.DeleteTargetGroupInput{TargetGroupArn: tg})
	refused(t, err, "ResourceInUse")
	_, err = c.elb.DeleteLoadBalancer(ctx, &elb.DeleteLoadBalancerInput{LoadBalancerArn: lb})
	require.NoError(t, err)
	_, err = c.elb.DeleteLoadBalancer(ctx, &elb.DeleteLoadBalancerInput{LoadBalancerArn: lb})
	require.NoError(t, err, "deleting what is gone succeeds")
	_, err = c.elb.DeleteTargetGroup(ctx, &elb.DeleteTargetGroupInput{TargetGroupArn: tg})
	require.NoError(t, err)
	_, err = c.elb.DescribeTargetGroups(ctx, &elb.DescribeTargetGroupsInput{Names: []string{"aint"}})
	refused(t, err, "TargetGroupNotFound")
	ext, err := c.elb.DescribeLoadBalancers(ctx, &elb.DescribeLoadBalancersInput{})
	require.NoError(t, err)
	_, err = c.elb.DeleteLoadBalancer(ctx, &elb.DeleteLoadBalancerInput{LoadBalancerArn: ext.LoadBalancers[0].LoadBalancerArn})
	require.NoError(t, err)
	_, err = c.ec2.DeleteSubnet(ctx, &ec2.DeleteSubnetInput{SubnetId: &sub})
	refused(t, err, "DependencyViolation")
	require.Eventually(t, func() bool {
		_, err := c.ec2.DeleteSubnet(ctx, &ec2.DeleteSubnetInput{SubnetId: &sub})
		return err == nil
	}, 5*time.Second, time.Millisecond)
}
