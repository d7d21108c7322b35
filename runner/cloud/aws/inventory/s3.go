package inventory

import (
	"cmp"
	"context"
	"slices"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/ocpctl/ocpctl/internal/contract"
)

// listBuckets lists the buckets with a name that the installer, an image registry or ccoctl gives. A bucket with another name and a
// cluster's tag is in its region's part of the tagging API: the tags of buckets of everybody are nobody's business.
func (c *Client) listBuckets(ctx context.Context, emit Emit) error {
	all := listsOf(ctx)
	var found []types.Bucket
	all.Run(func(ctx context.Context) error {
		// With a length for pages AWS tells each bucket's region.
		p := s3.NewListBucketsPaginator(c.s3In(c.cfg.HomeRegion), &s3.ListBucketsInput{MaxBuckets: awssdk.Int32(longPage)})
		return eachPage(ctx, p, func(page *s3.ListBucketsOutput) error {
			found = append(found, slices.DeleteFunc(page.Buckets, func(b types.Bucket) bool { return !bucketNamed(awssdk.ToString(b.Name)) })...)
			return nil
		})
	})
	for _, b := range found {
		all.Run(func(ctx context.Context) error {
			s := contract.SeenResource{
				Type: "bucket", Region: cmp.Or(awssdk.ToString(b.BucketRegion), c.cfg.HomeRegion), Name: awssdk.ToString(b.Name), MadeAt: made(b.CreationDate),
			}
			s.ID = c.globalARN(partS3, s.Name)
			tags, err := c.bucketTags(ctx, s.Name, s.Region)
			if codeOf(err) == "NoSuchBucket" { // deleted since it was listed
				return nil
			}
			s.Tags = tags
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
	out, err := once(ctx, c.s3In(region).GetBucketTagging, &s3.GetBucketTaggingInput{Bucket: &name})
	switch {
	case codeOf(err) == "NoSuchTagSet":
		return nil, nil
	case err != nil:
		return nil, err
	}
	return tagsOf(out.TagSet, func(t types.Tag) (*string, *string) { return t.Key, t.Value }), nil
}

// s3In always uses path style: AWS accepts it too, and endpoints without DNS need it.
func (c *Client) s3In(region string) *s3.Client {
	return s3.NewFromConfig(c.aws, func(o *s3.Options) { o.UsePathStyle, o.Region = true, region })
}
