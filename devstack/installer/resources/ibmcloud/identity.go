package ibmcloud

import (
	"context"
	"errors"
	"net/http"
	"net/url"

	"github.com/ocpctl/ocpctl/devstack/must"
	"github.com/ocpctl/ocpctl/devstack/pick"
)

// Identity creates and deletes the service IDs of a cluster's operators, as ccoctl does.
type Identity struct {
	*Cloud
	Name  string
	Group string // id of the resource group in which the operators may act; empty: everywhere
	Say   func(format string, args ...any)

	made []string
}

// Attribute is one condition of an access policy.
type Attribute struct {
	Name  string `json:"name" yaml:"name"`
	Value string `json:"value" yaml:"value"`
}

// Policy is what an operator may do.
type Policy struct {
	Roles      []string    `yaml:"roles"`
	Attributes []Attribute `yaml:"attributes"`
}

// Access is what one operator needs.
type Access struct {
	Namespace, Secret string
	Policies          []Policy
}

// serviceID is the name of an operator's service ID.
func (i *Identity) serviceID(a Access) string { return i.Name + "-" + a.Namespace + "-" + a.Secret }

type serviceID struct {
	ID    string `json:"id"`
	IAMID string `json:"iam_id"`
}

// list finds the service IDs with exactly this name, on all pages of one entry each.
func (i *Identity) list(ctx context.Context, name string) (all []serviceID, err error) {
	defer must.Catch(&err)
	query := url.Values{"account_id": {i.Account}, "name": {name}, "pagesize": {"1"}}
	for {
		var out struct {
			IDs  []serviceID `json:"serviceids"`
			Next string      `json:"next"`
		}
		must.Do(i.do(ctx, call{op: "iam:list_service_ids", path: "/iam/v1/serviceids/", query: query}, &out))
		all = append(all, out.IDs...)
		next := must.Get(url.Parse(out.Next))
		if out.Next == "" {
			return all, nil
		}
		query.Set("pagetoken", next.Query().Get("pagetoken"))
	}
}

// Create creates an operator's service ID with its access policies and returns an API key of it.
func (i *Identity) Create(ctx context.Context, a Access) (key string, err error) {
	defer must.Catch(&err)
	name := i.serviceID(a)
	before, err := i.list(ctx, name)
	must.Wrap(err, "error listing Service IDs")
	must.FailIf(len(before) > 0, "exists with the same name: %s, please delete the entries or create with a different name", name)
	var made serviceID
	body := map[string]string{"account_id": i.Account, "name": name, "description": "A Service ID created by the ccoctl utility"}
	must.Do(i.do(ctx, call{op: "iam:create_service_id", method: http.MethodPost, path: "/iam/v1/serviceids/", body: body}, &made))
	i.made = append(i.made, made.ID)
	i.Say("Created Service ID %s", name)
	for _, p := range a.Policies {
		must.Wrap(i.grant(ctx, made.IAMID, p), "error creating access policy")
	}
	var apiKey struct {
		Key string `json:"apikey"`
	}
	body = map[string]string{"name": "ccoctl-generated-key", "iam_id": made.IAMID, "account_id": i.Account}
	must.Do(i.do(ctx, call{op: "iam:create_api_key", method: http.MethodPost, path: "/iam/v1/apikeys", body: body}, &apiKey))
	return apiKey.Key, nil
}

func (i *Identity) grant(ctx context.Context, iamID string, p Policy) error {
	attributes := []Attribute{{"accountId", i.Account}}
	ofGroup := false
	for _, a := range p.Attributes {
		attributes = append(attributes, a)
		ofGroup = ofGroup || a.Name == "resourceType" && a.Value == "resource-group"
	}
	switch {
	case i.Group == "":
	case ofGroup:
		attributes = append(attributes, Attribute{"resource", i.Group})
	default:
		attributes = append(attributes, Attribute{"resourceGroupId", i.Group})
	}
	roles := pick.Map(p.Roles, func(role string) map[string]string { return map[string]string{"role_id": role} })
	body := map[string]any{
		"type": "access", "roles": roles, "resources": []any{map[string]any{"attributes": attributes}},
		"subjects": []any{map[string]any{"attributes": []Attribute{{"iam_id", iamID}}}},
	}
	return i.do(ctx, call{op: "iam:create_policy", method: http.MethodPost, path: "/iam/v1/policies", body: body}, nil)
}

// Undo deletes the service IDs of this call. Errors are only logged.
func (i *Identity) Undo(ctx context.Context) {
	for _, made := range i.made {
		if err := i.deleteID(ctx, made); err != nil {
			i.Say("Failed to delete Service ID %s: %s", made, err)
		}
	}
}

// Delete deletes an operator's service ID by its exact name; nothing else of it. Several of the name need force.
func (i *Identity) Delete(ctx context.Context, a Access, force bool) (err error) {
	defer must.Catch(&err)
	name := i.serviceID(a)
	all, err := i.list(ctx, name)
	must.Wrap(err, "error listing Service IDs")
	must.FailIf(len(all) > 1 && !force, "more than one ServiceID found with %s name, please delete duplicates or use the --force flag", name)
	for _, one := range all {
		must.Do(i.deleteID(ctx, one.ID))
		i.Say("Deleted Service ID %s", name)
	}
	return nil
}

func (i *Identity) deleteID(ctx context.Context, id string) error {
	err := i.do(ctx, call{op: "iam:delete_service_id", method: http.MethodDelete, path: "/iam/v1/serviceids/" + id}, nil)
	if Missing(err) {
		return nil
	}
	return err
}

// KeyWorks reports that an API key is known.
func (c *Cloud) KeyWorks(ctx context.Context, key string) (bool, error) {
	other := *c
	other.key = key
	err := other.Login(ctx)
	if e := (*Error)(nil); errors.As(err, &e) && e.Status < http.StatusInternalServerError {
		return false, nil
	}
	return err == nil, err
}
