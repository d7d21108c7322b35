package resources

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/ocpctl/ocpctl/devstack/must"
)

// image represents the RHCOS boot image of the release.
const image = "ami-0d5a2b1c7e9f43608"

// CopyImage copies the boot image into a region in which it is not published. It has no tags until TagImage: two calls, as in the
// real installer.
func (b *Build) CopyImage(ctx context.Context) error {
	name := b.InfraID + "-master"
	out, err := b.ec2.CopyImage(ctx, &ec2.CopyImageInput{
		Name: &name, SourceImageId: aws.String(image), SourceRegion: aws.String("us-east-1"), Description: aws.String("Created by Openshift Installer"),
	})
	if err != nil {
		return fmt.Errorf("failed to copy AMI: %w", err)
	}
	b.image = aws.ToString(out.ImageId)
	return nil
}

// TagImage tags the copied image, so that destroy finds it; destroy tags its snapshot.
func (b *Build) TagImage(ctx context.Context) error {
	_, err := b.ec2.CreateTags(ctx, &ec2.CreateTagsInput{
		Resources: []string{b.image}, Tags: sorted(b.tags(b.InfraID+"-master"), func(k, v *string) types.Tag { return types.Tag{Key: k, Value: v} }),
	})
	if err != nil {
		return fmt.Errorf("failed to tag AMI: %w", err)
	}
	return nil
}

// deleteImage first copies the image's tags to its snapshots, so that a later round finds them.
func (c *Cloud) deleteImage(ctx context.Context, id string) (err error) {
	defer must.Catch(&err)
	out := must.Get(c.ec2.DescribeImages(ctx, &ec2.DescribeImagesInput{ImageIds: []string{id}}))
	for _, found := range out.Images {
		var snapshots []string
		for _, device := range found.BlockDeviceMappings {
			if device.Ebs != nil && device.Ebs.SnapshotId != nil {
				snapshots = append(snapshots, *device.Ebs.SnapshotId)
			}
		}
		if len(snapshots) == 0 {
			continue
		}
		_, err = c.ec2.CreateTags(ctx, &ec2.CreateTagsInput{Resources: snapshots, Tags: found.Tags})
		must.Wrap(err, "tagging snapshots for %s", id)
	}
	_, err = c.ec2.DeregisterImage(ctx, &ec2.DeregisterImageInput{ImageId: &id})
	return err
}
