package aws

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/ocpctl/ocpctl/devstack/must"
	"github.com/ocpctl/ocpctl/devstack/pick"
)

// filter is one Filter.N: a resource passes if any of its values matches any of the patterns.
type filter struct {
	name     string
	patterns []*regexp.Regexp
}

// known are the filter names that read an attribute of the same name. Any other is refused, as in EC2: a filter that silently matched
// nothing would make an empty list look like a proof.
var known = []string{
	"attachment.instance-id", "attachment.vpc-id", "association.subnet-id", "association.main", "association.route-table-id", "availability-zone",
	"cidr", "cidr-block", "cidrBlock", "description", "domain", "group-name", "iam-instance-profile.arn", "image-id", "instance-type", "interface-type",
	"requester-vpc-info.vpc-id", "accepter-vpc-info.vpc-id", "launch-template-name", "dhcp-options-id", "strategy",
	"is-default", "isDefault", "default-for-az", "defaultForAz", "name", "owner-id", "private-ip-address", "public-ip", "requester-id", "reservation-id", "service-name",
	"subnet-id", "vpc-endpoint-type", "volume-id", "snapshot-id", "group-id", "instance-id", "network-interface-id", "allocation-id", "nat-gateway-id",
}

func (c *call) filters(k kind) ([]filter, error) {
	var out []filter
	for _, given := range c.params.each("Filter") {
		name := given.get("Name")
		general := []string{"tag-key", "vpc-id", "resource-id", "state", "status", "instance-state-name", "vpc-endpoint-state", "status-code", k.filter}
		if !strings.HasPrefix(name, "tag:") && !slices.Contains(general, name) && !slices.Contains(known, name) {
			return nil, fault("InvalidParameterValue", "The filter '%s' is invalid", name)
		}
		f := filter{name: name}
		for _, v := range given.list("Value") {
			quoted := strings.NewReplacer(`\*`, `.*`, `\?`, `.`).Replace(regexp.QuoteMeta(v))
			f.patterns = append(f.patterns, regexp.MustCompile(`(?s)^`+quoted+`$`))
		}
		if len(f.patterns) == 0 {
			return nil, fault("InvalidParameterValue", "The filter '%s' has no values", name)
		}
		out = append(out, f)
	}
	return out, nil
}

func (c *call) passes(r *Resource, k kind, filters []filter) bool {
	for _, f := range filters {
		matches := func(v string) bool {
			return slices.ContainsFunc(f.patterns, func(p *regexp.Regexp) bool { return p.MatchString(v) })
		}
		if !slices.ContainsFunc(c.values(r, k, f.name), matches) {
			return false
		}
	}
	return true
}

// values returns what a filter compares.
func (c *call) values(r *Resource, k kind, name string) []string {
	if key, ok := strings.CutPrefix(name, "tag:"); ok {
		if v, ok := r.Tags[key]; ok {
			return []string{v}
		}
		return nil
	}
	switch name {
	case k.filter, "resource-id":
		return []string{r.ID}
	case "tag-key":
		return slices.Collect(maps.Keys(r.Tags))
	case "state", "status", "instance-state-name", "vpc-endpoint-state", "status-code":
		return []string{r.State}
	case "vpc-id", "attachment.vpc-id":
		if r.Type == "instance" && !r.Alive() {
			return nil // a terminated instance has left its VPC
		}
		return orNone(r.VPC)
	case "owner-id":
		return []string{r.Account}
	case "is-default", "isDefault", "default-for-az", "defaultForAz":
		return []string{"false"} // the account has no default VPC
	case "group-id":
		return r.vals("groups")
	case "launch-template-name":
		return []string{r.Name}
	case "group-name":
		if r.Type == "placement-group" {
			return []string{r.Name}
		}
		return orNone(r.Attrs[name])
	case "association.subnet-id":
		return c.associations(r, func(a *Resource) string { return a.Parent })
	}
	return orNone(r.Attrs[name])
}

func orNone(v string) []string {
	if v == "" {
		return nil
	}
	return []string{v}
}

func tagSet(r *Resource) node {
	items := pick.Map(slices.Sorted(maps.Keys(r.Tags)), func(k string) []node { return []node{el("key", k), el("value", r.Tags[k])} })
	return list("tagSet", "item", items)
}

// tagged returns every resource that CreateTags or DeleteTags names.
func (c *call) tagged() ([]*Resource, error) {
	var out []*Resource
	for _, id := range c.params.list("ResourceId") {
		r := c.First(func(r *Resource) bool { return r.ID == id && c.here(r, r.Type) })
		if r == nil {
			for typ, k := range kinds {
				if strings.HasPrefix(id, k.prefix) {
					_, err := c.get(typ, id)
					return nil, err
				}
			}
			return nil, fault("InvalidID", "The ID '%s' is not valid", id)
		}
		out = append(out, r)
	}
	return out, nil
}

func createTags(c *call) ([]node, error) {
	found := must.Get(c.tagged())
	for _, r := range found {
		maps.Copy(r.Tags, c.params.tags("Tag"))
		r.Name = cmp.Or(r.Tags["Name"], r.Name)
	}
	return []node{el("return", true)}, nil
}

func deleteTags(c *call) ([]node, error) {
	found := must.Get(c.tagged())
	for _, r := range found {
		for k := range c.params.tags("Tag") {
			delete(r.Tags, k)
		}
	}
	return []node{el("return", true)}, nil
}
