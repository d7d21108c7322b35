package aws

import (
	"context"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/ocpctl/ocpctl/internal/tagkey"
	"github.com/ocpctl/ocpctl/runner/cloud"
)

// removeImages deletes, by exact name, the AMI that the installer copies into a region without a published one, and its snapshots. A
// snapshot outlives its image and has no name, so it gets the cluster's tag before the image is deleted: if the runner is killed in
// between, what is left can be found, and the installer's destroy deletes it.
func (s *removal) removeImages(ctx context.Context, region, infraID string) {
	api, name := s.ec2In(region), infraID+"-master"
	p := ec2.NewDescribeImagesPaginator(api, &ec2.DescribeImagesInput{
		Owners: []string{"self"}, Filters: []types.Filter{{Name: awssdk.String("name"), Values: []string{name}}},
	})
	images, err := collectPages(ctx, p, func(page *ec2.DescribeImagesOutput) []types.Image { return page.Images })
	s.AddError("look for image "+name, err)
	for _, image := range images {
		id := awssdk.ToString(image.ImageId)
		if s.owner.claimOf(ec2Tags(image.Tags)) == anothers {
			s.Keep(cloud.KeptAnothers, id, "image %s (%s) has another cluster's tag", id, name)
			continue
		}
		snapshots, ok := s.keepFindable(ctx, api, infraID, image)
		if !ok {
			continue
		}
		_, err := api.DeregisterImage(ctx, &ec2.DeregisterImageInput{ImageId: &id})
		s.NoteDeletion(id, "image "+id+" ("+name+")", err)
		if err != nil {
			continue
		}
		for _, snapshot := range snapshots {
			_, err := api.DeleteSnapshot(ctx, &ec2.DeleteSnapshotInput{SnapshotId: &snapshot})
			s.NoteDeletion(snapshot, "snapshot "+snapshot+" of image "+id, err)
		}
	}
}

// keepFindable tags an image's snapshots, except those with another cluster's mark. ok is false if that failed: then the image must
// stay, because only it leads to them.
func (s *removal) keepFindable(ctx context.Context, api *ec2.Client, infraID string, image types.Image) (ids []string, ok bool) {
	var all []string
	for _, device := range image.BlockDeviceMappings {
		if device.Ebs != nil && awssdk.ToString(device.Ebs.SnapshotId) != "" {
			all = append(all, awssdk.ToString(device.Ebs.SnapshotId))
		}
	}
	if len(all) == 0 {
		return nil, true
	}
	p := ec2.NewDescribeSnapshotsPaginator(api, &ec2.DescribeSnapshotsInput{
		OwnerIds: []string{"self"}, Filters: []types.Filter{{Name: awssdk.String("snapshot-id"), Values: all}}, // a filter instead of ids, because one missing id makes the whole call fail
	})
	snapshots, err := collectPages(ctx, p, func(page *ec2.DescribeSnapshotsOutput) []types.Snapshot { return page.Snapshots })
	s.AddError("list the snapshots of image "+awssdk.ToString(image.ImageId), err)
	for _, found := range snapshots {
		id := awssdk.ToString(found.SnapshotId)
		if s.owner.claimOf(ec2Tags(found.Tags)) == anothers {
			s.Keep(cloud.KeptAnothers, id, "snapshot %s of image %s has another cluster's tag", id, awssdk.ToString(image.ImageId))
			continue
		}
		ids = append(ids, id)
	}
	if err != nil || len(ids) == 0 {
		return nil, err == nil
	}
	_, err = api.CreateTags(ctx, &ec2.CreateTagsInput{Resources: ids, Tags: []types.Tag{{Key: awssdk.String(tagkey.KubernetesCluster + infraID), Value: awssdk.String(tagkey.Owned)}}})
	s.NoteFailure(awssdk.ToString(image.ImageId), "tag the snapshots of image "+awssdk.ToString(image.ImageId), err)
	return ids, err == nil
}

func ec2Tags(tags []types.Tag) map[string]string {
	out := map[string]string{}
	for _, t := range tags {
		out[awssdk.ToString(t.Key)] = awssdk.ToString(t.Value)
	}
	return out
}
