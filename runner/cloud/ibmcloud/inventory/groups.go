package inventory

import (
	"context"
	"slices"
	"strings"

	"github.com/IBM/platform-services-go-sdk/globalsearchv2"
	"github.com/IBM/platform-services-go-sdk/globaltaggingv1"
	"github.com/IBM/platform-services-go-sdk/resourcemanagerv2"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/runner/cloud/ibmcloud/answer"
)

// groups are the CRNs of the reported resource groups by id, and no CRN for the others.
type groups map[string]string

func (c *Client) findGroups(ctx context.Context, account string, tags index) (groups, error) {
	all, err := c.everyGroup(ctx, account)
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
	return groupNamed(name) || tagged(of.tags[answer.Text(g.CRN, g.ID)]) || ccoName.MatchString(name) && of.groups[answer.Text(g.ID)]
}

// everyGroup lists the account's resource groups. The call has no pages.
func (c *Client) everyGroup(ctx context.Context, account string) ([]resourcemanagerv2.ResourceGroup, error) {
	api, err := c.groupManager()
	if err != nil {
		return nil, err
	}
	list, response, err := api.ListResourceGroupsWithContext(ctx, &resourcemanagerv2.ListResourceGroupsOptions{AccountID: &account})
	switch {
	case err != nil:
		return nil, answer.Explain(response, err)
	case list == nil || list.Resources == nil:
		return nil, answer.ErrNoList
	}
	return slices.DeleteFunc(list.Resources, func(g resourcemanagerv2.ResourceGroup) bool { return answer.Text(g.State) == "DELETED" }), nil
}

func (l *listing) listGroups() {
	l.run("ListResourceGroups", func(ctx context.Context) error {
		all, err := l.everyGroup(ctx, l.account)
		if err != nil {
			return err
		}
		var page []thing
		for _, g := range all {
			page = append(page, thing{holds: isGroup(g, l.index), SeenResource: contract.SeenResource{
				ID: answer.Text(g.CRN, g.ID), Type: "resource-group", Name: answer.Text(g.Name), MadeAt: made(g.CreatedAt),
			}})
		}
		return l.report(page)
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
	err := c.search(ctx, account, "tags:*", func(crn, group string, all []string) {
		for _, tag := range all {
			found.in[strings.ToLower(tag)] = true
		}
		if tags := tagsOf(all); tags != nil {
			found.tags[crn] = tags
			found.groups[group] = found.groups[group] || tagged(tags)
		}
	})
	return found, err
}

// search reads every page of an answer of the index.
func (c *Client) search(ctx context.Context, account, query string, take func(crn, group string, tags []string)) error {
	api, err := c.searching()
	if err != nil {
		return err
	}
	options := &globalsearchv2.SearchOptions{Query: &query, Fields: []string{"crn", "resource_group_id", "tags"}, AccountID: &account, Limit: answer.Hundred()}
	for {
		page, err := searchPage(ctx, api, options)
		if err != nil {
			return err
		}
		for _, item := range page.Items {
			group, _ := item.GetProperty("resource_group_id").(string)
			var tags []string
			some, _ := item.GetProperty("tags").([]any)
			for _, tag := range some {
				if text, ok := tag.(string); ok {
					tags = append(tags, text)
				}
			}
			take(answer.Text(item.CRN), group, tags)
		}
		if len(page.Items) == 0 || answer.Text(page.SearchCursor) == "" {
			return nil
		}
		// The cursor says what is searched for.
		options = &globalsearchv2.SearchOptions{SearchCursor: page.SearchCursor, AccountID: &account, Limit: answer.Hundred()}
	}
}

func searchPage(ctx context.Context, api *globalsearchv2.GlobalSearchV2, options *globalsearchv2.SearchOptions) (*globalsearchv2.ScanResult, error) {
	page, response, err := api.SearchWithContext(ctx, options)
	switch {
	case err != nil:
		return nil, answer.Explain(response, err)
	case page == nil || page.Items == nil:
		return nil, answer.ErrNoList
	}
	return page, nil
}

// listTags lists the account's user tags that name one cluster and that nothing has: a tag stays when the last resource with it is gone.
func (l *listing) listTags() {
	l.run("ListTags", func(ctx context.Context) error {
		api, err := l.tagging()
		if err != nil {
			return err
		}
		kind := globaltaggingv1.ListTagsOptionsTagTypeUserConst
		return answer.CountedPages(func(_, listed int64) (int, *int64, error) {
			list, response, err := api.ListTagsWithContext(ctx, &globaltaggingv1.ListTagsOptions{TagType: &kind, Offset: &listed, Limit: answer.Hundred()})
			switch {
			case err != nil:
				return 0, nil, answer.Explain(response, err)
			case list == nil:
				return 0, nil, answer.ErrNoList
			}
			var page []thing
			for _, t := range list.Items {
				name := strings.ToLower(answer.Text(t.Name))
				if !l.index.in[name] && (owner(name) != "" || strings.HasPrefix(name, clusterPrefix)) {
					page = append(page, thing{SeenResource: contract.SeenResource{ID: "user-tag/" + name, Type: "user-tag", Name: name, Tags: tagsOf([]string{name})}})
				}
			}
			return len(list.Items), list.TotalCount, l.report(page)
		})
	})
}

// clusterPrefix begins our own tag with a cluster's id.
const clusterPrefix = "clusterid:"

// listSearch reports what has a cluster's tag and is in no other part, if it still exists.
func (l *listing) listSearch() {
	l.run("Search", func(ctx context.Context) error {
		return l.eachCRN(ctx, func(crn string) error {
			of, ok := answer.ParseCRN(crn)
			if !ok || !tagged(l.index.tags[crn]) || listedElsewhere(of) {
				return nil
			}
			found, _, err := l.instance(ctx, partSearch, crn)
			if err != nil || found == nil {
				return err
			}
			t := instanceThing(*found)
			t.Type, t.Region, t.Detail = "tagged-resource", of.Region(), of.Service+" "+of.Kind
			return l.report([]thing{t})
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

// listedElsewhere reports that another part lists a resource, with what is true of it now.
func listedElsewhere(of answer.CRN) bool {
	switch {
	case of.Service == "is":
		return vpcKinds[of.Kind]
	case of.Service == "iam-identity", of.Kind == "resource-group":
		return true
	}
	return of.Kind == "" || of.Kind == "resource-key" || of.Kind == "bucket" || of.Kind == "zone" // instances, and what goes with them
}
