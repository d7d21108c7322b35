package inventory

import (
	"context"
	"fmt"
	"strconv"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

func listInstances(ctx context.Context, api *ec2.Client, take func([]thing) error) error {
	p := ec2.NewDescribeInstancesPaginator(api, &ec2.DescribeInstancesInput{MaxResults: awssdk.Int32(longPage)})
	return eachPage(ctx, p, func(page *ec2.DescribeInstancesOutput) error {
		var out []thing
		for _, r := range page.Reservations {
			out = append(out, each(r.Instances, instance)...)
		}
		return take(out)
	})
}

// instance's detail is its type, followed by "spot" for a spot instance.
func instance(i types.Instance) thing {
	t := thing{
		id: awssdk.ToString(i.InstanceId), name: nameOr(i.Tags, nil), tags: ec2Tags(i.Tags), in: ids(i.VpcId), madeAt: i.LaunchTime,
		detail: string(i.InstanceType),
	}
	if i.InstanceLifecycle == types.InstanceLifecycleTypeSpot {
		t.detail += " spot"
	}
	if i.State != nil {
		t.gone = i.State.Name == types.InstanceStateNameTerminated
		t.stopped = i.State.Name == types.InstanceStateNameStopped || i.State.Name == types.InstanceStateNameStopping
	}
	return t
}

// listVolumes gives kind and GiB as the detail: gp3 120.
func listVolumes(ctx context.Context, api *ec2.Client, take func([]thing) error) error {
	p := ec2.NewDescribeVolumesPaginator(api, &ec2.DescribeVolumesInput{MaxResults: awssdk.Int32(longPage)})
	return eachPage(ctx, p, func(page *ec2.DescribeVolumesOutput) error {
		return take(each(page.Volumes, func(v types.Volume) thing {
			t := thing{
				id: awssdk.ToString(v.VolumeId), name: nameOr(v.Tags, nil), tags: ec2Tags(v.Tags), madeAt: v.CreateTime,
				detail: fmt.Sprintf("%s %d", v.VolumeType, awssdk.ToInt32(v.Size)),
				gone:   v.State == types.VolumeStateDeleted || v.State == types.VolumeStateDeleting,
			}
			for _, a := range v.Attachments {
				t.in = append(t.in, ids(a.InstanceId)...)
			}
			return t
		}))
	})
}

// listImages lists the account's own images. Their snapshots belong to them, and have neither tag nor name when an install was killed
// between copying and tagging.
func listImages(ctx context.Context, api *ec2.Client, take func([]thing) error) error {
	p := ec2.NewDescribeImagesPaginator(api, &ec2.DescribeImagesInput{Owners: []string{"self"}, MaxResults: awssdk.Int32(longPage)})
	return eachPage(ctx, p, func(page *ec2.DescribeImagesOutput) error {
		return take(each(page.Images, func(i types.Image) thing {
			t := thing{
				id: awssdk.ToString(i.ImageId), name: awssdk.ToString(i.Name), tags: ec2Tags(i.Tags), gone: i.State == types.ImageStateDeregistered,
			}
			if made, err := timeOf(i.CreationDate); err == nil {
				t.madeAt = &made
			}
			for _, device := range i.BlockDeviceMappings {
				if device.Ebs != nil {
					t.holds = append(t.holds, ids(device.Ebs.SnapshotId)...)
				}
			}
			return t
		}))
	})
}

// listSnapshots gives the volume's GiB as the detail.
func listSnapshots(ctx context.Context, api *ec2.Client, take func([]thing) error) error {
	p := ec2.NewDescribeSnapshotsPaginator(api, &ec2.DescribeSnapshotsInput{OwnerIds: []string{"self"}, MaxResults: awssdk.Int32(longPage)})
	return eachPage(ctx, p, func(page *ec2.DescribeSnapshotsOutput) error {
		return take(each(page.Snapshots, func(s types.Snapshot) thing {
			return thing{
				id: awssdk.ToString(s.SnapshotId), name: nameOr(s.Tags, nil), tags: ec2Tags(s.Tags), in: ids(s.VolumeId), madeAt: s.StartTime,
				detail: strconv.Itoa(int(awssdk.ToInt32(s.VolumeSize))),
			}
		}))
	})
}

func listLaunchTemplates(ctx context.Context, api *ec2.Client, take func([]thing) error) error {
	p := ec2.NewDescribeLaunchTemplatesPaginator(api, &ec2.DescribeLaunchTemplatesInput{MaxResults: awssdk.Int32(shortPage)})
	return eachPage(ctx, p, func(page *ec2.DescribeLaunchTemplatesOutput) error {
		return take(each(page.LaunchTemplates, func(l types.LaunchTemplate) thing {
			return thing{
				id: awssdk.ToString(l.LaunchTemplateId), name: awssdk.ToString(l.LaunchTemplateName), tags: ec2Tags(l.Tags), madeAt: l.CreateTime,
			}
		}))
	})
}

// listPlacementGroups takes a group's name for its id, as its ARN does.
func listPlacementGroups(ctx context.Context, api *ec2.Client, take func([]thing) error) error {
	out, err := once(ctx, api.DescribePlacementGroups, &ec2.DescribePlacementGroupsInput{}) // this call has no pages
	if err != nil {
		return err
	}
	return take(each(out.PlacementGroups, func(g types.PlacementGroup) thing {
		return thing{
			id: awssdk.ToString(g.GroupName), name: awssdk.ToString(g.GroupName), tags: ec2Tags(g.Tags), gone: g.State == types.PlacementGroupStateDeleted,
		}
	}))
}
