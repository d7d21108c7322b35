package ibmcloud

import (
	"net/http"
	"strings"

	"github.com/ocpctl/ocpctl/devstack/must"
)

// manager is the service of resource groups in CRNs.
const manager = "resource-controller"

func groupRoutes() []route {
	return []route{
		{"GET /rc/v2/resource_groups", "rc:list_resource_groups", listGroups},
		{"POST /rc/v2/resource_groups", "rc:create_resource_group", createGroup},
		{"GET /rc/v2/resource_groups/{id}", "rc:get_resource_group", getGroup},
		{"DELETE /rc/v2/resource_groups/{id}", "rc:delete_resource_group", deleteGroup},
	}
}

func (w *world) defaultGroup(account string) string {
	r := w.First(func(r *Resource) bool {
		return r.Type == "resource-group" && r.Account == account && r.Attrs["default"] == "true"
	})
	if r == nil {
		r = w.Add(&Resource{Account: account, Service: manager, Type: "resource-group", ID: hexes(32), Name: "Default", State: "ACTIVE", Stands: true, Attrs: map[string]string{"default": "true"}})
	}
	return r.ID
}

// group finds a resource group of the caller by its id; empty: the account's default.
func (c *call) group(id string) (*Resource, error) {
	if id == "" {
		id = c.defaultGroup(c.who.account)
	}
	r := c.First(func(r *Resource) bool { return r.Type == "resource-group" && r.ID == id && r.Account == c.who.account })
	if r == nil {
		return nil, refuse(http.StatusNotFound, "RESOURCE_GROUP_NOT_FOUND", "Can't find the resource group %s.", id)
	}
	return r, nil
}

func groupView(r *Resource) object {
	const quota = "7ce89f4a4e2c4a1db1a2e1e1e2d1f1a1"
	return object{
		"id": r.ID, "crn": r.CRN(), "account_id": r.Account, "name": r.Name, "state": r.State, "default": r.Attrs["default"] == "true",
		"quota_id": quota, "quota_url": "https://resource-controller.cloud.ibm.com/v2/quota_definitions/" + quota, "created_at": stamp(r.Created), "updated_at": stamp(r.Created),
		"resource_linkages": []string{}, "payment_methods_url": "https://resource-controller.cloud.ibm.com/v2/resource_groups/" + r.ID + "/payment_methods",
	}
}

func listGroups(c *call) (any, error) {
	must.Do(c.only("account_id", "name"))
	account, name := c.query.Get("account_id"), c.query.Get("name")
	must.EndIf(account != "" && account != c.who.account, c.denied())
	c.defaultGroup(c.who.account)
	shown := []object{}
	for _, r := range c.all(func(r *Resource) bool {
		return r.Type == "resource-group" && r.Account == c.who.account && (name == "" || name == r.Name) && !c.late(r, c.Lag.Groups)
	}) {
		shown = append(shown, groupView(r))
	}
	return object{"resources": shown}, nil
}

// createGroup answers the new group's id and CRN, and nothing else.
func createGroup(c *call) (any, error) {
	var in struct {
		Name      string `json:"name"`
		AccountID string `json:"account_id"`
	}
	must.Do(c.decode(&in))
	must.EndIf(in.AccountID != "" && in.AccountID != c.who.account, c.denied())
	must.EndIf(in.Name == "", refuse(http.StatusBadRequest, "BAD_REQUEST", "A resource group needs a name."))
	if c.First(func(r *Resource) bool {
		return r.Type == "resource-group" && r.Account == c.who.account && strings.EqualFold(r.Name, in.Name)
	}) != nil {
		return nil, refuse(http.StatusBadRequest, "RESOURCE_GROUP_NAME_UNIQUENESS", "Resource group name need to be unique in one account") // IBM-Cloud/ibm-cloud-cli-release#106
	}
	r := c.Add(&Resource{Account: c.who.account, Service: manager, Type: "resource-group", ID: hexes(32), Name: in.Name, State: "ACTIVE"})
	c.status = http.StatusCreated
	return object{"id": r.ID, "crn": r.CRN()}, nil
}

func getGroup(c *call) (any, error) {
	r := must.Get(c.group(c.path("id")))
	must.EndIf(!c.mayRead(r), c.denied())
	return groupView(r), nil
}

// deleteGroup answers status 500 while anything is in the group, as the service does.
func deleteGroup(c *call) (any, error) {
	r := must.Get(c.group(c.path("id")))
	must.EndIf(r.Attrs["default"] == "true", refuse(http.StatusBadRequest, "RESOURCE_GROUP_DEFAULT", "The default resource group can't be deleted."))
	must.Do(c.protected(r))
	inside := c.all(func(o *Resource) bool { return o.Group == r.ID && o.Account == r.Account })
	if len(inside) > 0 || c.pinned(r) {
		text := `Resource groups with active instances can't be deleted. Use the CLI command "ibmcloud resource service-instances --type all -g <resource-group>" to check for remaining instances, then delete the instances and try again.`
		if len(inside) > 0 && inside[0].State == reclaimable {
			text = "Resource groups with active or pending reclamation instances can't be deleted. Use the CLI commands \"ibmcloud resource service-instances --type all -g <resource-group>\" and \"ibmcloud resource reclamations --resource-group-id <resource-group-id>\" to check for remaining instances, then delete the instances and try again."
		}
		return nil, refuse(http.StatusInternalServerError, "RESOURCE_GROUP_NOT_EMPTY", "%s", text)
	}
	c.Remove(r)
	return nil, nil
}
