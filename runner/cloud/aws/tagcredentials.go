package aws

import (
	"context"
	"fmt"
	"maps"
	"slices"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/iam/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/ocpctl/ocpctl/internal/tagkey"
	"github.com/ocpctl/ocpctl/runner/cloud"
)

// TagCredentials tags ccoctl's identity provider, its bucket and the operators' roles: ccoctl has no option for that. The roles' policies are
// inline ones, which have no tags.
func (c *Client) TagCredentials(ctx context.Context, t cloud.Target, roles []string) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	ccoName := ""
	if n := len(t.Identities); n > 0 {
		ccoName = t.Identities[n-1].CCOName // earlier ones are of attempts that were torn down
	}
	if ccoName == "" {
		return fmt.Errorf("no name of what ccoctl created for cluster %s is recorded", t.Cluster)
	}
	of := maps.Clone(t.Tags)
	if of == nil {
		of = map[string]string{}
	}
	of[tagkey.ClusterID] = t.Cluster
	tags := iamTagsOf(of)
	arns, err := c.providersCalled(ctx, ccoName)
	if err != nil {
		return fmt.Errorf("look for the identity provider of %s: %w", ccoName, err)
	}
	for _, arn := range arns {
		if _, err := c.iam.TagOpenIDConnectProvider(ctx, &iam.TagOpenIDConnectProviderInput{OpenIDConnectProviderArn: &arn, Tags: tags}); err != nil {
			return fmt.Errorf("tag identity provider %s: %w", arn, err)
		}
	}
	for _, name := range roles {
		if _, err := c.iam.TagRole(ctx, &iam.TagRoleInput{RoleName: &name, Tags: tags}); err != nil {
			return fmt.Errorf("tag role %s: %w", name, err)
		}
	}
	return c.tagBucket(ctx, t, issuerBucket(ccoName), of)
}

// tagBucket adds tags to a bucket: S3 replaces all of a bucket's tags, so those that it has are given again.
func (c *Client) tagBucket(ctx context.Context, t cloud.Target, name string, of map[string]string) error {
	region, err := c.bucketHome(ctx, name)
	if err != nil {
		return fmt.Errorf("look for bucket %s: %w", name, err)
	}
	if region == "" {
		return fmt.Errorf("there is no bucket %s", name)
	}
	has, err := c.bucketTags(ctx, region, name)
	if err != nil {
		return fmt.Errorf("read the tags of bucket %s: %w", name, err)
	}
	if mark := ownerOf(t).foreignMark(has); mark != "" {
		return fmt.Errorf("bucket %s has the tag %s of another cluster", name, mark)
	}
	all := map[string]string{}
	maps.Copy(all, has)
	maps.Copy(all, of)
	if maps.Equal(all, has) {
		return nil
	}
	var set []s3types.Tag
	for _, key := range slices.Sorted(maps.Keys(all)) {
		set = append(set, s3types.Tag{Key: &key, Value: awssdk.String(all[key])})
	}
	_, err = s3In(c.cfg, region).PutBucketTagging(ctx, &s3.PutBucketTaggingInput{Bucket: &name, Tagging: &s3types.Tagging{TagSet: set}})
	if err != nil {
		return fmt.Errorf("tag bucket %s: %w", name, err)
	}
	return nil
}

// iamTagsOf converts tags, sorted by their keys.
func iamTagsOf(of map[string]string) (tags []types.Tag) {
	for _, key := range slices.Sorted(maps.Keys(of)) {
		tags = append(tags, types.Tag{Key: &key, Value: awssdk.String(of[key])})
	}
	return tags
}
