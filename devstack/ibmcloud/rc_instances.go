package ibmcloud

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/ocpctl/ocpctl/devstack/must"
	"github.com/ocpctl/ocpctl/devstack/pick"
)

// The catalogue's ids of the services whose instances OpenShift makes or looks for.
var serviceIDs = map[string]string{
	"cloud-object-storage": "dff97f5c-bc5e-4455-b470-411c3edbe49c",
	"internet-svcs":        "75874a60-cb12-11e7-948e-37ac098eb1b9",
	"dns-svcs":             "b4ed8a30-936f-11e9-b289-1d079699cbe5",
}

// servicePlans are the plans that can be requested, by id.
var servicePlans = map[string]string{
	"744bfc56-d12c-4866-88d5-dac9139e0e5d": "cloud-object-storage",
	"46f74bf0-5c34-4c04-a4b0-5b5d9c5f1b4b": "internet-svcs",
	"2c8fa097-d7c2-4df2-b53e-2efb7874cdf7": "dns-svcs",
}

// reclaimable is the state of an instance that was deleted and can still be restored.
const reclaimable = "pending_reclamation"

func rcRoutes() []route {
	return []route{
		{"GET /rc/v2/resource_instances", "rc:list_resource_instances", listInstances},
		{"POST /rc/v2/resource_instances", "rc:create_resource_instance", createInstance},
		{"GET /rc/v2/resource_instances/{id}", "rc:get_resource_instance", getInstance},
		{"DELETE /rc/v2/resource_instances/{id}", "rc:delete_resource_instance", deleteInstance},
		{"GET /rc/v2/resource_keys", "rc:list_resource_keys", listResourceKeys},
		{"POST /rc/v2/resource_keys", "rc:create_resource_key", createResourceKey},
		{"GET /rc/v1/reclamations", "rc:list_reclamations", listReclamations},
		{"POST /rc/v1/reclamations/{id}/actions/{sub}", "rc:run_reclamation_action", actOnReclamation},
	}
}

// controlled reports that Resource Controller lists a resource: instances of services, and everything of VPC.
func controlled(r *Resource) bool {
	return r.Service == "is" || r.Type == "instance"
}

// byCRN finds a resource of the caller by its CRN, or an instance by its GUID.
func (c *call) byCRN(id string) *Resource {
	return c.First(func(r *Resource) bool {
		return r.Account == c.who.account && controlled(r) && (r.called(id) || r.Service != "is" && r.ID == id)
	})
}

func (c *call) instance(id string) (*Resource, error) {
	r := c.byCRN(id)
	switch {
	case r == nil:
		return nil, refuse(http.StatusNotFound, "RC-InstanceNotFound", "The resource instance %s could not be found.", id)
	case !c.maySee(r), !c.reads() && !c.mayChange(r):
		return nil, c.denied()
	}
	return r, nil
}

func instanceView(r *Resource) object {
	state := r.State
	out := object{
		"id": r.CRN(), "guid": r.ID, "crn": r.CRN(), "name": r.Name, "region_id": "global", "account_id": r.Account, "resource_group_id": r.Group,
		"resource_plan_id": "", "resource_id": serviceIDs[r.Service], "type": "service_instance", "sub_type": "", "created_at": stamp(r.Created), "updated_at": stamp(r.Created),
		"target_crn": "crn:v1:bluemix:public:globalcatalog::::deployment:" + r.Service, "resource_keys_url": "/v2/resource_instances/" + url.PathEscape(r.CRN()) + "/resource_keys",
	}
	if r.Service == "is" {
		state = "active"
		out["type"], out["resource_id"], out["region_id"] = "resource_instance", "is."+r.Type, r.Region
	}
	for id, service := range servicePlans {
		if service == r.Service {
			out["resource_plan_id"] = id
		}
	}
	out["state"] = state
	out["last_operation"] = object{"type": "create", "state": "succeeded", "async": false, "description": "Completed", "cancelable": false, "poll": false}
	return out
}

func listInstances(c *call) (any, error) {
	must.Do(c.only("guid", "name", "resource_group_id", "resource_id", "resource_plan_id", "type", "sub_type", "limit", "start", "state"))
	limit := must.Get(c.length("limit", 100, 100))
	found, next := must.Get2(after(c.all(c.instanceMatches), c.query.Get("start"), limit))
	shown := pick.Map(found, instanceView)
	out := object{"rows_count": len(shown), "next_url": nil, "resources": shown}
	if next != "" {
		q := c.query
		q.Set("limit", strconv.Itoa(limit))
		q.Set("start", next)
		out["next_url"] = "/v2/resource_instances?" + q.Encode()
	}
	return out, nil
}

// instanceMatches: without a state in the request, only what is active or being provisioned is listed.
func (c *call) instanceMatches(r *Resource) bool {
	if r.Account != c.who.account || !controlled(r) || !c.maySee(r) {
		return false
	}
	group, name := c.query.Get("resource_group_id"), c.query.Get("name")
	if group != "" && group != r.Group || name != "" && name != r.Name {
		return false
	}
	v := instanceView(r)
	if c.query.Get("state") == "" && v["state"] != "active" && v["state"] != "provisioning" {
		return false
	}
	for param, field := range map[string]string{
		"guid": "guid", "resource_id": "resource_id", "resource_plan_id": "resource_plan_id", "type": "type", "sub_type": "sub_type", "state": "state",
	} {
		if want := c.query.Get(param); want != "" && want != v[field] {
			return false
		}
	}
	return true
}

func createInstance(c *call) (any, error) {
	var in struct {
		Name          string   `json:"name"`
		Target        string   `json:"target"`
		ResourceGroup string   `json:"resource_group"`
		PlanID        string   `json:"resource_plan_id"`
		Tags          []string `json:"tags"`
	}
	must.Do(c.decode(&in))
	service := servicePlans[in.PlanID]
	must.EndIf(service == "" || in.Name == "" || in.Target == "",
		refuse(http.StatusBadRequest, "RC-BadRequest", "An instance needs a name, a target and a known plan, not %q, %q and %q.", in.Name, in.Target, in.PlanID))
	must.EndIf(!c.mayChange(&Resource{Service: service}), c.denied())
	group := must.Get(c.group(in.ResourceGroup))
	r := c.Add(&Resource{Account: c.who.account, Service: service, Type: "instance", ID: newUUID(), Name: in.Name, Group: group.ID, State: "active"})
	for _, tag := range in.Tags {
		r.Tags = append(r.Tags, strings.ToLower(tag))
		c.tagged(r.Account, strings.ToLower(tag))
	}
	c.status = http.StatusCreated
	return instanceView(r), nil
}

func getInstance(c *call) (any, error) {
	r := must.Get(c.instance(c.path("id")))
	return instanceView(r), nil
}

// deleteInstance sends Object Storage to reclamation; instances of other services end at once. An object of VPC can be deleted here only
// if VPC itself does not know it any more.
func deleteInstance(c *call) (any, error) {
	r := must.Get(c.instance(c.path("id")))
	must.Do(c.protected(r))
	keys := c.all(func(k *Resource) bool { return k.Type == "resource-key" && k.Parent == r.ID })
	must.EndIf(r.State == reclaimable,
		refuse(http.StatusUnprocessableEntity, "RC-ReclamationPending", "Instance is in pending_reclamation state.  Use API to reclaim the instance."))
	must.EndIf(c.pinned(r), refuse(http.StatusConflict, "RC-InstanceLocked", "The resource instance %s is locked.", r.Name))
	must.EndIf(len(keys) > 0 && c.query.Get("recursive") != "true",
		refuse(http.StatusBadRequest, "RC-KeysExist", "Cannot delete instance or alias, resource keys must first be deleted."))
	must.EndIf(r.Service == "is" && r.Attrs["ghost"] == "",
		refuse(http.StatusBadRequest, "RC-NotSupported", "The resource %s has to be deleted by its own service.", r.CRN()))
	for _, k := range keys {
		c.Remove(k)
	}
	if r.Service != "cloud-object-storage" {
		c.Remove(r)
		return nil, nil
	}
	r.State = reclaimable
	c.Add(&Resource{Account: r.Account, Service: manager, Type: "reclamation", ID: newUUID(), Name: r.Name, Parent: r.ID, State: "SCHEDULED", Attrs: map[string]string{"crn": r.CRN()}})
	c.status = http.StatusAccepted
	return nil, nil
}

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
	shown := pick.Map(found, resourceKeyView)
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
