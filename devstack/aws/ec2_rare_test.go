package aws_test

import (
	"testing"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/aws"
)

func filter(name, value string) []types.Filter {
	return []types.Filter{{Name: &name, Values: []string{value}}}
}

func TestAPeeringEndsWithItsVPC(t *testing.T) {
	c := start(t, aws.Config{})
	ctx := t.Context()
	mine, theirs := c.vpc(t), c.vpc(t)
	made, err := c.ec2.CreateVpcPeeringConnection(ctx, &ec2.CreateVpcPeeringConnectionInput{VpcId: &mine, PeerVpcId: &theirs, TagSpecifications: spec("vpc-peering-connection", infra)})
	require.NoError(t, err)
	id := *made.VpcPeeringConnection.VpcPeeringConnectionId
	for name, value := range map[string]string{"requester-vpc-info.vpc-id": mine, "accepter-vpc-info.vpc-id": theirs, "status-code": "active", "vpc-peering-connection-id": id, "tag:" + owned: "owned"} {
		out, err := c.ec2.DescribeVpcPeeringConnections(ctx, &ec2.DescribeVpcPeeringConnectionsInput{Filters: filter(name, value)})
		require.NoError(t, err)
		require.Len(t, out.VpcPeeringConnections, 1, name)
		require.Equal(t, theirs, *out.VpcPeeringConnections[0].AccepterVpcInfo.VpcId)
	}
	_, err = c.ec2.DeleteVpc(ctx, &ec2.DeleteVpcInput{VpcId: &mine})
	require.NoError(t, err)
	out, err := c.ec2.DescribeVpcPeeringConnections(ctx, &ec2.DescribeVpcPeeringConnectionsInput{VpcPeeringConnectionIds: []string{id}})
	require.NoError(t, err)
	require.Equal(t, types.VpcPeeringConnectionStateReasonCodeDeleted, out.VpcPeeringConnections[0].Status.Code, "it is listed for a while")
}

func TestGatewaysOfTheRareKindKeepTheirVPC(t *testing.T) {
	c := start(t, aws.Config{})
	ctx := t.Context()
	vpc := c.vpc(t)
	egress, err := c.ec2.CreateEgressOnlyInternetGateway(ctx, &ec2.CreateEgressOnlyInternetGatewayInput{VpcId: &vpc, TagSpecifications: spec("egress-only-internet-gateway", infra)})
	require.NoError(t, err)
	carrier, err := c.ec2.CreateCarrierGateway(ctx, &ec2.CreateCarrierGatewayInput{VpcId: &vpc})
	require.NoError(t, err)
	seen, err := c.ec2.DescribeEgressOnlyInternetGateways(ctx, &ec2.DescribeEgressOnlyInternetGatewaysInput{Filters: byTag()})
	require.NoError(t, err)
	require.Equal(t, vpc, *seen.EgressOnlyInternetGateways[0].Attachments[0].VpcId)
	carriers, err := c.ec2.DescribeCarrierGateways(ctx, &ec2.DescribeCarrierGatewaysInput{Filters: filter("vpc-id", vpc)})
	require.NoError(t, err)
	require.Len(t, carriers.CarrierGateways, 1)

	_, err = c.ec2.DeleteVpc(ctx, &ec2.DeleteVpcInput{VpcId: &vpc})
	refused(t, err, "DependencyViolation")
	gone, err := c.ec2.DeleteEgressOnlyInternetGateway(ctx, &ec2.DeleteEgressOnlyInternetGatewayInput{EgressOnlyInternetGatewayId: egress.EgressOnlyInternetGateway.EgressOnlyInternetGatewayId})
	require.NoError(t, err)
	require.True(t, *gone.ReturnCode)
	_, err = c.ec2.DeleteCarrierGateway(ctx, &ec2.DeleteCarrierGatewayInput{CarrierGatewayId: carrier.CarrierGateway.CarrierGatewayId})
	require.NoError(t, err)
	_, err = c.ec2.DeleteVpc(ctx, &ec2.DeleteVpcInput{VpcId: &vpc})
	require.NoError(t, err)
}

func TestDHCPOptionsStayWhileAVPCHasThem(t *testing.T) {
	c := start(t, aws.Config{})
	ctx := t.Context()
	vpc := c.vpc(t)
	made, err := c.ec2.CreateDhcpOptions(ctx, &ec2.CreateDhcpOptionsInput{TagSpecifications: spec("dhcp-options", infra),
		DhcpConfigurations: []types.NewDhcpConfiguration{{Key: sdk.String("domain-name"), Values: []string{"ec2.internal"}}}})
	require.NoError(t, err)
	id := made.DhcpOptions.DhcpOptionsId
	_, err = c.ec2.AssociateDhcpOptions(ctx, &ec2.AssociateDhcpOptionsInput{VpcId: &vpc, DhcpOptionsId: id})
	require.NoError(t, err)
	_, err = c.ec2.DeleteDhcpOptions(ctx, &ec2.DeleteDhcpOptionsInput{DhcpOptionsId: id})
	refused(t, err, "DependencyViolation")
	seen, err := c.ec2.DescribeDhcpOptions(ctx, &ec2.DescribeDhcpOptionsInput{Filters: filter("dhcp-options-id", *id)})
	require.NoError(t, err)
	require.Equal(t, "ec2.internal", *seen.DhcpOptions[0].DhcpConfigurations[0].Values[0].Value)
	vpcs, err := c.ec2.DescribeVpcs(ctx, &ec2.DescribeVpcsInput{Filters: filter("dhcp-options-id", *id)})
	require.NoError(t, err)
	require.Equal(t, *id, *vpcs.Vpcs[0].DhcpOptionsId)
	_, err = c.ec2.AssociateDhcpOptions(ctx, &ec2.AssociateDhcpOptionsInput{VpcId: &vpc, DhcpOptionsId: sdk.String("default")})
	require.NoError(t, err)
	_, err = c.ec2.DeleteDhcpOptions(ctx, &ec2.DeleteDhcpOptionsInput{DhcpOptionsId: id})
	require.NoError(t, err)
}

func TestTemplatesAndPlacementGroupsAreNamed(t *testing.T) {
	c := start(t, aws.Config{})
	ctx := t.Context()
	name := sdk.String(infra + "-pool")
	template := &ec2.CreateLaunchTemplateInput{LaunchTemplateName: name, LaunchTemplateData: &types.RequestLaunchTemplateData{}, TagSpecifications: spec("launch-template", infra)}
	_, err := c.ec2.CreateLaunchTemplate(ctx, template)
	require.NoError(t, err)
	_, err = c.ec2.CreateLaunchTemplate(ctx, template)
	refused(t, err, "InvalidLaunchTemplateName.AlreadyExistsException")
	_, err = c.ec2.CreatePlacementGroup(ctx, &ec2.CreatePlacementGroupInput{GroupName: name, Strategy: "cluster", TagSpecifications: spec("placement-group", infra)})
	require.NoError(t, err)
	found, _ := c.arns(t, 50)
	require.Contains(t, found, "arn:aws:ec2:us-east-1:123456789012:placement-group/"+*name, "its ARN holds its name")

	templates, err := c.ec2.DescribeLaunchTemplates(ctx, &ec2.DescribeLaunchTemplatesInput{LaunchTemplateNames: []string{*name}})
	require.NoError(t, err)
	require.Len(t, templates.LaunchTemplates, 1)
	groups, err := c.ec2.DescribePlacementGroups(ctx, &ec2.DescribePlacementGroupsInput{Filters: filter("group-name", *name)})
	require.NoError(t, err)
	require.Len(t, groups.PlacementGroups, 1)
	_, err = c.ec2.DeleteLaunchTemplate(ctx, &ec2.DeleteLaunchTemplateInput{LaunchTemplateId: templates.LaunchTemplates[0].LaunchTemplateId})
	require.NoError(t, err)
	_, err = c.ec2.DeletePlacementGroup(ctx, &ec2.DeletePlacementGroupInput{GroupName: name})
	require.NoError(t, err)
	_, err = c.ec2.DeletePlacementGroup(ctx, &ec2.DeletePlacementGroupInput{GroupName: name})
	refused(t, err, "InvalidPlacementGroup.Unknown")
	require.Empty(t, c.Resources(""))
}

func TestACopiedImageIsUntaggedAndLeavesItsSnapshot(t *testing.T) {
	c := start(t, aws.Config{})
	ctx := t.Context()
	snapshots := func() []types.Snapshot {
		out, err := c.ec2.DescribeSnapshots(ctx, &ec2.DescribeSnapshotsInput{OwnerIds: []string{"self"}})
		require.NoError(t, err)
		return out.Snapshots
	}
	copied := func() *string {
		out, err := c.ec2.CopyImage(ctx, &ec2.CopyImageInput{Name: sdk.String(infra + "-master"), SourceImageId: sdk.String("ami-1"), SourceRegion: sdk.String("us-east-2")})
		require.NoError(t, err)
		return out.ImageId
	}
	id := copied()
	tagged, err := c.ec2.DescribeImages(ctx, &ec2.DescribeImagesInput{Filters: byTag()})
	require.NoError(t, err)
	require.Empty(t, tagged.Images)
	require.Eventually(t, func() bool {
		named, err := c.ec2.DescribeImages(ctx, &ec2.DescribeImagesInput{Owners: []string{"self"}, Filters: filter("name", infra+"-*")})
		require.NoError(t, err)
		return len(named.Images) == 1 && named.Images[0].State == types.ImageStateAvailable
	}, 5*time.Second, time.Millisecond)
	require.Contains(t, *snapshots()[0].Description, *id, "only its description says whose it is")

	_, err = c.ec2.DeleteSnapshot(ctx, &ec2.DeleteSnapshotInput{SnapshotId: snapshots()[0].SnapshotId})
	refused(t, err, "InvalidSnapshot.InUse")
	_, err = c.ec2.CreateTags(ctx, &ec2.CreateTagsInput{Resources: []string{*id}, Tags: []types.Tag{{Key: sdk.String(owned), Value: sdk.String("owned")}}})
	require.NoError(t, err)
	_, err = c.ec2.DeregisterImage(ctx, &ec2.DeregisterImageInput{ImageId: id})
	require.NoError(t, err)
	require.Len(t, snapshots(), 1)
	_, err = c.ec2.DeleteSnapshot(ctx, &ec2.DeleteSnapshotInput{SnapshotId: snapshots()[0].SnapshotId})
	require.NoError(t, err)
	_, err = c.ec2.DeregisterImage(ctx, &ec2.DeregisterImageInput{ImageId: copied(), DeleteAssociatedSnapshots: sdk.Bool(true)})
	require.NoError(t, err)
	require.Empty(t, snapshots())
}
