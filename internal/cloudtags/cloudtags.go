// Package cloudtags lists what carries the tag of an installation in AWS. It only reads, and only through the tagging API: what that API
// does not know, such as IAM roles and everything that ccoctl creates, is not in its answers.
package cloudtags

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	tagging "github.com/aws/aws-sdk-go-v2/service/resourcegroupstaggingapi"
	"github.com/aws/aws-sdk-go-v2/service/resourcegroupstaggingapi/types"
)

// Resource is one tagged resource. The API lists deleted ones for a while, so it proves nothing.
type Resource struct {
	ARN  string
	Tags map[string]string
}

// Client asks one account.
type Client struct{ cfg aws.Config }

// New takes credentials and endpoints from the SDK's default chain, unless options say otherwise. It makes no call.
func New(ctx context.Context, options ...func(*config.LoadOptions) error) (*Client, error) {
	cfg, err := config.LoadDefaultConfig(ctx, options...)
	if err != nil {
		return nil, fmt.Errorf("load the AWS configuration: %w", err)
	}
	return &Client{cfg}, nil
}

// Tagged lists everything in a region with the value for the key. The global services are listed in us-east-1.
func (c *Client) Tagged(ctx context.Context, region, key, value string) ([]Resource, error) {
	client := tagging.NewFromConfig(c.cfg, func(o *tagging.Options) { o.Region = region })
	pages := tagging.NewGetResourcesPaginator(client, &tagging.GetResourcesInput{TagFilters: []types.TagFilter{{Key: &key, Values: []string{value}}}})
	var found []Resource
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("list what is tagged %s=%s in %s: %w", key, value, region, err)
		}
		for _, m := range page.ResourceTagMappingList {
			r := Resource{ARN: aws.ToString(m.ResourceARN), Tags: make(map[string]string, len(m.Tags))}
			for _, t := range m.Tags {
				r.Tags[aws.ToString(t.Key)] = aws.ToString(t.Value)
			}
			found = append(found, r)
		}
	}
	return found, nil
}
