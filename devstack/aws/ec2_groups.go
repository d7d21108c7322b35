package aws

import (
	"maps"
	"slices"
	"strings"

	"github.com/ocpctl/ocpctl/devstack/must"
)

func createGroup(c *call) ([]node, error) {
	v := must.Get(c.get("vpc", c.params.get("VpcId")))
	name := c.params.get("GroupName")
	twin := c.First(func(r *Resource) bool {
		return c.here(r, "security-group") && r.VPC == v.ID && r.Attrs["group-name"] == name
	})
	must.EndIf(twin != nil, fault("InvalidGroup.Duplicate", "The security group '%s' already exists for VPC '%s'", name, v.ID))
	must.Do(c.checkQuota("L-E79EC296", "", 1))
	r := c.made("security-group", Resource{Name: name, VPC: v.ID, Uses: []string{v.ID},
		Attrs: map[string]string{"group-name": name, "description": c.params.get("GroupDescription")}})
	return []node{el("groupId", r.ID), el("return", true), tagSet(r)}, nil
}

func deleteGroup(c *call) ([]node, error) {
	r, err := c.get("security-group", c.params.get("GroupId"))
	must.EndIf(err == nil && r.Attrs["group-name"] == "default",
		fault("CannotDelete", "the specified group: \"%s\" name: \"default\" cannot be deleted by a user", r.ID))
	return remove("security-group")(c)
}

// rules returns the ingress rules of a call, each as "protocol from to source".
func (c *call) rules() []string {
	var out []string
	for _, p := range c.params.each("IpPermissions") {
		ports := p.get("IpProtocol") + " " + p.get("FromPort") + " " + p.get("ToPort") + " "
		for _, r := range p.each("IpRanges") {
			out = append(out, ports+r.get("CidrIp"))
		}
		for _, g := range p.each("Groups") {
			out = append(out, ports+g.get("GroupId"))
		}
	}
	return out
}

// aboutRule is the prefix of the attribute with a rule's description.
const aboutRule = "rule "

func authorizeIngress(c *call) ([]node, error) {
	r := must.Get(c.get("security-group", c.params.get("GroupId")))
	for _, rule := range c.rules() {
		must.EndIf(slices.Contains(r.vals("ingress"), rule), fault("InvalidPermission.Duplicate", "the specified rule \"%s\" already exists", rule))
	}
	r.Values["ingress"] = append(r.Values["ingress"], c.rules()...)
	for rule, text := range c.about() {
		r.Attrs[aboutRule+rule] = text
	}
	r.Uses = groupUses(r)
	return []node{el("return", true)}, nil
}

func revokeIngress(c *call) ([]node, error) {
	r := must.Get(c.get("security-group", c.params.get("GroupId")))
	revoked := c.rules()
	if missing := slices.IndexFunc(revoked, func(rule string) bool { return !slices.Contains(r.vals("ingress"), rule) }); missing >= 0 {
		return nil, fault("InvalidPermission.NotFound", "The specified rule does not exist in this security group.")
	}
	r.Values["ingress"] = slices.DeleteFunc(r.Values["ingress"], func(rule string) bool { return slices.Contains(revoked, rule) })
	maps.DeleteFunc(r.Attrs, func(name, _ string) bool { return slices.Contains(revoked, strings.TrimPrefix(name, aboutRule)) })
	r.Uses = groupUses(r)
	return []node{el("return", true)}, nil
}

// groupUses returns a group's VPC and the groups in its rules, which cannot be deleted before the rule.
func groupUses(r *Resource) []string {
	out := []string{r.VPC}
	for _, rule := range r.vals("ingress") {
		if source := rule[strings.LastIndex(rule, " ")+1:]; strings.HasPrefix(source, "sg-") && source != r.ID {
			out = append(out, source)
		}
	}
	return out
}

func renderGroup(_ *call, r *Resource) []node {
	var rules [][]node
	for _, rule := range r.vals("ingress") {
		f := strings.Split(rule, " ")
		one := []node{el("ipProtocol", f[0])}
		if f[1] != "" {
			one = append(one, el("fromPort", f[1]), el("toPort", f[2]))
		}
		set, source := "ipRanges", []node{el("cidrIp", f[3])}
		if strings.HasPrefix(f[3], "sg-") {
			set, source = "groups", []node{el("groupId", f[3]), el("userId", r.Account)}
		}
		if text := r.Attrs[aboutRule+rule]; text != "" {
			source = append(source, el("description", text))
		}
		one = append(one, list(set, "item", [][]node{source}))
		rules = append(rules, one)
	}
	return []node{el("groupId", r.ID), el("groupName", r.Attrs["group-name"]), el("groupDescription", r.Attrs["description"]), el("vpcId", r.VPC), el("ownerId", r.Account),
		list("ipPermissions", "item", rules), tagSet(r)}
}
