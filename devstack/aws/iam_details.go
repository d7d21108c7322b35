package aws

import (
	"slices"

	"github.com/ocpctl/ocpctl/devstack/must"
)

// accountDetails lists roles and users together, in pages and with their tags, which no other list of IAM contains. Policies and groups,
// which the real call can list too, are refused.
func accountDetails(c *call) ([]node, error) {
	kinds := c.params.list("Filter")
	must.EndIf(len(kinds) == 0 || slices.ContainsFunc(kinds, func(k string) bool { return k != "Role" && k != "User" }),
		fault("ValidationError", "The stand-in lists roles and users alone; the filter is %v", kinds))
	lists := map[string]*node{"role": {name: "RoleDetailList"}, "user": {name: "UserDetailList"}}
	found := c.Every(func(r *Resource) bool {
		return r.Service == "iam" && r.Account == c.Account && (r.Type == "role" && slices.Contains(kinds, "Role") || r.Type == "user" && slices.Contains(kinds, "User"))
	})
	page := must.Get(iamPage(c, found, "Page", byID, func(r *Resource) node {
		e := role
		if r.Type == "user" {
			e = user
		}
		list := lists[r.Type]
		list.kids = append(list.kids, group("member", append(e.common(r), tagMembers(r))...))
		return node{}
	}))
	return append([]node{*lists["role"], *lists["user"]}, page[1:]...), nil
}
