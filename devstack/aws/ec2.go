package aws

import (
	"cmp"
	"maps"
	"slices"

	"github.com/ocpctl/ocpctl/devstack/must"
	"github.com/ocpctl/ocpctl/devstack/pick"
)

// kind describes one type of resource for the generic EC2 calls.
type kind struct {
	prefix   string // of an id
	state    string // the state of a living one
	param    string // names an id in calls: VpcId
	filter   string // names an id in filters: vpc-id
	notFound string
	inUse    string // the code of a refused deletion; empty: DependencyViolation
	set      string // the element around a list
	names    string // the parameter that names it by name; empty: none does
	ghosts   bool   // describe calls go on listing deleted ones
	whole    bool   // describe calls have no pages
	render   func(*call, *Resource) []node
}

// kinds are EC2's types by the name in their ARN and their tag specification.
var kinds = joined(rareKinds(), map[string]kind{
	"vpc":               {"vpc-", "available", "VpcId", "vpc-id", "InvalidVpcID.NotFound", "", "vpcSet", "", false, false, renderVPC},
	"subnet":            {"subnet-", "available", "SubnetId", "subnet-id", "InvalidSubnetID.NotFound", "", "subnetSet", "", false, false, renderSubnet},
	"internet-gateway":  {"igw-", "available", "InternetGatewayId", "internet-gateway-id", "InvalidInternetGatewayID.NotFound", "", "internetGatewaySet", "", false, false, renderGateway},
	"natgateway":        {"nat-", "available", "NatGatewayId", "nat-gateway-id", "NatGatewayNotFound", "", "natGatewaySet", "", true, false, renderNAT},
	"elastic-ip":        {"eipalloc-", "", "AllocationId", "allocation-id", "InvalidAllocationID.NotFound", "InvalidIPAddress.InUse", "addressesSet", "", false, true, renderAddress},
	"route-table":       {"rtb-", "", "RouteTableId", "route-table-id", "InvalidRouteTableID.NotFound", "", "routeTableSet", "", false, false, renderRouteTable},
	"security-group":    {"sg-", "", "GroupId", "group-id", "InvalidGroup.NotFound", "", "securityGroupInfo", "", false, false, renderGroup},
	"vpc-endpoint":      {"vpce-", "available", "VpcEndpointId", "vpc-endpoint-id", "InvalidVpcEndpointId.NotFound", "", "vpcEndpointSet", "", false, false, renderEndpoint},
	"instance":          {"i-", "running", "InstanceId", "instance-id", "InvalidInstanceID.NotFound", "", "reservationSet", "", true, false, renderInstance},
	"volume":            {"vol-", "available", "VolumeId", "volume-id", "InvalidVolume.NotFound", "VolumeInUse", "volumeSet", "", false, false, renderVolume},
	"network-interface": {"eni-", "in-use", "NetworkInterfaceId", "network-interface-id", "InvalidNetworkInterfaceID.NotFound", "", "networkInterfaceSet", "", false, false, renderInterface},
	"snapshot":          {"snap-", "completed", "SnapshotId", "snapshot-id", "InvalidSnapshot.NotFound", "InvalidSnapshot.InUse", "snapshotSet", "", false, false, renderSnapshot},
	"image":             {"ami-", "available", "ImageId", "image-id", "InvalidAMIID.NotFound", "", "imagesSet", "", false, false, renderImage},
})

// EC2Types returns the types of EC2 resources that the stand-in can hold.
func EC2Types() []string { return slices.Sorted(maps.Keys(kinds)) }

// ec2Calls are EC2's operations.
var ec2Calls = joined(joined(rareCalls(), attributeCalls()), map[string]handler{
	"DescribeRegions": describeRegions, "DescribeAvailabilityZones": describeZones, "DescribeInstanceTypeOfferings": describeOfferings, "DescribeInstanceTypes": describeTypes,
	"CreateTags": createTags, "DeleteTags": deleteTags,

	"CreateVpc": createVPC, "DeleteVpc": remove("vpc"), "DescribeVpcs": describe("vpc"),
	"CreateSubnet": createSubnet, "DeleteSubnet": remove("subnet"), "DescribeSubnets": describe("subnet"),
	"CreateInternetGateway": createGateway, "DeleteInternetGateway": deleteGateway, "DescribeInternetGateways": describe("internet-gateway"),
	"AttachInternetGateway": attachGateway, "DetachInternetGateway": detachGateway,
	"CreateNatGateway": createNAT, "DeleteNatGateway": deleteNAT, "DescribeNatGateways": describe("natgateway"),
	"AllocateAddress": allocateAddress, "ReleaseAddress": remove("elastic-ip"), "DescribeAddresses": describe("elastic-ip"),
	"CreateRouteTable": createRouteTable, "DeleteRouteTable": deleteRouteTable, "DescribeRouteTables": describe("route-table"),
	"AssociateRouteTable": associateRouteTable, "DisassociateRouteTable": disassociateRouteTable, "CreateRoute": createRoute,
	"CreateSecurityGroup": createGroup, "DeleteSecurityGroup": deleteGroup, "DescribeSecurityGroups": describe("security-group"),
	"AuthorizeSecurityGroupIngress": authorizeIngress, "RevokeSecurityGroupIngress": revokeIngress,
	"CreateVpcEndpoint": createEndpoint, "DeleteVpcEndpoints": deleteEndpoints, "DescribeVpcEndpoints": describe("vpc-endpoint"),

	"RunInstances": runInstances, "TerminateInstances": terminateInstances, "StopInstances": stopInstances, "StartInstances": startInstances, "DescribeInstances": describe("instance"),
	"CreateVolume": createVolume, "DeleteVolume": remove("volume"), "DescribeVolumes": describe("volume"),
	"AttachVolume": attachVolume, "DetachVolume": detachVolume,
	"DescribeNetworkInterfaces": describe("network-interface"), "DeleteNetworkInterface": remove("network-interface"),
	"CopyImage": copyImage, "DeregisterImage": deregisterImage, "DescribeImages": describeImages,
	"CreateSnapshot": createSnapshot, "DeleteSnapshot": remove("snapshot"), "DescribeSnapshots": describe("snapshot"),
})

func joined[V any](a, b map[string]V) map[string]V {
	out := maps.Clone(a)
	maps.Copy(out, b)
	return out
}

// here reports whether the caller sees the resource in its account and region.
func (c *call) here(r *Resource, typ string) bool {
	return r.Service == "ec2" && r.Type == typ && r.Account == c.Account && r.Region == c.region
}

// listed returns what a describe call of a type shows, including deleted resources if it goes on listing those.
func (c *call) listed(typ string, match func(*Resource) bool) []*Resource {
	mine := func(r *Resource) bool { return c.here(r, typ) && match(r) }
	found := c.Every(mine)
	if kinds[typ].ghosts {
		for _, r := range c.Dead {
			if mine(r) {
				found = append(found, r)
			}
		}
	}
	return found
}

// get finds a resource by id, or refuses as EC2 does.
func (c *call) get(typ, id string) (_ *Resource, err error) {
	defer must.Catch(&err)
	k := kinds[typ]
	must.EndIf(id == "", fault("MissingParameter", "The request must contain the parameter %s", k.param))
	found := c.listed(typ, func(r *Resource) bool { return r.ID == id })
	must.EndIf(len(found) == 0, fault(k.notFound, "The %s ID '%s' does not exist", typ, id))
	return found[0], nil
}

// made returns a new EC2 resource in its living state, with the tags of the call.
func (c *call) made(typ string, r Resource) *Resource {
	k := kinds[typ]
	r.Service, r.Type, r.Region, r.ID = "ec2", typ, c.region, newID(k.prefix)
	r.State = cmp.Or(r.State, k.state)
	r.Tags = c.params.tagsFor(typ)
	r.Name = cmp.Or(r.Name, r.Tags["Name"])
	return c.Add(&r)
}

// remove returns the handler that deletes one resource of a type at once.
func remove(typ string) handler {
	return func(c *call) ([]node, error) {
		r := must.Get(c.get(typ, c.params.get(kinds[typ].param)))
		must.Do(c.removable(r))
		c.world.Remove(r)
		return []node{el("return", true)}, nil
	}
}

// removable refuses if something uses the resource, or a test pinned it.
func (c *call) removable(r *Resource) (err error) {
	defer must.Catch(&err)
	k := kinds[r.Type]
	must.Do(c.protected(r))
	code := cmp.Or(k.inUse, "DependencyViolation")
	must.EndIf(c.Pinned[r.ID] || (r.Name != "" && c.Pinned[r.Name]), fault(code, "The %s '%s' has dependencies and cannot be deleted.", r.Type, r.ID))
	must.EndIf(r.Attrs["default"] == "true" || (r.Type == "volume" && r.Parent != ""),
		fault(code, "The %s '%s' is in use and cannot be deleted.", r.Type, r.ID))
	if by := c.user(r.ID); by != nil && r.Type == "snapshot" {
		return fault(code, "The snapshot %s is currently in use by %s", r.ID, by.ID)
	} else if by != nil {
		return fault(code, "The %s '%s' has dependencies and cannot be deleted.", r.Type, r.ID)
	}
	return nil
}

// describe returns the handler that lists a type: by ids, by filters, in pages.
func describe(typ string) handler {
	return func(c *call) ([]node, error) {
		k := kinds[typ]
		ids := c.params.list(k.param)
		for _, id := range ids {
			must.Get(c.get(typ, id))
		}
		filters := must.Get(c.filters(k))
		found := c.listed(typ, func(r *Resource) bool { return wanted(ids, r.ID) && k.asked(c, r) && c.passes(r, k, filters) })
		found, next := must.Get2(page(c, found, k.whole || len(ids) > 0, bySeq))
		items := pick.Map(found, func(r *Resource) []node { return k.render(c, r) })
		if typ == "instance" {
			items = reservations(found, items)
		}
		return append([]node{list(k.set, "item", items)}, next...), nil
	}
}
