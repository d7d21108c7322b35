package count

import (
	"context"
	"slices"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

// rareKinds are kinds that no install creates by itself, but that its destroyer handles (dhcp-options, carrier and egress-only
// gateways, peerings, placement groups) or gets stuck on (launch templates: it retries their ARN for ever).
var rareKinds = []ec2Kind{
	{"peering-connection", "vpc-peering-connection", "DescribeVpcPeeringConnections", "vpc-peering-connection-id", vpcOfPeering, false, listPeerings, "delete-vpc-peering-connection --vpc-peering-connection-id"},
	{"egress-only-gateway", "egress-only-internet-gateway", "DescribeEgressOnlyInternetGateways", idOfEgress, vpcOfEgress, false, listEgressGateways, "delete-egress-only-internet-gateway --egress-only-internet-gateway-id"},
	{"carrier-gateway", "carrier-gateway", "DescribeCarrierGateways", "carrier-gateway-id", "vpc-id", false, listCarrierGateways, "delete-carrier-gateway --carrier-gateway-id"},
	{"dhcp-options", "dhcp-options", "DescribeDhcpOptions", "dhcp-options-id", "", false, listDHCPOptions, "delete-dhcp-options --dhcp-options-id"},
	{"launch-template", "launch-template", "DescribeLaunchTemplates", idOfTemplate, "", false, listLaunchTemplates, "delete-launch-template --launch-template-id"},
	{"placement-group", "placement-group", "DescribePlacementGroups", nameOfGroup, "", false, listPlacementGroups, "delete-placement-group --group-name"},
}

// These look like filters but are not filters of the API; they are queried in another way.
const (
	idOfEgress   = "egress-only-internet-gateway-id"
	vpcOfEgress  = "attachments.vpc-id"
	vpcOfPeering = "either.vpc-id"
	idOfTemplate = "launch-template-id"
	nameOfGroup  = "placement-group-name" // a group's ARN ends with its name
)

// listPeerings selects those of a VPC itself, on either side of the peering: the API has a separate filter for each side.
func listPeerings(ctx context.Context, api *ec2.Client, f []types.Filter) ([]thing, error) {
	in, vpcs := &ec2.DescribeVpcPeeringConnectionsInput{Filters: f}, []string(nil)
	if awssdk.ToString(f[0].Name) == vpcOfPeering {
		in, vpcs = &ec2.DescribeVpcPeeringConnectionsInput{}, f[0].Values
	}
	over := []types.VpcPeeringConnectionStateReasonCode{ // listed for hours after their deletion
		types.VpcPeeringConnectionStateReasonCodeDeleted, types.VpcPeeringConnectionStateReasonCodeRejected,
		types.VpcPeeringConnectionStateReasonCodeExpired, types.VpcPeeringConnectionStateReasonCodeFailed,
	}
	side := func(v *types.VpcPeeringConnectionVpcInfo) bool {
		return v != nil && slices.Contains(vpcs, awssdk.ToString(v.VpcId))
	}
	return collect(ctx, ec2.NewDescribeVpcPeeringConnectionsPaginator(api, in), func(page *ec2.DescribeVpcPeeringConnectionsOutput) []thing {
		found := slices.DeleteFunc(page.VpcPeeringConnections, func(c types.VpcPeeringConnection) bool {
			return vpcs != nil && !side(c.RequesterVpcInfo) && !side(c.AccepterVpcInfo)
		})
		return each(found, func(c types.VpcPeeringConnection) thing {
			return taggedThing(awssdk.ToString(c.VpcPeeringConnectionId), c.Tags, c.Status != nil && slices.Contains(over, c.Status.Code))
		})
	})
}

// listEgressGateways passes ids as a parameter, and selects those of a VPC itself: the API has no filters for them.
func listEgressGateways(ctx context.Context, api *ec2.Client, f []types.Filter) ([]thing, error) {
	in, vpcs := &ec2.DescribeEgressOnlyInternetGatewaysInput{Filters: f}, []string(nil)
	switch awssdk.ToString(f[0].Name) {
	case idOfEgress:
		in = &ec2.DescribeEgressOnlyInternetGatewaysInput{EgressOnlyInternetGatewayIds: f[0].Values}
	case vpcOfEgress:
		in, vpcs = &ec2.DescribeEgressOnlyInternetGatewaysInput{}, f[0].Values
	}
	return collect(ctx, ec2.NewDescribeEgressOnlyInternetGatewaysPaginator(api, in), func(page *ec2.DescribeEgressOnlyInternetGatewaysOutput) []thing {
		found := slices.DeleteFunc(page.EgressOnlyInternetGateways, func(g types.EgressOnlyInternetGateway) bool {
			return vpcs != nil && !slices.ContainsFunc(g.Attachments, func(a types.InternetGatewayAttachment) bool {
				return slices.Contains(vpcs, awssdk.ToString(a.VpcId))
			})
		})
		return each(found, func(g types.EgressOnlyInternetGateway) thing {
			return taggedThing(awssdk.ToString(g.EgressOnlyInternetGatewayId), g.Tags, false)
		})
	})
}

func listCarrierGateways(ctx context.Context, api *ec2.Client, f []types.Filter) ([]thing, error) {
	p := ec2.NewDescribeCarrierGatewaysPaginator(api, &ec2.DescribeCarrierGatewaysInput{Filters: f})
	return collect(ctx, p, func(page *ec2.DescribeCarrierGatewaysOutput) []thing {
		return each(page.CarrierGateways, func(g types.CarrierGateway) thing {
			return taggedThing(awssdk.ToString(g.CarrierGatewayId), g.Tags, g.State == types.CarrierGatewayStateDeleted)
		})
	})
}

func listDHCPOptions(ctx context.Context, api *ec2.Client, f []types.Filter) ([]thing, error) {
	p := ec2.NewDescribeDhcpOptionsPaginator(api, &ec2.DescribeDhcpOptionsInput{Filters: f})
	return collect(ctx, p, func(page *ec2.DescribeDhcpOptionsOutput) []thing {
		return each(page.DhcpOptions, func(o types.DhcpOptions) thing { return taggedThing(awssdk.ToString(o.DhcpOptionsId), o.Tags, false) })
	})
}

func listLaunchTemplates(ctx context.Context, api *ec2.Client, f []types.Filter) ([]thing, error) {
	in := &ec2.DescribeLaunchTemplatesInput{Filters: f}
	if awssdk.ToString(f[0].Name) == idOfTemplate {
		in = &ec2.DescribeLaunchTemplatesInput{LaunchTemplateIds: f[0].Values}
	}
	return collect(ctx, ec2.NewDescribeLaunchTemplatesPaginator(api, in), func(page *ec2.DescribeLaunchTemplatesOutput) []thing {
		return each(page.LaunchTemplates, func(l types.LaunchTemplate) thing {
			return thing{id: awssdk.ToString(l.LaunchTemplateId), name: awssdk.ToString(l.LaunchTemplateName), tags: tagMap(l.Tags)}
		})
	})
}

func listPlacementGroups(ctx context.Context, api *ec2.Client, f []types.Filter) ([]thing, error) {
	in := &ec2.DescribePlacementGroupsInput{Filters: f}
	if awssdk.ToString(f[0].Name) == nameOfGroup {
		in = &ec2.DescribePlacementGroupsInput{GroupNames: f[0].Values}
	}
	out, err := api.DescribePlacementGroups(ctx, in) // this call has no pages
	if err != nil {
		return nil, err
	}
	return each(out.PlacementGroups, func(g types.PlacementGroup) thing {
		return thing{id: awssdk.ToString(g.GroupName), name: awssdk.ToString(g.GroupName), tags: tagMap(g.Tags), gone: g.State == types.PlacementGroupStateDeleted}
	}), nil
}
