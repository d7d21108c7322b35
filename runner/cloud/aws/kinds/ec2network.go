package kinds

import (
	"context"
	"slices"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

func listVPCs(ctx context.Context, api *ec2.Client, q query, take Take) error {
	p := ec2.NewDescribeVpcsPaginator(api, &ec2.DescribeVpcsInput{Filters: q.filters, MaxResults: longPage})
	return EachPage(ctx, p, func(page *ec2.DescribeVpcsOutput) error {
		return takeAll(take, page.Vpcs, func(v types.Vpc) Resource { return newEC2(v.VpcId, v.Tags, nil) })
	})
}

func listSubnets(ctx context.Context, api *ec2.Client, q query, take Take) error {
	p := ec2.NewDescribeSubnetsPaginator(api, &ec2.DescribeSubnetsInput{Filters: q.filters, MaxResults: longPage})
	return EachPage(ctx, p, func(page *ec2.DescribeSubnetsOutput) error {
		return takeAll(take, page.Subnets, func(s types.Subnet) Resource { return newEC2(s.SubnetId, s.Tags, nil).addIn(s.VpcId) })
	})
}

func listNATGateways(ctx context.Context, api *ec2.Client, q query, take Take) error {
	p := ec2.NewDescribeNatGatewaysPaginator(api, &ec2.DescribeNatGatewaysInput{Filter: q.filters, MaxResults: longPage})
	return EachPage(ctx, p, func(page *ec2.DescribeNatGatewaysOutput) error {
		return takeAll(take, page.NatGateways, func(n types.NatGateway) Resource {
			r := newEC2(n.NatGatewayId, n.Tags, nil).addIn(n.VpcId)
			r.MadeAt, r.Gone, r.Ending = n.CreateTime, n.State == types.NatGatewayStateDeleted, n.State == types.NatGatewayStateFailed
			for _, a := range n.NatGatewayAddresses {
				for _, id := range presentIDs(a.AllocationId) {
					r.Holds = append(r.Holds, Held{ID: id})
				}
			}
			return r
		})
	})
}

func listInterfaces(ctx context.Context, api *ec2.Client, q query, take Take) error {
	p := ec2.NewDescribeNetworkInterfacesPaginator(api, &ec2.DescribeNetworkInterfacesInput{Filters: q.filters, MaxResults: longPage})
	return EachPage(ctx, p, func(page *ec2.DescribeNetworkInterfacesOutput) error {
		return takeAll(take, page.NetworkInterfaces, func(i types.NetworkInterface) Resource {
			return newEC2(i.NetworkInterfaceId, i.TagSet, i.Description).addIn(i.VpcId)
		})
	})
}

func listAddresses(ctx context.Context, api *ec2.Client, q query, take Take) error {
	out, err := Once(ctx, api.DescribeAddresses, &ec2.DescribeAddressesInput{Filters: q.filters}) // this call has no pages
	if err != nil {
		return err
	}
	return takeAll(take, out.Addresses, func(a types.Address) Resource {
		return newEC2(a.AllocationId, a.Tags, a.PublicIp).addIn(a.NetworkInterfaceId, a.InstanceId)
	})
}

// listEndpoints gives the kind of endpoint as the detail.
func listEndpoints(ctx context.Context, api *ec2.Client, q query, take Take) error {
	p := ec2.NewDescribeVpcEndpointsPaginator(api, &ec2.DescribeVpcEndpointsInput{Filters: q.filters, MaxResults: longPage})
	return EachPage(ctx, p, func(page *ec2.DescribeVpcEndpointsOutput) error {
		return takeAll(take, page.VpcEndpoints, func(e types.VpcEndpoint) Resource {
			r := newEC2(e.VpcEndpointId, e.Tags, e.ServiceName).addIn(e.VpcId)
			r.MadeAt, r.Detail, r.Gone = e.CreationTimestamp, string(e.VpcEndpointType), e.State == types.StateDeleted
			return r
		})
	})
}

// listSecurityGroups takes the default group for gone: it ends with its VPC, never alone.
func listSecurityGroups(ctx context.Context, api *ec2.Client, q query, take Take) error {
	p := ec2.NewDescribeSecurityGroupsPaginator(api, &ec2.DescribeSecurityGroupsInput{Filters: q.filters, MaxResults: longPage})
	return EachPage(ctx, p, func(page *ec2.DescribeSecurityGroupsOutput) error {
		return takeAll(take, page.SecurityGroups, func(g types.SecurityGroup) Resource {
			name := awssdk.ToString(g.GroupName)
			return Resource{ID: awssdk.ToString(g.GroupId), Name: name, Tags: ec2Tags(g.Tags), Gone: name == "default"}.addIn(g.VpcId)
		})
	})
}

// listRouteTables takes main tables for gone: they end with their VPCs, never alone.
func listRouteTables(ctx context.Context, api *ec2.Client, q query, take Take) error {
	p := ec2.NewDescribeRouteTablesPaginator(api, &ec2.DescribeRouteTablesInput{Filters: q.filters, MaxResults: shortPage})
	return EachPage(ctx, p, func(page *ec2.DescribeRouteTablesOutput) error {
		return takeAll(take, page.RouteTables, func(t types.RouteTable) Resource {
			r := newEC2(t.RouteTableId, t.Tags, nil).addIn(t.VpcId)
			r.Gone = slices.ContainsFunc(t.Associations, func(a types.RouteTableAssociation) bool { return awssdk.ToBool(a.Main) })
			return r
		})
	})
}

func listInternetGateways(ctx context.Context, api *ec2.Client, q query, take Take) error {
	p := ec2.NewDescribeInternetGatewaysPaginator(api, &ec2.DescribeInternetGatewaysInput{Filters: q.filters, MaxResults: longPage})
	return EachPage(ctx, p, func(page *ec2.DescribeInternetGatewaysOutput) error {
		return takeAll(take, page.InternetGateways, func(g types.InternetGateway) Resource {
			return newEC2(g.InternetGatewayId, g.Tags, nil).addIn(listAttachments(g.Attachments)...)
		})
	})
}

func listEgressGateways(ctx context.Context, api *ec2.Client, q query, take Take) error {
	in := &ec2.DescribeEgressOnlyInternetGatewaysInput{Filters: q.filters, MaxResults: shortPage}
	if q.ids != nil { // AWS takes no length of pages beside ids
		in = &ec2.DescribeEgressOnlyInternetGatewaysInput{EgressOnlyInternetGatewayIds: q.ids}
	}
	return EachPage(ctx, ec2.NewDescribeEgressOnlyInternetGatewaysPaginator(api, in), func(page *ec2.DescribeEgressOnlyInternetGatewaysOutput) error {
		return takeAll(take, page.EgressOnlyInternetGateways, func(g types.EgressOnlyInternetGateway) Resource {
			return newEC2(g.EgressOnlyInternetGatewayId, g.Tags, nil).addIn(listAttachments(g.Attachments)...)
		})
	})
}

func listAttachments(vpcs []types.InternetGatewayAttachment) (ids []*string) {
	for _, a := range vpcs {
		ids = append(ids, a.VpcId)
	}
	return ids
}

func listCarrierGateways(ctx context.Context, api *ec2.Client, q query, take Take) error {
	p := ec2.NewDescribeCarrierGatewaysPaginator(api, &ec2.DescribeCarrierGatewaysInput{Filters: q.filters, MaxResults: longPage})
	return EachPage(ctx, p, func(page *ec2.DescribeCarrierGatewaysOutput) error {
		return takeAll(take, page.CarrierGateways, func(g types.CarrierGateway) Resource {
			r := newEC2(g.CarrierGatewayId, g.Tags, nil).addIn(g.VpcId)
			r.Gone = g.State == types.CarrierGatewayStateDeleted
			return r
		})
	})
}

// listPeerings takes a peering for a part of the VPC on either side. Those that are over are listed for hours.
func listPeerings(ctx context.Context, api *ec2.Client, q query, take Take) error {
	over := []types.VpcPeeringConnectionStateReasonCode{
		types.VpcPeeringConnectionStateReasonCodeDeleted, types.VpcPeeringConnectionStateReasonCodeRejected,
		types.VpcPeeringConnectionStateReasonCodeExpired, types.VpcPeeringConnectionStateReasonCodeFailed,
	}
	p := ec2.NewDescribeVpcPeeringConnectionsPaginator(api, &ec2.DescribeVpcPeeringConnectionsInput{Filters: q.filters, MaxResults: longPage})
	return EachPage(ctx, p, func(page *ec2.DescribeVpcPeeringConnectionsOutput) error {
		return takeAll(take, page.VpcPeeringConnections, func(c types.VpcPeeringConnection) Resource {
			r := newEC2(c.VpcPeeringConnectionId, c.Tags, nil)
			r.Gone = c.Status != nil && slices.Contains(over, c.Status.Code)
			for _, side := range []*types.VpcPeeringConnectionVpcInfo{c.RequesterVpcInfo, c.AccepterVpcInfo} {
				if side != nil {
					r = r.addIn(side.VpcId)
				}
			}
			return r
		})
	})
}

func listDHCPOptions(ctx context.Context, api *ec2.Client, q query, take Take) error {
	p := ec2.NewDescribeDhcpOptionsPaginator(api, &ec2.DescribeDhcpOptionsInput{Filters: q.filters, MaxResults: longPage})
	return EachPage(ctx, p, func(page *ec2.DescribeDhcpOptionsOutput) error {
		return takeAll(take, page.DhcpOptions, func(o types.DhcpOptions) Resource { return newEC2(o.DhcpOptionsId, o.Tags, nil) })
	})
}
