package ibmcloud

import (
	"net/http"

	"github.com/ocpctl/ocpctl/devstack/must"
)

func resourceKeyView(r *Resource) object {
	return object{
		"id": r.CRN(), "guid": r.ID, "crn": r.CRN(), "name": r.Name, "account_id": r.Account, "resource_group_id": r.Attrs["group"], "source_crn": r.Attrs["source"],
		"state": "active", "iam_compatible": true, "created_at": stamp(r.Created), "resource_instance_url": "/v2/resource_instances/" + r.Parent,
	}
}

func listResourceKeys(c *call) (any, error) {
	must.Do(c.only("guid", "name", "resource_group_id", "limit", "start"))
	limit := must.Get(c.length("limit", 100, 100))
	name, guid, group := c.query.Get("name"), c.query.Get("guid"), c.query.Get("resource_group_id")
	found, next := must.Get2(after(c.all(func(r *Resource) bool {
		return r.Type == "resource-key" && r.Account == c.who.account && c.maySee(r) && (name == "" || name == r.Name) && (guid == "" || guid == r.ID) && (group == "" || group == r.Attrs["group"])
	}), c.query.Get("start"), limit))
	shown := []object{}
	for _, r := range found {
		shown = append(shown, resourceKeyView(r))
	}
	out := object{"rows_count": len(shown), "next_url": nil, "resources": shown}
	if next != "" {
		out["next_url"] = "/v2/resource_keys?start=" + next
	}
	return out, nil
}

// createResourceKey makes a service ID too, whose name is invented; it ends with the key.
func createResourceKey(c *call) (any, error) {
	var in struct {
		Name   string `json:"name"`
		Source string `json:"source"`
		Role   string `json:"role"`
	}
	must.Do(c.decode(&in))
	of := must.Get(c.instance(in.Source))
	k := c.Add(&Resource{
		Account: c.who.account, Service: of.Service, Type: "resource-key", ID: newUUID(), Name: in.Name, Parent: of.ID,
		Attrs: map[string]string{"group": of.Group, "source": of.CRN(), "role": in.Role},
	})
	c.Add(&Resource{Account: k.Account, Service: identity, Type: "serviceid", ID: "ServiceId-" + newUUID(), Name: "auto-generated-serviceId-" + k.ID, Parent: k.ID})
	c.status = http.StatusCreated
	return resourceKeyView(k), nil
}
