package ibmcloud

import (
	"net/http"
	"strings"

	"github.com/ocpctl/ocpctl/devstack/must"
)

// newSecurityGroup: a group ends with its VPC.
func newSecurityGroup(c *call, in input, r *Resource) (err error) {
	defer must.Catch(&err)
	vpc := must.Get(c.needs(in, "vpc", "vpc", "id"))
	must.EndIf(c.within("security-group", func(o *Resource) bool { return o.VPC == vpc.ID && o.Name == r.Name }) > 0,
		refuse(http.StatusBadRequest, "provided_name_not_unique", "Provided Name (%s) is not unique", r.Name))
	r.VPC, r.Parent = vpc.ID, vpc.ID
	return c.room("security-groups", c.within("security-group", func(o *Resource) bool { return o.VPC == r.VPC }), 1)
}

func viewSecurityGroup(c *call, r *Resource, out object) {
	out["targets"], out["rules"] = c.targets(r), []object{}
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
	return nil
}
