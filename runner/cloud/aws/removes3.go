package aws

import (
	"context"
	"strings"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/ocpctl/ocpctl/runner/cloud"
)

// removeBucket empties a bucket with a given exact name, including all versions, and deletes it. CAPA and ccoctl tag theirs in a second
// call, so an untagged one is deleted too; one with tags, but none of this cluster's, is not.
func (s *removal) removeBucket(ctx context.Context, name string) {
	region, err := s.bucketHome(ctx, name)
	if err != nil || region == "" {
		s.AddError("look for bucket "+name, err)
		return
	}
	tags, err := s.bucketTags(ctx, region, name)
	switch {
	case err != nil:
		s.AddError("read the tags of bucket "+name, err)
	case len(tags) > 0 && s.owner.claimOf(tags) != ours:
		s.Keep(cloud.KeptAnothers, name, "bucket %s has tags that do not belong to this cluster", name)
	default:
		s.emptyBucket(ctx, region, name)
	}
}

// registryBuckets deletes the image registry's buckets. Their names end in random letters that nobody recorded, and a prefix is no
// exact name, so they must have the cluster's tag; one that the registry had no time to tag is left to people.
func (s *removal) registryBuckets(ctx context.Context) {
	p := s3.NewListBucketsPaginator(s.s3, &s3.ListBucketsInput{})
	named, err := collectPages(ctx, p, func(page *s3.ListBucketsOutput) (names []string) {
		for _, b := range page.Buckets {
			if name := awssdk.ToString(b.Name); s.owner.isBeginOf(name, "-image-registry-") {
				names = append(names, name)
			}
		}
		return names
	})
	s.AddError("look for the image registry's buckets", err)
	for _, name := range named {
		region, err := s.bucketHome(ctx, name)
		if err != nil || region == "" {
			s.AddError("look for bucket "+name, err)
			continue
		}
		tags, err := s.bucketTags(ctx, region, name)
		switch {
		case err != nil:
			s.AddError("read the tags of bucket "+name, err)
		case s.owner.claimOf(tags) != ours:
			s.Keep(cloud.KeptUntagged, name, "bucket %s does not have this cluster's tag", name)
		default:
			s.emptyBucket(ctx, region, name)
		}
	}
}

func (c *Client) bucketTags(ctx context.Context, region, name string) (map[string]string, error) {
	out, err := s3In(c.cfg, region).GetBucketTagging(ctx, &s3.GetBucketTaggingInput{Bucket: &name})
	if err != nil {
		if isAbsent(err) { // S3 answers NoSuchTagSet for a bucket without tags
			err = nil
		}
		return nil, err
	}
	tags := map[string]string{}
	for _, t := range out.TagSet {
		tags[awssdk.ToString(t.Key)] = awssdk.ToString(t.Value)
	}
	return tags, nil
}

// emptyBucket deletes a bucket with its content. If a page could not be deleted completely, the bucket stays.
func (s *removal) emptyBucket(ctx context.Context, region, name string) {
	api := s3In(s.cfg, region)
	kept := false
	p := s3.NewListObjectVersionsPaginator(api, &s3.ListObjectVersionsInput{Bucket: &name})
	for p.HasMorePages() {
		page, err := p.NextPage(ctx)
		if err != nil {
			s.NoteFailure(name, "list bucket "+name, err)
			return
		}
		objects := convertEach(page.Versions, func(v types.ObjectVersion) types.ObjectIdentifier { return objectVersion(v.Key, v.VersionId) })
		objects = append(objects, convertEach(page.DeleteMarkers, func(m types.DeleteMarkerEntry) types.ObjectIdentifier { return objectVersion(m.Key, m.VersionId) })...)
		for _, o := range objects {
			_, err := api.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &name, Key: o.Key, VersionId: o.VersionId})
			kept = s.NoteFailure(name, "delete "+awssdk.ToString(o.Key)+" from bucket "+name, err) || kept
		}
	}
	if kept {
		return // S3 refuses to delete it, and its words would hide why
	}
	_, err := api.DeleteBucket(ctx, &s3.DeleteBucketInput{Bucket: &name})
	s.NoteDeletion(name, "bucket "+name, err)
}

// objectVersion identifies one version of an object; S3 calls a version from before versioning "null".
func objectVersion(key, id *string) types.ObjectIdentifier {
	if strings.TrimPrefix(awssdk.ToString(id), "null") == "" {
		id = nil
	}
	return types.ObjectIdentifier{Key: key, VersionId: id}
}
