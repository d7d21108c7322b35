package ibmcloud

import (
	"net/http"
	"time"

	"github.com/ocpctl/ocpctl/devstack/must"
)

func (c *call) reclamationView(r *Resource) object {
	group := ""
	if of := c.First(func(o *Resource) bool { return o.ID == r.Parent }); of != nil {
		group = of.Group
	}
	return object{
		"id": r.ID, "entity_id": r.Parent, "entity_type_id": "service_instance", "entity_crn": r.Attrs["crn"], "resource_instance_id": r.Parent, "resource_group_id": group,
		"account_id": r.Account, "policy_id": "standard", "state": r.State, "target_time": stamp(r.Created.Add(7 * 24 * time.Hour)), "created_at": stamp(r.Created), "created_by": c.who.iamID,
		"updated_at": stamp(r.Created), "updated_by": c.who.iamID, "custom_properties": object{},
	}
}

func listReclamations(c *call) (any, error) {
	must.Do(c.only("account_id", "resource_instance_id", "resource_group_id"))
	account := c.query.Get("account_id")
	must.EndIf(account != "" && account != c.who.account, c.denied())
	shown := []object{}
	for _, r := range c.all(func(r *Resource) bool { return r.Type == "reclamation" && r.Account == c.who.account && c.maySee(r) }) {
		v := c.reclamationView(r)
		instance, group := c.query.Get("resource_instance_id"), c.query.Get("resource_group_id")
		if (instance == "" || instance == v["resource_instance_id"]) && (group == "" || group == v["resource_group_id"]) {
			shown = append(shown, v)
		}
	}
	return object{"resources": shown}, nil
}

// actOnReclamation ends an instance with everything in it, after the settling time, or restores it.
func actOnReclamation(c *call) (any, error) {
	r := c.First(func(r *Resource) bool {
		return r.Type == "reclamation" && r.ID == c.path("id") && r.Account == c.who.account
	})
	must.EndIf(r == nil, refuse(http.StatusNotFound, "RC-ReclamationNotFound", "The reclamation %s could not be found.", c.path("id")))
	must.EndIf(!c.mayChange(r), c.denied())
	of := c.First(func(o *Resource) bool { return o.ID == r.Parent && o.Type == "instance" })
	switch c.path("sub") {
	case "reclaim":
		must.Do(c.protected(r))
		if c.pinned(r) || of != nil && c.pinned(of) {
			return nil, refuse(http.StatusConflict, "RC-ReclamationLocked", "The reclamation %s cannot be run now.", r.ID)
		}
		r.State = "RECLAIMING"
		out := c.reclamationView(r)
		if of == nil { // a planted reclamation
			c.Move(r, "RECLAIMING", gone)
		} else if of.Next == "" {
			c.Move(of, reclaimable, gone)
		}
		return out, nil
	case "restore":
		must.EndIf(of != nil && of.Next != "", refuse(http.StatusConflict, "RC-Reclaiming", "The instance is being reclaimed."))
		r.State = "RESTORING"
		out := c.reclamationView(r)
		if of != nil {
			of.State = "active"
		}
		c.Remove(r)
		return out, nil
	}
	return nil, refuse(http.StatusBadRequest, "RC-BadRequest", "A reclamation can be reclaimed or restored; %q is neither.", c.path("sub"))
}
