package ibmcloud

import (
	"net/http"
	"strings"

	"github.com/ocpctl/ocpctl/devstack/must"
	"github.com/ocpctl/ocpctl/devstack/pick"
)

func cisRoutes() []route {
	const zone = "/cis/v1/{id}/zones"
	return []route{
		{"GET " + zone, "cis:list_zones", listZones},
		{"GET " + zone + "/{sub}/dns_records", "cis:list_all_dns_records", listRecords},
		{"POST " + zone + "/{sub}/dns_records", "cis:create_dns_record", createRecord},
		{"DELETE " + zone + "/{sub}/dns_records/{record}", "cis:delete_dns_record", deleteRecord},
	}
}

// cisInstance finds the instance by the CRN in the path. An instance of somebody else is refused and not missing.
func (c *call) cisInstance() (*Resource, error) {
	r := c.byCRN(c.path("id"))
	if r == nil || r.Service != "internet-svcs" {
		return nil, refuse(http.StatusForbidden, "10000", "Authentication error")
	}
	return r, nil
}

func (c *call) cisZone() (_ *Resource, err error) {
	defer must.Catch(&err)
	instance := must.Get(c.cisInstance())
	z := c.First(func(r *Resource) bool { return r.Type == "zone" && r.ID == c.path("sub") && r.Parent == instance.ID })
	must.EndIf(z == nil, refuse(http.StatusNotFound, "1001", "Invalid zone identifier"))
	return z, nil
}

// cisPage is one page, with how many items are on it and how many there are.
func (c *call) cisPage(all []object, most int) (_ any, err error) {
	defer must.Catch(&err)
	page, err := c.number("page", 1, 1<<30)
	must.EndIf(err != nil || page < 1, refuse(http.StatusBadRequest, "1004", "The page must be a number from 1."))
	per, err := c.length("per_page", 20, most)
	must.EndIf(err != nil || per < 1, refuse(http.StatusBadRequest, "1004", "per_page must be a number from 1 to %d.", most))
	shown := append([]object{}, slicePage(all, (page-1)*per, per)...)
	info := object{"page": page, "per_page": per, "count": len(shown), "total_count": len(all), "total_pages": (len(all) + per - 1) / per}
	return object{"success": true, "errors": []object{}, "messages": []object{}, "result": shown, "result_info": info}, nil
}

func listZones(c *call) (any, error) {
	must.Do(c.only("page", "per_page"))
	instance := must.Get(c.cisInstance())
	all := pick.Map(c.all(func(r *Resource) bool { return r.Type == "zone" && r.Parent == instance.ID }), func(z *Resource) object {
		return object{
			"id": z.ID, "name": z.Name, "status": z.State, "type": "full", "paused": false, "name_servers": []string{"ns001.name.cloud.ibm.com", "ns002.name.cloud.ibm.com"},
			"created_on": stamp(z.Created), "modified_on": stamp(z.Created),
		}
	})
	return c.cisPage(all, 50)
}

func recordView(z, r *Resource) object {
	return object{
		"id": r.ID, "name": r.Name, "type": r.Attrs["type"], "content": r.Attrs["content"], "ttl": 120, "proxied": false, "proxiable": true, "zone_id": z.ID, "zone_name": z.Name,
		"created_on": stamp(r.Created), "modified_on": stamp(r.Created),
	}
}

func listRecords(c *call) (any, error) {
	must.Do(c.only("type", "name", "content", "page", "per_page"))
	z := must.Get(c.cisZone())
	want := func(param, value string) bool { v := c.query.Get(param); return v == "" || strings.EqualFold(v, value) }
	var all []object
	for _, r := range c.all(func(r *Resource) bool {
		return r.Type == "dns-record" && r.Parent == z.ID && want("name", r.Name) && want("type", r.Attrs["type"]) && want("content", r.Attrs["content"])
	}) {
		all = append(all, recordView(z, r))
	}
	return c.cisPage(all, 1000)
}

func createRecord(c *call) (any, error) {
	z := must.Get(c.cisZone())
	var in struct{ Name, Type, Content string }
	must.Do(c.decode(&in))
	name := strings.TrimSuffix(in.Name, ".")
	must.EndIf(name == "" || in.Type == "" || in.Content == "",
		refuse(http.StatusBadRequest, "1004", "DNS Validation Error: name, type and content are required."))
	if name != z.Name && !strings.HasSuffix(name, "."+z.Name) {
		name += "." + z.Name
	}
	must.EndIf(c.clash(z, name, in.Type), refuse(http.StatusBadRequest, "81053", "An A, AAAA, or CNAME record with that host already exists."))
	r := c.Add(&Resource{
		Account: z.Account, Service: "internet-svcs", Type: "dns-record", ID: hexes(32), Name: name, Parent: z.ID,
		Attrs: map[string]string{"type": in.Type, "content": strings.TrimSuffix(in.Content, ".")},
	})
	return object{"success": true, "errors": []object{}, "messages": []object{}, "result": recordView(z, r)}, nil
}

// clash reports that a name cannot get a record of a type, because one of the two would be an alias.
func (c *call) clash(z *Resource, name, typ string) bool {
	return c.First(func(r *Resource) bool {
		return r.Type == "dns-record" && r.Parent == z.ID && strings.EqualFold(r.Name, name) && (typ == "CNAME" || r.Attrs["type"] == "CNAME")
	}) != nil
}

func deleteRecord(c *call) (any, error) {
	z := must.Get(c.cisZone())
	r := c.First(func(r *Resource) bool { return r.Type == "dns-record" && r.ID == c.path("record") && r.Parent == z.ID })
	must.EndIf(r == nil, refuse(http.StatusNotFound, "81044", "Record does not exist."))
	must.Do(c.protected(r))
	must.EndIf(c.pinned(r), refuse(http.StatusConflict, "1005", "The record is locked."))
	c.Remove(r)
	return object{"success": true, "errors": []object{}, "messages": []object{}, "result": object{"id": r.ID}}, nil
}
