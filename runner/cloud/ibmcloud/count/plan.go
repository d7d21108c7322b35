package count

import (
	"context"
	"slices"

	"github.com/ocpctl/ocpctl/runner/cloud"
	"github.com/ocpctl/ocpctl/runner/cloud/ibmcloud/answer"
	"github.com/ocpctl/ocpctl/runner/cloud/ibmcloud/kinds"
)

// lookFor makes the queries of a pass, in a fixed order: regions, then what needs no other's result, then what depends on what was found.
func (c *Client) lookFor(ctx context.Context, t cloud.Target, id identity, zones []kinds.Zone, v *verification) {
	var listed []string
	if len(id.allNames()) > 0 {
		listed = regionsOf(t)
		for _, region := range listed {
			v.addReplies(c.askRegion(ctx, region, id)...)
		}
	}
	v.addReplies(c.askAll(ctx, c.firstQuestions(t, id, zones, v))...)
	v.addReplies(c.askAll(ctx, c.followUps(id, listed, v))...)
}

// firstQuestions are the queries of the global services that need no other's result, but for the VPCs that were found.
func (c *Client) firstQuestions(t cloud.Target, id identity, zones []kinds.Zone, v *verification) []question {
	account := v.pass.Account
	var qs []question
	vpcs := v.valuesOf(kinds.NounVPC, func(t thing) string { return t.id })
	for _, z := range zones {
		if z.Name == kinds.DNSName(&t.BaseDomain) {
			qs = append(qs, c.recordsLeft(z, kinds.DNSName(new(t.Domain()))))
			if z.Private {
				qs = append(qs, c.networksLeft(z, vpcs))
			}
		}
	}
	if len(id.allNames()) > 0 {
		qs = append(qs, c.groupLeft(account, id), c.askReclamations(account, id, id.instanceNames()), c.serviceIDs(account, id))
	}
	for _, group := range id.groupIDs {
		qs = append(qs, c.instancesIn(group))
	}
	for _, name := range id.instanceNames() {
		qs = append(qs, c.instancesNamed(name), c.keysNamed(name))
	}
	if len(id.tagNames()) > 0 {
		qs = append(qs, c.tagsLeft(id))
	}
	return append(qs, c.askSearches(account, id)...)
}

// followUps ask for what mentions what was found, and confirm every hit of the index that nothing else has seen.
func (c *Client) followUps(id identity, listed []string, v *verification) []question {
	account := v.pass.Account
	var qs []question
	if len(id.allNames()) > 0 {
		iamIDs := v.valuesOf(kindServiceID, func(t thing) string { return t.iamID })
		guid := func(t thing) string { of, _ := answer.ParseCRN(t.crn); return of.Instance }
		of := owners{iamIDs: iamIDs, groups: id.groupIDs, instances: slices.Concat(v.valuesOf(kindInstance, guid), v.valuesOf(kindReclamation, guid))}
		qs = append(qs, c.apiKeys(account, id, iamIDs), c.accessPolicies(account, of), c.askAuthorizations(account, id, of))
	}
	known := map[string]bool{}
	for _, t := range v.found {
		if t.kind != kindHit {
			known[keyOf(t)] = true
		}
	}
	for _, t := range v.found {
		if t.kind != kindHit || known[keyOf(t)] {
			continue
		}
		known[keyOf(t)] = true
		if q, ok := c.confirmHit(t, listed); ok {
			qs = append(qs, q)
		}
	}
	return qs
}
