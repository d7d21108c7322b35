package ibmcloud

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/ocpctl/ocpctl/devstack/must"
	"github.com/ocpctl/ocpctl/devstack/pick"
)

func policyRoutes() []route {
	return []route{
		{"GET /iam/v1/policies", "iam:list_policies", listPolicies(policyView)},
		{"POST /iam/v1/policies", "iam:create_policy", createPolicy},
		{"DELETE /iam/v1/policies/{id}", "iam:delete_policy", deletePolicy},
		{"GET /iam/v2/policies", "iam:list_v2_policies", listPolicies(policyViewV2)},
		{"POST /iam/v2/policies", "iam:create_v2_policy", createPolicyV2},
		{"DELETE /iam/v2/policies/{id}", "iam:delete_v2_policy", deletePolicy},
	}
}

// isPolicy reports that a call belongs to the half of IAM whose errors look differently.
func isPolicy(op string) bool {
	return strings.HasSuffix(op, "policies") || strings.HasSuffix(op, "policy")
}

// attribute is one condition of a policy, as version 2 writes it.
type attribute struct {
	Key      string `json:"key"`
	Operator string `json:"operator"`
	Value    any    `json:"value"`
}

// attributeV1 is the same as version 1 writes it.
type attributeV1 struct {
	Name     string `json:"name"`
	Value    any    `json:"value"`
	Operator string `json:"operator,omitempty"`
}

type grantedRole struct {
	RoleID string `json:"role_id"`
}

// policy is what either version says.
type policy struct {
	Type     string
	Subject  []attribute
	Resource []attribute
	Roles    []grantedRole
}

type policyV1 struct {
	Type     string `json:"type"`
	Subjects []struct {
		Attributes []attributeV1 `json:"attributes"`
	} `json:"subjects"`
	Roles     []grantedRole `json:"roles"`
	Resources []struct {
		Attributes []attributeV1 `json:"attributes"`
	} `json:"resources"`
}

type attributesV2 struct {
	Attributes []attribute `json:"attributes"`
}

type policyV2 struct {
	Type     string       `json:"type"`
	Subject  attributesV2 `json:"subject"`
	Resource attributesV2 `json:"resource"`
	Control  struct {
		Grant struct {
			Roles []grantedRole `json:"roles"`
		} `json:"grant"`
	} `json:"control"`
}

func createPolicy(c *call) (any, error) {
	var in policyV1
	must.Do(c.decode(&in))
	p := policy{Type: in.Type, Roles: in.Roles}
	for _, s := range in.Subjects {
		p.Subject = append(p.Subject, fromV1(s.Attributes)...)
	}
	for _, s := range in.Resources {
		p.Resource = append(p.Resource, fromV1(s.Attributes)...)
	}
	return c.keepPolicy(p, policyView)
}

func createPolicyV2(c *call) (any, error) {
	var in policyV2
	must.Do(c.decode(&in))
	return c.keepPolicy(policy{in.Type, in.Subject.Attributes, in.Resource.Attributes, in.Control.Grant.Roles}, policyViewV2)
}

func fromV1(all []attributeV1) (out []attribute) {
	for _, a := range all {
		if a.Operator == "" {
			a.Operator = "stringEquals"
		}
		out = append(out, attribute{a.Name, a.Operator, a.Value})
	}
	return out
}

func toV1(all []attribute) []attributeV1 {
	return pick.Map(all, func(a attribute) attributeV1 { return attributeV1{a.Key, a.Value, a.Operator} })
}

func (c *call) keepPolicy(p policy, view func(*Resource) object) (any, error) {
	if p.Type != "access" && p.Type != "authorization" || len(p.Resource) == 0 || len(p.Roles) == 0 {
		return nil, refuse(http.StatusBadRequest, "invalid_body", "A policy needs the type access or authorization, a resource and a role.")
	}
	raw := must.Get(json.Marshal(p))
	if c.First(func(r *Resource) bool {
		return r.Type == "policy" && r.Account == c.who.account && r.Attrs["policy"] == string(raw)
	}) != nil {
		return nil, refuse(http.StatusConflict, "policy_conflict_error", "The policy wasn't created because a policy with identical attributes and roles already exists.")
	}
	r := c.Add(&Resource{Account: c.who.account, Service: "iam", Type: "policy", ID: newUUID(), State: "active", Attrs: map[string]string{"policy": string(raw), "type": p.Type}})
	c.status = http.StatusCreated
	return view(r), nil
}

// policyOf reads what was kept. A planted policy may have none: then it grants nothing.
func policyOf(r *Resource) (p policy) {
	_ = json.Unmarshal([]byte(r.Attrs["policy"]), &p) // as it was marshalled
	return p
}

func policyView(r *Resource) object {
	p := policyOf(r)
	return object{
		"id": r.ID, "type": r.Attrs["type"], "state": r.State, "roles": rolesOf(p), "href": "https://iam.cloud.ibm.com/v1/policies/" + r.ID, "created_at": stamp(r.Created),
		"subjects": []object{{"attributes": toV1(p.Subject)}}, "resources": []object{{"attributes": toV1(p.Resource)}},
	}
}

func policyViewV2(r *Resource) object {
	p := policyOf(r)
	return object{
		"id": r.ID, "type": r.Attrs["type"], "state": r.State, "href": "https://iam.cloud.ibm.com/v2/policies/" + r.ID, "created_at": stamp(r.Created),
		"subject": object{"attributes": append([]attribute{}, p.Subject...)}, "resource": object{"attributes": append([]attribute{}, p.Resource...)},
		"control": object{"grant": object{"roles": rolesOf(p)}},
	}
}

func rolesOf(p policy) []grantedRole { return append([]grantedRole{}, p.Roles...) }

// listPolicies has pages only if a limit is requested.
func listPolicies(view func(*Resource) object) handler {
	return func(c *call) (any, error) {
		must.Do(c.only("account_id", "type", "iam_id", "state", "service_name", "limit", "start"))
		must.EndIf(c.query.Get("account_id") != c.who.account,
			refuse(http.StatusForbidden, "insufficent_permissions", "You are not allowed to list the policies of this account."))
		limit := must.Get(c.length("limit", 0, 100))
		found, next := must.Get2(after(c.all(c.policyMatches), c.query.Get("start"), limit))
		shown := pick.Map(found, view)
		out := object{"policies": shown}
		if limit > 0 {
			out["limit"], out["first"] = limit, object{"href": "https://iam.cloud.ibm.com/policies"}
		}
		if next != "" {
			out["next"] = object{"href": "https://iam.cloud.ibm.com/policies?start=" + next, "start": next}
		}
		return out, nil
	}
}

func (c *call) policyMatches(r *Resource) bool {
	if r.Type != "policy" || r.Account != c.who.account {
		return false
	}
	p, has := policyOf(r), func(in []attribute, key, value string) bool {
		return value == "" || slices.ContainsFunc(in, func(a attribute) bool { return a.Key == key && a.Value == value })
	}
	typ, state := c.query.Get("type"), c.query.Get("state")
	return (typ == "" || typ == r.Attrs["type"]) && (state == "" || state == r.State) &&
		has(p.Subject, "iam_id", c.query.Get("iam_id")) && has(p.Resource, "serviceName", c.query.Get("service_name"))
}

func deletePolicy(c *call) (any, error) {
	r := c.First(func(r *Resource) bool {
		return r.Type == "policy" && r.ID == c.path("id") && r.Account == c.who.account
	})
	must.EndIf(r == nil, refuse(http.StatusNotFound, "policy_not_found", "The policy with id %s was not found.", c.path("id")))
	must.Do(c.protected(r))
	must.EndIf(c.pinned(r), refuse(http.StatusConflict, "policy_conflict_error", "The policy cannot be deleted now."))
	c.Remove(r)
	return nil, nil
}
