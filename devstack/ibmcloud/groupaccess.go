package ibmcloud

import "slices"

// all leaves out of a list what the caller has no access to.
func (c *call) all(match func(*Resource) bool) []*Resource {
	return c.world.Every(func(r *Resource) bool { return match(r) && (!c.reads() || c.mayRead(r)) })
}

// mayRead reports that the caller has access to a resource: to its resource group, or to what it is a part of. Identities and policies are in
// no group: who has access to some groups only sees itself and what is about those.
func (c *call) mayRead(r *Resource) bool {
	if c.who.groups == nil {
		return true
	}
	inGroup := func(id string) bool {
		g := c.world.First(func(g *Resource) bool { return g.Type == "resource-group" && g.ID == id })
		return g != nil && contains(c.who.groups, g.Name)
	}
	switch {
	case r.Type == "resource-group":
		return contains(c.who.groups, r.Name)
	case r.Service == identity:
		return r.Attrs["iam_id"] == c.who.iamID
	case r.Type == "policy":
		p := policyOf(r)
		return slices.ContainsFunc(p.Subject, func(a attribute) bool { return a.Key == "iam_id" && a.Value == c.who.iamID }) ||
			slices.ContainsFunc(p.Resource, func(a attribute) bool { id, _ := a.Value.(string); return inGroup(id) })
	case r.Group != "":
		return inGroup(r.Group)
	case r.Parent != "":
		parent := c.world.First(func(p *Resource) bool { return p.ID == r.Parent && p.Account == r.Account })
		return parent == nil || c.mayRead(parent)
	}
	return true
}
