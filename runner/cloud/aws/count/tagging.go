package count

import (
	"context"
	"fmt"
	"strings"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	elb "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	tagging "github.com/aws/aws-sdk-go-v2/service/resourcegroupstaggingapi"
	"github.com/aws/aws-sdk-go-v2/service/resourcegroupstaggingapi/types"

	"github.com/ocpctl/ocpctl/runner/cloud/aws/kinds"
)

// kindARN marks a thing that the tagging API listed and no describe call confirmed: the API lists what was tagged once, so it proves
// nothing.
const kindARN = "arn"

// askTagged asks the tagging API for the ARNs that have, or once had, a tag.
func (c *Client) askTagged(region, key, value string) question {
	return question{
		service: "tagging", call: "GetResources", region: region, asked: key + "=" + value,
		ask: func(ctx context.Context) ([]thing, error) {
			mappings, err := c.listTagged(ctx, region, key, value)
			return convertEach(mappings, func(m types.ResourceTagMapping) thing {
				return thing{kind: kindARN, Resource: kinds.Resource{ID: awssdk.ToString(m.ResourceARN)}}
			}), err
		},
	}
}

// listTagged reads all pages; a page may be short or empty before the last token.
func (c *Client) listTagged(ctx context.Context, region, key, value string) ([]types.ResourceTagMapping, error) {
	filter := types.TagFilter{Key: &key}
	if value != "" {
		filter.Values = []string{value}
	}
	var all []types.ResourceTagMapping
	p := tagging.NewGetResourcesPaginator(c.taggingIn(region), &tagging.GetResourcesInput{TagFilters: []types.TagFilter{filter}})
	err := kinds.EachPage(ctx, p, func(page *tagging.GetResourcesOutput) error {
		all = append(all, page.ResourceTagMappingList...)
		return nil
	})
	return all, err
}

// confirmARN returns the query that proves whether an ARN still exists.
func (c *Client) confirmARN(arn, region string) question {
	// arn:partition:service:region:account:resource
	parts := strings.SplitN(arn, ":", 6)
	if len(parts) < 6 {
		return unknownARN(arn, region)
	}
	service, resource := parts[2], parts[5]
	if parts[3] != "" {
		region = parts[3]
	}
	kind, id, _ := strings.Cut(resource, "/")
	switch service {
	case "ec2":
		for _, k := range kinds.AllEC2 {
			if k.ARN == kind {
				return c.ec2Question(region, k, k.IDs, id)
			}
		}
	case "elasticloadbalancing":
		return c.confirmBalancer(arn, kind, region)
	case "iam":
		return c.confirmIAM(arn, kind, id, region)
	case "route53":
		if kind == "hostedzone" {
			return c.zoneByID(id)
		}
	case "s3":
		return c.bucketListed(resource)
	}
	return unknownARN(arn, region)
}

func (c *Client) confirmIAM(arn, noun, path, region string) question {
	for _, kind := range kinds.AllIAM {
		switch {
		case kind.Noun != noun:
		case noun == kinds.Provider.Noun:
			return c.identityByID(kind, arn)
		default:
			return c.identityByID(kind, path[strings.LastIndex(path, "/")+1:])
		}
	}
	return unknownARN(arn, region)
}

func (c *Client) confirmBalancer(arn, kind, region string) question {
	asked, only := "arn="+arn, kinds.Which{ARNs: []string{arn}}
	switch {
	case kind == "targetgroup":
		return c.balancingQuestion(region, kinds.TargetGroup, asked, only, nil)
	case kind == "loadbalancer" && strings.Count(arn, "/") == 3: // a classic load balancer has no type and no id in its ARN
		return c.balancingQuestion(region, kinds.LoadBalancer, asked, only, nil)
	case kind == "loadbalancer" && strings.Count(arn, "/") == 1:
		name := lastPart(arn)
		return c.balancingQuestion(region, kinds.ClassicBalancer, "classic, name="+name, kinds.Which{Names: []string{name}}, nil)
	case kind == "listener":
		return question{
			service: "elasticloadbalancing", call: "DescribeListeners", region: region, asked: asked,
			ask: func(ctx context.Context) ([]thing, error) {
				out, err := kinds.NewBalancingAPI(c.cfg, region).V2.DescribeListeners(ctx, &elb.DescribeListenersInput{ListenerArns: []string{arn}})
				if err != nil || len(out.Listeners) == 0 {
					return nil, err
				}
				return []thing{{kind: "listener", Resource: kinds.Resource{ID: arn}, free: "an administrator of the account: delete its load balancer"}}, nil
			},
		}
	}
	return unknownARN(arn, region)
}

// unknownARN is a tagged resource of a service that this package cannot describe. The installer's destroy retries it for ever.
func unknownARN(arn, region string) question {
	return question{
		service: "tagging", call: "GetResources", region: region, asked: "arn=" + arn,
		ask: func(context.Context) ([]thing, error) {
			return []thing{{kind: "tagged-resource", Resource: kinds.Resource{ID: arn}, free: fmt.Sprintf(
				"its creator: openshift-install never deletes this kind; delete %s manually, or remove the cluster's tag from it", arn)}}, nil
		},
	}
}

// lastPart returns the resource's own id or name from an ARN.
func lastPart(arn string) string { return arn[strings.LastIndexAny(arn, "/:")+1:] }
