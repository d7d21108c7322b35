package ibmcloud

import (
	"net/http"
	"slices"
	"strings"

	"github.com/ocpctl/ocpctl/devstack/must"
	"github.com/ocpctl/ocpctl/devstack/pick"
)

// kind is a type of VPC's resources and what differs between them.
type kind struct {
	typ     string // in CRNs: load-balancer
	path    string // load_balancers; also the name of the list in a response
	one     string // load_balancer, in the names of calls
	state   string // the field that shows the state
	begins  string // the first state; empty: it is ready at once
	ready   string
	ends    string // the state until it is gone; empty: it goes at once
	zonal   bool
	filters []string
	create  func(*call, input, *Resource) error // fills in the new resource; nil: it cannot be created here
	created func(*call, input, *Resource) error // creates what comes with it
	view    func(*call, *Resource, object)      // adds the fields of its own
	keep    func(*call, *Resource) error        // refuses a deletion
}

const byGroup = "resource_group.id"

func vpcKinds() []kind {
	inVPC := []string{byGroup, "vpc.id", "vpc.name", "vpc.crn"}
	return []kind{
		{typ: "vpc", path: "vpcs", one: "vpc", state: "status", begins: "pending", ready: "available", ends: "deleting", filters: []string{byGroup}, create: newVPC, created: furnishVPC, view: viewVPC},
		{typ: "subnet", path: "subnets", one: "subnet", state: "status", begins: "pending", ready: "available", ends: "deleting", zonal: true, filters: append(inVPC, "zone.name"), create: newSubnet, view: viewSubnet},
		{typ: "public-gateway", path: "public_gateways", one: "public_gateway", state: "status", begins: "pending", ready: "available", ends: "deleting", zonal: true, filters: []string{byGroup}, create: newGateway, created: addressGateway, view: viewGateway},
		{typ: "floating-ip", path: "floating_ips", one: "floating_ip", state: "status", ready: "available", ends: "deleting", zonal: true, filters: []string{byGroup, "target.id", "target.name", "target.crn", "target.resource_type"}, create: newAddress, view: viewAddress, keep: keepAddress},
		{typ: "security-group", path: "security_groups", one: "security_group", ready: "available", filters: inVPC, create: newSecurityGroup, view: viewSecurityGroup, keep: keepSecurityGroup},
		{typ: "network-acl", path: "network_acls", one: "network_acl", ready: "available", filters: []string{byGroup}, keep: keepDefault},
		{typ: "load-balancer", path: "load_balancers", one: "load_balancer", state: "provisioning_status", begins: "create_pending", ready: "active", ends: "delete_pending", create: newBalancer, view: viewBalancer, keep: keepBalancer},
		{typ: "instance", path: "instances", one: "instance", state: "status", begins: "pending", ready: "running", ends: "deleting", zonal: true, filters: append(inVPC, "name"), create: newInstance, created: diskInstance, view: viewInstance},
		{typ: "volume", path: "volumes", one: "volume", state: "status", begins: "pending", ready: "available", ends: "pending_deletion", zonal: true, filters: []string{"name", "attachment_state", "zone.name", "tag"}, create: newVolume, view: viewVolume, keep: keepVolume},
		{typ: "snapshot", path: "snapshots", one: "snapshot", state: "lifecycle_state", begins: "pending", ready: "stable", ends: "deleting", filters: []string{byGroup, "tag", "name", "source_volume.id"}, create: newSnapshot, view: viewSnapshot},
		{typ: "image", path: "images", one: "image", state: "status", begins: "pending", ready: "available", ends: "deleting", filters: []string{byGroup, "name", "visibility", "status"}, create: newImage, view: viewImage, keep: keepImage},
		{typ: "key", path: "keys", one: "key", ready: "available", filters: []string{byGroup}, create: newKey, view: viewKey},
		{typ: "dedicated-host", path: "dedicated_hosts", one: "dedicated_host", state: "lifecycle_state", ready: "stable", ends: "deleting", zonal: true, filters: []string{byGroup, "zone.name", "name"}, view: viewHost},
		{typ: "dedicated-host-group", path: "dedicated_host/groups", one: "dedicated_host_group", ready: "stable", zonal: true, filters: []string{byGroup, "zone.name", "name"}},
		{typ: "virtual-network-interface", path: "virtual_network_interfaces", one: "virtual_network_interface", state: "lifecycle_state", ready: "stable", ends: "deleting", zonal: true, filters: []string{byGroup}},
		{typ: "endpoint-gateway", path: "endpoint_gateways", one: "endpoint_gateway", state: "lifecycle_state", ready: "stable", ends: "deleting", filters: append(inVPC, "name")},
		{typ: "share", path: "shares", one: "share", state: "lifecycle_state", ready: "stable", ends: "deleting", zonal: true, filters: []string{byGroup, "name"}},
	}
}

// VPCTypes returns the types of resources of the VPC service that the stand-in can hold.
func VPCTypes() []string { return pick.Map(vpcKinds(), func(k kind) string { return k.typ }) }

func (s *Server) kindOf(typ string) *kind {
	i := slices.IndexFunc(s.kinds, func(k kind) bool { return k.typ == typ })
	if i < 0 {
		return nil
	}
	return &s.kinds[i]
}

const vpcBase = "/vpc/{region}/v1/"

func vpcRoutes(kinds []kind) []route {
	var out []route
	for i := range kinds {
		k := &kinds[i]
		plural := k.one + "s"
		out = append(out,
			route{"GET " + vpcBase + k.path, "vpc:list_" + plural, k.list},
			route{"GET " + vpcBase + k.path + "/{id}", "vpc:get_" + k.one, k.get},
			route{"DELETE " + vpcBase + k.path + "/{id}", "vpc:delete_" + k.one, k.delete},
		)
		if k.create != nil {
			out = append(out, route{"POST " + vpcBase + k.path, "vpc:create_" + k.one, k.post})
		}
	}
	out = append(out, vpcPlaceRoutes()...)
	return append(out, route{"POST " + vpcBase + "instances/{id}/actions", "vpc:create_instance_action", actOnInstance})
}

// versioned refuses a request without the parameters that every call of VPC needs, for a region that does not exist, or with unknown
// parameters.
func (c *call) versioned(known ...string) error {
	if c.query.Get("version") == "" || c.query.Get("generation") != "2" {
		return refuse(http.StatusBadRequest, "missing_field", "The query parameters version and generation=2 are required.")
	}
	if !contains(c.server.cfg.Regions, c.region) {
		return refuse(http.StatusNotFound, "not_found", "There is no region %s.", c.region)
	}
	return c.only(append(known, "version", "generation")...)
}

// find finds a resource that the caller can see in the call's region. A ghost is known to Resource Controller alone.
func (c *call) find(typ, id string) (*Resource, error) {
	r := c.First(func(r *Resource) bool { return r.Service == "is" && r.Type == typ && r.ID == id && c.sees(r) })
	if r == nil {
		return nil, refuse(http.StatusNotFound, "not_found", "The %s with ID %s cannot be found.", strings.ReplaceAll(typ, "-", " "), id)
	}
	return r, nil
}

func (c *call) sees(r *Resource) bool {
	public := r.Type == "image" && r.Attrs["visibility"] == "public"
	return r.Region == c.region && (r.Account == c.who.account || public) && r.Attrs["ghost"] == ""
}

func (k *kind) list(c *call) (any, error) {
	must.Do(c.versioned(append([]string{"limit", "start"}, k.filters...)...))
	limit := must.Get(c.length("limit", 50, 100))
	found := c.all(func(r *Resource) bool { return r.Service == "is" && r.Type == k.typ && c.sees(r) && k.matches(c, r) })
	total := len(found)
	found, next := must.Get2(after(found, c.query.Get("start"), limit))
	shown := pick.Map(found, func(r *Resource) object { return k.show(c, r) })
	base := c.server.URL("vpc", c.region) + "/" + k.path
	name := k.path[strings.LastIndex(k.path, "/")+1:]
	out := object{name: shown, "limit": limit, "total_count": total, "first": object{"href": base + "?limit=" + c.query.Get("limit")}}
	if next != "" {
		out["next"] = object{"href": base + "?limit=" + c.query.Get("limit") + "&start=" + next}
	}
	return out, nil
}

func (k *kind) matches(c *call, r *Resource) bool {
	var shown object
	for _, f := range k.filters {
		want := c.query.Get(f)
		if want == "" {
			continue
		}
		if f == "tag" {
			if !contains(r.Tags, strings.ToLower(want)) {
				return false
			}
			continue
		}
		if shown == nil {
			shown = k.show(c, r)
		}
		outer, inner, nested := strings.Cut(f, ".")
		value := shown[outer]
		if nested {
			value = nil
			if o, ok := shown[outer].(object); ok {
				value = o[inner]
			}
		}
		if value != want {
			return false
		}
	}
	return true
}

// show is a resource as VPC writes it.
func (k *kind) show(c *call, r *Resource) object {
	out := c.ref(r)
	out["created_at"], out["resource_type"] = stamp(r.Created), strings.ReplaceAll(r.Type, "-", "_")
	group := object{"id": r.Group, "href": "https://resource-controller.cloud.ibm.com/v2/resource_groups/" + r.Group}
	if of := c.First(func(o *Resource) bool { return o.Type == "resource-group" && o.ID == r.Group }); of != nil {
		group["name"] = of.Name
	}
	out["resource_group"] = group
	if k.state != "" {
		out[k.state] = r.State
	}
	if r.Zone != "" {
		out["zone"] = object{"name": r.Zone, "href": c.server.URL("vpc", r.Region) + "/regions/" + r.Region + "/zones/" + r.Zone}
	}
	if r.VPC != "" {
		if of := c.First(func(o *Resource) bool { return o.ID == r.VPC }); of != nil {
			out["vpc"] = c.ref(of)
		}
	}
	if k.view != nil {
		k.view(c, r, out)
	}
	return out
}

// ref is how one resource names another.
func (c *call) ref(r *Resource) object {
	path := r.Type
	if k := c.server.kindOf(r.Type); k != nil {
		path = k.path
	}
	return object{"id": r.ID, "crn": r.CRN(), "name": r.Name, "href": c.server.URL("vpc", r.Region) + "/" + path + "/" + r.ID, "resource_type": strings.ReplaceAll(r.Type, "-", "_")}
}

func (c *call) refs(ids []string) []object {
	out := []object{}
	for _, id := range ids {
		if r := c.First(func(r *Resource) bool { return r.ID == id }); r != nil {
			out = append(out, c.ref(r))
		}
	}
	return out
}

func (k *kind) get(c *call) (any, error) {
	must.Do(c.versioned())
	r := must.Get(c.find(k.typ, c.path("id")))
	return k.show(c, r), nil
}

func (k *kind) delete(c *call) (any, error) {
	must.Do(c.versioned("force"))
	r := must.Get(c.find(k.typ, c.path("id")))
	if r.Account != c.who.account {
		return nil, c.denied()
	}
	if k.keep != nil {
		must.Do(k.keep(c, r))
	}
	must.Do(c.protected(r))
	if users := c.users(r); len(users) > 0 || c.pinned(r) {
		return nil, k.inUse(r, users)
	}
	if k.ends == "" {
		c.Remove(r)
		return nil, nil
	}
	c.status = http.StatusAccepted
	if r.State != k.ends {
		c.Move(r, k.ends, gone)
	}
	return nil, nil
}

// inUse is the refusal to delete what others use, which it names.
func (k *kind) inUse(r *Resource, users []*Resource) error {
	code, by := k.one+"_in_use", []string{}
	for _, u := range users {
		by = append(by, strings.ReplaceAll(u.Type, "-", " ")+": "+u.ID)
	}
	if k.typ == "subnet" && len(users) > 0 {
		code = "subnet_in_use_network_interface_exists"
		if users[0].Type == "load-balancer" {
			code = "subnet_in_use_load_balancer_exists"
		}
	}
	out := refuse(http.StatusConflict, code, "The %s is in use and cannot be deleted. %s", strings.ReplaceAll(k.typ, "-", " "), strings.Join(by, ", "))
	out.target = "id"
	return out
}
