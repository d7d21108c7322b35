package aws

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/devstack/must"
)

// attributeCalls are the calls that read or change one property of a resource, as Cluster API's provider makes them.
func attributeCalls() map[string]handler {
	return map[string]handler{
		"DescribeVpcAttribute": describeVPCAttribute, "ModifyVpcAttribute": modifyVPCAttribute, "ModifySubnetAttribute": modifySubnet,
		"DescribeInstanceAttribute": describeUserData, "ModifyInstanceMetadataOptions": modifyMetadataOptions,
		"ModifyNetworkInterfaceAttribute": modifyGroups, "ModifyVpcEndpoint": modifyEndpoint,
	}
}

// title returns a name with a capital: the answers name an attribute "enableDnsSupport", the requests "EnableDnsSupport".
func title(name string) string { return strings.ToUpper(name[:1]) + name[1:] }

// describeVPCAttribute knows what a new VPC has: DNS is answered in it, and its machines get no names.
func describeVPCAttribute(c *call) ([]node, error) {
	v := must.Get(c.get("vpc", c.params.get("VpcId")))
	name := c.params.get("Attribute")
	unset, known := map[string]string{"enableDnsSupport": "true", "enableDnsHostnames": "false"}[name]
	must.EndIf(!known, fault("InvalidParameterValue", "Value (%s) for parameter attribute is invalid.", name))
	return []node{el("vpcId", v.ID), group(name, el("value", cmp.Or(v.Attrs[name], unset)))}, nil
}

func modifyVPCAttribute(c *call) ([]node, error) {
	return c.setAttributes("vpc", "enableDnsSupport", "enableDnsHostnames")
}

func modifySubnet(c *call) ([]node, error) {
	return c.setAttributes("subnet", "mapPublicIpOnLaunch", "privateDnsNameOptionsOnLaunch")
}

// setAttributes stores those of the attributes that the call has.
func (c *call) setAttributes(typ string, names ...string) ([]node, error) {
	r := must.Get(c.get(typ, c.params.get(kinds[typ].param)))
	for _, name := range names {
		if value := c.params.get(title(name) + ".Value"); value != "" {
			r.Attrs[name] = value
		}
	}
	return []node{el("return", true)}, nil
}

// describeUserData returns what a machine was started with, in base64.
func describeUserData(c *call) ([]node, error) {
	r := must.Get(c.get("instance", c.params.get("InstanceId")))
	must.EndIf(c.params.get("Attribute") != "userData", fault("InvalidParameterValue", "Value (%s) for parameter attribute is invalid.", c.params.get("Attribute")))
	return []node{el("instanceId", r.ID), group("userData", el("value", r.Attrs["user-data"]))}, nil
}

// metadataOptions are how a machine may read its metadata: the name in a request and in an answer, and what holds without it.
var metadataOptions = [][3]string{{"HttpEndpoint", "httpEndpoint", "enabled"}, {"HttpTokens", "httpTokens", "optional"}, {"HttpPutResponseHopLimit", "httpPutResponseHopLimit", "1"}, {"InstanceMetadataTags", "instanceMetadataTags", "disabled"}}

func (r *Resource) setMetadataOptions(from params, prefix string) {
	for _, o := range metadataOptions {
		r.Attrs[o[1]] = cmp.Or(from.get(prefix+o[0]), r.Attrs[o[1]], o[2])
	}
}

func renderMetadataOptions(r *Resource) node {
	out := group("metadataOptions", el("state", "applied"))
	for _, o := range metadataOptions {
		out.kids = append(out.kids, el(o[1], cmp.Or(r.Attrs[o[1]], o[2])))
	}
	return out
}

func modifyMetadataOptions(c *call) ([]node, error) {
	r := must.Get(c.get("instance", c.params.get("InstanceId")))
	r.setMetadataOptions(c.params, "")
	return []node{el("instanceId", r.ID), {name: "instanceMetadataOptions", kids: renderMetadataOptions(r).kids}}, nil
}

// modifyGroups replaces the security groups of an interface, and of the machine that has it.
func modifyGroups(c *call) ([]node, error) {
	face := must.Get(c.get("network-interface", c.params.get("NetworkInterfaceId")))
	groups := c.params.list("SecurityGroupId")
	for _, id := range groups {
		must.Get(c.get("security-group", id))
	}
	face.Uses, face.Values["groups"] = append([]string{face.Attrs["subnet-id"]}, groups...), groups
	if machine, err := c.get("instance", face.Attrs["attachment.instance-id"]); err == nil {
		machine.Values["groups"] = groups
	}
	return []node{el("return", true)}, nil
}

func modifyEndpoint(c *call) ([]node, error) {
	r := must.Get(c.get("vpc-endpoint", c.params.get("VpcEndpointId")))
	removed := c.params.list("RemoveRouteTableId")
	r.Values["route-tables"] = append(slices.DeleteFunc(r.vals("route-tables"), func(id string) bool { return slices.Contains(removed, id) }), c.params.list("AddRouteTableId")...)
	return []node{el("return", true)}, nil
}

// published are the boot images that Red Hat publishes for 4.19.0-ec.5, by region: every account sees them.
var published = map[string]string{"us-east-1": "ami-0b6b825641a2ea530", "us-east-2": "ami-0f13d2cbfbca6203b", "us-west-2": "ami-084162c9e5ff158c8"}

// describeImages lists the account's images, or a published one by its id.
func describeImages(c *call) ([]node, error) {
	if ids := c.params.list("ImageId"); len(ids) == 1 && ids[0] == published[c.region] {
		image := &Resource{ID: ids[0], State: "available", Account: "531415883065", Created: c.Now().Truncate(24 * time.Hour),
			Attrs: map[string]string{"name": "rhcos-9.6.20250402-0-x86_64", "snapshot-id": "snap-0f0f0f0f0f0f0f0f0"}}
		return []node{list("imagesSet", "item", [][]node{renderImage(c, image)})}, nil
	}
	return describe("image")(c)
}

// describeDHCP knows the options of every region, which a VPC has that got no others.
func describeDHCP(c *call) ([]node, error) {
	if ids := c.params.list("DhcpOptionsId"); len(ids) == 1 && ids[0] == "default" {
		domain := c.region + ".compute.internal"
		if c.region == "us-east-1" {
			domain = "ec2.internal"
		}
		usual := &Resource{ID: "default", Account: c.Account, Values: map[string][]string{"domain-name": {domain}, "domain-name-servers": {"AmazonProvidedDNS"}}}
		return []node{list("dhcpOptionsSet", "item", [][]node{renderDHCP(c, usual)})}, nil
	}
	return describe("dhcp-options")(c)
}

// about are the descriptions of a call's rules, each with the rule as rules returns it.
func (c *call) about() map[string]string {
	out := map[string]string{}
	for _, p := range c.params.each("IpPermissions") {
		ports := p.get("IpProtocol") + " " + p.get("FromPort") + " " + p.get("ToPort") + " "
		for list, source := range map[string]string{"IpRanges": "CidrIp", "Groups": "GroupId"} {
			for _, one := range p.each(list) {
				out[ports+one.get(source)] = one.get("Description")
			}
		}
	}
	maps.DeleteFunc(out, func(_, text string) bool { return text == "" })
	return out
}
