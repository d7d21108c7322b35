package ibmcloud

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/ocpctl/ocpctl/deploy/ibmcloud/policies"
)

// serviceAccess returns what the access policies of a service ID give it, and the names of the resource groups to which they are limited; nil:
// one of them is not limited. Anybody else is not limited at all. The server's mutex is held.
func (s *Server) serviceAccess(iamID string) (access *policies.Document, groups []string) {
	if !strings.HasPrefix(iamID, "iam-ServiceId-") {
		return nil, nil
	}
	access, groups = &policies.Document{}, []string{}
	limited := true
	for _, r := range s.world.Every(func(r *Resource) bool { return r.Type == "policy" }) {
		p := policyOf(r)
		if p.Type != "access" || !slices.ContainsFunc(p.Subject, func(a attribute) bool { return a.Key == "iam_id" && a.Value == iamID }) {
			continue
		}
		var given policies.Policy
		var group string
		for _, a := range p.Resource {
			value, _ := a.Value.(string)
			switch a.Key {
			case "serviceName":
				given.Service = value
			case "resourceType":
				given.Type = value
			case "resourceGroupId", "resource":
				group = value
			}
		}
		for _, role := range p.Roles {
			given.Roles = append(given.Roles, role.RoleID[strings.LastIndex(role.RoleID, ":")+1:])
		}
		access.Policies = append(access.Policies, given)
		named := s.world.First(func(g *Resource) bool { return g.Type == groupType && g.ID == group })
		switch {
		case group == "":
			limited = false
		case named != nil && !slices.Contains(groups, named.Name):
			groups = append(groups, named.Name)
		}
	}
	if !limited {
		groups = nil
	}
	return access, groups
}

// withinGroups refuses a call by a service ID that names something outside the resource groups to which its policies are limited: in the
// address, or in the body.
func (c *call) withinGroups() error {
	if c.who.groups == nil || !strings.HasPrefix(c.who.iamID, "iam-ServiceId-") {
		return nil
	}
	var body any
	_ = json.Unmarshal(c.body, &body) // some have none
	named := append(strings.Split(c.route, "/"), textsIn(body)...)
	for _, text := range named {
		r := c.world.First(func(r *Resource) bool { return text != "" && (r.ID == text || r.called(text)) })
		if r != nil && !c.mayRead(r) {
			return c.denied()
		}
	}
	return nil
}

// textsIn returns every text in a JSON value.
func textsIn(value any) (texts []string) {
	switch v := value.(type) {
	case string:
		return []string{v}
	case []any:
		for _, each := range v {
			texts = append(texts, textsIn(each)...)
		}
	case map[string]any:
		for _, each := range v {
			texts = append(texts, textsIn(each)...)
		}
	}
	return texts
}
