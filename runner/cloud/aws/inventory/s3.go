package inventory

import (
	"cmp"
	"context"
	"slices"
	"strconv"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/ocpctl/ocpctl/internal/contract"
)

// listBuckets lists the buckets with a name that the installer, an image registry or ccoctl gives. A bucket with another name and a
// cluster's tag is in its region's part of the tagging API: the tags of buckets of everybody are nobody's business. The detail is the GiB of
// what is in a bucket, if its objects may be listed.
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
			s.Tags, s.Detail = tags, c.bucketSize(ctx, s.Name, s.Region)
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

// sizePages limits what is read of a bucket's list: a price is not worth more.
const sizePages = 10

// bucketSize adds up a bucket's first objects, in whole GiB; empty: they may not be listed, or there are none.
func (c *Client) bucketSize(ctx context.Context, name, region string) string {
	p := s3.NewListObjectsV2Paginator(c.s3In(region), &s3.ListObjectsV2Input{Bucket: &name})
	var bytes int64
	for pages := 0; p.HasMorePages() && pages < sizePages; pages++ {
		page, err := p.NextPage(ctx)
		if err != nil {
			return "" // the bucket is there, whatever is in it
		}
		for _, o := range page.Contents {
			bytes += awssdk.ToInt64(o.Size)
		}
	}
	if bytes == 0 {
		return ""
	}
	return strconv.FormatInt((bytes+1<<30-1)>>30, 10)
}

// s3In always uses path style: AWS accepts it too, and endpoints without DNS need it.
func (c *Client) s3In(region string) *s3.Client {
	return s3.NewFromConfig(c.aws, func(o *s3.Options) { o.UsePathStyle, o.Region = true, region })
}
