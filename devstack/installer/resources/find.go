package resources

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	iamtypes "github.com/aws/aws-sdk-go-v2/service/iam/types"
	tagging "github.com/aws/aws-sdk-go-v2/service/resourcegroupstaggingapi"
	tagtypes "github.com/aws/aws-sdk-go-v2/service/resourcegroupstaggingapi/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go"

	"github.com/ocpctl/ocpctl/devstack/must"
)

// Identifier is one of metadata.json's tag maps: a resource with all its tags belongs to the cluster.
type Identifier map[string]string

// findTagged queries the tagging API in the region and in us-east-1, which covers the global services.
func (c *Cloud) findTagged(ctx context.Context, identifiers []Identifier) ([]string, error) {
	var arns []string
	regions := []string{c.Region}
	if c.Region != "us-east-1" {
		regions = append(regions, "us-east-1")
	}
	for _, region := range regions {
		for _, identifier := range identifiers {
			filters := sorted(identifier, func(k, v *string) tagtypes.TagFilter {
				return tagtypes.TagFilter{Key: k, Values: []string{aws.ToString(v)}}
			})
			p := tagging.NewGetResourcesPaginator(c.taggingIn(region), &tagging.GetResourcesInput{TagFilters: filters})
			for p.HasMorePages() {
				page, err := p.NextPage(ctx)
				if err != nil {
					return nil, err
				}
				for _, m := range page.ResourceTagMappingList {
					arns = append(arns, aws.ToString(m.ResourceARN))
				}
			}
		}
	}
	slices.Sort(arns)
	return slices.Compact(arns), nil
}

// findIAM reads every role and user of the account for its tags, and the profiles by name, because they cannot be found by tag. It
// silently skips what it may not read, as the real destroyer does.
func (c *Cloud) findIAM(ctx context.Context, infraID string, identifiers []Identifier) (_ []string, err error) {
	defer must.Catch(&err)
	var arns []string
	roles := iam.NewListRolesPaginator(c.iam, &iam.ListRolesInput{})
	for roles.HasMorePages() {
		page := must.Get(roles.NextPage(ctx))
		for _, role := range page.Roles {
			out, err := c.iam.GetRole(ctx, &iam.GetRoleInput{RoleName: role.RoleName})
			if err == nil && ours(out.Role.Tags, identifiers) {
				arns = append(arns, aws.ToString(role.Arn))
			}
		}
	}
	users := iam.NewListUsersPaginator(c.iam, &iam.ListUsersInput{})
	for users.HasMorePages() && !c.blind("user") {
		page := must.Get(users.NextPage(ctx))
		for _, user := range page.Users {
			out, err := c.iam.GetUser(ctx, &iam.GetUserInput{UserName: user.UserName})
			if err == nil && ours(out.User.Tags, identifiers) {
				arns = append(arns, aws.ToString(user.Arn))
			}
		}
	}
	for _, kind := range []string{"master", "worker", "bootstrap"} {
		if c.blind("instance-profile") {
			break
		}
		name := infraID + "-" + kind + "-profile"
		out, err := c.iam.GetInstanceProfile(ctx, &iam.GetInstanceProfileInput{InstanceProfileName: &name})
		if err == nil {
			arns = append(arns, aws.ToString(out.InstanceProfile.Arn))
		} else if !missing(err) {
			return nil, err
		}
	}
	return arns, nil
}

func ours(tags []iamtypes.Tag, identifiers []Identifier) bool {
	has := map[string]string{}
	for _, t := range tags {
		has[aws.ToString(t.Key)] = aws.ToString(t.Value)
	}
	return slices.ContainsFunc(identifiers, func(id Identifier) bool { return within(id, has) })
}

func within(id Identifier, tags map[string]string) bool {
	for key, value := range id {
		if got, ok := tags[key]; !ok || got != value {
			return false
		}
	}
	return len(id) > 0
}

func (c *Cloud) blind(kind string) bool { return slices.Contains(c.Blind, kind) }

// findBuckets reads every bucket's tags, because the stand-in's tagging API does not know the S3 server. The registry's bucket is
// also found by name: in a real cluster its operator outlives the installer and always tags it.
func (c *Cloud) findBuckets(ctx context.Context, infraID string, identifiers []Identifier) ([]string, error) {
	out, err := c.s3.ListBuckets(ctx, &s3.ListBucketsInput{})
	if err != nil {
		return nil, err
	}
	var arns []string
	for _, bucket := range out.Buckets {
		name := aws.ToString(bucket.Name)
		mine := strings.HasPrefix(name, registryPrefix(infraID))
		if !mine {
			tags, err := c.s3.GetBucketTagging(ctx, &s3.GetBucketTaggingInput{Bucket: &name})
			if err != nil {
				continue // untagged, or another's
			}
			has := map[string]string{}
			for _, t := range tags.TagSet {
				has[aws.ToString(t.Key)] = aws.ToString(t.Value)
			}
			mine = slices.ContainsFunc(identifiers, func(id Identifier) bool { return within(id, has) })
		}
		if mine {
			arns = append(arns, "arn:aws:s3:::"+name)
		}
	}
	return arns, nil
}

// findInstances lists the cluster's instances that are not terminated.
func (c *Cloud) findInstances(ctx context.Context, identifiers []Identifier) ([]string, error) {
	var ids []string
	for _, identifier := range identifiers {
		filters := sorted(identifier, func(k, v *string) types.Filter {
			return types.Filter{Name: aws.String("tag:" + aws.ToString(k)), Values: []string{aws.ToString(v)}}
		})
		p := ec2.NewDescribeInstancesPaginator(c.ec2, &ec2.DescribeInstancesInput{Filters: filters})
		for p.HasMorePages() {
			page, err := p.NextPage(ctx)
			if err != nil {
				return nil, err
			}
			for _, r := range page.Reservations {
				for _, i := range r.Instances {
					if i.State == nil || i.State.Name != types.InstanceStateNameTerminated {
						ids = append(ids, aws.ToString(i.InstanceId))
					}
				}
			}
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids), nil
}

// codeSays reports that an error's code contains one of the words.
func codeSays(err error, codes ...string) bool {
	var api smithy.APIError
	if !errors.As(err, &api) {
		return false
	}
	return slices.ContainsFunc(codes, func(w string) bool { return strings.Contains(api.ErrorCode(), w) })
}
