package inventory

import (
	"context"
	"slices"
	"strings"

	"github.com/IBM/platform-services-go-sdk/resourcemanagerv2"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/runner/cloud/ibmcloud/answer"
	"github.com/ocpctl/ocpctl/runner/cloud/ibmcloud/kinds"
)

// groups are the CRNs of the reported resource groups by id, and no CRN for the others.
type groups map[string]string

func (c *Client) findGroups(ctx context.Context, account string, tags index) (groups, error) {
	all, err := c.api.ListGroups(ctx, account)
	if err != nil {
		return nil, err
	}
	found := make(groups, len(all))
	for _, g := range all {
		found[answer.Text(g.ID)] = ""
		if isGroup(g, tags) {
			found[answer.Text(g.ID)] = answer.Text(g.CRN, g.ID)
		}
	}
	return found, nil
}

// isGroup reports that a resource group may be a cluster's. A name of ocpctl's form without a digit may be one of words, so it takes a tag
// on the group, or on something in it.
func isGroup(g resourcemanagerv2.ResourceGroup, of index) bool {
	name := answer.Text(g.Name)
	return groupNamed(name) || isTagged(of.tags[answer.Text(g.CRN, g.ID)]) || ccoName.MatchString(name) && of.groups[answer.Text(g.ID)]
}

func (l *listing) listGroups() {
	l.runList("ListResourceGroups", func(ctx context.Context) error {
		all, err := l.api.ListGroups(ctx, l.account)
		if err != nil {
			return err
		}
		var page []thing
		for _, g := range all {
			page = append(page, thing{holds: isGroup(g, l.index), SeenResource: contract.SeenResource{
				ID: answer.Text(g.CRN, g.ID), Type: "resource-group", Name: answer.Text(g.Name), MadeAt: kinds.MadeAt(g.CreatedAt),
			}})
		}
		return l.reportPage(page)
	})
}

// index is the tags of everything that has any.
type index struct {
	tags   map[string]map[string]string // by CRN
	groups map[string]bool              // ids of resource groups with something that has a cluster's tag
	in     map[string]bool              // user tags that something has, in lower case
}

// findTags asks the index for the tags of everything that has any: most lists have none in them. The index is late, and keeps for a while
// what is gone; whether something exists is decided by the lists of its service.
func (c *Client) findTags(ctx context.Context, account string) (index, error) {
	found := index{map[string]map[string]string{}, map[string]bool{}, map[string]bool{}}
	err := c.api.Search(ctx, account, "tags:*", []string{"crn", "resource_group_id", "tags"}, func(page []kinds.Hit) error {
		for _, hit := range page {
			for _, tag := range hit.Tags {
				found.in[strings.ToLower(tag)] = true
			}
			if tags := tagsOf(hit.Tags); tags != nil {
				found.tags[hit.CRN] = tags
				found.groups[hit.Group] = found.groups[hit.Group] || isTagged(tags)
			}
		}
		return nil
	})
	return found, err
}

// listTags lists the account's user tags that name one cluster and that nothing has: a tag stays when the last resource with it is gone.
func (l *listing) listTags() {
	l.runList("ListTags", func(ctx context.Context) error {
		return l.api.ListTags(ctx, func(names []string) error {
			var page []thing
			for _, name := range names {
				name = strings.ToLower(name)
				if !l.index.in[name] && (ownerOf(name) != "" || strings.HasPrefix(name, clusterPrefix)) {
					page = append(page, thing{SeenResource: contract.SeenResource{ID: "user-tag/" + name, Type: "user-tag", Name: name, Tags: tagsOf([]string{name})}})
				}
			}
			return l.reportPage(page)
		})
	})
}

// clusterPrefix begins our own tag with a cluster's id.
const clusterPrefix = "clusterid:"

// listSearch reports what has a cluster's tag and is in no other part, if it still exists.
func (l *listing) listSearch() {
	l.runList("Search", func(ctx context.Context) error {
		return l.eachCRN(ctx, func(crn string) error {
			of, ok := answer.ParseCRN(crn)
			if !ok || !isTagged(l.index.tags[crn]) || isListedElsewhere(of) {
				return nil
			}
			found, _, err := l.getInstance(ctx, kinds.ServiceSearch, crn)
			if err != nil || found == nil {
				return err
			}
			t := instanceThing(*found)
			t.Type, t.Region, t.Detail = "tagged-resource", of.Region(), of.Service+" "+of.Kind
			return l.reportPage([]thing{t})
		})
	})
}

// eachCRN visits everything with tags in a fixed order.
func (l *listing) eachCRN(ctx context.Context, visit func(crn string) error) error {
	var all []string
	for crn := range l.index.tags {
		all = append(all, crn)
	}
	slices.Sort(all)
	for _, crn := range all {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := visit(crn); err != nil {
			return err
		}
	}
	return nil
}

// isListedElsewhere reports that another part lists a resource, with what is true of it now.
func isListedElsewhere(of answer.CRN) bool {
	switch {
	case of.Service == "is":
		_, known := kinds.FindVPC(of.Kind)
		return known
	case of.Service == "iam-identity", of.Kind == "resource-group":
		return true
	}
	return of.Kind == "" || of.Kind == "resource-key" || of.Kind == "bucket" || of.Kind == "zone" // instances, and what goes with them
}
