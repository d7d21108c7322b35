package ibmcloud

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/ocpctl/ocpctl/deploy/ibmcloud/policies"
)

// need is what a call requires: one of some roles on a service or on resource groups, or a custom role with an action. Without a service, the
// call requires nothing.
type need struct {
	on     string
	roles  []string
	action string
}

// The roles by what they allow, as IBM's documentation of IAM roles and actions has them (cloud.ibm.com/docs/account, "IAM roles and actions",
// and cloud.ibm.com/docs/vpc, "Required permissions").
var (
	viewers   = []string{"Viewer", "Operator", "Editor", "Administrator"}
	editors   = []string{"Editor", "Administrator"}
	operators = []string{"Operator", "Administrator"}
	admins    = []string{"Administrator"}
	readers   = []string{"Reader", "Writer", "Manager"}
	writers   = []string{"Writer", "Manager"}
	managers  = []string{"Manager"}
)

const groupType = "resource-group"

// ofTheAccount is what a policy for every service does not include.
var ofTheAccount = []string{groupType, identity, "iam-access-management"}

// fixedNeeds are those of calls that always concern the same service. Calls of other names: see required.
var fixedNeeds = map[string]need{
	"iam:list_service_ids":  {identity, viewers, "iam-identity.serviceid.get"},
	"iam:create_service_id": {identity, operators, ""}, "iam:delete_service_id": {identity, operators, ""},
	"iam:list_api_keys": {identity, []string{"Operator", "Editor", "Administrator"}, "iam-identity.apikey.list"}, "iam:create_api_key": {identity, operators, ""},
	"iam:list_policies": {"iam-access-management", viewers, ""}, "iam:list_v2_policies": {"iam-access-management", viewers, ""},
	"iam:create_policy": {"iam-access-management", admins, ""}, "iam:create_v2_policy": {"iam-access-management", admins, ""},
	"iam:delete_policy": {"iam-access-management", admins, ""}, "iam:delete_v2_policy": {"iam-access-management", admins, ""},
	"rc:list_resource_groups": {groupType, viewers, ""}, "rc:get_resource_group": {groupType, viewers, ""},
	"rc:create_resource_group": {groupType, admins, ""}, "rc:delete_resource_group": {groupType, admins, ""},
	"dns:create_permitted_network": {"dns-svcs", managers, ""}, "dns:delete_permitted_network": {"dns-svcs", managers, ""},
	"cos:delete_bucket": {"cloud-object-storage", managers, ""},
}

// dataServices are those whose own calls need a service role, by the first part of their calls.
var dataServices = map[string]string{"cis": "internet-svcs", "dns": "dns-svcs", "cos": "cloud-object-storage"}

// required returns what a call requires before it is executed. Lists of several services' resources, searches and changes of tags require
// nothing: they leave out, or refuse, what the caller may not see.
func (c *call) required() need {
	if n, fixed := fixedNeeds[c.op]; fixed {
		return n
	}
	switch service, data := dataServices[c.service]; {
	case c.service == "vpc" && c.reads():
		return need{on: "is", roles: viewers}
	case c.service == "vpc":
		return need{on: "is", roles: editors}
	case data && c.reads():
		return need{on: service, roles: readers}
	case data:
		return need{on: service, roles: writers}
	}
	return need{}
}

// authorized refuses a call that the caller's access does not cover.
func (c *call) authorized() error {
	if n := c.required(); n.on != "" && !c.may(n) {
		return c.denied()
	}
	return c.withinGroups()
}

func (c *call) may(n need) bool {
	access := c.who.access
	if access == nil {
		return true
	}
	given := slices.Clone(n.roles)
	for _, r := range access.Roles {
		if r.Service == n.on && slices.Contains(r.Actions, n.action) {
			given = append(given, r.Display)
		}
	}
	return slices.ContainsFunc(access.Policies, func(p policies.Policy) bool {
		return (p.On() == n.on || p.On() == "" && !slices.Contains(ofTheAccount, n.on)) && slices.ContainsFunc(p.Roles, func(role string) bool { return slices.Contains(given, role) })
	})
}

// maySee reports that the caller may see a resource in a list of several services, or in a search.
func (c *call) maySee(r *Resource) bool { return c.may(need{on: policed(r), roles: viewers}) }

// mayChange reports that the caller may change or delete a service's instance, or its tags.
func (c *call) mayChange(r *Resource) bool {
	if policed(r) == identity {
		return c.may(need{on: identity, roles: []string{"Operator", "Editor", "Administrator"}})
	}
	return c.may(need{on: policed(r), roles: editors})
}

// policed is what a policy for a resource names.
func policed(r *Resource) string {
	switch r.Type {
	case groupType:
		return groupType
	case "reclamation":
		service, _, _ := strings.Cut(strings.TrimPrefix(r.Attrs["crn"], "crn:v1:bluemix:public:"), ":")
		return service
	}
	return r.Service
}

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
