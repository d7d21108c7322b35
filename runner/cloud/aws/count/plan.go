package count

import (
	"slices"

	"github.com/ocpctl/ocpctl/runner/cloud"
	"github.com/ocpctl/ocpctl/runner/cloud/aws/kinds"
)

// firstQuestions are the queries that need no other's result, in a fixed order. DNS is queried only for a cluster that may have been
// created under an infraID: before that, its name may be somebody else's.
func (c *Client) firstQuestions(t cloud.Target, public []zone) []question {
	id := identityOf(t)
	var qs []question
	if len(id.infraIDs) > 0 {
		qs = append(qs, c.zonesLeft(t.Domain()))
		for _, z := range public {
			qs = append(qs, c.recordsLeft(z, t.Domain()))
		}
	}
	for _, region := range regionsOf(t, true) {
		for _, tag := range id.ownTags() {
			qs = append(qs, c.askTagged(region, tag.key, tag.value))
		}
	}
	for _, region := range regionsOf(t, false) {
		qs = append(qs, c.computeOf(region, id)...)
		qs = append(qs, c.balancingOf(region, id)...)
	}
	return append(qs, c.globalOf(id)...)
}

// globalOf queries the global services, by name.
func (c *Client) globalOf(id identity) []question {
	var qs []question
	for _, infraID := range id.infraIDs {
		qs = append(qs, c.iamOf(infraID)...)
		qs = append(qs, c.bucketByName(bootstrapBucket(infraID)))
	}
	if prefixes := addSuffix(append(slices.Clone(id.infraIDs), id.ccoNames...), "-"); len(prefixes) > 0 {
		qs = append(qs, c.identitiesNamed(kinds.Role, id, prefixes))
	}
	if prefixes := addSuffix(id.infraIDs, "-"); len(prefixes) > 0 {
		qs = append(qs, c.identitiesNamed(kinds.Profile, id, prefixes), c.identitiesNamed(kinds.User, id, prefixes), c.bucketsNamed(addSuffix(id.infraIDs, registryInfix)))
	}
	for _, name := range id.ccoNames {
		qs = append(qs, c.providersOf(name), c.bucketByName(oidcBucket(name)))
	}
	return qs
}

// computeOf queries one region for EC2 resources.
func (c *Client) computeOf(region string, id identity) []question {
	var qs []question
	for _, kind := range kinds.AllEC2 {
		for _, infraID := range id.infraIDs {
			qs = append(qs, c.ec2Question(region, kind, "tag:"+kubernetesTag(infraID), owned))
		}
		if id.cluster != "" {
			qs = append(qs, c.ec2Question(region, kind, "tag:"+clusterTag, id.cluster))
		}
		if len(id.infraIDs) == 0 || !kind.IsNamed {
			continue
		}
		// An AMI that was copied but not yet tagged, or a group that lost its tags, still has its name.
		names := addSuffix(id.infraIDs, "-*")
		qs = append(qs, id.unlessAnothers(c.ec2Question(region, kind, "tag:Name", names...)))
		switch kind.Noun {
		case "image":
			qs = append(qs, id.unlessAnothers(c.ec2Question(region, kind, "name", names...)))
		case "security-group":
			qs = append(qs, id.unlessAnothers(c.ec2Question(region, kind, "group-name", names...)))
		}
	}
	return qs
}

// balancingOf queries one region for load balancers of both generations.
func (c *Client) balancingOf(region string, id identity) []question {
	qs := []question{c.askClassics(region, id)}
	for _, infraID := range id.infraIDs {
		qs = append(qs, c.balancerByName(region, infraID+"-ext"), c.balancerByName(region, infraID+"-int"))
	}
	if len(id.infraIDs) > 0 {
		qs = append(qs, c.targetGroups(region, id))
	}
	return qs
}

// followUps confirm every ARN that no describe call has seen yet, and query what else is in a VPC that still exists, because that
// blocks its deletion.
func (c *Client) followUps(t cloud.Target, found []located) []question {
	known := map[string]bool{}
	vpcs := map[string][]string{}
	for _, f := range found {
		if f.kind != kindARN && !known[f.ID] {
			known[f.ID] = true
			if f.kind == kinds.VPC.Noun {
				vpcs[f.region] = append(vpcs[f.region], f.ID)
			}
		}
	}
	var qs []question
	for _, f := range found {
		if f.kind == kindARN && !known[f.ID] && !known[lastPart(f.ID)] {
			known[f.ID] = true
			qs = append(qs, c.confirmARN(f.ID, f.region))
		}
	}
	for _, region := range regionsOf(t, false) {
		ids := vpcs[region]
		if len(ids) == 0 {
			continue
		}
		for _, kind := range kinds.AllEC2 {
			if kind.InVPC != "" {
				qs = append(qs, c.ec2Question(region, kind, kind.InVPC, ids...))
			}
		}
		qs = append(qs, c.balancingInVPC(region, ids)...)
	}
	return qs
}

type tag struct{ key, value string }

// ownTags are the tags that mark a resource as this cluster's.
func (id identity) ownTags() []tag {
	var out []tag
	for _, infraID := range id.infraIDs {
		out = append(out, tag{kubernetesTag(infraID), owned}, tag{providerTag(infraID), owned})
	}
	for _, name := range id.ccoNames {
		out = append(out, tag{ccoTag(name), owned})
	}
	if id.cluster != "" {
		out = append(out, tag{clusterTag, id.cluster})
	}
	return out
}

// uniqueNames returns the recorded infraIDs and ccoctl names, without duplicates.
func uniqueNames(t cloud.Target) (infraIDs, ccoNames []string) {
	for _, id := range t.Identities {
		if id.InfraID != "" && !slices.Contains(infraIDs, id.InfraID) {
			infraIDs = append(infraIDs, id.InfraID)
		}
		if id.CCOName != "" && !slices.Contains(ccoNames, id.CCOName) {
			ccoNames = append(ccoNames, id.CCOName)
		}
	}
	return infraIDs, ccoNames
}

// identityNames returns the identities that a pass reports as searched for.
func identityNames(t cloud.Target) []string {
	infraIDs, ccoNames := uniqueNames(t)
	return append(infraIDs, ccoNames...)
}

// regionsOf returns the target's and every recorded region, and the global one if requested.
func regionsOf(t cloud.Target, global bool) []string {
	out := []string{t.Region}
	for _, id := range t.Identities {
		if id.Region != "" && !slices.Contains(out, id.Region) {
			out = append(out, id.Region)
		}
	}
	if global && !slices.Contains(out, globalRegion) {
		out = append(out, globalRegion)
	}
	return out
}

func addSuffix(values []string, suffix string) []string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = v + suffix
	}
	return out
}
