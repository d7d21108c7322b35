package aws

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/ocpctl/ocpctl/devstack/must"
)

func tagSet(r *Resource) node {
	var items [][]node
	for _, k := range slices.Sorted(maps.Keys(r.Tags)) {
		items = append(items, []node{el("key", k), el("value", r.Tags[k])})
	}
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
