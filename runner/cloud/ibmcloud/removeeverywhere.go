package ibmcloud

import (
	"context"
	"fmt"
	"slices"

	"github.com/ocpctl/ocpctl/internal/tagkey"
	"github.com/ocpctl/ocpctl/runner/cloud"
	"github.com/ocpctl/ocpctl/runner/cloud/ibmcloud/answer"
)

// removeEverywhere deletes snapshots and images in any region and resource group that somebody made of the cluster's, with its tags. The search index
// covers the whole account and is behind, so only the tags on the resource itself count: it must have the cluster's id and this installation's,
// no mark of anybody else, and must not be older than the cluster. Everything else that has a tag of the cluster is counted, and people decide.
func (s *removal) removeEverywhere(ctx context.Context) {
	if s.owner.cluster == "" || s.owner.installation == "" {
		return
	}
	hits, err := s.searchIndex(ctx, fmt.Sprintf("tags:%q", s.owner.cluster))
	s.AddError("remove", err)
	for _, k := range []kind{images, snapshots} {
		found := map[string][]string{} // CRNs by region
		var regions []string
		for _, hit := range hits {
			if of, known := answer.ParseCRN(hit.CRN); known && of.Service == "is" && of.Kind == k.name {
				regions = appendNew(regions, of.Region())
				found[of.Region()] = append(found[of.Region()], hit.CRN)
			}
		}
		for _, region := range regions {
			s.removeTagged(ctx, region, k, found[region])
		}
	}
}

// removeTagged deletes those of a region's objects that exist and are exactly the cluster's.
func (s *removal) removeTagged(ctx context.Context, region string, k kind, crns []string) {
	api, err := s.vpcIn(ctx, region)
	if err != nil {
		s.AddError("remove in "+region, err)
		return
	}
	all, err := s.objectsIn(ctx, region, k)
	s.AddError("remove", err)
	for _, obj := range all {
		if !slices.Contains(crns, obj.CRN) || obj.isGoing() || s.owner.isOlder(obj.CRN, obj.Created) {
			continue
		}
		tags, err := s.tagsOn(ctx, obj.CRN)
		switch {
		case err != nil:
			s.AddError("read the tags of "+obj.String(), err)
		case !slices.Contains(tags, s.owner.cluster) || !slices.Contains(tags, s.owner.installation):
			s.Keep(cloud.KeptMarked, obj.ID, "%s in %s does not have both tags %s and %s of this cluster", obj, region, tagkey.ClusterID, tagkey.Installation)
		default:
			s.removeObject(ctx, api, obj)
		}
	}
}
