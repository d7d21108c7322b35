package aws

import (
	"slices"

	"github.com/ocpctl/ocpctl/runner/cloud"
)

// firstQuestions are those that need no other's answer, in a fixed order.
func (c *Client) firstQuestions(t cloud.Target, public []zone) []question {
	infraIDs, ccoNames := names(t)
	qs := []question{c.zonesLeft(t.Domain())}
	for _, z := range public {
		qs = append(qs, c.recordsLeft(z, t.Domain()))
	}
	for _, region := range regions(t, true) {
		for _, id := range infraIDs {
			qs = append(qs, c.tagged(region, kubernetesTag(id), "owned"), c.tagged(region, providerTag(id), "owned"))
		}
		if t.Cluster != "" {
			qs = append(qs, c.tagged(region, clusterTag, t.Cluster))
		}
	}
	for _, region := range regions(t, false) {
		qs = append(qs, c.regional(region, t.Cluster, infraIDs)...)
	}
	for _, id := range infraIDs {
		qs = append(qs, c.iamOf(id)...)
		qs = append(qs, c.bucketByName(bootstrapBucket(id)))
	}
	if len(infraIDs) > 0 {
		qs = append(qs, c.usersNamed(suffixed(infraIDs, "-")), c.bucketsNamed(suffixed(infraIDs, "-image-registry-")))
	}
	for _, name := range ccoNames {
		qs = append(qs, c.rolesNamed([]string{name + "-"}), c.oidcProvider(name), c.bucketByName(name+"-oidc"))
	}
	return qs
}

// regional asks one region for EC2 resources and load balancers.
func (c *Client) regional(region, cluster string, infraIDs []string) []question {
	var qs []question
	for _, kind := range ec2Kinds {
		for _, id := range infraIDs {
			qs = append(qs, c.ec2Question(region, kind, "tag:"+kubernetesTag(id), "owned"))
		}
		if cluster != "" {
			qs = append(qs, c.ec2Question(region, kind, "tag:"+clusterTag, cluster))
		}
		if len(infraIDs) == 0 {
			continue
		}
		// An AMI copied and not yet tagged, or a group whose tags went, still has its name.
		qs = append(qs, c.ec2Question(region, kind, "tag:Name", suffixed(infraIDs, "-*")...))
		switch kind.noun {
		case "image":
			qs = append(qs, c.ec2Question(region, kind, "name", suffixed(infraIDs, "-*")...))
		case "security-group":
			qs = append(qs, c.ec2Question(region, kind, "group-name", suffixed(infraIDs, "-*")...))
		}
	}
	for _, id := range infraIDs {
		qs = append(qs, c.balancerByName(region, id+"-ext"), c.balancerByName(region, id+"-int"))
	}
	if len(infraIDs) > 0 {
		qs = append(qs, c.targetGroups(region, suffixed(infraIDs, "-"), nil))
	}
	return qs
}

// followUps confirm every ARN no describe call has already seen, and ask what else stands in a VPC that is still there:
// that is what keeps it.
func (c *Client) followUps(t cloud.Target, found []located) []question {
	known := map[string]bool{}
	vpcs := map[string][]string{}
	for _, f := range found {
		if f.kind != kindARN && !known[f.id] {
			known[f.id] = true
			if f.kind == "vpc" {
				vpcs[f.region] = append(vpcs[f.region], f.id)
			}
		}
	}
	var qs []question
	for _, f := range found {
		if f.kind == kindARN && !known[f.id] && !known[lastPart(f.id)] {
			known[f.id] = true
			qs = append(qs, c.confirm(f.id, f.region))
		}
	}
	for _, region := range regions(t, false) {
		ids := vpcs[region]
		if len(ids) == 0 {
			continue
		}
		for _, kind := range ec2Kinds {
			if kind.inVPC != "" {
				qs = append(qs, c.ec2Question(region, kind, kind.inVPC, ids...))
			}
		}
		qs = append(qs, c.balancersInVPC(region, ids), c.targetGroups(region, nil, ids))
	}
	return qs
}

// names returns the recorded infraIDs and ccoctl names, each once.
func names(t cloud.Target) (infraIDs, ccoNames []string) {
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

// lookedFor is what a pass says it looked for.
func lookedFor(t cloud.Target) []string {
	infraIDs, ccoNames := names(t)
	return append(infraIDs, ccoNames...)
}

// regions returns the target's and every recorded region, and the global one when asked.
func regions(t cloud.Target, global bool) []string {
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

func suffixed(values []string, suffix string) []string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = v + suffix
	}
	return out
}
