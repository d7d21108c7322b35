package ibmcloud

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/ocpctl/ocpctl/devstack/must"
)

// newSecurityGroup: a group ends with its VPC.
func newSecurityGroup(c *call, in input, r *Resource) error {
	vpc, err := c.needs(in, "vpc", "vpc", "id")
	if err != nil {
		return err
	}
	if c.within("security-group", func(o *Resource) bool { return o.VPC == vpc.ID && o.Name == r.Name }) > 0 {
		return refuse(http.StatusBadRequest, "provided_name_not_unique", "Provided Name (%s) is not unique", r.Name)
	}
	r.VPC, r.Parent = vpc.ID, vpc.ID
	return c.room("security-groups", c.within("security-group", func(o *Resource) bool { return o.VPC == r.VPC }), 1)
}

func viewSecurityGroup(c *call, r *Resource, out object) {
	out["targets"] = c.targets(r)
	rules := []object{}
	for _, raw := range r.Values["rules"] {
		rule := object{}
		if json.Unmarshal([]byte(raw), &rule) == nil { // as createRule wrote it
			rules = append(rules, rule)
		}
	}
	out["rules"] = rules
}

// targets are the resources to which a security group applies.
func (c *call) targets(of *Resource) []object {
	out := []object{}
	for _, r := range c.all(func(r *Resource) bool { return r.Account == of.Account && contains(r.Values["security_groups"], of.ID) }) {
		ref := c.ref(r)
		if r.Type == "instance" {
			ref["id"], ref["resource_type"] = r.Attrs["nic"], "network_interface"
		}
		out = append(out, ref)
	}
	return out
}

func keepDefault(_ *call, r *Resource) error {
	if r.Attrs["default"] == "true" {
		return refuse(http.StatusConflict, strings.ReplaceAll(r.Type, "-", "_")+"_is_default", "The default %s of a VPC cannot be deleted.", strings.ReplaceAll(r.Type, "-", " "))
	}
	return nil
}

func keepSecurityGroup(c *call, r *Resource) error {
	if err := keepDefault(c, r); err != nil {
		return err
	}
	if targets := c.targets(r); len(targets) > 0 {
		return refuse(http.StatusConflict, "security_group_in_use", "The security group is in use and cannot be deleted. Target: %s", targets[0]["id"])
	}
	of := c.First(func(o *Resource) bool { return o.ID != r.ID && contains(o.Values["rule_groups"], r.ID) })
	if of != nil {
		return refuse(http.StatusConflict, "security_group_in_use", "The security group is the remote of a rule of the security group %s and cannot be deleted.", of.ID)
	}
	return nil
}

func listTargets(c *call) (any, error) {
	must.Do(c.versioned("limit", "start"))
	r := must.Get(c.find("security-group", c.path("id")))
	all := c.targets(r)
	return object{"targets": all, "limit": 50, "total_count": len(all), "first": object{"href": c.server.URL("vpc", c.region) + "/security_groups/" + r.ID + "/targets"}}, nil
}

// target finds a group and one of its possible targets.
func (c *call) target() (group, target *Resource, err error) {
	if err := c.versioned(); err != nil {
		return nil, nil, err
	}
	if group, err = c.find("security-group", c.path("id")); err != nil {
		return nil, nil, err
	}
	id := c.path("sub")
	target = c.First(func(r *Resource) bool {
		return r.Service == "is" && c.sees(r) && r.Account == c.who.account && (r.ID == id || r.Attrs["nic"] == id)
	})
	if target == nil {
		return nil, nil, refuse(http.StatusNotFound, "not_found", "The security group target %s cannot be found.", id)
	}
	return group, target, nil
}

func bindTarget(c *call) (any, error) {
	group, target := must.Get2(c.target())
	if !contains(target.Values["security_groups"], group.ID) {
		target.Values["security_groups"] = append(target.Values["security_groups"], group.ID)
	}
	return c.ref(target), nil
}

func unbindTarget(c *call) (any, error) {
	group, target := must.Get2(c.target())
	if !contains(target.Values["security_groups"], group.ID) {
		return nil, refuse(http.StatusNotFound, "not_found", "The security group target %s cannot be found.", c.path("sub"))
	}
	target.Values["security_groups"] = slices.DeleteFunc(target.Values["security_groups"], func(id string) bool { return id == group.ID })
	return nil, nil
}

func createRule(c *call) (any, error) {
	must.Do(c.versioned())
	r := must.Get(c.find("security-group", c.path("id")))
	in := input{}
	must.Do(c.decode(&in))
	if in.at("direction") == "" {
		return nil, refuse(http.StatusBadRequest, "missing_field", "A rule needs a direction: inbound or outbound.")
	}
	in["id"] = newVPCID(c.region, "")
	in["href"] = c.server.URL("vpc", c.region) + "/security_groups/" + r.ID + "/rules/" + in.at("id")
	raw := must.Get(json.Marshal(in))
	r.Values["rules"] = append(r.Values["rules"], string(raw))
	if remote := in.at("remote", "id"); remote != "" {
		r.Values["rule_groups"] = append(r.Values["rule_groups"], remote)
	}
	c.status = http.StatusCreated
	return in, nil
}

func listRoutingTables(c *call) (any, error) {
	must.Do(c.versioned("limit", "start", "is_default"))
	vpc := must.Get(c.find("vpc", c.path("id")))
	shown := []object{}
	for _, r := range c.all(func(r *Resource) bool { return r.Type == "routing-table" && r.VPC == vpc.ID }) {
		o := c.ref(r)
		o["is_default"], o["lifecycle_state"], o["created_at"] = r.Attrs["default"] == "true", "stable", stamp(r.Created)
		shown = append(shown, o)
	}
	return object{"routing_tables": shown, "limit": 50, "total_count": len(shown), "first": object{"href": c.server.URL("vpc", c.region)}}, nil
}
