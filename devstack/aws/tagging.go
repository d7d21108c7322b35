package aws

import (
	"encoding/base64"
	"maps"
	"slices"
	"strings"

	"github.com/ocpctl/ocpctl/devstack/must"
	"github.com/ocpctl/ocpctl/devstack/pick"
)

var taggingCalls = map[string]handler{"GetResources": getResources}

type tagFilter struct {
	Key    string
	Values []string
}

type taggingInput struct {
	PaginationToken     string
	ResourcesPerPage    int
	TagFilters          []tagFilter
	ResourceTypeFilters []string
}

// indexed reports whether the tagging API knows a resource in the requested region. The API is regional, covers global services only
// in us-east-1, knows only some roles and users (here: by the name's hash) and no instance profiles.
func (c *call) indexed(r *Resource) bool {
	if r.Account != c.Account || r.ARN() == "" || len(r.Tags) == 0 || r.Type == "instance-profile" || r.Type == "route-table-association" {
		return false
	}
	if r.Region == "" {
		return c.region == "us-east-1" && (r.Service != "iam" || r.Type == "oidc-provider" || hash(r.Name)%2 == 0)
	}
	return r.Region == c.region
}

// taggedResources returns everything that the tagging API knows, living or deleted.
func (c *call) taggedResources() []*Resource {
	found := c.Every(c.indexed)
	for _, r := range c.Dead {
		if c.indexed(r) {
			found = append(found, r)
		}
	}
	return found
}

// firstToken comes before every resource.
var firstToken = base64.RawURLEncoding.EncodeToString([]byte("0"))

// getResources pages before it filters, like the real API: pages may be short or empty before the last.
func getResources(c *call) ([]node, error) {
	var in taggingInput
	must.Do(c.decode(&in))
	if c.short() && in.PaginationToken == "" {
		c.json = map[string]any{"PaginationToken": firstToken, "ResourceTagMappingList": []any{}}
		return nil, nil
	}
	all := append(c.taggedResources(), must.Get(c.taggedBuckets())...)
	found, token, err := after(all, in.PaginationToken, c.limited(max(0, in.ResourcesPerPage), 50), bySeq)
	if err != nil {
		return nil, fault("PaginationTokenExpiredException", "The pagination token is invalid")
	}
	list := []map[string]any{}
	for _, r := range found {
		if !in.wants(r) {
			continue
		}
		list = append(list, map[string]any{"ResourceARN": r.ARN(), "Tags": tagsJSON(r)})
	}
	c.json = map[string]any{"PaginationToken": token, "ResourceTagMappingList": list}
	return nil, nil
}

func (in taggingInput) wants(r *Resource) bool {
	for _, f := range in.TagFilters {
		v, ok := r.Tags[f.Key]
		if !ok || !wanted(f.Values, v) {
			return false
		}
	}
	if len(in.ResourceTypeFilters) == 0 {
		return true
	}
	return slices.ContainsFunc(in.ResourceTypeFilters, func(t string) bool {
		service, typ, typed := strings.Cut(t, ":")
		of, _, _, kind := arnParts(r.ARN())
		return service == of && (!typed || typ == kind)
	})
}

// tagsJSON returns a resource's tags in the JSON protocols' form.
func tagsJSON(r *Resource) []map[string]string {
	return pick.Map(slices.Sorted(maps.Keys(r.Tags)), func(k string) map[string]string { return map[string]string{"Key": k, "Value": r.Tags[k]} })
}
