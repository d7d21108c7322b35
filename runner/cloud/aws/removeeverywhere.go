package aws

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"
	"golang.org/x/sync/errgroup"

	"github.com/ocpctl/ocpctl/internal/tagkey"
	"github.com/ocpctl/ocpctl/runner/cloud"
)

// regionsAtOnce limits how many regions are asked at once: each has a rate of its own.
const regionsAtOnce = 6

// removeEverywhere deletes images, snapshots and buckets in any region of the account that somebody made of the cluster's, with its tags. Only the
// tags on the resource itself count, because the tagging API is behind: it must have the cluster's id and this installation's, no mark of
// anybody else, and must not be older than the cluster. Everything else that has a tag of the cluster is counted, and people decide.
func (s *removal) removeEverywhere(ctx context.Context, t cloud.Target) {
	if t.Cluster == "" || t.Installation == "" {
		return
	}
	regions, err := s.ec2In(t.Region).DescribeRegions(ctx, &ec2.DescribeRegionsInput{}) // this call has no pages, and names the enabled ones
	if err != nil {
		s.AddError("list the account's regions", err)
		return
	}
	var mu sync.Mutex
	found := map[string][]string{} // ARNs by region
	var group errgroup.Group
	group.SetLimit(regionsAtOnce)
	for _, r := range regions.Regions {
		group.Go(func() error {
			region := awssdk.ToString(r.RegionName)
			mappings, err := s.listTagged(ctx, region, tagkey.ClusterID, t.Cluster)
			mu.Lock()
			defer mu.Unlock()
			if !isForbidden(err) { // the count says what was not asked
				s.AddError("look for the cluster's resources in "+region, err)
			}
			for _, m := range mappings {
				found[region] = append(found[region], awssdk.ToString(m.ResourceARN))
			}
			return nil
		})
	}
	_ = group.Wait() // every error is in s
	for _, r := range regions.Regions {
		region := awssdk.ToString(r.RegionName)
		s.removeTaggedImages(ctx, t, region, idsOf(found[region], ":image/"))
		s.removeTaggedSnapshots(ctx, t, region, idsOf(found[region], ":snapshot/"))
		for _, name := range idsOf(found[region], "arn:aws:s3:::") {
			s.removeTaggedBucket(ctx, t, name)
		}
	}
}

// idsOf returns what follows a part of an ARN, of those that contain it.
func idsOf(arns []string, part string) (ids []string) {
	for _, arn := range arns {
		if _, id, is := strings.Cut(arn, part); is {
			ids = append(ids, id)
		}
	}
	return ids
}

// isExact reports that the tags on a resource say that it is this cluster's, and that it is not older.
func (s *removal) isExact(t cloud.Target, id, what string, tags map[string]string, made *time.Time) bool {
	foreign, older := s.owner.foreignMark(tags), t.AgeMark(awssdk.ToTime(made))
	switch {
	case foreign != "":
		s.Keep(cloud.KeptMarked, id, "%s has the tag %s", what, foreign)
	case tags[tagkey.ClusterID] != t.Cluster || tags[tagkey.Installation] != t.Installation:
		s.Keep(cloud.KeptMarked, id, "%s does not have both tags %s and %s of this cluster", what, tagkey.ClusterID, tagkey.Installation)
	case older != "":
		s.Keep(cloud.KeptMarked, id, "%s was %s", what, older)
	default:
		return true
	}
	return false
}

// removeTaggedImages deregisters images whose snapshots are the cluster's too: one without tags could not be found once its image is gone.
func (s *removal) removeTaggedImages(ctx context.Context, t cloud.Target, region string, ids []string) {
	if len(ids) == 0 {
		return
	}
	api := s.ec2In(region)
	p := ec2.NewDescribeImagesPaginator(api, &ec2.DescribeImagesInput{Owners: []string{"self"}, Filters: []types.Filter{{Name: awssdk.String("image-id"), Values: ids}}})
	images, err := collectPages(ctx, p, func(page *ec2.DescribeImagesOutput) []types.Image { return page.Images })
	s.AddError("look for images in "+region, err)
	for _, image := range images {
		id := awssdk.ToString(image.ImageId)
		made, _ := time.Parse(time.RFC3339, awssdk.ToString(image.CreationDate)) // zero: AWS tells none
		what := "image " + id + " in " + region
		if !s.isExact(t, id, what, ec2Tags(image.Tags), &made) {
			continue
		}
		var of []string
		for _, device := range image.BlockDeviceMappings {
			if device.Ebs != nil && awssdk.ToString(device.Ebs.SnapshotId) != "" {
				of = append(of, awssdk.ToString(device.Ebs.SnapshotId))
			}
		}
		snapshots := s.exactSnapshots(ctx, t, region, of)
		if len(snapshots) < len(of) {
			s.Keep(cloud.KeptMarked, id, "%s has snapshots %s without the cluster's tags", what, strings.Join(of, ", "))
			continue
		}
		_, err := api.DeregisterImage(ctx, &ec2.DeregisterImageInput{ImageId: &id})
		s.NoteDeletion(id, what, err)
		if err == nil {
			s.deleteSnapshots(ctx, region, snapshots)
		}
	}
}

func (s *removal) removeTaggedSnapshots(ctx context.Context, t cloud.Target, region string, ids []string) {
	s.deleteSnapshots(ctx, region, s.exactSnapshots(ctx, t, region, ids))
}

// exactSnapshots returns those of the snapshots that exist and are exactly the cluster's.
func (s *removal) exactSnapshots(ctx context.Context, t cloud.Target, region string, ids []string) (exact []string) {
	if len(ids) == 0 {
		return nil
	}
	p := ec2.NewDescribeSnapshotsPaginator(s.ec2In(region), &ec2.DescribeSnapshotsInput{OwnerIds: []string{"self"}, Filters: []types.Filter{{Name: awssdk.String("snapshot-id"), Values: ids}}})
	found, err := collectPages(ctx, p, func(page *ec2.DescribeSnapshotsOutput) []types.Snapshot { return page.Snapshots })
	s.AddError("look for snapshots in "+region, err)
	for _, one := range found {
		id := awssdk.ToString(one.SnapshotId)
		if s.isExact(t, id, "snapshot "+id+" in "+region, ec2Tags(one.Tags), one.StartTime) {
			exact = append(exact, id)
		}
	}
	return exact
}

func (s *removal) deleteSnapshots(ctx context.Context, region string, ids []string) {
	for _, id := range ids {
		_, err := s.ec2In(region).DeleteSnapshot(ctx, &ec2.DeleteSnapshotInput{SnapshotId: &id})
		s.NoteDeletion(id, "snapshot "+id+" in "+region, err)
	}
}

// removeTaggedBucket deletes a bucket of the account with its content. The account's list says when it was made.
func (s *removal) removeTaggedBucket(ctx context.Context, t cloud.Target, name string) {
	p := s3.NewListBucketsPaginator(s.s3, &s3.ListBucketsInput{Prefix: &name})
	listed, err := collectPages(ctx, p, func(page *s3.ListBucketsOutput) []s3types.Bucket { return page.Buckets })
	s.AddError("look for bucket "+name, err)
	at := slices.IndexFunc(listed, func(b s3types.Bucket) bool { return awssdk.ToString(b.Name) == name })
	if at < 0 {
		return
	}
	region, err := s.bucketHome(ctx, name)
	if err != nil || region == "" {
		s.AddError("look for bucket "+name, err)
		return
	}
	tags, err := s.bucketTags(ctx, region, name)
	if err != nil {
		s.AddError("read the tags of bucket "+name, err)
		return
	}
	if s.isExact(t, name, "bucket "+name, tags, listed[at].CreationDate) {
		s.emptyBucket(ctx, region, name)
	}
}
