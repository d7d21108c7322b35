package count

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/IBM/platform-services-go-sdk/globalsearchv2"
	"github.com/IBM/platform-services-go-sdk/globaltaggingv1"

	"github.com/ocpctl/ocpctl/runner/cloud/ibmcloud/answer"
)

// kindHit marks a thing that Global Search listed and no other query confirmed: it is an index, which is late and keeps what is gone.
const kindHit = "hit"

// searches are the queries of the index, and how each selects from its answer.
func (c *Client) searches(account string, id identity) []question {
	var all []question
	add := func(query string, ours func(thing) bool) { all = append(all, c.search(account, query, ours)) }
	every := func(thing) bool { return true }
	for _, infraID := range id.infraIDs {
		named := func(t thing) bool { return madeFrom(t.name, infraID) || id.inGroup(t) }
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
			options := &globalsearchv2.SearchOptions{Query: &query, Fields: []string{"crn", "name", "type", "family", "resource_group_id"}, AccountID: &account, Limit: answer.Hundred()}
			for {
				page, response, err := api.SearchWithContext(ctx, options)
				switch {
				case err != nil:
					return nil, answer.Explain(response, err)
				case page == nil || page.Items == nil:
					return nil, answer.ErrNoList
				}
				for _, item := range page.Items {
					name, _ := item.GetProperty("name").(string)
					group, _ := item.GetProperty("resource_group_id").(string)
					if t := (thing{kind: kindHit, id: answer.Text(item.CRN), crn: answer.Text(item.CRN), name: name, group: group}); ours(t) {
						found = append(found, t)
					}
				}
				if len(page.Items) == 0 || answer.Text(page.SearchCursor) == "" {
					return found, nil
				}
				// The cursor says what is searched for.
				options = &globalsearchv2.SearchOptions{SearchCursor: page.SearchCursor, AccountID: &account, Limit: answer.Hundred()}
			}
		},
	}
}

// confirm is the query that proves whether a hit still exists. ok is false if the pass has listed all of its kind already.
func (c *Client) confirm(hit thing, listed []string) (q question, ok bool) {
	of, known := answer.ParseCRN(hit.crn)
	switch {
	case !known:
		return unknownHit(hit), true
	case of.Service == "iam-identity", of.Service == "resource-controller" && of.Kind == "resource-group":
		return question{}, false
	case of.Service == "is":
		i := slices.IndexFunc(vpcKinds, func(k vpcKind) bool { return k.crnType == of.Kind })
		switch {
		case i < 0:
			return c.confirmInstance(hit.crn), true
		case slices.Contains(listed, of.Region()):
			return question{}, false
		}
		q = c.vpcQuestion(of.Region(), vpcKinds[i], "id="+of.ID)
		list := q.ask
		q.ask = func(ctx context.Context) ([]thing, error) {
			all, err := list(ctx)
			return slices.DeleteFunc(all, func(t thing) bool { return t.id != of.ID }), err
		}
		return q, true
	case of.Kind != "": // a part of an instance, which goes with it
		return c.confirmInstance(strings.TrimSuffix(hit.crn, of.Kind+":"+of.ID) + ":"), true
	}
	return c.confirmInstance(hit.crn), true
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
			kind, left := globaltaggingv1.ListTagsOptionsTagTypeUserConst, []thing(nil)
			err = answer.CountedPages(func(_, listed int64) (int, *int64, error) {
				page, response, err := api.ListTagsWithContext(ctx, &globaltaggingv1.ListTagsOptions{TagType: &kind, Offset: &listed, Limit: answer.Hundred()})
				switch {
				case err != nil:
					return 0, nil, answer.Explain(response, err)
				case page == nil:
					return 0, nil, answer.ErrNoList
				}
				for _, t := range page.Items {
					if slices.Contains(names, strings.ToLower(answer.Text(t.Name))) {
						left = append(left, thing{kind: "user-tag", id: answer.Text(t.Name), free: fmt.Sprintf(
							"an administrator of the account: ibmcloud resource tag-delete --tag-name %s (after everything with the tag is gone)", answer.Text(t.Name))})
					}
				}
				return len(page.Items), page.TotalCount, nil
			})
			return left, err
		},
	}
}
