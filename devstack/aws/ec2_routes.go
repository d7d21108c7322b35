package aws

import (
	"cmp"
	"slices"
	"strings"

	"github.com/ocpctl/ocpctl/devstack/must"
)

func createRouteTable(c *call) ([]node, error) {
	v := must.Get(c.get("vpc", c.params.get("VpcId")))
	r := c.made("route-table", Resource{VPC: v.ID, Uses: []string{v.ID}})
	return []node{{name: "routeTable", kids: renderRouteTable(c, r)}}, nil
}

// associations reads one property of every association of a route table. An association ends with its subnet and prevents the
// deletion of its table.
func (c *call) associations(table *Resource, read func(*Resource) string) []string {
	var out []string
	for _, r := range c.Resources {
		if r.Type == "route-table-association" && slices.Contains(r.Uses, table.ID) {
			out = append(out, read(r))
		}
	}
	return out
}

func renderRouteTable(c *call, r *Resource) []node {
	var associated, routes [][]node
	if r.Attrs["association.main"] == "true" {
		associated = append(associated, []node{el("routeTableAssociationId", "rtbassoc-"+r.ID), el("routeTableId", r.ID), el("main", true)})
	}
	subnets := c.associations(r, func(a *Resource) string { return a.Parent })
	for i, id := range c.associations(r, func(a *Resource) string { return a.ID }) {
		associated = append(associated, []node{el("routeTableAssociationId", id), el("routeTableId", r.ID), el("subnetId", subnets[i]), el("main", false)})
	}
	for _, rt := range r.vals("routes") {
		cidr, target, _ := strings.Cut(rt, " ")
		name := "gatewayId"
		if strings.HasPrefix(target, "nat-") {
			name = "natGatewayId"
		}
		routes = append(routes, []node{el("destinationCidrBlock", cidr), el(name, target), el("state", "active"), el("origin", "CreateRoute")})
	}
	return []node{el("routeTableId", r.ID), el("vpcId", r.VPC), el("ownerId", r.Account), list("routeSet", "item", routes), list("associationSet", "item", associated), tagSet(r)}
}

func deleteRouteTable(c *call) ([]node, error) {
	r := must.Get(c.get("route-table", c.params.get("RouteTableId")))
	must.EndIf(len(c.associations(r, func(a *Resource) string { return a.ID })) > 0,
		fault("DependencyViolation", "The routeTable '%s' has dependencies and cannot be deleted.", r.ID))
	return remove("route-table")(c)
}

func associateRouteTable(c *call) ([]node, error) {
	table := must.Get(c.get("route-table", c.params.get("RouteTableId")))
	sub := must.Get(c.get("subnet", c.params.get("SubnetId")))
	taken := c.First(func(r *Resource) bool { return r.Type == "route-table-association" && r.Parent == sub.ID })
	must.EndIf(taken != nil,
		fault("Resource.AlreadyAssociated", "the specified association for route table %s conflicts with an existing association", table.ID))
	r := c.Add(&Resource{Service: "ec2", Type: "route-table-association", Region: c.region, ID: newID("rtbassoc-"), VPC: sub.VPC, Parent: sub.ID, Uses: []string{table.ID}})
	return []node{el("associationId", r.ID), group("associationState", el("state", "associated"))}, nil
}

func disassociateRouteTable(c *call) ([]node, error) {
	id := c.params.get("AssociationId")
	r := c.First(func(r *Resource) bool { return c.here(r, "route-table-association") && r.ID == id })
	must.EndIf(r == nil, fault("InvalidAssociationID.NotFound", "The association ID '%s' does not exist", id))
	c.world.Remove(r)
	return []node{el("return", true)}, nil
}

func createRoute(c *call) ([]node, error) {
	r := must.Get(c.get("route-table", c.params.get("RouteTableId")))
	cidr := c.params.get("DestinationCidrBlock")
	target := cmp.Or(c.params.get("GatewayId"), c.params.get("NatGatewayId"), c.params.get("VpcEndpointId"), c.params.get("NetworkInterfaceId"))
	if nat := c.params.get("NatGatewayId"); nat != "" {
		if _, err := c.get("natgateway", nat); err != nil {
			return nil, fault("InvalidNatGatewayID.NotFound", "The natGateway ID '%s' does not exist", nat)
		}
	}
	must.EndIf(slices.ContainsFunc(r.vals("routes"), func(rt string) bool { return strings.HasPrefix(rt, cidr+" ") }),
		fault("RouteAlreadyExists", "The route identified by %s already exists.", cidr))
	r.Values["routes"] = append(r.Values["routes"], cidr+" "+target)
	return []node{el("return", true)}, nil
}

func createEndpoint(c *call) ([]node, error) {
	v := must.Get(c.get("vpc", c.params.get("VpcId")))
	kind := cmp.Or(c.params.get("VpcEndpointType"), "Gateway")
	if kind == "Gateway" {
		must.Do(c.checkQuota("L-1B52E74A", "", 1))
	}
	r := c.made("vpc-endpoint", Resource{VPC: v.ID, Uses: []string{v.ID}, Attrs: map[string]string{"service-name": c.params.get("ServiceName"), "vpc-endpoint-type": kind}})
	r.Values["route-tables"] = c.params.list("RouteTableId")
	for _, id := range c.params.list("SubnetId") {
		sub, err := c.get("subnet", id)
		if err != nil {
			c.world.Remove(r)
			return nil, err
		}
		c.face(r, sub, "vpc_endpoint", "VPC Endpoint Interface "+r.ID, c.params.list("SecurityGroupId"), "")
	}
	return []node{{name: "vpcEndpoint", kids: renderEndpoint(c, r)}}, nil
}

func renderEndpoint(_ *call, r *Resource) []node {
	return []node{el("vpcEndpointId", r.ID), el("vpcEndpointType", r.Attrs["vpc-endpoint-type"]), el("vpcId", r.VPC), el("serviceName", r.Attrs["service-name"]),
		el("state", r.State), el("ownerId", r.Account), el("creationTimestamp", r.Created), texts("routeTableIdSet", "item", r.vals("route-tables")), tagSet(r)}
}

// deleteEndpoints returns refusals in its list, as the real call does.
func deleteEndpoints(c *call) ([]node, error) {
	var refused [][]node
	for _, id := range c.params.list("VpcEndpointId") {
		r, err := c.get("vpc-endpoint", id)
		if err == nil {
			err = c.removable(r)
		}
		if f, ok := err.(*Fault); ok {
			refused = append(refused, []node{el("resourceId", id), group("error", el("code", f.Code), el("message", f.Message))})
			continue
		}
		c.Move(r, "deleting", "deleted")
	}
	return []node{list("unsuccessful", "item", refused)}, nil
}
