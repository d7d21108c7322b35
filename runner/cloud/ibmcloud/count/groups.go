package count

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/IBM/platform-services-go-sdk/iampolicymanagementv1"
	"github.com/IBM/platform-services-go-sdk/resourcemanagerv2"

	"github.com/ocpctl/ocpctl/runner/cloud/ibmcloud/answer"
	"github.com/ocpctl/ocpctl/runner/cloud/ibmcloud/kinds"
)

const kindGroup = "resource-group"

// groupControl finds the cluster's resource groups, and proves of each that is not listed that it is gone. That is a proof for everything in
// it: IBM deletes a group only when it is empty. Without it an empty answer proves nothing: IBM's lists leave out, with status 200, whatever
// the credentials have no access to, and that may be the whole cluster.
func (c *Client) groupControl(ctx context.Context, account string, id *identity) []reply {
	a := c.askOne(ctx, question{service: "resource-manager", call: "ListResourceGroups", region: global, asked: "account_id=" + account,
		ask: func(ctx context.Context) ([]thing, error) {
			all, err := c.groupsOf(ctx, account)
			if err == nil && len(all) == 0 {
				err = errors.New("no resource group is visible, but every account has one")
			}
			return all, err
		}})
	if a.query.Err != "" {
		return []reply{a}
	}
	listed := a.things
	a.things = nil // groupLeft asks for the cluster's
	for _, g := range listed {
		if slices.Contains(id.groupNames(), g.name) {
			id.groupIDs = append(id.groupIDs, g.id)
		}
	}
	answers := []reply{a}
	for _, g := range id.groups {
		there := func(t thing) bool { return t.id == g.id || g.id == "" && t.name == g.name }
		switch {
		case slices.ContainsFunc(listed, there) && slices.Contains(id.groupIDs, g.id):
		case g.id != "":
			one := c.askOne(ctx, c.groupByID(g))
			for _, t := range one.things {
				if t.kind == kindGroup && !slices.Contains(id.groupIDs, t.id) {
					id.groupIDs = append(id.groupIDs, t.id)
				}
			}
			answers = append(answers, one)
		case slices.ContainsFunc(listed, there):
		case g.used:
			answers = append(answers, c.askOne(ctx, c.seesAllGroups(account, g)))
		}
	}
	return answers
}

// groupByID queries one resource group. It is gone if it is not found or deleted; a refusal says nothing.
func (c *Client) groupByID(g recordedGroup) question {
	return question{
		service: "resource-manager", call: "GetResourceGroup", region: global, asked: "id=" + g.id,
		next: fmt.Sprintf("give the runner's credentials the role Viewer on resource group %s (%s) and the roles that a teardown needs on everything in it: "+
			"without them nobody can tell whether the cluster is gone", g.name, g.id),
		ask: func(ctx context.Context) ([]thing, error) {
			api, err := c.api.ResourceManager()
			if err != nil {
				return nil, err
			}
			found, response, err := api.GetResourceGroupWithContext(ctx, &resourcemanagerv2.GetResourceGroupOptions{ID: &g.id})
			switch code := answer.StatusOf(response, err); {
			case code == http.StatusNotFound || code == http.StatusGone:
				return nil, nil
			case err != nil:
				return nil, answer.Explain(response, err)
			case found == nil || answer.Text(found.ID) != g.id:
				return nil, answer.ErrNoList
			case answer.Text(found.State) == kinds.GroupDeleted:
				return nil, nil
			}
			return []thing{groupThing(*found)}, nil
		},
	}
}

// seesAllGroups is the control for a resource group whose id was never recorded, as it is after a recovery: the credentials have a policy of
// their own for all resource groups of the account, so the list of groups is complete.
func (c *Client) seesAllGroups(account string, g recordedGroup) question {
	_, iamID, err := c.lookUpCaller()
	kind := iampolicymanagementv1.ListV2PoliciesOptionsTypeAccessConst
	return question{
		service: "iam-policy-management", call: "ListV2Policies", region: global, asked: "type=access; iam_id=" + iamID + "; all resource groups",
		next: fmt.Sprintf("give the runner's credentials an access policy of their own with the role Viewer on all resource groups of the account: "+
			"the id of resource group %s was never recorded, so only a complete list of groups proves that it is gone", g.name),
		ask: func(ctx context.Context) ([]thing, error) {
			if err != nil {
				return nil, err
			}
			sees := false
			err := c.api.ListPolicies(ctx, account, &kind, &iamID, func(page []kinds.Policy) error {
				sees = sees || iamID != "" && slices.ContainsFunc(page, func(p kinds.Policy) bool { return p.Who["iam_id"] == iamID && onAllGroups(p) })
				return nil
			})
			if err == nil && !sees {
				err = fmt.Errorf("resource group %s is not listed, but the credentials may not see all groups", g.name)
			}
			return nil, err
		},
	}
}

// onAllGroups reports that an access policy is for every resource group of the account, at all times.
func onAllGroups(p kinds.Policy) bool {
	if answer.Text(p.State) != "active" || p.Rule != nil || p.Resource == nil || len(p.Resource.Tags) > 0 {
		return false
	}
	for key := range p.About {
		if key != "accountId" && key != "resourceType" {
			return false
		}
	}
	return p.About["resourceType"] == kindGroup
}

// groupsOf lists the account's resource groups.
func (c *Client) groupsOf(ctx context.Context, account string) (all []thing, err error) {
	list, err := c.api.ListGroups(ctx, account)
	for _, g := range list {
		all = append(all, groupThing(g))
	}
	return all, err
}

func groupThing(g resourcemanagerv2.ResourceGroup) thing {
	return thing{
		kind: kindGroup, id: answer.Text(g.ID), name: answer.Text(g.Name),
		free: administrator, command: "ibmcloud resource group-delete " + answer.Text(g.Name), remark: "after everything in it is gone, reclamations too",
	}
}

// groupLeft queries the cluster's resource groups.
func (c *Client) groupLeft(account string, id identity) question {
	names := id.groupNames()
	return question{
		service: "resource-manager", call: "ListResourceGroups", region: global, asked: "name=" + strings.Join(names, ","),
		ask: func(ctx context.Context) ([]thing, error) {
			all, err := c.groupsOf(ctx, account)
			return slices.DeleteFunc(all, func(t thing) bool { return !slices.Contains(names, t.name) }), err
		},
	}
}
