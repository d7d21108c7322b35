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
