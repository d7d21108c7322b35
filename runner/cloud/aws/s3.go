package aws

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// bootstrapBucket holds the bootstrap ignition, which is full of secrets.
func bootstrapBucket(infraID string) string { return "openshift-bootstrap-data-" + infraID }

// registryInfix stands between the infraID and the region in the name of the bucket the image registry makes itself.
const registryInfix = "-image-registry-"

// oidcBucket is the public bucket ccoctl puts the cluster's issuer documents into.
func oidcBucket(ccoName string) string { return ccoName + "-oidc" }

// bucketByName asks for one bucket.
func (c *Client) bucketByName(name string) question {
	return question{
		service: "s3", call: "HeadBucket", region: globalRegion, asked: "name=" + name,
		ask: func(ctx context.Context) ([]thing, error) {
			_, found, err := c.bucketRegion(ctx, name)
			if err != nil || !found {
				return nil, err
			}
			return []thing{bucketThing(name)}, nil
		},
	}
}

// bucketRegion says whether a bucket exists and where. Names are global, so one region can be asked for all: a bucket
// elsewhere is answered with a redirect that names its region. HEAD has no body, so only the status tells.
func (c *Client) bucketRegion(ctx context.Context, name string) (region string, found bool, err error) {
	out, err := c.s3.HeadBucket(ctx, &s3.HeadBucketInput{Bucket: &name})
	if err == nil {
		return cmp.Or(awssdk.ToString(out.BucketRegion), globalRegion), true, nil
	}
	var response *smithyhttp.ResponseError
	if errors.As(err, &response) {
		switch response.HTTPStatusCode() {
		case http.StatusNotFound:
			return "", false, nil
		case http.StatusMovedPermanently:
			return cmp.Or(response.Response.Header.Get("X-Amz-Bucket-Region"), globalRegion), true, nil
		}
	}
	return "", false, err
}

// bucketsNamed asks for the buckets whose names begin with one of the prefixes.
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
