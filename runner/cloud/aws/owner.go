package aws

import (
	"slices"
	"strings"

	"github.com/ocpctl/ocpctl/internal/tagkey"
	"github.com/ocpctl/ocpctl/runner/cloud"
)

// nodeKinds are those the installer makes a role and an instance profile for.
var nodeKinds = []string{"master", "worker", "bootstrap"}

func nodeRole(infraID, kind string) string    { return infraID + "-" + kind + "-role" }
func nodeProfile(infraID, kind string) string { return infraID + "-" + kind + "-profile" }
func bootstrapBucket(infraID string) string   { return "openshift-bootstrap-data-" + infraID }

// issuerBucket is the public bucket ccoctl puts the cluster's issuer documents into; its provider is called like it.
func issuerBucket(ccoName string) string { return ccoName + "-oidc" }

// claim is what the tags of a resource say about whose it is.
type claim int

const (
	unclaimed claim = iota
	ours
	anothers
)

// owner is a cluster as its resources name it.
type owner struct {
	cluster            string // our id
	infraIDs, ccoNames []string
}

func ownerOf(t cloud.Target) owner {
	o := owner{cluster: t.Cluster}
	for _, id := range t.Identities {
		o.infraIDs, o.ccoNames = with(o.infraIDs, id.InfraID), with(o.ccoNames, id.CCOName)
	}
	return o
}

// regionsOf are the target's region and every recorded one.
func regionsOf(t cloud.Target) []string {
	regions := []string{t.Region}
	for _, id := range t.Identities {
		regions = with(regions, id.Region)
	}
	return regions
}

// with adds a value that is neither empty nor there.
func with(values []string, value string) []string {
	if value == "" || slices.Contains(values, value) {
		return values
	}
	return append(values, value)
}

// claim reads tags. One tag of this cluster's outweighs any other's.
func (o owner) claim(tags map[string]string) claim {
	if o.cluster != "" && tags[tagkey.ClusterID] == o.cluster {
		return ours
	}
	var keys []string
	for _, id := range o.infraIDs {
		keys = append(keys, tagkey.KubernetesCluster+id, tagkey.ProviderCluster+id)
	}
	for _, name := range o.ccoNames {
		keys = append(keys, tagkey.CloudCredential+name)
	}
	said := unclaimed
	for key := range tags {
		switch {
		case slices.Contains(keys, key):
			return ours
		case key == tagkey.ClusterID, strings.HasPrefix(key, tagkey.KubernetesCluster), strings.HasPrefix(key, tagkey.ProviderCluster), strings.HasPrefix(key, tagkey.CloudCredential):
			said = anothers
		}
	}
	return said
}

// begins reports that a name is one of the infraIDs and then rest and more.
func (o owner) begins(name, rest string) bool {
	return slices.ContainsFunc(o.infraIDs, func(infraID string) bool { return strings.HasPrefix(name, infraID+rest) })
}
