package aws

import (
	"slices"

	"github.com/ocpctl/ocpctl/devstack/must"
)

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
