package aws

import (
	"cmp"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/ocpctl/ocpctl/devstack/must"
)

var iamCalls = map[string]handler{
	"CreateRole": createIAM(role), "GetRole": getIAM(role), "DeleteRole": deleteIAM(role), "ListRoles": listIAM(role),
	"TagRole": tagIAM(role), "UntagRole": untagIAM(role),
	"PutRolePolicy": putPolicy(role), "GetRolePolicy": getPolicy(role), "DeleteRolePolicy": deletePolicy(role), "ListRolePolicies": listPolicies(role),
	"AttachRolePolicy": attach(role), "DetachRolePolicy": detach(role), "ListAttachedRolePolicies": listAttached(role),
	"UpdateAssumeRolePolicy": updateTrust, "PutRolePermissionsBoundary": putBoundary, "DeleteRolePermissionsBoundary": putBoundary,

	"CreateInstanceProfile": createIAM(profile), "GetInstanceProfile": getIAM(profile), "DeleteInstanceProfile": deleteIAM(profile), "ListInstanceProfiles": listIAM(profile),
	"AddRoleToInstanceProfile": addRole, "RemoveRoleFromInstanceProfile": dropRole, "ListInstanceProfilesForRole": profilesOf,

	"GetAccountAuthorizationDetails": accountDetails,

	"CreateUser": createIAM(user), "GetUser": getUser, "DeleteUser": deleteIAM(user), "ListUsers": listIAM(user),
	"PutUserPolicy": putPolicy(user), "GetUserPolicy": getPolicy(user), "DeleteUserPolicy": deletePolicy(user), "ListUserPolicies": listPolicies(user),
	"ListAttachedUserPolicies": listAttached(user),
	"CreateAccessKey":          createKey, "ListAccessKeys": listKeys, "DeleteAccessKey": deleteKey,

	"CreateOpenIDConnectProvider": createProvider, "GetOpenIDConnectProvider": getProvider, "DeleteOpenIDConnectProvider": deleteProvider,
	"ListOpenIDConnectProviders": listProviders, "TagOpenIDConnectProvider": tagProvider,
}

// entity describes one type for the generic IAM calls.
type entity struct {
	typ, param, idName, prefix string
	element, set, nameField    string
}

var (
	role    = entity{"role", "RoleName", "RoleId", "AROA", "Role", "Roles", "RoleName"}
	profile = entity{"instance-profile", "InstanceProfileName", "InstanceProfileId", "AIPA", "InstanceProfile", "InstanceProfiles", "InstanceProfileName"}
	user    = entity{"user", "UserName", "UserId", "AIDA", "User", "Users", "UserName"}
)

// named finds a living IAM resource of the caller's account. IAM's names ignore case.
func (c *call) named(typ, name string) *Resource {
	return c.First(func(r *Resource) bool {
		return r.Service == "iam" && r.Type == typ && r.Account == c.Account && strings.EqualFold(r.Name, name)
	})
}

func (c *call) entity(e entity) (*Resource, error) {
	name := c.params.get(e.param)
	if name == "" && e.typ == "user" { // the caller itself
		name = c.who.arn[strings.LastIndex(c.who.arn, "/")+1:]
	}
	r := c.named(e.typ, name)
	if r == nil {
		return nil, fault("NoSuchEntity", "The %s with name %s cannot be found.", e.typ, name)
	}
	return r, nil
}

func (c *call) newEntity(e entity) (_ *Resource, err error) {
	defer must.Catch(&err)
	name := c.params.get(e.param)
	must.EndIf(name == "" || len(name) > 128, fault("ValidationError", "Value '%s' at '%s' failed to satisfy constraint", name, e.nameField))
	must.EndIf(c.named(e.typ, name) != nil, fault("EntityAlreadyExists", "%s with name %s already exists.", e.element, name))
	if e.typ == "role" {
		must.Do(c.checkQuota("L-FE177D64", "", 1))
	}
	attrs := map[string]string{"path": cmp.Or(c.params.get("Path"), "/"), "uniqueId": newUpper(e.prefix, 17)}
	return c.Add(&Resource{Service: "iam", Type: e.typ, ID: e.typ + "/" + name, Name: name, Tags: c.params.tags("Tags"), Attrs: attrs}), nil
}

func (e entity) common(r *Resource) []node {
	return []node{el("Path", r.Attrs["path"]), el(e.nameField, r.Name), el(e.idName, r.Attrs["uniqueId"]), el("Arn", r.ARN()), el("CreateDate", r.Created)}
}

func getIAM(e entity) handler {
	return func(c *call) ([]node, error) {
		r := must.Get(c.entity(e))
		return []node{group(e.element, e.render(c, r, true)...)}, nil
	}
}

// getUser returns the caller, too, whose own user was not made here.
func getUser(c *call) ([]node, error) {
	path, name, isUser := strings.Cut(c.who.arn, ":user/")
	if c.params.get("UserName") != "" || !isUser || c.named("user", name) != nil {
		return getIAM(user)(c)
	}
	own := []node{el("Path", "/"), el("UserName", name), el("UserId", c.who.userID), el("Arn", path+":user/"+name), el("CreateDate", c.Now())}
	return []node{group("User", own...)}, nil
}

// deleteIAM refuses while anything (an inline policy, a profile, an access key) depends on the entity.
func deleteIAM(e entity) handler {
	return func(c *call) ([]node, error) {
		r := must.Get(c.entity(e))
		must.Do(c.protected(r))
		must.EndIf(len(r.vals("attached")) > 0, fault("DeleteConflict", "Cannot delete entity, must detach all policies first."))
		must.EndIf(c.hanging(r) || c.pinned(r) || (e.typ == "instance-profile" && len(r.Uses) > 0),
			fault("DeleteConflict", "Cannot delete entity, must remove everything attached to it first."))
		c.world.Remove(r)
		return nil, nil
	}
}

// hanging reports whether a resource of the same account uses this one, because IAM's names are unique only within an account.
func (c *call) hanging(r *Resource) bool {
	return c.First(func(o *Resource) bool {
		return o.Service == "iam" && o.Account == r.Account && slices.Contains(o.Uses, r.ID)
	}) != nil
}

// listIAM lists a type in pages, without tags, like the real lists.
func listIAM(e entity) handler {
	return func(c *call) ([]node, error) {
		prefix := cmp.Or(c.params.get("PathPrefix"), "/")
		found := c.Every(func(r *Resource) bool {
			return r.Service == "iam" && r.Type == e.typ && r.Account == c.Account && strings.HasPrefix(r.Attrs["path"], prefix)
		})
		return iamPage(c, found, e.set, byID, func(r *Resource) node { return group("member", e.render(c, r, false)...) })
	}
}

func byID(r *Resource) string { return r.ID }

func iamPage[T any](c *call, found []T, set string, key func(T) string, render func(T) node) ([]node, error) {
	found, marker, err := after(found, c.params.get("Marker"), c.limited(c.params.number("MaxItems"), 100), key)
	if err != nil {
		return nil, fault("ValidationError", "Invalid Marker.")
	}
	out := each(set, found, render)
	if marker == "" {
		return []node{out, el("IsTruncated", false)}, nil
	}
	return []node{out, el("IsTruncated", true), el("Marker", marker)}, nil
}

func createIAM(e entity) handler {
	return func(c *call) ([]node, error) {
		r := must.Get(c.newEntity(e))
		if e.typ == "role" {
			r.Attrs["boundary"] = c.params.get("PermissionsBoundary")
			r.Attrs["trust"], r.Attrs["description"] = c.params.get("AssumeRolePolicyDocument"), c.params.get("Description")
		}
		return []node{group(e.element, e.render(c, r, true)...)}, nil
	}
}

// render returns the entity, with its tags if the call returns them.
func (e entity) render(c *call, r *Resource, tags bool) []node {
	out := e.common(r)
	switch e.typ {
	case "role":
		out = append(out, el("AssumeRolePolicyDocument", url.QueryEscape(r.Attrs["trust"])), el("Description", r.Attrs["description"]), el("MaxSessionDuration", 3600))
		if boundary := r.Attrs["boundary"]; boundary != "" && tags {
			out = append(out, group("PermissionsBoundary", el("PermissionsBoundaryType", "Policy"), el("PermissionsBoundaryArn", boundary)))
		}
	case "instance-profile":
		roles := node{name: "Roles"}
		for _, id := range r.Uses {
			if member := c.named("role", strings.TrimPrefix(id, "role/")); member != nil {
				roles.kids = append(roles.kids, group("member", role.render(c, member, false)...))
			}
		}
		out = append(out, roles)
	}
	if tags {
		out = append(out, tagMembers(r))
	}
	return out
}

func updateTrust(c *call) ([]node, error) {
	r, err := c.entity(role)
	if err == nil {
		r.Attrs["trust"] = c.params.get("PolicyDocument")
	}
	return nil, err
}

// putBoundary sets a role's boundary, and removes it if the call has none.
func putBoundary(c *call) ([]node, error) {
	r, err := c.entity(role)
	if err == nil {
		r.Attrs["boundary"] = c.params.get("PermissionsBoundary")
	}
	return nil, err
}

func tagIAM(e entity) handler {
	return func(c *call) ([]node, error) {
		r, err := c.entity(e)
		if err == nil {
			maps.Copy(r.Tags, c.params.tags("Tags"))
		}
		return nil, err
	}
}

func untagIAM(e entity) handler {
	return func(c *call) ([]node, error) {
		r := must.Get(c.entity(e))
		for _, key := range c.params.list("TagKeys") {
			delete(r.Tags, key)
		}
		return nil, nil
	}
}

func addRole(c *call) ([]node, error) {
	p := must.Get(c.entity(profile))
	r := must.Get(c.entity(role))
	must.EndIf(len(p.Uses) > 0, fault("LimitExceeded", "Cannot exceed quota for InstanceSessionsPerInstanceProfile: 1"))
	p.Uses = []string{r.ID}
	return nil, nil
}

func dropRole(c *call) ([]node, error) {
	p := must.Get(c.entity(profile))
	r := must.Get(c.entity(role))
	must.EndIf(!slices.Contains(p.Uses, r.ID), fault("NoSuchEntity", "The role with name %s cannot be found in the instance profile.", r.Name))
	p.Uses = nil
	return nil, nil
}

func profilesOf(c *call) ([]node, error) {
	r := must.Get(c.entity(role))
	found := c.Every(func(p *Resource) bool {
		return p.Type == "instance-profile" && p.Account == c.Account && slices.Contains(p.Uses, r.ID)
	})
	return iamPage(c, found, "InstanceProfiles", byID, func(p *Resource) node { return group("member", profile.render(c, p, false)...) })
}

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
