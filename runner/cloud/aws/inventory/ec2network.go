package inventory

import (
	"context"
	"slices"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

// The longest pages that the calls allow: their defaults differ, and some have none and then show everything at once.
const (
	longPage  = 1000
	shortPage = 100
)

func listVPCs(ctx context.Context, api *ec2.Client, take func([]thing) error) error {
	p := ec2.NewDescribeVpcsPaginator(api, &ec2.DescribeVpcsInput{MaxResults: awssdk.Int32(longPage)})
	return eachPage(ctx, p, func(page *ec2.DescribeVpcsOutput) error {
		return take(each(page.Vpcs, func(v types.Vpc) thing {
			return thing{id: awssdk.ToString(v.VpcId), name: nameOr(v.Tags, nil), tags: ec2Tags(v.Tags)}
		}))
	})
}

func listSubnets(ctx context.Context, api *ec2.Client, take func([]thing) error) error {
	p := ec2.NewDescribeSubnetsPaginator(api, &ec2.DescribeSubnetsInput{MaxResults: awssdk.Int32(longPage)})
	return eachPage(ctx, p, func(page *ec2.DescribeSubnetsOutput) error {
		return take(each(page.Subnets, func(s types.Subnet) thing {
			return thing{id: awssdk.ToString(s.SubnetId), name: nameOr(s.Tags, nil), tags: ec2Tags(s.Tags), in: ids(s.VpcId)}
		}))
	})
}

func listNATGateways(ctx context.Context, api *ec2.Client, take func([]thing) error) error {
	p := ec2.NewDescribeNatGatewaysPaginator(api, &ec2.DescribeNatGatewaysInput{MaxResults: awssdk.Int32(longPage)})
	return eachPage(ctx, p, func(page *ec2.DescribeNatGatewaysOutput) error {
		return take(each(page.NatGateways, func(n types.NatGateway) thing {
			t := thing{
				id: awssdk.ToString(n.NatGatewayId), name: nameOr(n.Tags, nil), tags: ec2Tags(n.Tags), in: ids(n.VpcId), madeAt: n.CreateTime,
				gone: n.State == types.NatGatewayStateDeleted || n.State == types.NatGatewayStateFailed,
			}
			for _, a := range n.NatGatewayAddresses {
				t.holds = append(t.holds, ids(a.AllocationId)...)
			}
			return t
		}))
	})
}

func listInterfaces(ctx context.Context, api *ec2.Client, take func([]thing) error) error {
	p := ec2.NewDescribeNetworkInterfacesPaginator(api, &ec2.DescribeNetworkInterfacesInput{MaxResults: awssdk.Int32(longPage)})
	return eachPage(ctx, p, func(page *ec2.DescribeNetworkInterfacesOutput) error {
		return take(each(page.NetworkInterfaces, func(i types.NetworkInterface) thing {
			return thing{id: awssdk.ToString(i.NetworkInterfaceId), name: nameOr(i.TagSet, i.Description), tags: ec2Tags(i.TagSet), in: ids(i.VpcId)}
		}))
	})
}

func listAddresses(ctx context.Context, api *ec2.Client, take func([]thing) error) error {
	out, err := once(ctx, api.DescribeAddresses, &ec2.DescribeAddressesInput{}) // this call has no pages
	if err != nil {
		return err
	}
	return take(each(out.Addresses, func(a types.Address) thing {
		return thing{
			id: awssdk.ToString(a.AllocationId), name: nameOr(a.Tags, a.PublicIp), tags: ec2Tags(a.Tags), in: ids(a.NetworkInterfaceId, a.InstanceId),
		}
	}))
}

func listEndpoints(ctx context.Context, api *ec2.Client, take func([]thing) error) error {
	p := ec2.NewDescribeVpcEndpointsPaginator(api, &ec2.DescribeVpcEndpointsInput{MaxResults: awssdk.Int32(longPage)})
	return eachPage(ctx, p, func(page *ec2.DescribeVpcEndpointsOutput) error {
		return take(each(page.VpcEndpoints, func(e types.VpcEndpoint) thing {
			return thing{
				id: awssdk.ToString(e.VpcEndpointId), name: nameOr(e.Tags, e.ServiceName), tags: ec2Tags(e.Tags), in: ids(e.VpcId),
				madeAt: e.CreationTimestamp, detail: string(e.VpcEndpointType), gone: e.State == types.StateDeleted,
			}
		}))
	})
}

// listSecurityGroups leaves out the default group, which ends with its VPC.
func listSecurityGroups(ctx context.Context, api *ec2.Client, take func([]thing) error) error {
	p := ec2.NewDescribeSecurityGroupsPaginator(api, &ec2.DescribeSecurityGroupsInput{MaxResults: awssdk.Int32(longPage)})
	return eachPage(ctx, p, func(page *ec2.DescribeSecurityGroupsOutput) error {
		return take(each(page.SecurityGroups, func(g types.SecurityGroup) thing {
			name := awssdk.ToString(g.GroupName)
			return thing{id: awssdk.ToString(g.GroupId), name: name, tags: ec2Tags(g.Tags), in: ids(g.VpcId), gone: name == "default"}
		}))
	})
}

// listRouteTables leaves out main tables, which end with their VPCs.
func listRouteTables(ctx context.Context, api *ec2.Client, take func([]thing) error) error {
	p := ec2.NewDescribeRouteTablesPaginator(api, &ec2.DescribeRouteTablesInput{MaxResults: awssdk.Int32(shortPage)})
	return eachPage(ctx, p, func(page *ec2.DescribeRouteTablesOutput) error {
		return take(each(page.RouteTables, func(t types.RouteTable) thing {
			main := slices.ContainsFunc(t.Associations, func(a types.RouteTableAssociation) bool { return awssdk.ToBool(a.Main) })
			return thing{id: awssdk.ToString(t.RouteTableId), name: nameOr(t.Tags, nil), tags: ec2Tags(t.Tags), in: ids(t.VpcId), gone: main}
		}))
	})
}

func attached(to []types.InternetGatewayAttachment) (in []string) {
	for _, a := range to {
		in = append(in, ids(a.VpcId)...)
	}
	return in
}

func listInternetGateways(ctx context.Context, api *ec2.Client, take func([]thing) error) error {
	p := ec2.NewDescribeInternetGatewaysPaginator(api, &ec2.DescribeInternetGatewaysInput{MaxResults: awssdk.Int32(longPage)})
	return eachPage(ctx, p, func(page *ec2.DescribeInternetGatewaysOutput) error {
		return take(each(page.InternetGateways, func(g types.InternetGateway) thing {
			return thing{id: awssdk.ToString(g.InternetGatewayId), name: nameOr(g.Tags, nil), tags: ec2Tags(g.Tags), in: attached(g.Attachments)}
		}))
	})
}

func listEgressGateways(ctx context.Context, api *ec2.Client, take func([]thing) error) error {
	p := ec2.NewDescribeEgressOnlyInternetGatewaysPaginator(api, &ec2.DescribeEgressOnlyInternetGatewaysInput{MaxResults: awssdk.Int32(shortPage)})
	return eachPage(ctx, p, func(page *ec2.DescribeEgressOnlyInternetGatewaysOutput) error {
		return take(each(page.EgressOnlyInternetGateways, func(g types.EgressOnlyInternetGateway) thing {
			return thing{id: awssdk.ToString(g.EgressOnlyInternetGatewayId), name: nameOr(g.Tags, nil), tags: ec2Tags(g.Tags), in: attached(g.Attachments)}
		}))
	})
}

func listCarrierGateways(ctx context.Context, api *ec2.Client, take func([]thing) error) error {
	p := ec2.NewDescribeCarrierGatewaysPaginator(api, &ec2.DescribeCarrierGatewaysInput{MaxResults: awssdk.Int32(longPage)})
	return eachPage(ctx, p, func(page *ec2.DescribeCarrierGatewaysOutput) error {
		return take(each(page.CarrierGateways, func(g types.CarrierGateway) thing {
			return thing{
				id: awssdk.ToString(g.CarrierGatewayId), name: nameOr(g.Tags, nil), tags: ec2Tags(g.Tags), in: ids(g.VpcId),
				gone: g.State == types.CarrierGatewayStateDeleted,
			}
		}))
	})
}

// listPeerings takes a peering for a part of the VPC on either side. Those that are over are listed for hours.
func listPeerings(ctx context.Context, api *ec2.Client, take func([]thing) error) error {
	over := []types.VpcPeeringConnectionStateReasonCode{
		types.VpcPeeringConnectionStateReasonCodeDeleted, types.VpcPeeringConnectionStateReasonCodeRejected,
		types.VpcPeeringConnectionStateReasonCodeExpired, types.VpcPeeringConnectionStateReasonCodeFailed,
	}
	p := ec2.NewDescribeVpcPeeringConnectionsPaginator(api, &ec2.DescribeVpcPeeringConnectionsInput{MaxResults: awssdk.Int32(longPage)})
	return eachPage(ctx, p, func(page *ec2.DescribeVpcPeeringConnectionsOutput) error {
		return take(each(page.VpcPeeringConnections, func(c types.VpcPeeringConnection) thing {
			t := thing{id: awssdk.ToString(c.VpcPeeringConnectionId), name: nameOr(c.Tags, nil), tags: ec2Tags(c.Tags)}
			t.gone = c.Status != nil && slices.Contains(over, c.Status.Code)
			for _, side := range []*types.VpcPeeringConnectionVpcInfo{c.RequesterVpcInfo, c.AccepterVpcInfo} {
				if side != nil {
					t.in = append(t.in, ids(side.VpcId)...)
				}
			}
			return t
		}))
	})
}

func listDHCPOptions(ctx context.Context, api *ec2.Client, take func([]thing) error) error {
	p := ec2.NewDescribeDhcpOptionsPaginator(api, &ec2.DescribeDhcpOptionsInput{MaxResults: awssdk.Int32(longPage)})
	return eachPage(ctx, p, func(page *ec2.DescribeDhcpOptionsOutput) error {
		return take(each(page.DhcpOptions, func(o types.DhcpOptions) thing {
			return thing{id: awssdk.ToString(o.DhcpOptionsId), name: nameOr(o.Tags, nil), tags: ec2Tags(o.Tags)}
		}))
	})
}
