package count

import (
	"cmp"
	"slices"
	"strings"

	"github.com/ocpctl/ocpctl/runner/cloud"
)

// identity is what identifies a cluster's resources.
type identity struct {
	cluster            string // the cluster's id
	infraIDs, ccoNames []string
	groups             []recordedGroup
	groupIDs           []string // of the resource groups that are the cluster's, as far as they still exist
}

// recordedGroup is a resource group that was made for the cluster.
type recordedGroup struct {
	name string
	id   string // empty: it was never learnt
	used bool   // an install began, so something may be in it; nothing is before an infraID is recorded
}

func identityOf(t cloud.Target) identity {
	id := identity{cluster: t.Cluster}
	for _, recorded := range t.Identities {
		if g := (recordedGroup{name: cmp.Or(recorded.CCOName, recorded.InfraID), id: recorded.ResourceGroupID, used: recorded.InfraID != ""}); g.name != "" {
			id.groups = append(id.groups, g)
		}
		if name := recorded.InfraID; name != "" && !slices.Contains(id.infraIDs, name) {
			id.infraIDs = append(id.infraIDs, name)
		}
		if name := recorded.CCOName; name != "" && !slices.Contains(id.ccoNames, name) {
			id.ccoNames = append(id.ccoNames, name)
		}
	}
	return id
}

// allNames returns the identities that a pass reports as searched for.
func (id identity) allNames() []string { return slices.Concat(id.infraIDs, id.ccoNames) }

// groupNames are the names that a cluster's resource group may have: ours, or the one that the installer gives when it was told none.
func (id identity) groupNames() []string { return slices.Concat(id.ccoNames, id.infraIDs) }

// inGroup reports that a thing is in one of the cluster's resource groups.
func (id identity) inGroup(t thing) bool {
	return t.group != "" && slices.Contains(id.groupIDs, t.group) || t.groupName != "" && slices.Contains(id.groupNames(), t.groupName)
}

// kubernetesTag is the user tag that the installer's destroyer finds volumes by, and that the storage driver may set.
func kubernetesTag(infraID string) string { return "kubernetes-io-cluster-" + infraID + ":owned" }

// registryTag is what the image registry's operator puts on its Object Storage instance.
func registryTag(infraID string) string { return "kubernetes.io_cluster_" + infraID + ":owned" }

// clusterTag is our own tag with the cluster's id. IBM keeps tags in lower case.
func clusterTag(cluster string) string { return "clusterid:" + strings.ToLower(cluster) }

// tagNames are the user tags that name this cluster and no other: the installer puts the bare infraID on everything.
func (id identity) tagNames() (names []string) {
	for _, infraID := range id.infraIDs {
		names = append(names, infraID, kubernetesTag(infraID), registryTag(infraID))
	}
	if id.cluster != "" {
		names = append(names, clusterTag(id.cluster))
	}
	return names
}

func (id identity) isTagged(tags []string) bool {
	names := id.tagNames()
	return slices.ContainsFunc(tags, func(tag string) bool { return slices.Contains(names, strings.ToLower(tag)) })
}

// isNamed reports that a name was made from an infraID of the cluster, or from its name for ccoctl.
func (id identity) isNamed(name string) bool {
	return slices.ContainsFunc(id.infraIDs, func(infraID string) bool { return isMadeFrom(name, infraID) }) ||
		slices.ContainsFunc(id.ccoNames, func(cco string) bool { return name == cco || strings.HasPrefix(name, cco+"-") })
}

// isMadeFrom reports that a name begins with an infraID as a whole part, or is that of a load balancer that Kubernetes makes for a service of the
// cluster (kube-<infraID>-<uid>). A name with the infraID further inside is somebody else's: nothing of a cluster is called like that. Nor is
// the infraID the beginning of a longer one: the cluster called demo-abcde has infraIDs like demo-abcde-x7k2p, and demo-abcde may be an
// infraID itself. A machine called <infraID>-worker-2-x7k2p looks like another cluster's too; it is found by its resource group and its VPC.
func isMadeFrom(name, infraID string) bool {
	rest, begins := strings.CutPrefix(strings.TrimPrefix(name, "kube-"), infraID)
	return infraID != "" && begins && (rest == "" || strings.ContainsAny(rest[:1], "-._/")) && !hasRandomPart(rest)
}

// randomAlphabet is what infraIDs end with five characters of (k8s.io/apimachinery/pkg/util/rand).
const randomAlphabet = "bcdfghjklmnpqrstvwxz2456789"

// hasRandomPart reports that one of the parts of the rest of a name may be what another infraID ends with.
func hasRandomPart(rest string) bool {
	return slices.ContainsFunc(strings.Split(rest, "-"), func(part string) bool {
		return len(part) == 5 && strings.Trim(part, randomAlphabet) == ""
	})
}

// regionsOf returns the target's and every recorded region.
func regionsOf(t cloud.Target) []string {
	out := []string{t.Region}
	for _, id := range t.Identities {
		if id.Region != "" && !slices.Contains(out, id.Region) {
			out = append(out, id.Region)
		}
	}
	return out
}
