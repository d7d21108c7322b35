package aws

import (
	"context"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

// pager is what every paginator of the SDK offers.
type pager[Page, Options any] interface {
	HasMorePages() bool
	NextPage(context.Context, ...func(*Options)) (*Page, error)
}

// collect reads every page. A page that was refused makes the whole answer an error.
func collect[Page, Options any](ctx context.Context, p pager[Page, Options], take func(*Page) []thing) ([]thing, error) {
	var all []thing
	for p.HasMorePages() {
		page, err := p.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		all = append(all, take(page)...)
	}
	return all, nil
}

// each turns a slice of the SDK's into things.
func each[T any](items []T, thingOf func(T) thing) []thing {
	out := make([]thing, 0, len(items))
	for _, item := range items {
		out = append(out, thingOf(item))
	}
	return out
}

func listInstances(ctx context.Context, api *ec2.Client, f []types.Filter) ([]thing, error) {
	p := ec2.NewDescribeInstancesPaginator(api, &ec2.DescribeInstancesInput{Filters: f})
	return collect(ctx, p, func(page *ec2.DescribeInstancesOutput) []thing {
		var out []thing
		for _, r := range page.Reservations {
			out = append(out, each(r.Instances, func(i types.Instance) thing {
				gone := i.State != nil && i.State.Name == types.InstanceStateNameTerminated
				return thing{id: awssdk.ToString(i.InstanceId), name: nameTag(i.Tags), gone: gone}
			})...)
		}
		return out
	})
}

func listInterfaces(ctx context.Context, api *ec2.Client, f []types.Filter) ([]thing, error) {
	p := ec2.NewDescribeNetworkInterfacesPaginator(api, &ec2.DescribeNetworkInterfacesInput{Filters: f})
	return collect(ctx, p, func(page *ec2.DescribeNetworkInterfacesOutput) []thing {
		return each(page.NetworkInterfaces, func(i types.NetworkInterface) thing {
			return thing{id: awssdk.ToString(i.NetworkInterfaceId), name: awssdk.ToString(i.Description)}
		})
	})
}

func listNATGateways(ctx context.Context, api *ec2.Client, f []types.Filter) ([]thing, error) {
	p := ec2.NewDescribeNatGatewaysPaginator(api, &ec2.DescribeNatGatewaysInput{Filter: f})
	return collect(ctx, p, func(page *ec2.DescribeNatGatewaysOutput) []thing {
		return each(page.NatGateways, func(n types.NatGateway) thing {
			return thing{id: awssdk.ToString(n.NatGatewayId), name: nameTag(n.Tags), gone: n.State == types.NatGatewayStateDeleted}
		})
	})
}

func listAddresses(ctx context.Context, api *ec2.Client, f []types.Filter) ([]thing, error) {
	out, err := api.DescribeAddresses(ctx, &ec2.DescribeAddressesInput{Filters: f}) // has no pages
	if err != nil {
		return nil, err
	}
	return each(out.Addresses, func(a types.Address) thing {
		return thing{id: awssdk.ToString(a.AllocationId), name: awssdk.ToString(a.PublicIp)}
	}), nil
}

func listVolumes(ctx context.Context, api *ec2.Client, f []types.Filter) ([]thing, error) {
	p := ec2.NewDescribeVolumesPaginator(api, &ec2.DescribeVolumesInput{Filters: f})
	return collect(ctx, p, func(page *ec2.DescribeVolumesOutput) []thing {
		return each(page.Volumes, func(v types.Volume) thing {
			return thing{id: awssdk.ToString(v.VolumeId), name: nameTag(v.Tags)}
		})
	})
}

func listSnapshots(ctx context.Context, api *ec2.Client, f []types.Filter) ([]thing, error) {
	p := ec2.NewDescribeSnapshotsPaginator(api, &ec2.DescribeSnapshotsInput{Filters: f, OwnerIds: []string{"self"}})
	return collect(ctx, p, func(page *ec2.DescribeSnapshotsOutput) []thing {
		return each(page.Snapshots, func(s types.Snapshot) thing {
			return thing{id: awssdk.ToString(s.SnapshotId), name: nameTag(s.Tags)}
		})
	})
}

// listImages names an image's snapshots with it: they outlive it and carry neither tag nor name.
func listImages(ctx context.Context, api *ec2.Client, f []types.Filter) ([]thing, error) {
	p := ec2.NewDescribeImagesPaginator(api, &ec2.DescribeImagesInput{Filters: f, Owners: []string{"self"}})
	return collect(ctx, p, func(page *ec2.DescribeImagesOutput) []thing {
		var out []thing
		for _, i := range page.Images {
			name := awssdk.ToString(i.Name)
			out = append(out, thing{id: awssdk.ToString(i.ImageId), name: name, gone: i.State == types.ImageStateDeregistered})
			for _, device := range i.BlockDeviceMappings {
				if device.Ebs != nil && awssdk.ToString(device.Ebs.SnapshotId) != "" {
					out = append(out, thing{kind: "snapshot", id: awssdk.ToString(device.Ebs.SnapshotId), name: "of image " + name})
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
			return thing{id: awssdk.ToString(e.VpcEndpointId), name: awssdk.ToString(e.ServiceName), gone: e.State == types.StateDeleted}
		})
	})
}

func listSecurityGroups(ctx context.Context, api *ec2.Client, f []types.Filter) ([]thing, error) {
	p := ec2.NewDescribeSecurityGroupsPaginator(api, &ec2.DescribeSecurityGroupsInput{Filters: f})
	return collect(ctx, p, func(page *ec2.DescribeSecurityGroupsOutput) []thing {
		return each(page.SecurityGroups, func(g types.SecurityGroup) thing {
			name := awssdk.ToString(g.GroupName)
			return thing{id: awssdk.ToString(g.GroupId), name: name, gone: name == "default"} // goes with its VPC, never alone
		})
	})
}

func listRouteTables(ctx context.Context, api *ec2.Client, f []types.Filter) ([]thing, error) {
	p := ec2.NewDescribeRouteTablesPaginator(api, &ec2.DescribeRouteTablesInput{Filters: f})
	return collect(ctx, p, func(page *ec2.DescribeRouteTablesOutput) []thing {
		return each(page.RouteTables, func(t types.RouteTable) thing {
			main := false // goes with its VPC, never alone
			for _, a := range t.Associations {
				main = main || awssdk.ToBool(a.Main)
			}
			return thing{id: awssdk.ToString(t.RouteTableId), name: nameTag(t.Tags), gone: main}
		})
	})
}

func listSubnets(ctx context.Context, api *ec2.Client, f []types.Filter) ([]thing, error) {
	p := ec2.NewDescribeSubnetsPaginator(api, &ec2.DescribeSubnetsInput{Filters: f})
	return collect(ctx, p, func(page *ec2.DescribeSubnetsOutput) []thing {
		return each(page.Subnets, func(s types.Subnet) thing {
			return thing{id: awssdk.ToString(s.SubnetId), name: nameTag(s.Tags)}
		})
	})
}

func listInternetGateways(ctx context.Context, api *ec2.Client, f []types.Filter) ([]thing, error) {
	p := ec2.NewDescribeInternetGatewaysPaginator(api, &ec2.DescribeInternetGatewaysInput{Filters: f})
	return collect(ctx, p, func(page *ec2.DescribeInternetGatewaysOutput) []thing {
		return each(page.InternetGateways, func(g types.InternetGateway) thing {
			return thing{id: awssdk.ToString(g.InternetGatewayId), name: nameTag(g.Tags)}
		})
	})
}

func listVPCs(ctx context.Context, api *ec2.Client, f []types.Filter) ([]thing, error) {
	p := ec2.NewDescribeVpcsPaginator(api, &ec2.DescribeVpcsInput{Filters: f})
	return collect(ctx, p, func(page *ec2.DescribeVpcsOutput) []thing {
		return each(page.Vpcs, func(v types.Vpc) thing {
			return thing{id: awssdk.ToString(v.VpcId), name: nameTag(v.Tags)}
		})
	})
}
