package count

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ocpctl/ocpctl/runner/cloud/ibmcloud/answer"
	"github.com/ocpctl/ocpctl/runner/cloud/ibmcloud/kinds"
)

// kindHit marks a thing that Global Search listed and no other query confirmed: it is an index, which is late and keeps what is gone.
const kindHit = "hit"

// askSearches are the queries of the index, and how each selects from its answer.
func (c *Client) askSearches(account string, id identity) []question {
	var all []question
	add := func(query string, ours func(thing) bool) { all = append(all, c.askSearch(account, query, ours)) }
	every := func(thing) bool { return true }
	for _, infraID := range id.infraIDs {
		named := func(t thing) bool { return isMadeFrom(t.name, infraID) || id.inGroup(t) }
		add("name:"+infraID+"*", named)
		add("name:kube-"+infraID+"*", named)
	}
	for _, cco := range id.ccoNames {
		add("name:"+cco+"*", func(t thing) bool { return id.isNamed(t.name) })
	}
	for _, tag := range id.tagNames() {
		add(fmt.Sprintf("tags:%q", tag), every)
	}
	for _, group := range id.groupIDs {
		add("resource_group_id:"+group, every)
	}
	return all
}

func (c *Client) askSearch(account, query string, ours func(thing) bool) question {
	return question{
		service: "global-search", call: "Search", region: global, asked: query,
		ask: func(ctx context.Context) (found []thing, err error) {
			err = c.api.Search(ctx, account, query, []string{"crn", "name", "type", "family", "resource_group_id"}, func(page []kinds.Hit) error {
				for _, hit := range page {
					if t := (thing{kind: kindHit, id: hit.CRN, crn: hit.CRN, name: hit.Name, group: hit.Group}); ours(t) {
						found = append(found, t)
					}
				}
				return nil
			})
			return found, err
		},
	}
}

// confirmHit is the query that proves whether a hit still exists. ok is false if the pass has listed all of its kind already.
func (c *Client) confirmHit(hit thing, listed []string) (q question, ok bool) {
	of, known := answer.ParseCRN(hit.crn)
	switch {
	case !known:
		return unknownHit(hit), true
	case of.Service == "iam-identity", of.Service == "resource-controller" && of.Kind == "resource-group":
		return question{}, false
	case of.Service == "is":
		kind, known := kinds.FindVPC(of.Kind)
		switch {
		case !known:
			return c.confirmInstance(hit.crn), true
		case slices.Contains(listed, of.Region()):
			return question{}, false
		}
		q = c.vpcQuestion(of.Region(), kind, "id="+of.ID)
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
		ask: func(ctx context.Context) (left []thing, err error) {
			err = c.api.ListTags(ctx, func(page []string) error {
				for _, tag := range page {
					if slices.Contains(names, strings.ToLower(tag)) {
						left = append(left, thing{kind: "user-tag", id: tag, free: administrator,
							command: "ibmcloud resource tag-delete --tag-name " + tag, remark: "after everything with the tag is gone"})
					}
				}
				return nil
			})
			return left, err
		},
	}
}
