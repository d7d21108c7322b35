package count

import (
	"context"
	"fmt"
	"strings"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	elb "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	tagging "github.com/aws/aws-sdk-go-v2/service/resourcegroupstaggingapi"
	"github.com/aws/aws-sdk-go-v2/service/resourcegroupstaggingapi/types"
)

// kindARN marks a thing that the tagging API listed and no describe call confirmed: the API lists what was tagged once, so it proves
// nothing.
const kindARN = "arn"

// tagged asks the tagging API for the ARNs that have, or once had, a tag.
func (c *Client) tagged(region, key, value string) question {
	return question{
		service: "tagging", call: "GetResources", region: region, asked: key + "=" + value,
		ask: func(ctx context.Context) ([]thing, error) {
			mappings, err := c.resources(ctx, region, key, value)
			return each(mappings, func(m types.ResourceTagMapping) thing {
				return thing{kind: kindARN, id: awssdk.ToString(m.ResourceARN)}
			}), err
		},
	}
}

// resources reads all pages; a page may be short or empty before the last token.
func (c *Client) resources(ctx context.Context, region, key, value string) ([]types.ResourceTagMapping, error) {
	filter := types.TagFilter{Key: &key}
	if value != "" {
		filter.Values = []string{value}
	}
	var all []types.ResourceTagMapping
	p := tagging.NewGetResourcesPaginator(c.taggingIn(region), &tagging.GetResourcesInput{TagFilters: []types.TagFilter{filter}})
	for p.HasMorePages() {
		page, err := p.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		all = append(all, page.ResourceTagMappingList...)
	}
	return all, nil
}

// confirm returns the query that proves whether an ARN still exists.
func (c *Client) confirm(arn, region string) question {
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
		for _, k := range ec2Kinds {
			if k.arnType == kind {
				return c.ec2Question(region, k, k.idFilter, id)
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

func (c *Client) confirmIAM(arn, kind, path, region string) question {
	name := path[strings.LastIndex(path, "/")+1:]
	switch kind {
	case "role":
		return c.roleByName(name)
	case "instance-profile":
		return c.profileByName(name)
	case "user":
		return c.userByName(name)
	case "oidc-provider":
		return c.providerByARN(arn)
	}
	return unknownARN(arn, region)
}

func (c *Client) confirmBalancer(arn, kind, region string) question {
	q := question{service: "elasticloadbalancing", region: region, asked: "arn=" + arn}
	switch {
	case kind == "targetgroup":
		q.call = "DescribeTargetGroups"
		q.ask = func(ctx context.Context) ([]thing, error) {
			found, err := c.groups(ctx, region, &elb.DescribeTargetGroupsInput{TargetGroupArns: []string{arn}})
			return found.things(), err
		}
	case kind == "loadbalancer" && strings.Count(arn, "/") == 3: // a classic load balancer has no type and no id in its ARN
		q.call = "DescribeLoadBalancers"
		q.ask = func(ctx context.Context) ([]thing, error) {
			return c.balancers(ctx, region, &elb.DescribeLoadBalancersInput{LoadBalancerArns: []string{arn}}, nil)
		}
	case kind == "loadbalancer" && strings.Count(arn, "/") == 1:
		return c.classicByName(region, lastPart(arn))
	case kind == "listener":
		q.call = "DescribeListeners"
		q.ask = func(ctx context.Context) ([]thing, error) {
			out, err := c.elbIn(region).DescribeListeners(ctx, &elb.DescribeListenersInput{ListenerArns: []string{arn}})
			if err != nil || len(out.Listeners) == 0 {
				return nil, err
			}
			return []thing{{kind: "listener", id: arn, free: "an administrator of the account: delete its load balancer"}}, nil
		}
	default:
		return unknownARN(arn, region)
	}
	return q
}

// unknownARN is a tagged resource of a service that this package cannot describe. The installer's destroy retries it for ever.
func unknownARN(arn, region string) question {
	return question{
		service: "tagging", call: "GetResources", region: region, asked: "arn=" + arn,
		ask: func(context.Context) ([]thing, error) {
			return []thing{{kind: "tagged-resource", id: arn, free: fmt.Sprintf(
				"its creator: openshift-install never deletes this kind; delete %s manually, or remove the cluster's tag from it", arn)}}, nil
		},
	}
}

// lastPart returns the resource's own id or name from an ARN.
func lastPart(arn string) string { return arn[strings.LastIndexAny(arn, "/:")+1:] }
