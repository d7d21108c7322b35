package count

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/IBM/platform-services-go-sdk/globalsearchv2"
	"github.com/IBM/platform-services-go-sdk/globaltaggingv1"
)

// kindHit marks a thing that Global Search listed and no other query confirmed: it is an index, which is late and keeps what is gone.
const kindHit = "hit"

// searches are the queries of the index, and how each selects from its answer.
func (c *Client) searches(account string, id identity) []question {
	var all []question
	add := func(query string, ours func(thing) bool) { all = append(all, c.search(account, query, ours)) }
	every := func(thing) bool { return true }
	for _, infraID := range id.infraIDs {
		named := func(t thing) bool { return contains(t.name, infraID) || id.inGroup(t) }
		add("name:"+infraID+"*", named)
		add("name:kube-"+infraID+"*", named)
	}
	for _, cco := range id.ccoNames {
		add("name:"+cco+"*", func(t thing) bool { return id.named(t.name) })
	}
	for _, tag := range id.tagNames() {
		add(fmt.Sprintf("tags:%q", tag), every)
	}
	for _, group := range id.groupIDs {
		add("resource_group_id:"+group, every)
	}
	return all
}

func (c *Client) search(account, query string, ours func(thing) bool) question {
	return question{
		service: "global-search", call: "Search", region: global, asked: query,
		ask: func(ctx context.Context) ([]thing, error) {
			api, err := c.index()
			if err != nil {
				return nil, err
			}
			var found []thing
			options := &globalsearchv2.SearchOptions{Query: &query, Fields: []string{"crn", "name", "type", "family", "resource_group_id"}, AccountID: &account, Limit: hundred()}
			for {
				page, response, err := api.SearchWithContext(ctx, options)
				switch {
				case err != nil:
					return nil, explained(response, err)
				case page == nil || page.Items == nil:
					return nil, errNoList
				}
				for _, item := range page.Items {
					name, _ := item.GetProperty("name").(string)
					group, _ := item.GetProperty("resource_group_id").(string)
					if t := (thing{kind: kindHit, id: text(item.CRN), crn: text(item.CRN), name: name, group: group}); ours(t) {
						found = append(found, t)
					}
				}
				if len(page.Items) == 0 || text(page.SearchCursor) == "" {
					return found, nil
				}
				// The cursor says what is searched for.
				options = &globalsearchv2.SearchOptions{SearchCursor: page.SearchCursor, AccountID: &account, Limit: hundred()}
			}
		},
	}
}

// confirm is the query that proves whether a hit still exists. ok is false if the pass has listed all of its kind already.
func (c *Client) confirm(hit thing, listed []string) (q question, ok bool) {
	of, known := parseCRN(hit.crn)
	switch {
	case !known:
		return unknownHit(hit), true
	case of.service == "iam-identity", of.service == "resource-controller" && of.kind == "resource-group":
		return question{}, false
	case of.service == "is":
		i := slices.IndexFunc(vpcKinds, func(k vpcKind) bool { return k.crnType == of.kind })
		switch {
		case i < 0:
			return c.confirmInstance(hit.crn), true
		case slices.Contains(listed, regionOf(of)):
			return question{}, false
		}
		q = c.vpcQuestion(regionOf(of), vpcKinds[i], "id="+of.id)
		list := q.ask
		q.ask = func(ctx context.Context) ([]thing, error) {
			all, err := list(ctx)
			return slices.DeleteFunc(all, func(t thing) bool { return t.id != of.id }), err
		}
		return q, true
	case of.kind != "": // a part of an instance, which goes with it
		return c.confirmInstance(strings.TrimSuffix(hit.crn, of.kind+":"+of.id) + ":"), true
	}
	return c.confirmInstance(hit.crn), true
}

// regionOf returns the region of a resource, whose CRN may name its zone.
func regionOf(of crn) string {
	parts := strings.Split(of.region, "-")
	if last := parts[len(parts)-1]; len(parts) > 2 && strings.Trim(last, "0123456789") == "" {
		return strings.Join(parts[:len(parts)-1], "-")
	}
	return of.region
}

// unknownHit is something that the index names by what is no CRN, so it cannot be looked up.
func unknownHit(hit thing) question {
	return question{
		service: "global-search", call: "Search", region: global, asked: "crn=" + hit.id,
		ask: func(context.Context) ([]thing, error) {
			return []thing{{kind: "tagged-resource", id: hit.id, name: hit.name, free: fmt.Sprintf("its creator: delete %s manually", hit.id)}}, nil
		},
	}
}

// tagsLeft queries the account's user tags: a tag stays when the last resource with it is gone.
func (c *Client) tagsLeft(id identity) question {
	names := id.tagNames()
	return question{
		service: "global-tagging", call: "ListTags", region: global, asked: "tag=" + strings.Join(names, ","),
		ask: func(ctx context.Context) ([]thing, error) {
			api, err := c.tags()
			if err != nil {
				return nil, err
			}
			kind, seen, left := globaltaggingv1.ListTagsOptionsTagTypeUserConst, int64(0), []thing(nil)
			for {
				page, response, err := api.ListTagsWithContext(ctx, &globaltaggingv1.ListTagsOptions{TagType: &kind, Offset: &seen, Limit: hundred()})
				switch {
				case err != nil:
					return nil, explained(response, err)
				case page == nil || page.TotalCount == nil:
					return nil, errNoList
				}
				for _, t := range page.Items {
					if slices.Contains(names, strings.ToLower(text(t.Name))) {
						left = append(left, thing{kind: "user-tag", id: text(t.Name), free: fmt.Sprintf(
							"an administrator of the account: ibmcloud resource tag-delete --tag-name %s (after everything with the tag is gone)", text(t.Name))})
					}
				}
				seen += int64(len(page.Items))
				switch {
				case seen >= *page.TotalCount:
					return left, nil
				case len(page.Items) == 0:
					return nil, fmt.Errorf("a page is empty, but only %d of %d tags were listed", seen, *page.TotalCount)
				}
			}
		},
	}
}
