package count

import (
	"context"
	"fmt"
	"strconv"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

// taggedThing is a thing that is named by its Name tag.
func taggedThing(id string, tags []types.Tag, gone bool) thing {
	return thing{id: id, name: tagValue(tags, "Name"), tags: tagMap(tags), gone: gone}
}

func tagMap(tags []types.Tag) map[string]string {
	out := make(map[string]string, len(tags))
	for _, t := range tags {
		out[awssdk.ToString(t.Key)] = awssdk.ToString(t.Value)
	}
	return out
}

func tagValue(tags []types.Tag, key string) string { return tagMap(tags)[key] }

// gib is a size as a detail; empty: it is not known.
func gib(size *int32) string {
	if size == nil {
		return ""
	}
	return strconv.Itoa(int(*size))
}

func listInstances(ctx context.Context, api *ec2.Client, f []types.Filter) ([]thing, error) {
	p := ec2.NewDescribeInstancesPaginator(api, &ec2.DescribeInstancesInput{Filters: f})
	return collect(ctx, p, func(page *ec2.DescribeInstancesOutput) []thing {
		var out []thing
		for _, r := range page.Reservations {
			out = append(out, each(r.Instances, func(i types.Instance) thing {
				gone := i.State != nil && i.State.Name == types.InstanceStateNameTerminated
				t := taggedThing(awssdk.ToString(i.InstanceId), i.Tags, gone)
				t.detail = string(i.InstanceType)
				return t
			})...)
		}
		return out
	})
}

func listInterfaces(ctx context.Context, api *ec2.Client, f []types.Filter) ([]thing, error) {
	p := ec2.NewDescribeNetworkInterfacesPaginator(api, &ec2.DescribeNetworkInterfacesInput{Filters: f})
	return collect(ctx, p, func(page *ec2.DescribeNetworkInterfacesOutput) []thing {
		return each(page.NetworkInterfaces, func(i types.NetworkInterface) thing {
			return thing{id: awssdk.ToString(i.NetworkInterfaceId), name: awssdk.ToString(i.Description), tags: tagMap(i.TagSet)}
		})
	})
}

func listNATGateways(ctx context.Context, api *ec2.Client, f []types.Filter) ([]thing, error) {
	p := ec2.NewDescribeNatGatewaysPaginator(api, &ec2.DescribeNatGatewaysInput{Filter: f})
	return collect(ctx, p, func(page *ec2.DescribeNatGatewaysOutput) []thing {
		return each(page.NatGateways, func(n types.NatGateway) thing {
			return taggedThing(awssdk.ToString(n.NatGatewayId), n.Tags, n.State == types.NatGatewayStateDeleted)
		})
	})
}

func listAddresses(ctx context.Context, api *ec2.Client, f []types.Filter) ([]thing, error) {
	out, err := api.DescribeAddresses(ctx, &ec2.DescribeAddressesInput{Filters: f}) // this call has no pages
	if err != nil {
		return nil, err
	}
	return each(out.Addresses, func(a types.Address) thing {
		return thing{id: awssdk.ToString(a.AllocationId), name: awssdk.ToString(a.PublicIp), tags: tagMap(a.Tags)}
	}), nil
}

func listVolumes(ctx context.Context, api *ec2.Client, f []types.Filter) ([]thing, error) {
	p := ec2.NewDescribeVolumesPaginator(api, &ec2.DescribeVolumesInput{Filters: f})
	return collect(ctx, p, func(page *ec2.DescribeVolumesOutput) []thing {
		return each(page.Volumes, func(v types.Volume) thing {
			t := taggedThing(awssdk.ToString(v.VolumeId), v.Tags, v.State == types.VolumeStateDeleted)
			t.detail = fmt.Sprintf("%s %d", v.VolumeType, awssdk.ToInt32(v.Size))
			return t
		})
	})
}

func listSnapshots(ctx context.Context, api *ec2.Client, f []types.Filter) ([]thing, error) {
	p := ec2.NewDescribeSnapshotsPaginator(api, &ec2.DescribeSnapshotsInput{Filters: f, OwnerIds: []string{"self"}})
	return collect(ctx, p, func(page *ec2.DescribeSnapshotsOutput) []thing {
		return each(page.Snapshots, func(s types.Snapshot) thing {
			t := taggedThing(awssdk.ToString(s.SnapshotId), s.Tags, false)
			t.detail = gib(s.VolumeSize)
			return t
		})
	})
}

// listImages lists an image's snapshots with it: they outlive it and have neither tag nor name.
func listImages(ctx context.Context, api *ec2.Client, f []types.Filter) ([]thing, error) {
	p := ec2.NewDescribeImagesPaginator(api, &ec2.DescribeImagesInput{Filters: f, Owners: []string{"self"}})
	return collect(ctx, p, func(page *ec2.DescribeImagesOutput) []thing {
		var out []thing
		for _, i := range page.Images {
			name := awssdk.ToString(i.Name)
			out = append(out, thing{id: awssdk.ToString(i.ImageId), name: name, tags: tagMap(i.Tags), gone: i.State == types.ImageStateDeregistered})
			for _, device := range i.BlockDeviceMappings {
				if device.Ebs != nil && awssdk.ToString(device.Ebs.SnapshotId) != "" {
					out = append(out, thing{kind: "snapshot", id: awssdk.ToString(device.Ebs.SnapshotId), name: "of image " + name, tags: tagMap(i.Tags), detail: gib(device.Ebs.VolumeSize)})
				}
			}
		}
		return out
	})
}

func listEndpoints(ctx context.Context, api *ec2.Client, f []types.Filter) ([]thing, error) {
	p := ec2.NewDescribeVpcEndpointsPaginator(api, &ec2.DescribeVpcEndpointsInput{Filters: f})
	return collect(ctx, p, func(page *ec2.DescribeVpcEndpointsOutput) []thing {
		return each(page.VpcEndpoints, func(e types.VpcEndpoint) thing {
			return thing{id: awssdk.ToString(e.VpcEndpointId), name: awssdk.ToString(e.ServiceName), tags: tagMap(e.Tags), gone: e.State == types.StateDeleted}
		})
	})
}

func listSecurityGroups(ctx context.Context, api *ec2.Client, f []types.Filter) ([]thing, error) {
	p := ec2.NewDescribeSecurityGroupsPaginator(api, &ec2.DescribeSecurityGroupsInput{Filters: f})
	return collect(ctx, p, func(page *ec2.DescribeSecurityGroupsOutput) []thing {
		return each(page.SecurityGroups, func(g types.SecurityGroup) thing {
			name := awssdk.ToString(g.GroupName)
			return thing{id: awssdk.ToString(g.GroupId), name: name, tags: tagMap(g.Tags), gone: name == "default"} // deleted with its VPC, never alone
		})
	})
}

func listRouteTables(ctx context.Context, api *ec2.Client, f []types.Filter) ([]thing, error) {
	p := ec2.NewDescribeRouteTablesPaginator(api, &ec2.DescribeRouteTablesInput{Filters: f})
	return collect(ctx, p, func(page *ec2.DescribeRouteTablesOutput) []thing {
		return each(page.RouteTables, func(t types.RouteTable) thing {
			main := false // deleted with its VPC, never alone
			for _, a := range t.Associations {
				main = main || awssdk.ToBool(a.Main)
			}
			return taggedThing(awssdk.ToString(t.RouteTableId), t.Tags, main)
		})
	})
}

func listSubnets(ctx context.Context, api *ec2.Client, f []types.Filter) ([]thing, error) {
	p := ec2.NewDescribeSubnetsPaginator(api, &ec2.DescribeSubnetsInput{Filters: f})
	return collect(ctx, p, func(page *ec2.DescribeSubnetsOutput) []thing {
		return each(page.Subnets, func(s types.Subnet) thing {
			return taggedThing(awssdk.ToString(s.SubnetId), s.Tags, false)
		})
	})
}

func listInternetGateways(ctx context.Context, api *ec2.Client, f []types.Filter) ([]thing, error) {
	p := ec2.NewDescribeInternetGatewaysPaginator(api, &ec2.DescribeInternetGatewaysInput{Filters: f})
	return collect(ctx, p, func(page *ec2.DescribeInternetGatewaysOutput) []thing {
		return each(page.InternetGateways, func(g types.InternetGateway) thing {
			return taggedThing(awssdk.ToString(g.InternetGatewayId), g.Tags, false)
		})
	})
}

func listVPCs(ctx context.Context, api *ec2.Client, f []types.Filter) ([]thing, error) {
	p := ec2.NewDescribeVpcsPaginator(api, &ec2.DescribeVpcsInput{Filters: f})
	return collect(ctx, p, func(page *ec2.DescribeVpcsOutput) []thing {
		return each(page.Vpcs, func(v types.Vpc) thing {
			return taggedThing(awssdk.ToString(v.VpcId), v.Tags, false)
		})
	})
}
