package inventory

import (
	"context"
	"slices"
	"strings"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/arn"
	tagging "github.com/aws/aws-sdk-go-v2/service/resourcegroupstaggingapi"
	"github.com/aws/aws-sdk-go-v2/service/resourcegroupstaggingapi/types"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/runner/cloud/aws/kinds"
)

// listTagged lists what has a cluster's tag and is in no other part: a database, a file system, a log group. The tagging API also lists
// what was deleted within the last hours, so for everything that has a list of its own that list decides.
//
// It asks for everything that has tags, because the keys of the installer end with infraIDs, and the API finds no beginnings of keys.
func (c *Client) listTagged(ctx context.Context, region string, emit Emit) error {
	api := tagging.NewFromConfig(c.aws, func(o *tagging.Options) { o.Region = region })
	all := listsOf(ctx)
	all.Run(func(ctx context.Context) error {
		p := tagging.NewGetResourcesPaginator(api, &tagging.GetResourcesInput{ResourcesPerPage: awssdk.Int32(100)})
		return kinds.EachPage(ctx, p, func(page *tagging.GetResourcesOutput) error {
			var seen []contract.SeenResource
			for _, m := range page.ResourceTagMappingList {
				if s, ok := newTaggedResource(region, m); ok {
					seen = append(seen, s)
				}
			}
			return emit(seen)
		})
	})
	return all.Err()
}

// newTaggedResource gives service and kind as the detail: rds db.
func newTaggedResource(region string, m types.ResourceTagMapping) (contract.SeenResource, bool) {
	s := contract.SeenResource{ID: awssdk.ToString(m.ResourceARN), Type: "tagged-resource", Region: region}
	s.Tags = kinds.TagsOf(m.Tags, func(t types.Tag) (*string, *string) { return t.Key, t.Value })
	name, err := arn.Parse(s.ID)
	if err != nil || !isTagged(s.Tags) || isListedElsewhere(name) {
		return contract.SeenResource{}, false
	}
	kind, rest := cutResource(name.Resource)
	s.Name, s.Detail = rest, name.Service+" "+kind
	if name.Service == "s3" {
		s.Type, s.Name, s.Detail = kinds.Bucket, name.Resource, ""
	}
	return s, true
}

// isListedElsewhere reports whether another part lists a resource, with what is true of it now.
func isListedElsewhere(name arn.ARN) bool {
	kind, _ := cutResource(name.Resource)
	switch name.Service {
	case "ec2":
		return slices.ContainsFunc(kinds.AllEC2, func(k kinds.EC2) bool { return k.ARN == kind })
	case "elasticloadbalancing":
		return kind == "loadbalancer" || kind == "targetgroup" || strings.HasPrefix(kind, "listener") // a listener ends with its load balancer
	case "iam":
		return slices.ContainsFunc(kinds.AllIAM, func(k kinds.IAM) bool { return k.Noun == kind })
	case "route53":
		return kind == "hostedzone"
	case "s3":
		return bucketNamed(name.Resource)
	}
	return false
}

// cutResource splits the last part of an ARN, which is kind/name, kind:name or a name alone.
func cutResource(resource string) (kind, name string) {
	if i := strings.IndexAny(resource, "/:"); i >= 0 {
		return resource[:i], resource[i+1:]
	}
	return "", resource
}
