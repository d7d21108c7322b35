package aws

import (
	"cmp"
	"net/netip"

	"github.com/ocpctl/ocpctl/devstack/must"
)

func createVPC(c *call) ([]node, error) {
	cidr, err := netip.ParsePrefix(c.params.get("CidrBlock"))
	must.EndIf(err != nil || cidr.Bits() < 16 || cidr.Bits() > 28, fault("InvalidVpc.Range", "The CIDR '%s' is invalid.", c.params.get("CidrBlock")))
	must.Do(c.checkQuota("L-F678F1CE", "", 1))
	v := c.made("vpc", Resource{Attrs: map[string]string{"cidr": cidr.Masked().String()}})
	v.Attrs["is-default"] = "false"
	group := Resource{Service: "ec2", Type: "security-group", Region: c.region, ID: newID("sg-"), Name: "default", VPC: v.ID, Parent: v.ID}
	group.Attrs = map[string]string{"group-name": "default", "description": "default VPC security group", "default": "true"}
	c.Add(&group)
	c.Add(&Resource{Service: "ec2", Type: "route-table", Region: c.region, ID: newID("rtb-"), VPC: v.ID, Parent: v.ID,
		Attrs: map[string]string{"default": "true", "association.main": "true"}})
	return []node{{name: "vpc", kids: renderVPC(c, v)}}, nil
}

func renderVPC(c *call, r *Resource) []node {
	return []node{el("vpcId", r.ID), el("ownerId", r.Account), el("state", r.State), el("cidrBlock", r.Attrs["cidr"]), el("dhcpOptionsId", cmp.Or(r.Attrs["dhcp-options-id"], "default")),
		el("instanceTenancy", "default"), el("isDefault", false), tagSet(r)}
}

func createSubnet(c *call) ([]node, error) {
	v := must.Get(c.get("vpc", c.params.get("VpcId")))
	cidr, err := netip.ParsePrefix(c.params.get("CidrBlock"))
	if err != nil {
		return nil, fault("InvalidParameterValue", "Value (%s) for parameter cidrBlock is invalid.", c.params.get("CidrBlock"))
	}
	if whole, err := netip.ParsePrefix(v.Attrs["cidr"]); err == nil && (!whole.Contains(cidr.Addr()) || cidr.Bits() < whole.Bits()) {
		return nil, fault("InvalidSubnet.Range", "The CIDR '%s' is invalid.", cidr)
	}
	clash := c.First(func(r *Resource) bool {
		other, err := netip.ParsePrefix(r.Attrs["cidr-block"])
		return r.Type == "subnet" && r.VPC == v.ID && err == nil && other.Overlaps(cidr)
	})
	must.EndIf(clash != nil, fault("InvalidSubnet.Conflict", "The CIDR '%s' conflicts with another subnet", cidr))
	zone := must.Get(c.zoneOr(c.params.get("AvailabilityZone")))
	r := c.made("subnet", Resource{VPC: v.ID, Uses: []string{v.ID}, Attrs: map[string]string{"cidr-block": cidr.String(), "availability-zone": zone}})
	return []node{{name: "subnet", kids: renderSubnet(c, r)}}, nil
}

func renderSubnet(c *call, r *Resource) []node {
	return []node{el("subnetId", r.ID), el("subnetArn", r.ARN()), el("ownerId", r.Account), el("state", r.State), el("vpcId", r.VPC), el("cidrBlock", r.Attrs["cidr-block"]),
		el("availabilityZone", r.Attrs["availability-zone"]), el("availableIpAddressCount", 4091), el("defaultForAz", false), tagSet(r)}
}

func createGateway(c *call) ([]node, error) {
	must.Do(c.checkQuota("L-A4707A72", "", 1))
	return []node{{name: "internetGateway", kids: renderGateway(c, c.made("internet-gateway", Resource{}))}}, nil
}

func renderGateway(c *call, r *Resource) []node {
	var attached [][]node
	if r.VPC != "" {
		attached = append(attached, []node{el("vpcId", r.VPC), el("state", "available")})
	}
	return []node{el("internetGatewayId", r.ID), el("ownerId", r.Account), list("attachmentSet", "item", attached), tagSet(r)}
}

// gatewayAndVPC returns the two resources of an attachment.
func gatewayAndVPC(c *call) (*Resource, *Resource, error) {
	g, err := c.get("internet-gateway", c.params.get("InternetGatewayId"))
	if err != nil {
		return nil, nil, err
	}
	v, err := c.get("vpc", c.params.get("VpcId"))
	return g, v, err
}

func attachGateway(c *call) ([]node, error) {
	g, v := must.Get2(gatewayAndVPC(c))
	must.EndIf(g.VPC != "", fault("Resource.AlreadyAssociated", "resource %s is already attached to network %s", g.ID, g.VPC))
	g.VPC, g.Uses = v.ID, []string{v.ID}
	return []node{el("return", true)}, nil
}

func detachGateway(c *call) ([]node, error) {
	g, v := must.Get2(gatewayAndVPC(c))
	must.EndIf(g.VPC != v.ID, fault("Gateway.NotAttached", "resource %s is not attached to network %s", g.ID, v.ID))
	public := c.First(func(r *Resource) bool {
		return r.Type == "network-interface" && r.VPC == v.ID && r.Attrs["public-ip"] != ""
	})
	must.EndIf(public != nil,
		fault("DependencyViolation", "Network %s has some mapped public address(es). Please unmap those public address(es) before detaching the gateway.", v.ID))
	g.VPC, g.Uses = "", nil
	return []node{el("return", true)}, nil
}

func deleteGateway(c *call) ([]node, error) {
	g := must.Get(c.get("internet-gateway", c.params.get("InternetGatewayId")))
	must.EndIf(g.VPC != "", fault("DependencyViolation", "The internetGateway '%s' has dependencies and cannot be deleted.", g.ID))
	return remove("internet-gateway")(c)
}
