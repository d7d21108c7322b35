package aws

import (
	"maps"
	"slices"
	"strings"

	"github.com/ocpctl/ocpctl/internal/tagkey"
	"github.com/ocpctl/ocpctl/runner/cloud"
)

// nodeKinds are the node kinds for which the installer creates a role and an instance profile.
var nodeKinds = []string{"master", "worker", "bootstrap"}

func nodeRole(infraID, kind string) string    { return infraID + "-" + kind + "-role" }
func nodeProfile(infraID, kind string) string { return infraID + "-" + kind + "-profile" }
func bootstrapBucket(infraID string) string   { return "openshift-bootstrap-data-" + infraID }

// issuerBucket is the public bucket with the cluster's issuer documents from ccoctl; the identity provider is named after it.
func issuerBucket(ccoName string) string { return ccoName + "-oidc" }

// claim is what a resource's tags say about its owner.
type claim int

const (
	unclaimed claim = iota
	ours
	anothers
)

// owner identifies a cluster by the names on its resources.
type owner struct {
	cluster                   string // the cluster's id
	installation              string // of this installation of ocpctl
	infraIDs, uuids, ccoNames []string
}

func ownerOf(t cloud.Target) owner {
	o := owner{cluster: t.Cluster, installation: t.Installation}
	for _, id := range t.Identities {
		o.infraIDs, o.uuids, o.ccoNames = appendNew(o.infraIDs, id.InfraID), appendNew(o.uuids, id.ClusterUUID), appendNew(o.ccoNames, id.CCOName)
	}
	return o
}

// appendNew adds a value unless it is empty or already contained.
func appendNew(values []string, value string) []string {
	if value == "" || slices.Contains(values, value) {
		return values
	}
	return append(values, value)
}

// ownMarks are the tags by which the destroyers of this cluster search: the installer's and ccoctl's.
func (o owner) ownMarks() map[string]string {
	marks := map[string]string{}
	for _, id := range o.infraIDs {
		marks[tagkey.KubernetesCluster+id], marks[tagkey.ProviderCluster+id] = tagkey.Owned, tagkey.Owned
	}
	for _, name := range o.ccoNames {
		marks[tagkey.CloudCredential+name] = tagkey.Owned
	}
	return marks
}

// isMarkedOn reports whether the tags contain a mark by which a destroyer of this cluster searches.
func (o owner) isMarkedOn(tags map[string]string) bool {
	if slices.Contains(o.uuids, tags[tagkey.OpenShiftClusterID]) {
		return true
	}
	for key, value := range o.ownMarks() {
		if tags[key] == value {
			return true
		}
	}
	return false
}

// foreignMark returns a tag, as key=value, by which another cluster or another installation owns the resource; empty if there is
// none.
func (o owner) foreignMark(tags map[string]string) string {
	own := o.ownMarks()
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		value := tags[key]
		_, mine := own[key]
		foreign := false
		switch {
		case key == tagkey.ClusterID:
			foreign = value != o.cluster
		case key == tagkey.Installation:
			foreign = o.installation != "" && value != o.installation
		case key == tagkey.OpenShiftClusterID:
			foreign = len(o.uuids) > 0 && !slices.Contains(o.uuids, value)
		case strings.HasPrefix(key, tagkey.KubernetesCluster), strings.HasPrefix(key, tagkey.ProviderCluster), strings.HasPrefix(key, tagkey.CloudCredential):
			foreign = !mine
		}
		if foreign {
			return key + "=" + value
		}
	}
	return ""
}

// claimOf reads the tags. A resource with another cluster's tag belongs to that cluster, whatever other tags it has: deleting it would
// take it from somebody with a claim to it.
func (o owner) claimOf(tags map[string]string) claim {
	if o.foreignMark(tags) != "" {
		return anothers
	}
	if o.cluster != "" && tags[tagkey.ClusterID] == o.cluster {
		return ours
	}
	for key := range o.ownMarks() {
		if _, there := tags[key]; there {
			return ours
		}
	}
	return unclaimed
}

// isBeginOf reports that a name starts with one of the infraIDs, then rest, and is longer.
func (o owner) isBeginOf(name, rest string) bool {
	return slices.ContainsFunc(o.infraIDs, func(infraID string) bool { return strings.HasPrefix(name, infraID+rest) })
}
