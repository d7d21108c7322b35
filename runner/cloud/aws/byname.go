package aws

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strings"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// providersCalled looks for identity providers whose host is ccoctl's bucket of this name, in any region: bucket names are global, so
// it cannot belong to anybody else.
func (c *Client) providersCalled(ctx context.Context, ccoName string) (arns []string, err error) {
	all, err := c.iam.ListOpenIDConnectProviders(ctx, &iam.ListOpenIDConnectProvidersInput{}) // this call has no pages
	if err != nil {
		return nil, err
	}
	for _, p := range all.OpenIDConnectProviderList {
		if arn := awssdk.ToString(p.Arn); strings.Contains(arn, ":oidc-provider/"+issuerBucket(ccoName)+".s3.") {
			arns = append(arns, arn)
		}
	}
	return arns, nil
}

// bucketHome returns the region of a bucket; empty if no bucket has that name. Any region can be asked and names the right one.
func (c *Client) bucketHome(ctx context.Context, name string) (string, error) {
	head, err := c.s3.HeadBucket(ctx, &s3.HeadBucketInput{Bucket: &name})
	if err == nil {
		return cmp.Or(awssdk.ToString(head.BucketRegion), globalRegion), nil
	}
	var refused *smithyhttp.ResponseError
	if !errors.As(err, &refused) {
		return "", err
	}
	switch refused.HTTPStatusCode() { // a HEAD response has no body, so only the status tells
	case http.StatusNotFound:
		return "", nil
	case http.StatusMovedPermanently:
		return cmp.Or(refused.Response.Header.Get("X-Amz-Bucket-Region"), globalRegion), nil
	}
	return "", err
}
