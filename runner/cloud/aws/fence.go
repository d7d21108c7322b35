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

// Fence gives what ccoctl created the cluster's tags: neither ccoctl nor the installer has an option for that. The operators' roles also get the
// cluster's infraID and its domain, which the permissions boundary compares with the tags and the names of resources
// (deploy/terraform/policies/cluster-boundary.json), and the nodes' roles the same tags and the boundary itself. Their policies are inline
// ones, which have no tags. What ccoctl created has to exist; the nodes' roles need not.
func (c *Client) Fence(ctx context.Context, t cloud.Target, roles []string, boundary string) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	if len(t.Identities) == 0 {
		return fmt.Errorf("no name of cluster %s is recorded", t.Cluster)
	}
	own := t.Identities[len(t.Identities)-1] // earlier ones are of installs that were torn down
	of := maps.Clone(t.Tags)
	if of == nil {
		of = map[string]string{}
	}
	of[tagkey.ClusterID] = t.Cluster
	if err := c.tagIssuer(ctx, t, own.CCOName, of); err != nil {
		return err
	}
	if own.InfraID != "" {
		of[tagkey.InfraID], of[tagkey.Domain] = own.InfraID, t.Domain()
	}
	tags := tagsFor(of)
	for _, name := range roles {
		if _, err := c.iam.TagRole(ctx, &iam.TagRoleInput{RoleName: &name, Tags: tags}); err != nil {
			return fmt.Errorf("tag role %s: %w", name, err)
		}
	}
	if own.InfraID == "" {
		return nil
	}
	return c.fenceNodes(ctx, own.InfraID, tags, boundary)
}

// fenceNodes limits the nodes' roles that exist.
func (c *Client) fenceNodes(ctx context.Context, infraID string, tags []types.Tag, boundary string) error {
	for _, kind := range nodeKinds {
		name := nodeRole(infraID, kind)
		_, err := c.iam.TagRole(ctx, &iam.TagRoleInput{RoleName: &name, Tags: tags})
		if absent(err) {
			continue
		}
		if err != nil {
			return fmt.Errorf("tag role %s: %w", name, err)
		}
		if boundary == "" {
			continue
		}
		_, err = c.iam.PutRolePermissionsBoundary(ctx, &iam.PutRolePermissionsBoundaryInput{RoleName: &name, PermissionsBoundary: &boundary})
		if err != nil {
			return fmt.Errorf("limit role %s: %w", name, err)
		}
	}
	return nil
}

// tagIssuer tags ccoctl's identity provider and its bucket. S3 replaces all tags of a bucket, so ccoctl's own are given again.
func (c *Client) tagIssuer(ctx context.Context, t cloud.Target, ccoName string, of map[string]string) error {
	if ccoName == "" {
		return nil
	}
	arns, err := c.providersCalled(ctx, ccoName)
	if err != nil {
		return fmt.Errorf("look for the identity provider of %s: %w", ccoName, err)
	}
	for _, arn := range arns {
		if _, err := c.iam.TagOpenIDConnectProvider(ctx, &iam.TagOpenIDConnectProviderInput{OpenIDConnectProviderArn: &arn, Tags: tagsFor(of)}); err != nil {
			return fmt.Errorf("tag identity provider %s: %w", arn, err)
		}
	}
	name := issuerBucket(ccoName)
	region, err := c.bucketHome(ctx, name)
	switch {
	case err != nil:
		return fmt.Errorf("look for bucket %s: %w", name, err)
	case region == "":
		return nil // ccoctl's own check has told that it made none
	}
	has, err := c.bucketTags(ctx, region, name)
	if err != nil {
		return fmt.Errorf("read the tags of bucket %s: %w", name, err)
	}
	if ownerOf(t).claim(has) == anothers {
		return fmt.Errorf("bucket %s has another cluster's tag", name)
	}
	all := maps.Clone(of)
	for key, value := range has {
		if _, ours := of[key]; !ours {
			all[key] = value
		}
	}
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

func tagsFor(of map[string]string) (tags []types.Tag) {
	for _, key := range slices.Sorted(maps.Keys(of)) {
		tags = append(tags, types.Tag{Key: &key, Value: awssdk.String(of[key])})
	}
	return tags
}
