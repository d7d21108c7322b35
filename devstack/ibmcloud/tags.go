package ibmcloud

import (
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/ocpctl/ocpctl/devstack/must"
	"github.com/ocpctl/ocpctl/devstack/pick"
)

func tagRoutes() []route {
	return []route{
		{"GET /tags/v3/tags", "tags:list_tags", listTags},
		{"POST /tags/v3/tags", "tags:create_tag", createTag},
		{"DELETE /tags/v3/tags/{id}", "tags:delete_tag", deleteTag},
		{"POST /tags/v3/tags/attach", "tags:attach_tag", func(c *call) (any, error) { return c.changeTags(c.attach) }},
		{"POST /tags/v3/tags/detach", "tags:detach_tag", func(c *call) (any, error) { return c.changeTags(c.detach) }},
	}
}

// tagForm is what a user tag may consist of.
var tagForm = regexp.MustCompile(`^[A-Za-z0-9 _.:-]{1,128}$`)

// mostTags are the user tags that a resource may have.
const mostTags = 1000

// tagged remembers that an account has a tag: it stays after the last resource with it is gone.
func (w *world) tagged(account, name string) {
	if w.First(func(r *Resource) bool { return r.Type == "tag" && r.Account == account && r.Name == name }) == nil {
		w.Add(&Resource{Account: account, Service: "global-search-tagging", Type: "tag", ID: newUUID(), Name: name})
	}
}

// taggable finds what a CRN names: everything but tags, records, objects and the like has tags.
func (c *call) taggable(crn string) *Resource {
	return c.First(func(r *Resource) bool {
		return r.Account == c.who.account && (controlled(r) || r.Type == "serviceid" || r.Type == "resource-group") && r.called(crn)
	})
}

type tagRequest struct {
	TagNames  []string `json:"tag_names"`
	TagName   string   `json:"tag_name"`
	Resources []struct {
		ID string `json:"resource_id"`
	} `json:"resources"`
}

func (c *call) tagRequest() (in tagRequest, err error) {
	defer must.Catch(&err)
	must.Do(c.only("tag_type", "account_id", "replace"))
	must.Do(c.userTags())
	must.Do(c.decode(&in))
	if in.TagName != "" {
		in.TagNames = append(in.TagNames, in.TagName)
	}
	for i, name := range in.TagNames {
		must.EndIf(!tagForm.MatchString(name),
			refuse(http.StatusBadRequest, "invalid_tag", "The tag %q is not valid: letters, digits, spaces and _ - . : are allowed, at most 128.", name))
		in.TagNames[i] = strings.ToLower(name)
	}
	must.EndIf(len(in.TagNames) == 0, refuse(http.StatusBadRequest, "bad_request", "The request has no tag names."))
	return in, nil
}

// userTags refuses every other type of tag.
func (c *call) userTags() error {
	if typ := c.query.Get("tag_type"); typ != "" && typ != "user" {
		return refuse(http.StatusBadRequest, "bad_request", "This stand-in has user tags only, and not %q.", typ)
	}
	return nil
}

// changeTags answers status 200 even if it failed for some resources, which say so.
func (c *call) changeTags(change func(*Resource, []string)) (any, error) {
	in := must.Get(c.tagRequest())
	must.EndIf(len(in.Resources) > 100, refuse(http.StatusBadRequest, "too_many_resources", "At most 100 resources are possible in one request."))
	results := []object{}
	for _, one := range in.Resources {
		result := object{"resource_id": one.ID, "is_error": false}
		r := c.taggable(one.ID)
		switch {
		case r == nil:
			result["is_error"], result["message"], result["code"] = true, "The resource cannot be found.", "404"
		case !c.mayChange(r):
			result["is_error"], result["message"], result["code"] = true, "The caller is not authorized to change the tags of the resource.", "403"
		case len(r.Tags)+len(in.TagNames) > mostTags:
			result["is_error"], result["message"], result["code"] = true, "The resource has too many tags.", "400"
		default:
			change(r, in.TagNames)
		}
		results = append(results, result)
	}
	return object{"results": results}, nil
}

func (c *call) attach(r *Resource, names []string) {
	if c.query.Get("replace") == "true" {
		r.Tags = nil
	}
	for _, name := range names {
		if !contains(r.Tags, name) {
			r.Tags = append(r.Tags, name)
		}
		c.tagged(r.Account, name)
	}
}

func (c *call) detach(r *Resource, names []string) {
	r.Tags = slices.DeleteFunc(r.Tags, func(tag string) bool { return contains(names, tag) })
}

func listTags(c *call) (any, error) {
	must.Do(c.only("tag_type", "account_id", "attached_to", "offset", "limit"))
	must.Do(c.userTags())
	limit := must.Get(c.length("limit", 100, 1000))
	offset := must.Get(c.number("offset", 0, 1<<30))
	var names []string
	if crn := c.query.Get("attached_to"); crn != "" {
		if r := c.taggable(crn); r != nil {
			names = slices.Clone(r.Tags)
		}
	} else {
		for _, r := range c.all(func(r *Resource) bool { return r.Type == "tag" && r.Account == c.who.account }) {
			names = append(names, r.Name)
		}
	}
	slices.Sort(names)
	items := pick.Map(slicePage(names, offset, limit), func(name string) object { return object{"name": name} })
	return object{"total_count": len(names), "offset": offset, "limit": limit, "items": items}, nil
}

func createTag(c *call) (any, error) {
	in := must.Get(c.tagRequest())
	results := []object{}
	for _, name := range in.TagNames {
		c.tagged(c.who.account, name)
		results = append(results, object{"tag_name": name, "is_error": false})
	}
	return object{"results": results}, nil
}

func deleteTag(c *call) (any, error) {
	name := strings.ToLower(c.path("id"))
	tag := c.First(func(r *Resource) bool { return r.Type == "tag" && r.Account == c.who.account && r.Name == name })
	must.EndIf(tag == nil, refuse(http.StatusNotFound, "not_found", "The tag %s cannot be found.", name))
	if r := c.First(func(r *Resource) bool { return r.Account == c.who.account && contains(r.Tags, name) }); r != nil {
		return nil, refuse(http.StatusBadRequest, "tag_attached", "The tag %s is attached to %s and cannot be deleted.", name, r.CRN())
	}
	c.Remove(tag)
	return object{"results": []object{{"provider": "ghost", "is_error": false}}}, nil
}
