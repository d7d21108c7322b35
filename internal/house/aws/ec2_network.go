package aws

import (
	"fmt"
	"net/netip"
)

func createVPC(c *call) ([]node, error) {
	cidr, err := netip.ParsePrefix(c.params.get("CidrBlock"))
	if err != nil || cidr.Bits() < 16 || cidr.Bits() > 28 {
		return nil, fault("InvalidVpc.Range", "The CIDR '%s' is invalid.", c.params.get("CidrBlock"))
	}
	if err := c.room("L-F678F1CE", "", 1); err != nil {
		return nil, err
	}
	v := c.made("vpc", Resource{Attrs: map[string]string{"cidr": cidr.Masked().String()}})
	v.Attrs["is-default"] = "false"
	group := Resource{Service: "ec2", Type: "security-group", Region: c.region, ID: newID("sg-"), Name: "default", VPC: v.ID, Parent: v.ID}
	group.Attrs = map[string]string{"group-name": "default", "description": "default VPC security group", "default": "true"}
	c.add(group)
	c.add(Resource{Service: "ec2", Type: "route-table", Region: c.region, ID: newID("rtb-"), VPC: v.ID, Parent: v.ID,
		Attrs: map[string]string{"default": "true", "association.main": "true"}})
	return []node{{name: "vpc", kids: renderVPC(c, v)}}, nil
}

func renderVPC(c *call, r *Resource) []node {
	return []node{el("vpcId", r.ID), el("ownerId", r.Account), el("state", r.State), el("cidrBlock", r.Attrs["cidr"]), el("dhcpOptionsId", "default"),
		el("instanceTenancy", "default"), el("isDefault", false), tagSet(r)}
}

// attributes of a VPC that can be set after its creation, and what they are called in an answer.
var vpcAttributes = map[string]string{"EnableDnsSupport": "enableDnsSupport", "EnableDnsHostnames": "enableDnsHostnames"}

func modifyVPC(c *call) ([]node, error) {
	v, err := c.get("vpc", c.params.get("VpcId"))
	if err != nil {
		return nil, err
	}
	for name, attr := range vpcAttributes {
		if value := c.params.get(name + ".Value"); value != "" {
			v.Attrs[attr] = value
		}
	}
	return []node{el("return", true)}, nil
}

func describeVPCAttribute(c *call) ([]node, error) {
	v, err := c.get("vpc", c.params.get("VpcId"))
	if err != nil {
		return nil, err
	}
	out := []node{el("vpcId", v.ID)}
	for _, attr := range vpcAttributes {
		if attr == c.params.get("Attribute") {
			out = append(out, group(attr, el("value", v.Attrs[attr] == "true")))
		}
	}
	return out, nil
}

func createSubnet(c *call) ([]node, error) {
	v, err := c.get("vpc", c.params.get("VpcId"))
	if err != nil {
		return nil, err
	}
	cidr, err := netip.ParsePrefix(c.params.get("CidrBlock"))
	if err != nil {
		return nil, fault("InvalidParameterValue", "Value (%s) for parameter cidrBlock is invalid.", c.params.get("CidrBlock"))
	}
	if whole, err := netip.ParsePrefix(v.Attrs["cidr"]); err == nil && (!whole.Contains(cidr.Addr()) || cidr.Bits() < whole.Bits()) {
		return nil, fault("InvalidSubnet.Range", "The CIDR '%s' is invalid.", cidr)
	}
	clash := c.first(func(r *Resource) bool {
		other, err := netip.ParsePrefix(r.Attrs["cidr-block"])
		return r.Type == "subnet" && r.VPC == v.ID && r.Alive() && err == nil && other.Overlaps(cidr)
	})
	if clash != nil {
		return nil, fault("InvalidSubnet.Conflict", "The CIDR '%s' conflicts with another subnet", cidr)
	}
	zone, err := c.zoneOr(c.params.get("AvailabilityZone"))
	if err != nil {
		return nil, err
	}
	r := c.made("subnet", Resource{VPC: v.ID, Uses: []string{v.ID}, Attrs: map[string]string{"cidr-block": cidr.String(), "availability-zone": zone}})
	return []node{{name: "subnet", kids: renderSubnet(c, r)}}, nil
}

func renderSubnet(c *call, r *Resource) []node {
	return []node{el("subnetId", r.ID), el("subnetArn", r.ARN()), el("ownerId", r.Account), el("state", r.State), el("vpcId", r.VPC), el("cidrBlock", r.Attrs["cidr-block"]),
		el("availabilityZone", r.Attrs["availability-zone"]), el("availableIpAddressCount", 4091), el("defaultForAz", false), tagSet(r)}
}

func createGateway(c *call) ([]node, error) {
	if err := c.room("L-A4707A72", "", 1); err != nil {
		return nil, err
	}
	return []node{{name: "internetGateway", kids: renderGateway(c, c.made("internet-gateway", Resource{}))}}, nil
}

func renderGateway(c *call, r *Resource) []node {
	var attached [][]node
	if r.VPC != "" {
		attached = append(attached, []node{el("vpcId", r.VPC), el("state", "available")})
	}
	return []node{el("internetGatewayId", r.ID), el("ownerId", r.Account), list("attachmentSet", "item", attached), tagSet(r)}
}

// gatewayAndVPC are what an attachment is about.
func gatewayAndVPC(c *call) (*Resource, *Resource, error) {
	g, err := c.get("internet-gateway", c.params.get("InternetGatewayId"))
	if err != nil {
		return nil, nil, err
	}
	v, err := c.get("vpc", c.params.get("VpcId"))
	return g, v, err
}

func attachGateway(c *call) ([]node, error) {
	g, v, err := gatewayAndVPC(c)
	if err != nil {
		return nil, err
	}
	if g.VPC != "" {
		return nil, fault("Resource.AlreadyAssociated", "resource %s is already attached to network %s", g.ID, g.VPC)
	}
	g.VPC, g.Uses = v.ID, []string{v.ID}
	return []node{el("return", true)}, nil
}

func detachGateway(c *call) ([]node, error) {
	g, v, err := gatewayAndVPC(c)
	if err != nil {
		return nil, err
	}
	if g.VPC != v.ID {
		return nil, fault("Gateway.NotAttached", "resource %s is not attached to network %s", g.ID, v.ID)
	}
	public := c.first(func(r *Resource) bool {
		return r.Type == "network-interface" && r.VPC == v.ID && r.Alive() && r.Attrs["public-ip"] != ""
	})
	if public != nil {
		return nil, fault("DependencyViolation", "Network %s has some mapped public address(es). Please unmap those public address(es) before detaching the gateway.", v.ID)
	}
	g.VPC, g.Uses = "", nil
	return []node{el("return", true)}, nil
}

func deleteGateway(c *call) ([]node, error) {
	g, err := c.get("internet-gateway", c.params.get("InternetGatewayId"))
	if err != nil {
		return nil, err
	}
	if g.VPC != "" {
		return nil, fault("DependencyViolation", "The internetGateway '%s' has dependencies and cannot be deleted.", g.ID)
	}
	return remove("internet-gateway")(c)
}

func allocateAddress(c *call) ([]node, error) {
	if err := c.room("L-0263D0A3", "", 1); err != nil {
		return nil, err
	}
	r := c.made("elastic-ip", Resource{Attrs: map[string]string{"domain": "vpc"}})
	r.Attrs["public-ip"] = fmt.Sprintf("203.0.%d.%d", 113+r.Seq/250%100, 1+r.Seq%250)
	return []node{el("publicIp", r.Attrs["public-ip"]), el("allocationId", r.ID), el("domain", "vpc")}, nil
}

func renderAddress(c *call, r *Resource) []node {
	out := []node{el("allocationId", r.ID), el("publicIp", r.Attrs["public-ip"]), el("domain", "vpc"), tagSet(r)}
	if by := c.user(r.ID); by != nil {
		out = append(out, el("associationId", "eipassoc-"+by.ID), el("networkInterfaceOwnerId", r.Account))
	}
	return out
}

func createNAT(c *call) ([]node, error) {
	sub, err := c.get("subnet", c.params.get("SubnetId"))
	if err != nil {
		return nil, err
	}
	zone := sub.Attrs["availability-zone"]
	if err := c.room("L-FE5A380F", zone, 1); err != nil {
		return nil, err
	}
	r := Resource{VPC: sub.VPC, Attrs: map[string]string{"subnet-id": sub.ID, "availability-zone": zone}}
	if id := c.params.get("AllocationId"); id != "" {
		ip, err := c.get("elastic-ip", id)
		if err != nil {
			return nil, err
		}
		if c.user(ip.ID) != nil {
			return nil, fault("Resource.AlreadyAssociated", "Elastic IP address [%s] is already associated", ip.ID)
		}
		r.Uses = []string{ip.ID}
		r.Attrs["public-ip"] = ip.Attrs["public-ip"]
		r.Attrs["allocation-id"] = ip.ID
	}
	made := c.made("natgateway", r)
	c.move(made, "pending", "available")
	c.face(made, sub, "nat_gateway", "Interface for NAT Gateway "+made.ID, nil, made.Attrs["public-ip"])
	return []node{{name: "natGateway", kids: renderNAT(c, made)}}, nil
}

func renderNAT(c *call, r *Resource) []node {
	out := []node{el("natGatewayId", r.ID), el("state", r.State), el("vpcId", r.VPC), el("subnetId", r.Attrs["subnet-id"]), el("createTime", r.Created), tagSet(r)}
	if r.Attrs["allocation-id"] != "" {
		out = append(out, list("natGatewayAddressSet", "item", [][]node{{el("allocationId", r.Attrs["allocation-id"]), el("publicIp", r.Attrs["public-ip"])}}))
	}
	if !r.Alive() {
		out = append(out, el("deleteTime", r.Gone))
	}
	return out
}

func deleteNAT(c *call) ([]node, error) {
	r, err := c.get("natgateway", c.params.get("NatGatewayId"))
	if err != nil {
		return nil, err
	}
	if err := c.removable(r); err != nil {
		return nil, err
	}
	if r.Alive() {
		c.move(r, "deleting", "deleted")
	}
	return []node{el("natGatewayId", r.ID)}, nil
}

// face gives a resource a network interface, which is what really keeps subnets and security groups from being deleted.
func (c *call) face(owner, subnet *Resource, kind, description string, groups []string, public string) *Resource {
	r := Resource{Service: "ec2", Type: "network-interface", Region: subnet.Region, ID: newID("eni-"), VPC: subnet.VPC, Parent: owner.ID, State: "in-use"}
	r.Uses = append([]string{subnet.ID}, groups...)
	r.Tags = c.params.tagsFor("network-interface")
	r.Values = map[string][]string{"groups": groups}
	r.Attrs = map[string]string{"subnet-id": subnet.ID, "interface-type": kind, "description": description, "public-ip": public,
		"availability-zone": subnet.Attrs["availability-zone"]}
	if owner.Type == "instance" {
		r.Attrs["attachment.instance-id"] = owner.ID
	} else {
		r.Attrs["requester-id"] = "amazon-" + map[bool]string{true: "elb", false: owner.Type}[owner.Service == "elasticloadbalancing"]
	}
	made := c.add(r)
	made.Attrs["private-ip-address"] = fmt.Sprintf("10.0.%d.%d", made.Seq/250%250, 4+made.Seq%250)
	return made
}

func renderInterface(c *call, r *Resource) []node {
	var groups [][]node
	for _, id := range r.vals("groups") {
		groups = append(groups, []node{el("groupId", id)})
	}
	out := []node{el("networkInterfaceId", r.ID), el("subnetId", r.Attrs["subnet-id"]), el("vpcId", r.VPC), el("availabilityZone", r.Attrs["availability-zone"]),
		el("description", r.Attrs["description"]), el("ownerId", r.Account), el("requesterId", r.Attrs["requester-id"]), el("requesterManaged", r.Attrs["requester-id"] != ""),
		el("status", r.State), el("interfaceType", r.Attrs["interface-type"]), el("privateIpAddress", r.Attrs["private-ip-address"]), list("groupSet", "item", groups), tagSet(r)}
	if id := r.Attrs["attachment.instance-id"]; id != "" {
		out = append(out, group("attachment", el("instanceId", id), el("status", "attached"), el("deleteOnTermination", true)))
	}
	if ip := r.Attrs["public-ip"]; ip != "" {
		out = append(out, group("association", el("publicIp", ip)))
	}
	return out
}
