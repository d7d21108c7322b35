package aws_test

import (
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

// Cluster API's provider compares what it reads with what it wants, and changes what differs for ever.
func TestWhatClusterAPISetsIsReadAgain(t *testing.T) {
	c := start(t, aws.Config{})
	ctx := t.Context()
	vpc := c.vpc(t)
	sub := c.subnet(t, vpc, "10.0.0.0/20", "us-east-1a")

	for attribute, value := range map[types.VpcAttributeName]bool{types.VpcAttributeNameEnableDnsSupport: true, types.VpcAttributeNameEnableDnsHostnames: false} {
		out, err := c.ec2.DescribeVpcAttribute(ctx, &ec2.DescribeVpcAttributeInput{VpcId: &vpc, Attribute: attribute})
		require.NoError(t, err)
		if attribute == types.VpcAttributeNameEnableDnsSupport {
			require.Equal(t, value, *out.EnableDnsSupport.Value)
		} else {
			require.Equal(t, value, *out.EnableDnsHostnames.Value)
		}
	}
	_, err := c.ec2.ModifyVpcAttribute(ctx, &ec2.ModifyVpcAttributeInput{VpcId: &vpc, EnableDnsHostnames: &types.AttributeBooleanValue{Value: sdk.Bool(true)}})
	require.NoError(t, err)
	names, err := c.ec2.DescribeVpcAttribute(ctx, &ec2.DescribeVpcAttributeInput{VpcId: &vpc, Attribute: types.VpcAttributeNameEnableDnsHostnames})
	require.NoError(t, err)
	require.True(t, *names.EnableDnsHostnames.Value)

	group, err := c.ec2.CreateSecurityGroup(ctx, &ec2.CreateSecurityGroupInput{VpcId: &vpc, GroupName: sdk.String(infra + "-node"), Description: sdk.String("nodes")})
	require.NoError(t, err)
	rules := []types.IpPermission{
		{IpProtocol: sdk.String("tcp"), FromPort: sdk.Int32(22), ToPort: sdk.Int32(22), IpRanges: []types.IpRange{{CidrIp: sdk.String("0.0.0.0/0"), Description: sdk.String("Bootstrap SSH Access")}}},
		{IpProtocol: sdk.String("50"), UserIdGroupPairs: []types.UserIdGroupPair{{GroupId: group.GroupId, Description: sdk.String("ESP")}}},
	}
	_, err = c.ec2.AuthorizeSecurityGroupIngress(ctx, &ec2.AuthorizeSecurityGroupIngressInput{GroupId: group.GroupId, IpPermissions: rules})
	require.NoError(t, err)
	seen, err := c.ec2.DescribeSecurityGroups(ctx, &ec2.DescribeSecurityGroupsInput{GroupIds: []string{*group.GroupId}})
	require.NoError(t, err)
	require.Equal(t, "Bootstrap SSH Access", *seen.SecurityGroups[0].IpPermissions[0].IpRanges[0].Description)
	require.Equal(t, "ESP", *seen.SecurityGroups[0].IpPermissions[1].UserIdGroupPairs[0].Description)
	_, err = c.ec2.RevokeSecurityGroupIngress(ctx, &ec2.RevokeSecurityGroupIngressInput{GroupId: group.GroupId, IpPermissions: rules[:1]})
	require.NoError(t, err)

	image, err := c.ec2.DescribeImages(ctx, &ec2.DescribeImagesInput{ImageIds: []string{"ami-0b6b825641a2ea530"}})
	require.NoError(t, err)
	require.Equal(t, "/dev/xvda", *image.Images[0].RootDeviceName)
	require.Equal(t, int32(16), *image.Images[0].BlockDeviceMappings[0].Ebs.VolumeSize)
	_, err = c.ec2.DescribeImages(ctx, &ec2.DescribeImagesInput{ImageIds: []string{"ami-084162c9e5ff158c8"}})
	refused(t, err, "InvalidAMIID.NotFound")
	dhcp, err := c.ec2.DescribeDhcpOptions(ctx, &ec2.DescribeDhcpOptionsInput{DhcpOptionsIds: []string{"default"}})
	require.NoError(t, err)
	require.Len(t, dhcp.DhcpOptions, 1)

	made, err := c.ec2.RunInstances(ctx, &ec2.RunInstancesInput{ImageId: image.Images[0].ImageId, InstanceType: "m6i.xlarge", MinCount: sdk.Int32(1), MaxCount: sdk.Int32(1), UserData: sdk.String("e30="),
		MetadataOptions:   &types.InstanceMetadataOptionsRequest{HttpTokens: types.HttpTokensStateRequired},
		NetworkInterfaces: []types.InstanceNetworkInterfaceSpecification{{DeviceIndex: sdk.Int32(0), SubnetId: &sub, Groups: []string{*group.GroupId}, AssociatePublicIpAddress: sdk.Bool(true)}}})
	require.NoError(t, err)
	id := *made.Instances[0].InstanceId
	require.Eventually(t, func() bool {
		out, err := c.ec2.DescribeInstances(ctx, &ec2.DescribeInstancesInput{InstanceIds: []string{id}})
		return err == nil && out.Reservations[0].Instances[0].State.Name == types.InstanceStateNameRunning
	}, 5*time.Second, time.Millisecond)
	out, err := c.ec2.DescribeInstances(ctx, &ec2.DescribeInstancesInput{InstanceIds: []string{id}})
	require.NoError(t, err)
	machine := out.Reservations[0].Instances[0]
	require.Equal(t, types.HttpTokensStateRequired, machine.MetadataOptions.HttpTokens)
	require.Len(t, machine.BlockDeviceMappings, 1)
	require.Equal(t, *machine.PublicIpAddress, *machine.NetworkInterfaces[0].Association.PublicIp)
	data, err := c.ec2.DescribeInstanceAttribute(ctx, &ec2.DescribeInstanceAttributeInput{InstanceId: &id, Attribute: types.InstanceAttributeNameUserData})
	require.NoError(t, err)
	require.Equal(t, "e30=", *data.UserData.Value)
	_, err = c.ec2.ModifyNetworkInterfaceAttribute(ctx, &ec2.ModifyNetworkInterfaceAttributeInput{NetworkInterfaceId: machine.NetworkInterfaces[0].NetworkInterfaceId, Groups: []string{}})
	require.NoError(t, err)

	c.targets(t, vpc, sub, id)
}

// targets puts a machine behind a load balancer and takes it away.
func (c *cloud) targets(t *testing.T, vpc, sub, machine string) {
	t.Helper()
	ctx := t.Context()
	lb, err := c.elb.CreateLoadBalancer(ctx, &elb.CreateLoadBalancerInput{Name: sdk.String(infra + "-int"), Type: elbtypes.LoadBalancerTypeEnumNetwork, Scheme: elbtypes.LoadBalancerSchemeEnumInternal,
		Subnets: []string{sub}, Tags: []elbtypes.Tag{{Key: sdk.String("a"), Value: sdk.String("b")}}})
	require.NoError(t, err)
	arn := lb.LoadBalancers[0].LoadBalancerArn
	_, err = c.elb.ModifyLoadBalancerAttributes(ctx, &elb.ModifyLoadBalancerAttributesInput{LoadBalancerArn: arn, Attributes: []elbtypes.LoadBalancerAttribute{{Key: sdk.String("load_balancing.cross_zone.enabled"), Value: sdk.String("true")}}})
	require.NoError(t, err)
	settings, err := c.elb.DescribeLoadBalancerAttributes(ctx, &elb.DescribeLoadBalancerAttributesInput{LoadBalancerArn: arn})
	require.NoError(t, err)
	require.Len(t, settings.Attributes, 1)
	require.Equal(t, "true", *settings.Attributes[0].Value)
	_, err = c.elb.RemoveTags(ctx, &elb.RemoveTagsInput{ResourceArns: []string{*arn}, TagKeys: []string{"a"}})
	require.NoError(t, err)
	group, err := c.elb.CreateTargetGroup(ctx, &elb.CreateTargetGroupInput{Name: sdk.String("apiserver-target-x"), Port: sdk.Int32(6443), Protocol: elbtypes.ProtocolEnumTcp, VpcId: &vpc})
	require.NoError(t, err)
	to := group.TargetGroups[0].TargetGroupArn
	health := func() []elbtypes.TargetHealthDescription {
		out, err := c.elb.DescribeTargetHealth(ctx, &elb.DescribeTargetHealthInput{TargetGroupArn: to})
		require.NoError(t, err)
		return out.TargetHealthDescriptions
	}
	_, err = c.elb.RegisterTargets(ctx, &elb.RegisterTargetsInput{TargetGroupArn: to, Targets: []elbtypes.TargetDescription{{Id: sdk.String("i-0"), Port: sdk.Int32(6443)}}})
	refused(t, err, "InvalidTarget")
	behind := []elbtypes.TargetDescription{{Id: &machine, Port: sdk.Int32(6443)}}
	_, err = c.elb.RegisterTargets(ctx, &elb.RegisterTargetsInput{TargetGroupArn: to, Targets: behind})
	require.NoError(t, err)
	require.Len(t, health(), 1)
	_, err = c.elb.DeregisterTargets(ctx, &elb.DeregisterTargetsInput{TargetGroupArn: to, Targets: behind})
	require.NoError(t, err)
	require.Empty(t, health())
}
