package aws

import (
	"maps"
	"net/url"
	"slices"
	"strings"
)

// An inline policy is a resource that uses its role or user, so that neither can be deleted before it.

func (c *call) policy(owner *Resource) *Resource {
	id := owner.ID + "/policy/" + c.params.get("PolicyName")
	return c.first(func(r *Resource) bool { return r.Type == "policy" && r.Account == c.Account && r.ID == id })
}

func putPolicy(e entity) handler {
	return func(c *call) ([]node, error) {
		owner, err := c.entity(e)
		if err != nil {
			return nil, err
		}
		p, name := c.policy(owner), c.params.get("PolicyName")
		if p == nil {
			p = c.add(Resource{Service: "iam", Type: "policy", ID: owner.ID + "/policy/" + name, Name: name, Uses: []string{owner.ID}})
		}
		p.Attrs["document"] = c.params.get("PolicyDocument")
		return nil, nil
	}
}

// ownedPolicy is the policy a call names, or NoSuchEntity.
func ownedPolicy(c *call, e entity) (*Resource, *Resource, error) {
	owner, err := c.entity(e)
	if err != nil {
		return nil, nil, err
	}
	p := c.policy(owner)
	if p == nil {
		return nil, nil, fault("NoSuchEntity", "The %s policy with name %s cannot be found.", e.typ, c.params.get("PolicyName"))
	}
	return owner, p, nil
}

func getPolicy(e entity) handler {
	return func(c *call) ([]node, error) {
		owner, p, err := ownedPolicy(c, e)
		if err != nil {
			return nil, err
		}
		return []node{el(e.nameField, owner.Name), el("PolicyName", p.Name), el("PolicyDocument", url.QueryEscape(p.Attrs["document"]))}, nil
	}
}

func deletePolicy(e entity) handler {
	return func(c *call) ([]node, error) {
		_, p, err := ownedPolicy(c, e)
		if err != nil {
			return nil, err
		}
		c.world.remove(p)
		return nil, nil
	}
}

func listPolicies(e entity) handler {
	return func(c *call) ([]node, error) {
		owner, err := c.entity(e)
		if err != nil {
			return nil, err
		}
		found := c.all(func(r *Resource) bool {
			return r.Type == "policy" && r.Account == c.Account && slices.Contains(r.Uses, owner.ID)
		})
		return c.iamPage(found, "PolicyNames", func(r *Resource) node { return el("member", r.Name) })
	}
}

// noAttached answers the lists of managed policies: there are none in this world.
func noAttached(e entity) handler {
	return func(c *call) ([]node, error) {
		if _, err := c.entity(e); err != nil {
			return nil, err
		}
		return c.iamPage(nil, "AttachedPolicies", nil)
	}
}

// createKey mints a key that the stand-in then accepts in signatures.
func createKey(c *call) ([]node, error) {
	u, err := c.entity(user)
	if err != nil {
		return nil, err
	}
	secret := strings.ToLower(newUpper("", 40))
	k := c.add(Resource{Service: "iam", Type: "access-key", ID: newUpper("AKIA", 16), Name: u.Name, Uses: []string{u.ID}, Secrets: map[string]string{"key": secret}})
	return []node{group("AccessKey", append(renderKey(k), el("SecretAccessKey", secret))...)}, nil
}

func renderKey(k *Resource) []node {
	return []node{el("UserName", k.Name), el("AccessKeyId", k.ID), el("Status", "Active"), el("CreateDate", k.Created)}
}

func (c *call) keys(u *Resource) []*Resource {
	return c.all(func(r *Resource) bool {
		return r.Type == "access-key" && r.Account == c.Account && slices.Contains(r.Uses, u.ID)
	})
}

func listKeys(c *call) ([]node, error) {
	u, err := c.entity(user)
	if err != nil {
		return nil, err
	}
	return c.iamPage(c.keys(u), "AccessKeyMetadata", func(k *Resource) node { return group("member", renderKey(k)...) })
}

func deleteKey(c *call) ([]node, error) {
	u, err := c.entity(user)
	if err != nil {
		return nil, err
	}
	id := c.params.get("AccessKeyId")
	for _, k := range c.keys(u) {
		if k.ID == id {
			c.world.remove(k)
			return nil, nil
		}
	}
	return nil, fault("NoSuchEntity", "The Access Key with id %s cannot be found.", id)
}

func createProvider(c *call) ([]node, error) {
	name := strings.TrimPrefix(c.params.get("Url"), "https://")
	if name == c.params.get("Url") || name == "" {
		return nil, fault("ValidationError", "Invalid Open ID Connect Provider URL")
	}
	if c.named("oidc-provider", name) != nil {
		return nil, fault("EntityAlreadyExists", "Provider with url https://%s already exists.", name)
	}
	if err := c.room("L-858F3967", "", 1); err != nil {
		return nil, err
	}
	r := c.add(Resource{Service: "iam", Type: "oidc-provider", ID: "oidc-provider/" + name, Name: name, Tags: c.params.tags("Tags")})
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
	r, err := c.provider()
	if err != nil {
		return nil, err
	}
	return []node{el("Url", r.Name), el("CreateDate", r.Created), texts("ClientIDList", "member", r.vals("clients")),
		texts("ThumbprintList", "member", r.vals("thumbprints")), tagMembers(r)}, nil
}

func tagProvider(c *call) ([]node, error) {
	r, err := c.provider()
	if err == nil {
		maps.Copy(r.Tags, c.params.tags("Tags"))
	}
	return nil, err
}

func deleteProvider(c *call) ([]node, error) {
	r, err := c.provider()
	if err != nil {
		return nil, err
	}
	if c.pinned(r) {
		return nil, fault("DeleteConflict", "Cannot delete entity, something still uses it.")
	}
	c.world.remove(r)
	return nil, nil
}

func listProviders(c *call) ([]node, error) {
	out := node{name: "OpenIDConnectProviderList"}
	for _, r := range c.all(func(r *Resource) bool { return r.Type == "oidc-provider" && r.Account == c.Account && r.Alive() }) {
		out.kids = append(out.kids, group("member", el("Arn", r.ARN())))
	}
	return []node{out}, nil
}
