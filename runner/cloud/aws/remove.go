package aws

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/internal/tagkey"
	"github.com/ocpctl/ocpctl/runner/cloud"
)

// Remove deletes what the installer's destroy leaves behind after an interrupted create, and ccoctl's resources, which it never
// touches: the private zone that was never tagged, public records without a private twin, the bootstrap bucket, the copied AMI with
// its snapshot, instance profiles and roles, ccoctl's identity provider, roles and bucket, and the records of the cluster's own external-dns.
// It deletes only by exact name, or by that external-dns's mark, and only for recorded identities; call it after destroy exited.
//
// A resource with the right name but another cluster's tags, or without a tag that it needs, is left alone and reported in the error, as a cloud.Undeleted;
// what merely looks similar is left to Verify. The result lists what was deleted, even if something else failed.
func (c *Client) Remove(ctx context.Context, t cloud.Target) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, removalTimeout) // a response that never comes must not block the attempt for ever
	defer cancel()
	account, err := c.Account(ctx)
	if err != nil {
		return nil, err
	}
	for _, recorded := range append([]contract.Identity{{Account: t.Account}}, t.Identities...) {
		if recorded.Account != "" && recorded.Account != account {
			return nil, fmt.Errorf("remove: the credentials belong to account %s, but the cluster belongs to account %s", account, recorded.Account)
		}
	}
	s := &removal{Client: c, Removal: cloud.Removal{IsAbsent: isAbsent}, owner: ownerOf(t)}
	if len(s.owner.infraIDs) > 0 { // before an infraID existed, nothing was in DNS
		s.removeZones(ctx, t.Domain())
		s.publicRecords(ctx, t)
	}
	for _, infraID := range s.owner.infraIDs {
		s.removeBucket(ctx, bootstrapBucket(infraID))
	}
	if s.nodesGone(ctx, t) {
		s.afterNodes(ctx, t)
	}
	return s.Deleted, errors.Join(s.Errs...)
}

// nodesGone reports that no instance of the cluster is left. What nodes and operators use must be deleted after them: they still
// delete what they created, and a cluster that is alive after all must not be broken.
func (s *removal) nodesGone(ctx context.Context, t cloud.Target) bool {
	var left []string
	for _, infraID := range s.owner.infraIDs {
		for _, region := range t.Regions() {
			found, err := s.listInstances(ctx, region, infraID)
			if err != nil {
				s.Errs = append(s.Errs, fmt.Errorf("look for instances of %s in %s: %w", infraID, region, err))
				return false
			}
			left = append(left, found...)
		}
	}
	if len(left) > 0 {
		s.Errs = append(s.Errs, fmt.Errorf("%s still exist; the cluster's roles, images and remaining buckets can only be deleted after them", strings.Join(left, ", ")))
	}
	return len(left) == 0
}

// listInstances lists the instances of one infraID that are not terminated.
func (s *removal) listInstances(ctx context.Context, region, infraID string) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	p := ec2.NewDescribeInstancesPaginator(s.ec2In(region), &ec2.DescribeInstancesInput{Filters: []types.Filter{
		{Name: awssdk.String("tag:" + tagkey.KubernetesCluster + infraID), Values: []string{tagkey.Owned}},
		{Name: awssdk.String("instance-state-name"), Values: []string{"pending", "running", "shutting-down", "stopping", "stopped"}},
	}})
	return collectPages(ctx, p, func(page *ec2.DescribeInstancesOutput) (ids []string) {
		for _, r := range page.Reservations {
			ids = append(ids, convertEach(r.Instances, func(i types.Instance) string { return awssdk.ToString(i.InstanceId) })...)
		}
		return ids
	})
}

// afterNodes deletes what may be deleted only when no instance is left.
func (s *removal) afterNodes(ctx context.Context, t cloud.Target) {
	if len(s.owner.infraIDs) > 0 {
		s.registryBuckets(ctx)
		s.externalRecords(ctx, t)
	}
	for _, recorded := range t.Identities {
		if infraID := recorded.InfraID; infraID != "" {
			s.removeImages(ctx, cmp.Or(recorded.Region, t.Region), infraID)
			s.nodeIdentities(ctx, infraID)
		}
		if name := recorded.CCOName; name != "" {
			s.removeProviders(ctx, name)
			s.ccoRoles(ctx, name)
			s.removeBucket(ctx, issuerBucket(name))
		}
	}
	if t.Everywhere {
		s.removeEverywhere(ctx, t)
	}
}

type removal struct {
	*Client
	cloud.Removal
	owner owner
}
