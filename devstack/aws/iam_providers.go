package aws

import (
	"maps"
	"strings"

	"github.com/ocpctl/ocpctl/devstack/must"
)

func createProvider(c *call) ([]node, error) {
	name := strings.TrimPrefix(c.params.get("Url"), "https://")
	must.EndIf(name == c.params.get("Url") || name == "", fault("ValidationError", "Invalid Open ID Connect Provider URL"))
	must.EndIf(c.named("oidc-provider", name) != nil, fault("EntityAlreadyExists", "Provider with url https://%s already exists.", name))
	must.Do(c.checkQuota("L-858F3967", "", 1))
	r := c.Add(&Resource{Service: "iam", Type: "oidc-provider", ID: "oidc-provider/" + name, Name: name, Tags: c.params.tags("Tags")})
	r.Values["clients"], r.Values["thumbprints"] = c.params.list("ClientIDList"), c.params.list("ThumbprintList")
	return []node{el("OpenIDConnectProviderArn", r.ARN()), tagMembers(r)}, nil
}

func (c *call) provider() (*Resource, error) {
	arn := c.params.get("OpenIDConnectProviderArn")
	_, name, _ := strings.Cut(arn, ":oidc-provider/")
	r := c.named("oidc-provider", name)
	if r == nil || r.ARN() != arn {
		return nil, fault("NoSuchEntity", "OpenIDConnect Provider not found for arn %s", arn)
	}
	return r, nil
}

func getProvider(c *call) ([]node, error) {
	r := must.Get(c.provider())
	return []node{el("Url", r.Name), el("CreateDate", r.Created), texts("ClientIDList", "member", r.vals("clients")),
		texts("ThumbprintList", "member", r.vals("thumbprints")), tagMembers(r)}, nil
}

func deleteProvider(c *call) ([]node, error) {
	r := must.Get(c.provider())
	must.Do(c.protected(r))
	must.EndIf(c.pinned(r), fault("DeleteConflict", "Cannot delete entity, something still uses it."))
	c.world.Remove(r)
	return nil, nil
}

func listProviders(c *call) ([]node, error) {
	out := node{name: "OpenIDConnectProviderList"} // the only list of IAM that has no pages
	for _, r := range c.Every(func(r *Resource) bool { return r.Type == "oidc-provider" && r.Account == c.Account }) {
		out.kids = append(out.kids, group("member", el("Arn", r.ARN())))
	}
	return []node{out}, nil
}

func tagProvider(c *call) ([]node, error) {
	r := must.Get(c.provider())
	maps.Copy(r.Tags, c.params.tags("Tags"))
	return nil, nil
}
