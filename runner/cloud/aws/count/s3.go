package count

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
)

// bootstrapBucket contains the bootstrap ignition, which is full of secrets.
func bootstrapBucket(infraID string) string { return "openshift-bootstrap-data-" + infraID }

// registryInfix is between the infraID and the region in the name of the bucket that the image registry makes itself.
const registryInfix = "-image-registry-"

// oidcBucket is the public bucket with the cluster's issuer documents from ccoctl.
func oidcBucket(ccoName string) string { return ccoName + "-oidc" }

// bucketByName queries one bucket.
func (c *Client) bucketByName(name string) question {
	return question{
		service: "s3", call: "HeadBucket", region: globalRegion, asked: "name=" + name,
		ask: func(ctx context.Context) ([]thing, error) {
			found, err := c.bucketExists(ctx, name)
			if err != nil || !found {
				return nil, err
			}
			return []thing{bucketThing(name)}, nil
		},
	}
}

// bucketExists reports whether a bucket exists. Names are global, so one region can be asked for all: a bucket elsewhere gives a
// redirect. A HEAD response has no body, so only the status tells.
func (c *Client) bucketExists(ctx context.Context, name string) (bool, error) {
	_, err := c.s3.HeadBucket(ctx, &s3.HeadBucketInput{Bucket: &name})
	switch {
	case err == nil || statusCode(err) == http.StatusMovedPermanently:
		return true, nil
	case statusCode(err) == http.StatusNotFound:
		return false, nil
	}
	return false, err
}

// bucketsNamed queries the buckets whose names begin with one of the prefixes.
func (c *Client) bucketsNamed(prefixes []string) question {
	return question{
		service: "s3", call: "ListBuckets", region: globalRegion, asked: "name=" + strings.Join(prefixes, "*,") + "*",
		ask: func(ctx context.Context) ([]thing, error) {
			return c.listBuckets(ctx, nil, func(name string) bool { return hasAnyPrefix(name, prefixes) })
		},
	}
}

// bucketListed looks for one bucket in the list of the account's buckets: the credentials may not read a bucket of any name.
func (c *Client) bucketListed(name string) question {
	return question{
		service: "s3", call: "ListBuckets", region: globalRegion, asked: "name=" + name,
		ask: func(ctx context.Context) ([]thing, error) {
			return c.listBuckets(ctx, &name, func(listed string) bool { return listed == name })
		},
	}
}

// listBuckets lists those of the account's buckets for whose name it is true, with the size of what is in them.
func (c *Client) listBuckets(ctx context.Context, prefix *string, ours func(name string) bool) ([]thing, error) {
	p := s3.NewListBucketsPaginator(c.s3, &s3.ListBucketsInput{Prefix: prefix, MaxBuckets: awssdk.Int32(bucketPage)}) // with a length it tells regions
	found, err := collect(ctx, p, func(page *s3.ListBucketsOutput) (found []thing) {
		for _, b := range page.Buckets {
			if name := awssdk.ToString(b.Name); ours(name) {
				t := bucketThing(name)
				t.region = awssdk.ToString(b.BucketRegion)
				found = append(found, t)
			}
		}
		return found
	})
	for i := range found {
		found[i].detail = c.sizeOf(ctx, found[i])
	}
	return found, err
}

const (
	bucketPage = 1000
	sizePages  = 10 // a price is not worth more
)

// sizeOf adds up the first objects in a bucket, in whole GiB; empty: the credentials may not list them, or there are none.
func (c *Client) sizeOf(ctx context.Context, bucket thing) string {
	api := s3.New(c.s3.Options(), func(o *s3.Options) { o.Region = cmp.Or(bucket.region, globalRegion) })
	p := s3.NewListObjectsV2Paginator(api, &s3.ListObjectsV2Input{Bucket: &bucket.name})
	var bytes int64
	for range sizePages {
		if !p.HasMorePages() {
			break
		}
		page, err := p.NextPage(ctx)
		if err != nil {
			return "" // it is there, whatever is in it
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

func bucketThing(name string) thing {
	return thing{kind: "bucket", id: name, name: name, free: fmt.Sprintf("an administrator of the account: aws s3 rb --force s3://%s", name)}
}
