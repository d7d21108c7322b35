package ibmcloud

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/ocpctl/ocpctl/devstack/must"
	"github.com/ocpctl/ocpctl/devstack/pick"
)

func dnsRoutes() []route {
	const zone = "/dns/v1/instances/{id}/dnszones"
	return []route{
		{"GET " + zone, "dns:list_dnszones", listDNSZones},
		{"GET " + zone + "/{sub}/resource_records", "dns:list_resource_records", listDNSRecords},
		{"POST " + zone + "/{sub}/resource_records", "dns:create_resource_record", createDNSRecord},
		{"DELETE " + zone + "/{sub}/resource_records/{record}", "dns:delete_resource_record", deleteDNSRecord},
		{"GET " + zone + "/{sub}/permitted_networks", "dns:list_permitted_networks", listNetworks},
		{"POST " + zone + "/{sub}/permitted_networks", "dns:create_permitted_network", createNetwork},
		{"DELETE " + zone + "/{sub}/permitted_networks/{record}", "dns:delete_permitted_network", deleteNetwork},
	}
}

func (c *call) dnsInstance() (*Resource, error) {
	r := c.First(func(r *Resource) bool {
		return r.Service == "dns-svcs" && r.Type == "instance" && r.ID == c.path("id") && r.Account == c.who.account
	})
	if r == nil {
		return nil, refuse(http.StatusNotFound, "instance_not_found", "The instance %s cannot be found.", c.path("id"))
	}
	return r, nil
}

func (c *call) dnsZone() (_ *Resource, err error) {
	defer must.Catch(&err)
	instance := must.Get(c.dnsInstance())
	z := c.First(func(r *Resource) bool { return r.Type == "zone" && r.ID == c.path("sub") && r.Parent == instance.ID })
	must.EndIf(z == nil, refuse(http.StatusNotFound, "zone_not_found", "The DNS zone %s cannot be found.", c.path("sub")))
	return z, nil
}

// dnsPage is one page of a list whose next page has an offset.
func (c *call) dnsPage(field string, all []object) (any, error) {
	must.Do(c.only("offset", "limit"))
	limit := must.Get(c.length("limit", 200, 1000))
	offset := must.Get(c.number("offset", 0, 1<<30))
	shown := append([]object{}, slicePage(all, offset, limit)...)
	href := func(at int) object {
		return object{"href": fmt.Sprintf("%s/instances/%s/%s?offset=%d&limit=%d", c.server.URL("dns", ""), c.path("id"), field, at, limit)}
	}
	out := object{field: shown, "offset": offset, "limit": limit, "count": len(shown), "total_count": len(all), "first": href(0), "last": href(max(0, len(all)-limit))}
	if offset+len(shown) < len(all) {
		out["next"] = href(offset + limit)
	}
	return out, nil
}

// dnsZoneView: a zone is active once a network may use it.
func (c *call) dnsZoneView(z *Resource) object {
	state := "PENDING_NETWORK_ADD"
	if c.First(func(r *Resource) bool { return r.Type == "permitted-network" && r.Parent == z.ID }) != nil {
		state = "ACTIVE"
	}
	return object{"id": z.ID, "instance_id": z.Parent, "name": z.Name, "state": state, "label": "", "description": "", "created_on": stamp(z.Created), "modified_on": stamp(z.Created)}
}

func listDNSZones(c *call) (any, error) {
	instance := must.Get(c.dnsInstance())
	all := pick.Map(c.all(func(r *Resource) bool { return r.Type == "zone" && r.Parent == instance.ID }), c.dnsZoneView)
	return c.dnsPage("dnszones", all)
}

func dnsRecordView(r *Resource) object {
	data := json.RawMessage(r.Attrs["rdata"])
	if len(data) == 0 {
		data = json.RawMessage(`{}`) // a planted record without one
	}
	return object{"id": r.ID, "name": r.Name, "type": r.Attrs["type"], "ttl": 60, "rdata": data, "created_on": stamp(r.Created), "modified_on": stamp(r.Created)}
}

func listDNSRecords(c *call) (any, error) {
	z := must.Get(c.dnsZone())
	all := pick.Map(c.all(func(r *Resource) bool { return r.Type == "dns-record" && r.Parent == z.ID }), dnsRecordView)
	return c.dnsPage("resource_records", all)
}

func createDNSRecord(c *call) (any, error) {
	z := must.Get(c.dnsZone())
	var in struct {
		Name, Type string
		RData      json.RawMessage `json:"rdata"`
	}
	must.Do(c.decode(&in))
	name := strings.TrimSuffix(in.Name, ".")
	must.EndIf(name == "" || in.Type == "" || len(in.RData) == 0,
		refuse(http.StatusBadRequest, "invalid_request", "A record needs a name, a type and rdata."))
	if name != z.Name && !strings.HasSuffix(name, "."+z.Name) {
		name += "." + z.Name
	}
	must.EndIf(c.clash(z, name, in.Type), refuse(http.StatusConflict, "resource_record_conflict", "A record of the name %s already exists.", name))
	return dnsRecordView(c.Add(&Resource{
		Account: z.Account, Service: "dns-svcs", Type: "dns-record", ID: in.Type + ":" + newUUID(), Name: name, Parent: z.ID,
		Attrs: map[string]string{"type": in.Type, "rdata": string(in.RData)},
	})), nil
}

// ofZone finds a record or a network of the zone in the path.
func (c *call) ofZone(typ string) (_ *Resource, err error) {
	defer must.Catch(&err)
	z := must.Get(c.dnsZone())
	r := c.First(func(r *Resource) bool { return r.Type == typ && r.ID == c.path("record") && r.Parent == z.ID })
	if r == nil {
		return nil, refuse(http.StatusNotFound, strings.ReplaceAll(typ, "-", "_")+"_not_found", "The %s %s cannot be found.", typ, c.path("record"))
	}
	if err := c.protected(r); err != nil && !c.reads() {
		return nil, err
	}
	must.EndIf(!c.reads() && c.pinned(r), refuse(http.StatusConflict, "locked", "The %s cannot be deleted now.", typ))
	return r, nil
}

func deleteDNSRecord(c *call) (any, error) {
	r := must.Get(c.ofZone("dns-record"))
	c.Remove(r)
	return nil, nil
}

func networkView(r *Resource) object {
	return object{
		"id": r.ID, "type": "vpc", "state": r.State, "permitted_network": object{"vpc_crn": r.Attrs["vpc_crn"]}, "created_on": stamp(r.Created), "modified_on": stamp(r.Created),
	}
}

func listNetworks(c *call) (any, error) {
	z := must.Get(c.dnsZone())
	all := pick.Map(c.all(func(r *Resource) bool { return r.Type == "permitted-network" && r.Parent == z.ID }), networkView)
	return object{"permitted_networks": all}, nil
}

// createNetwork lets a VPC use a zone. It stays when the VPC is deleted.
func createNetwork(c *call) (any, error) {
	z := must.Get(c.dnsZone())
	var in struct {
		Type    string
		Network struct {
			VPC string `json:"vpc_crn"`
		} `json:"permitted_network"`
	}
	must.Do(c.decode(&in))
	crn := in.Network.VPC
	must.EndIf(in.Type != "vpc" || c.First(func(r *Resource) bool { return r.Type == "vpc" && r.called(crn) }) == nil,
		refuse(http.StatusBadRequest, "invalid_vpc", "There is no VPC %q.", crn))
	if c.First(func(r *Resource) bool {
		return r.Type == "permitted-network" && r.Parent == z.ID && r.Attrs["vpc_crn"] == crn
	}) != nil {
		return nil, refuse(http.StatusConflict, "permitted_network_exists", "The VPC is a permitted network of the zone already.")
	}
	return networkView(c.Add(&Resource{
		Account: z.Account, Service: "dns-svcs", Type: "permitted-network", ID: newUUID(), Parent: z.ID, State: "ACTIVE", Attrs: map[string]string{"vpc_crn": crn},
	})), nil
}

func deleteNetwork(c *call) (any, error) {
	r := must.Get(c.ofZone("permitted-network"))
	if r.Next == "" {
		c.Move(r, "REMOVAL_IN_PROGRESS", gone)
	}
	c.status = http.StatusAccepted
	return networkView(r), nil
}
