package aws

import (
	"github.com/ocpctl/ocpctl/devstack/must"
	"github.com/ocpctl/ocpctl/devstack/pick"
)

// rareKinds are kinds that no install creates by itself, but that a destroyer handles or a user may create beside a cluster.
func rareKinds() map[string]kind {
	return map[string]kind{
		"vpc-peering-connection":       {"pcx-", "active", "VpcPeeringConnectionId", "vpc-peering-connection-id", "InvalidVpcPeeringConnectionID.NotFound", "", "vpcPeeringConnectionSet", "", true, false, renderPeering},
		"egress-only-internet-gateway": {"eigw-", "", "EgressOnlyInternetGatewayId", "egress-only-internet-gateway-id", "InvalidGatewayID.NotFound", "", "egressOnlyInternetGatewaySet", "", false, false, renderEgress},
		"carrier-gateway":              {"cagw-", "available", "CarrierGatewayId", "carrier-gateway-id", "InvalidCarrierGatewayID.NotFound", "", "carrierGatewaySet", "", false, false, renderCarrier},
		"dhcp-options":                 {"dopt-", "", "DhcpOptionsId", "dhcp-options-id", "InvalidDhcpOptionID.NotFound", "", "dhcpOptionsSet", "", false, false, renderDHCP},
		"launch-template":              {"lt-", "", "LaunchTemplateId", "launch-template-id", "InvalidLaunchTemplateId.NotFound", "", "launchTemplates", "LaunchTemplateName", false, false, renderTemplate},
		"placement-group":              {"pg-", "available", "GroupId", "group-id", "InvalidPlacementGroup.Unknown", "InvalidPlacementGroup.InUse", "placementGroupSet", "GroupName", false, true, renderPlacement},
	}
}

// rareCalls are their operations: people make and delete them, so most are only planted and listed here.
func rareCalls() map[string]handler {
	return map[string]handler{
		"DescribeVpcPeeringConnections":      describe("vpc-peering-connection"),
		"DescribeEgressOnlyInternetGateways": describe("egress-only-internet-gateway"),
		"DescribeCarrierGateways":            describe("carrier-gateway"),
		"CreateDhcpOptions":                  createDHCP, "DeleteDhcpOptions": remove("dhcp-options"), "DescribeDhcpOptions": describeDHCP, "AssociateDhcpOptions": associateDHCP,
		"DescribeLaunchTemplates": describe("launch-template"),
		"DescribePlacementGroups": describe("placement-group"),
	}
}

func renderPeering(_ *call, r *Resource) []node {
	side := func(name, attr string) node {
		return group(name, el("vpcId", r.Attrs[attr]), el("ownerId", r.Account), el("region", r.Region))
	}
	state := r.State
	if !r.Alive() {
		state = "deleted"
	}
	return []node{el("vpcPeeringConnectionId", r.ID), group("status", el("code", state), el("message", state)),
		side("requesterVpcInfo", "requester-vpc-info.vpc-id"), side("accepterVpcInfo", "accepter-vpc-info.vpc-id"), tagSet(r)}
}

func renderEgress(_ *call, r *Resource) []node {
	attached := [][]node{{el("vpcId", r.VPC), el("state", "attached")}}
	return []node{el("egressOnlyInternetGatewayId", r.ID), list("attachmentSet", "item", attached), tagSet(r)}
}

func renderCarrier(_ *call, r *Resource) []node {
	return []node{el("carrierGatewayId", r.ID), el("vpcId", r.VPC), el("state", r.State), el("ownerId", r.Account), tagSet(r)}
}

func createDHCP(c *call) ([]node, error) {
	r := c.made("dhcp-options", Resource{})
	for _, o := range c.params.each("DhcpConfiguration") {
		r.Values[o.get("Key")] = o.list("Value")
	}
	return []node{{name: "dhcpOptions", kids: renderDHCP(c, r)}}, nil
}

func renderDHCP(_ *call, r *Resource) []node {
	var options [][]node
	for key, values := range r.Values {
		items := pick.Map(values, func(v string) []node { return []node{el("value", v)} })
		options = append(options, []node{el("key", key), list("valueSet", "item", items)})
	}
	return []node{el("dhcpOptionsId", r.ID), el("ownerId", r.Account), list("dhcpConfigurationSet", "item", options), tagSet(r)}
}

// associateDHCP sets a VPC's options, which then cannot be deleted; "default" removes them.
func associateDHCP(c *call) ([]node, error) {
	v := must.Get(c.get("vpc", c.params.get("VpcId")))
	uses, attr := []string(nil), "default"
	if id := c.params.get("DhcpOptionsId"); id != "default" {
		o := must.Get(c.get("dhcp-options", id))
		uses, attr = []string{o.ID}, o.ID
	}
	v.Uses, v.Attrs["dhcp-options-id"] = uses, attr
	return []node{el("return", true)}, nil
}

func renderTemplate(_ *call, r *Resource) []node {
	return []node{el("launchTemplateId", r.ID), el("launchTemplateName", r.Name), el("createTime", r.Created), el("createdBy", r.Account),
		el("defaultVersionNumber", 1), el("latestVersionNumber", 1), tagSet(r)}
}

func renderPlacement(_ *call, r *Resource) []node {
	return []node{el("groupId", r.ID), el("groupName", r.Name), el("groupArn", r.ARN()), el("state", r.State), el("strategy", r.Attrs["strategy"]), tagSet(r)}
}

// asked reports whether a describe call by name means this resource.
func (k kind) asked(c *call, r *Resource) bool {
	return k.names == "" || wanted(c.params.list(k.names), r.Name)
}
