package count

import (
	"context"
	"fmt"
	"slices"

	"github.com/ocpctl/ocpctl/runner/cloud/ibmcloud/kinds"
)

// administrator can remove most resources.
const administrator = "an administrator of the account"

// vpcQuestion lists one kind in one region. The answer contains other clusters' too.
func (c *Client) vpcQuestion(region string, kind kinds.VPC, asked string) question {
	return question{
		service: "is", call: kind.Call, region: region, asked: asked,
		ask: func(ctx context.Context) (things []thing, err error) {
			api, err := c.api.VPC(region)
			if err != nil {
				return nil, err
			}
			err = kind.List(ctx, api, func(page []kinds.Resource) error {
				for _, r := range page {
					things = append(things, thing{
						kind: kind.Noun, id: r.ID, name: r.Name, detail: r.Detail,
						free: administrator, command: fmt.Sprintf("ibmcloud target -r %s && ibmcloud is %s %s", region, kind.Delete, r.ID), remark: kind.Hint,
						crn: r.CRN, group: r.Group, groupName: r.GroupName, vpc: r.VPC, subnets: r.Subnets, tags: r.Tags,
					})
				}
				return nil
			})
			return things, err
		},
	}
}

// askRegion lists everything in one region and selects what is the cluster's.
func (c *Client) askRegion(ctx context.Context, region string, id identity) []reply {
	var questions []question
	for _, kind := range kinds.AllVPC {
		questions = append(questions, c.vpcQuestion(region, kind, "all; resource group, VPC, name or tag of the cluster"))
	}
	answers := c.askAll(ctx, questions)
	vpcs := map[string]bool{}
	marked := func(t thing) bool { return id.inGroup(t) || id.isNamed(t.name) || id.isTagged(t.tags) }
	visitEach(answers, kinds.NounVPC, func(t thing) { vpcs[t.id] = marked(t) })
	subnets := map[string]bool{}
	visitEach(answers, kinds.NounSubnet, func(t thing) { subnets[t.id] = marked(t) || vpcs[t.vpc] })
	for i := range answers {
		answers[i].keepOwn(func(t thing) bool {
			return marked(t) || vpcs[t.vpc] || slices.ContainsFunc(t.subnets, func(subnet string) bool { return subnets[subnet] })
		})
	}
	return answers
}

func visitEach(answers []reply, kind string, do func(thing)) {
	for _, a := range answers {
		for _, t := range a.things {
			if t.kind == kind {
				do(t)
			}
		}
	}
}
