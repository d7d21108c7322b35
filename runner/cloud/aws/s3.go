package aws

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
)

// bootstrapBucket holds the bootstrap ignition, which is full of secrets.
func bootstrapBucket(infraID string) string { return "openshift-bootstrap-data-" + infraID }

// bucketByName asks for one bucket.
func (c *Client) bucketByName(name string) question {
	return question{
		service: "s3", call: "HeadBucket", region: c.region, asked: "name=" + name,
		ask: func(ctx context.Context) ([]thing, error) {
			_, err := c.s3.HeadBucket(ctx, &s3.HeadBucketInput{Bucket: &name})
			switch {
			case err == nil:
				return []thing{bucketThing(name)}, nil
			case statusCode(err) == http.StatusNotFound: // HEAD has no body, so no code
				return nil, nil
			}
			return nil, err
		},
	}
}

// bucketsNamed asks for the buckets whose names begin with one of the prefixes.
func (c *Client) bucketsNamed(prefixes []string) question {
	return question{
		service: "s3", call: "ListBuckets", region: c.region, asked: "name=" + strings.Join(prefixes, "*,") + "*",
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
