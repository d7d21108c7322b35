package count

import (
	"cmp"
	"context"
	"net/http"
	"strings"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/ocpctl/ocpctl/runner/cloud/aws/kinds"
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
	case err == nil || kinds.StatusOf(err) == http.StatusMovedPermanently:
		return true, nil
	case kinds.StatusOf(err) == http.StatusNotFound:
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
func (c *Client) listBuckets(ctx context.Context, prefix *string, isOurs func(name string) bool) ([]thing, error) {
	var found []thing
	err := kinds.ListBuckets(ctx, c.s3, prefix, func(page []types.Bucket) error {
		for _, b := range page {
			if name := awssdk.ToString(b.Name); isOurs(name) {
				t := bucketThing(name)
				t.region = awssdk.ToString(b.BucketRegion)
				found = append(found, t)
			}
		}
		return nil
	})
	for i, t := range found {
		api := s3.New(c.s3.Options(), func(o *s3.Options) { o.Region = cmp.Or(t.region, globalRegion) })
		found[i].Detail = kinds.BucketSize(ctx, api, t.Name)
	}
	return found, err
}

func bucketThing(name string) thing {
	return thing{kind: kinds.Bucket, Resource: kinds.Resource{ID: name, Name: name}, free: administrator, command: "aws s3 rb --force s3://" + name}
}
