package aws

import (
	"cmp"
	"encoding/base64"
	"maps"
	"slices"
	"strings"

	"github.com/ocpctl/ocpctl/devstack/aws/iampolicy"
	"github.com/ocpctl/ocpctl/devstack/must"
	"github.com/ocpctl/ocpctl/devstack/pick"
)

var taggingCalls = map[string]handler{"GetResources": getResources, "TagResources": tagResources}

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
	if r.Account != c.Account || len(r.Tags) == 0 || r.Region != "" && r.Region != c.region || r.ARN() == "" || r.Type == "instance-profile" || r.Type == "route-table-association" {
		return false
	}
	return r.Region != "" || c.region == "us-east-1" && (r.Service != "iam" || r.Type == "oidc-provider" || hash(r.Name)%2 == 0)
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

// mostTagging is how many resources one call may tag.
const mostTagging = 20

// tagResources tags resources if their own service lets the caller tag them. What it does not let, and what is gone, is named in the answer, which
// has status 200.
func tagResources(c *call) ([]node, error) {
	var in struct {
		ResourceARNList []string
		Tags            map[string]string
	}
	must.Do(c.decode(&in))
	must.EndIf(len(in.ResourceARNList) == 0 || len(in.ResourceARNList) > mostTagging || len(in.Tags) == 0,
		fault("InvalidParameterException", "1 to %d resources and at least one tag are required", mostTagging))
	all := append(c.Every(c.indexed), must.Get(c.taggedBuckets())...)
	failed := map[string]any{}
	for _, arn := range in.ResourceARNList {
		i := slices.IndexFunc(all, func(r *Resource) bool { return r.ARN() == arn })
		switch {
		case i < 0:
			failed[arn] = map[string]any{"StatusCode": 400, "ErrorCode": "InvalidID.NotFound", "ErrorMessage": "The resource does not exist"}
		case !c.mayTag(all[i], in.Tags):
			failed[arn] = map[string]any{"StatusCode": 403, "ErrorCode": "AccessDenied", "ErrorMessage": "The caller may not tag the resource"}
		default:
			maps.Copy(all[i].Tags, in.Tags)
			if all[i].Service == "s3" {
				must.Do(c.tagBucket(all[i]))
			}
		}
	}
	c.json = map[string]any{"FailedResourcesMap": failed}
	return nil, nil
}

// taggers are the actions that the services have for their own tags; the others are called TagResource.
var taggers = map[string]string{
	"ec2": "CreateTags", "elasticloadbalancing": "AddTags", "route53": "ChangeTagsForResource", "s3": "PutBucketTagging", "iam": "TagOpenIDConnectProvider",
}

// mayTag reports that all of the caller's policies allow what the tagging API does in its name.
func (c *call) mayTag(r *Resource, tags map[string]string) bool {
	keys := c.requestKeys(target{tags: tags})
	for key, value := range r.Tags {
		keys["aws:ResourceTag/"+key] = []string{value}
	}
	action := r.Service + ":" + cmp.Or(taggers[r.Service], "TagResource")
	if r.Type == "role" || r.Type == "user" {
		action = map[string]string{"role": "iam:TagRole", "user": "iam:TagUser"}[r.Type]
	}
	return !slices.ContainsFunc(c.who.policies, func(raw string) bool {
		policy, err := c.server.parsed(raw)
		return err != nil || policy.Evaluate(action, r.ARN(), keys) != iampolicy.Allow
	})
}
