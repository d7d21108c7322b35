package count

import (
	"context"
	"slices"
	"strings"

	"github.com/ocpctl/ocpctl/runner/cloud"
)

// The ownership tags: our own on everything, set through the installer's userTags; the two by which the installer owns a resource,
// which must both be queried since 4.16; and ccoctl's. The count spells the keys itself, so that a wrong spelling in the code that
// deletes does not affect the count too; a test compares both with package tagkey.
const (
	clusterTag    = "ClusterId"
	kubernetesKey = "kubernetes.io/cluster/"
	providerKey   = "sigs.k8s.io/cluster-api-provider-aws/cluster/"
	ccoKey        = "openshift.io/cloud-credential-operator/"
	owned         = "owned"
)

func kubernetesTag(infraID string) string { return kubernetesKey + infraID }
func providerTag(infraID string) string   { return providerKey + infraID }
func ccoTag(ccoName string) string        { return ccoKey + ccoName }

// ownership is whose a resource is, by its tags.
type ownership int

const (
	unmarked ownership = iota // no tag says
	ours
	anothers
)

// identity is what identifies a cluster's resources.
type identity struct {
	cluster            string // the value of clusterTag
	infraIDs, ccoNames []string
}

func identityOf(t cloud.Target) identity {
	infraIDs, ccoNames := uniqueNames(t)
	return identity{cluster: t.Cluster, infraIDs: infraIDs, ccoNames: ccoNames}
}

// ownershipOf reads tags. Names may begin alike by accident (the cluster called demo-abcde has the infraIDs demo-abcde-…, and demo-abcde
// may be an infraID itself), so tags decide about what was found by the beginning of its name.
func (id identity) ownershipOf(tags map[string]string) ownership {
	result := unmarked
	for key, value := range tags {
		known, mine := false, false
		switch {
		case key == clusterTag:
			known, mine = true, id.cluster != "" && value == id.cluster
		case strings.HasPrefix(key, kubernetesKey):
			known, mine = true, slices.Contains(id.infraIDs, strings.TrimPrefix(key, kubernetesKey))
		case strings.HasPrefix(key, providerKey):
			known, mine = true, slices.Contains(id.infraIDs, strings.TrimPrefix(key, providerKey))
		case strings.HasPrefix(key, ccoKey):
			known, mine = true, slices.Contains(id.ccoNames, strings.TrimPrefix(key, ccoKey))
		}
		if mine {
			return ours
		}
		if known {
			result = anothers
		}
	}
	return result
}

// unlessAnothers removes from an answer what has another cluster's tags.
func (id identity) unlessAnothers(q question) question {
	ask := q.ask
	q.ask = func(ctx context.Context) ([]thing, error) {
		things, err := ask(ctx)
		return slices.DeleteFunc(things, func(t thing) bool { return id.ownershipOf(t.Tags) == anothers }), err
	}
	return q
}
