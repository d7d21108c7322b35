package count

import (
	"context"
	"fmt"
	"net/http"
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
			p := s3.NewListBucketsPaginator(c.s3, &s3.ListBucketsInput{})
			return collect(ctx, p, func(page *s3.ListBucketsOutput) []thing {
				var out []thing
				for _, b := range page.Buckets {
					if name := awssdk.ToString(b.Name); hasAnyPrefix(name, prefixes) {
						out = append(out, bucketThing(name))
					}
				}
				return out
			})
		},
	}
}

func bucketThing(name string) thing {
	return thing{kind: "bucket", id: name, name: name, free: fmt.Sprintf("an administrator of the account: aws s3 rb --force s3://%s", name)}
}
