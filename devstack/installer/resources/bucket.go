package resources

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/ocpctl/ocpctl/devstack/must"
)

// BootstrapBucket is the bucket with the bootstrap machine's ignition.
func (b *Build) BootstrapBucket() string { return "openshift-bootstrap-data-" + b.InfraID }

// CreateBucket creates the bootstrap bucket. It has no tags until TagBucket: two calls, as in the real provider.
func (b *Build) CreateBucket(ctx context.Context) error {
	return b.createBucket(ctx, b.BootstrapBucket())
}

// TagBucket tags the bootstrap bucket, so that destroy finds it.
func (b *Build) TagBucket(ctx context.Context) error { return b.tagBucket(ctx, b.BootstrapBucket()) }

// PutIgnition puts the bootstrap ignition, full of secrets, into the bucket.
func (b *Build) PutIgnition(ctx context.Context, ignition []byte) error {
	_, err := b.s3.PutObject(ctx, &s3.PutObjectInput{
		Bucket: aws.String(b.BootstrapBucket()), Key: aws.String("bootstrap.ign"), Body: bytes.NewReader(ignition),
	})
	if err != nil {
		return fmt.Errorf("failed to upload bootstrap ignition: %w", err)
	}
	return nil
}

// createBucket sends no location, because the stand-in S3 has one region.
func (b *Build) createBucket(ctx context.Context, name string) error {
	if _, err := b.s3.CreateBucket(ctx, &s3.CreateBucketInput{Bucket: &name}); err != nil {
		return fmt.Errorf("failed to create S3 bucket %q: %w", name, err)
	}
	return nil
}

func (b *Build) tagBucket(ctx context.Context, name string) error {
	_, err := b.s3.PutBucketTagging(ctx, &s3.PutBucketTaggingInput{Bucket: &name, Tagging: &types.Tagging{
		TagSet: sorted(b.tags(name), func(k, v *string) types.Tag { return types.Tag{Key: k, Value: v} }),
	}})
	if err != nil {
		return fmt.Errorf("failed to tag S3 bucket %q: %w", name, err)
	}
	return nil
}

// deleteBucket empties a bucket, including all versions, and deletes it. A missing one is no error.
func (c *Cloud) deleteBucket(ctx context.Context, name string) (err error) {
	defer must.Catch(&err)
	p := s3.NewListObjectVersionsPaginator(c.s3, &s3.ListObjectVersionsInput{Bucket: &name})
	for p.HasMorePages() {
		page, err := p.NextPage(ctx)
		if missing(err) {
			return nil
		}
		must.Wrap(err, "list bucket %s", name)
		for _, v := range page.Versions {
			must.Do(c.deleteObject(ctx, name, v.Key, v.VersionId))
		}
		for _, m := range page.DeleteMarkers {
			must.Do(c.deleteObject(ctx, name, m.Key, m.VersionId))
		}
	}
	if _, err := c.s3.DeleteBucket(ctx, &s3.DeleteBucketInput{Bucket: &name}); err != nil && !missing(err) {
		return fmt.Errorf("delete bucket %s: %w", name, err)
	}
	return nil
}

func (c *Cloud) deleteObject(ctx context.Context, bucket string, key, version *string) error {
	in := &s3.DeleteObjectInput{Bucket: &bucket, Key: key}
	if v := aws.ToString(version); v != "" && v != "null" {
		in.VersionId = version
	}
	if _, err := c.s3.DeleteObject(ctx, in); err != nil && !missing(err) {
		return fmt.Errorf("delete %s from bucket %s: %w", aws.ToString(key), bucket, err)
	}
	return nil
}

// missing reports that the cloud answered and the resource does not exist.
func missing(err error) bool {
	var response *smithyhttp.ResponseError
	return errors.As(err, &response) && response.HTTPStatusCode() == http.StatusNotFound || codeSays(err, "NotFound", "NoSuch")
}
