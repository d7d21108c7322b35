package aws

import (
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/ocpctl/ocpctl/devstack/must"
)

// An inline policy is a resource that uses its role or user, so that neither can be deleted before it.

func (c *call) policy(owner *Resource) *Resource {
	id := owner.ID + "/policy/" + c.params.get("PolicyName")
	return c.First(func(r *Resource) bool { return r.Type == "policy" && r.Account == c.Account && r.ID == id })
}

func putPolicy(e entity) handler {
	return func(c *call) ([]node, error) {
		owner := must.Get(c.entity(e))
		p, name := c.policy(owner), c.params.get("PolicyName")
		if p == nil {
			p = c.Add(&Resource{Service: "iam", Type: "policy", ID: owner.ID + "/policy/" + name, Name: name, Uses: []string{owner.ID}})
		}
		p.Attrs["document"] = c.params.get("PolicyDocument")
		return nil, nil
	}
}

// ownedPolicy returns the policy that a call names, or NoSuchEntity.
func ownedPolicy(c *call, e entity) (_ *Resource, _ *Resource, err error) {
	defer must.Catch(&err)
	owner := must.Get(c.entity(e))
	p := c.policy(owner)
	must.EndIf(p == nil, fault("NoSuchEntity", "The %s policy with name %s cannot be found.", e.typ, c.params.get("PolicyName")))
	return owner, p, nil
}

func getPolicy(e entity) handler {
	return func(c *call) ([]node, error) {
		owner, p := must.Get2(ownedPolicy(c, e))
		return []node{el(e.nameField, owner.Name), el("PolicyName", p.Name), el("PolicyDocument", url.QueryEscape(p.Attrs["document"]))}, nil
	}
}

func deletePolicy(e entity) handler {
	return func(c *call) ([]node, error) {
		_, p := must.Get2(ownedPolicy(c, e))
		c.world.Remove(p)
		return nil, nil
	}
}

func listPolicies(e entity) handler {
	return func(c *call) ([]node, error) {
		owner := must.Get(c.entity(e))
		found := c.Every(func(r *Resource) bool {
			return r.Type == "policy" && r.Account == c.Account && slices.Contains(r.Uses, owner.ID)
		})
		return iamPage(c, found, "PolicyNames", byID, func(r *Resource) node { return el("member", r.Name) })
	}
}

// attach gives a role or user a managed policy. AWS's own all exist; customers' are not implemented.
func attach(e entity) handler {
	return func(c *call) ([]node, error) {
		owner := must.Get(c.entity(e))
		arn := c.params.get("PolicyArn")
		must.EndIf(!strings.HasPrefix(arn, "arn:aws:iam::aws:policy/"), fault("NoSuchEntity", "Policy %s does not exist or is not attachable.", arn))
		if !slices.Contains(owner.vals("attached"), arn) {
			owner.Values["attached"] = append(owner.Values["attached"], arn)
		}
		return nil, nil
	}
}

func detach(e entity) handler {
	return func(c *call) ([]node, error) {
		owner := must.Get(c.entity(e))
		arn := c.params.get("PolicyArn")
		must.EndIf(!slices.Contains(owner.vals("attached"), arn), fault("NoSuchEntity", "Policy %s was not found.", arn))
		owner.Values["attached"] = slices.DeleteFunc(owner.Values["attached"], func(a string) bool { return a == arn })
		return nil, nil
	}
}

func listAttached(e entity) handler {
	return func(c *call) ([]node, error) {
		owner := must.Get(c.entity(e))
		return iamPage(c, owner.vals("attached"), "AttachedPolicies", func(arn string) string { return arn }, func(arn string) node {
			return group("member", el("PolicyName", arn[strings.LastIndex(arn, "/")+1:]), el("PolicyArn", arn))
		})
	}
}

// createKey creates a key that the stand-in then accepts in signatures.
func createKey(c *call) ([]node, error) {
	u := must.Get(c.entity(user))
	secret := strings.ToLower(newUpper("", 40))
	k := c.Add(&Resource{Service: "iam", Type: "access-key", ID: newUpper("AKIA", 16), Name: u.Name, Uses: []string{u.ID}, Secrets: map[string]string{"key": secret}})
	return []node{group("AccessKey", append(renderKey(k), el("SecretAccessKey", secret))...)}, nil
}

func renderKey(k *Resource) []node {
	return []node{el("UserName", k.Name), el("AccessKeyId", k.ID), el("Status", "Active"), el("CreateDate", k.Created)}
}

func (c *call) keys(u *Resource) []*Resource {
	return c.Every(func(r *Resource) bool {
		return r.Type == "access-key" && r.Account == c.Account && slices.Contains(r.Uses, u.ID)
	})
}

func listKeys(c *call) ([]node, error) {
	u := must.Get(c.entity(user))
	return iamPage(c, c.keys(u), "AccessKeyMetadata", byID, func(k *Resource) node { return group("member", renderKey(k)...) })
}

func deleteKey(c *call) ([]node, error) {
	u := must.Get(c.entity(user))
	id := c.params.get("AccessKeyId")
	for _, k := range c.keys(u) {
		if k.ID == id {
			c.world.Remove(k)
			return nil, nil
		}
	}
	return nil, fault("NoSuchEntity", "The Access Key with id %s cannot be found.", id)
}

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
	found := c.Every(func(r *Resource) bool { return r.Type == "oidc-provider" && r.Account == c.Account })
	arn := func(r *Resource) node { return group("member", el("Arn", r.ARN())) }
	return []node{each("OpenIDConnectProviderList", found, arn)}, nil // the only list of IAM that has no pages
}

func tagProvider(c *call) ([]node, error) {
	r := must.Get(c.provider())
	maps.Copy(r.Tags, c.params.tags("Tags"))
	return nil, nil
}
