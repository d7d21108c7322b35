package inventory

import (
	"cmp"
	"context"
	"slices"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/runner/cloud/aws/kinds"
)

// listBuckets lists the buckets with a name that the installer, an image registry or ccoctl gives. A bucket with another name and a
// cluster's tag is in its region's part of the tagging API: the tags of buckets of everybody are nobody's business. The detail is the GiB of
// what is in a bucket, if its objects may be listed.
func (c *Client) listBuckets(ctx context.Context, emit Emit) error {
	all := listsOf(ctx)
	var found []types.Bucket
	all.Run(func(ctx context.Context) error {
		return kinds.ListBuckets(ctx, c.s3In(c.cfg.HomeRegion), nil, func(page []types.Bucket) error {
			found = append(found, slices.DeleteFunc(page, func(b types.Bucket) bool { return !bucketNamed(awssdk.ToString(b.Name)) })...)
			return nil
		})
	})
	for _, b := range found {
		all.Run(func(ctx context.Context) error {
			s := contract.SeenResource{
				Type: kinds.Bucket, Region: cmp.Or(awssdk.ToString(b.BucketRegion), c.cfg.HomeRegion), Name: awssdk.ToString(b.Name), MadeAt: awssdk.ToTime(b.CreationDate).UTC(),
			}
			s.ID = c.globalARN(partS3, s.Name)
			tags, err := c.bucketTags(ctx, s.Name, s.Region)
			if kinds.CodeOf(err) == "NoSuchBucket" { // deleted since it was listed
				return nil
			}
			s.Tags, s.Detail = tags, kinds.BucketSize(ctx, c.s3In(s.Region), s.Name)
			if failed := emit([]contract.SeenResource{s}); failed != nil {
				return failed
			}
			return err // the bucket is there, but whose it is was not told
		})
	}
	return all.Err()
}

// bucketTags returns a bucket's tags; nil if it has none.
func (c *Client) bucketTags(ctx context.Context, name, region string) (map[string]string, error) {
	out, err := kinds.Once(ctx, c.s3In(region).GetBucketTagging, &s3.GetBucketTaggingInput{Bucket: &name})
	switch {
	case kinds.CodeOf(err) == "NoSuchTagSet":
		return nil, nil
	case err != nil:
		return nil, err
	}
	return kinds.TagsOf(out.TagSet, func(t types.Tag) (*string, *string) { return t.Key, t.Value }), nil
}

// s3In always uses path style: AWS accepts it too, and endpoints without DNS need it.
func (c *Client) s3In(region string) *s3.Client {
	return s3.NewFromConfig(c.aws, func(o *s3.Options) { o.UsePathStyle, o.Region = true, region })
}
