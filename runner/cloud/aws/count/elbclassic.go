package count

import (
	"context"
	"fmt"
	"slices"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	classic "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancing"
	"github.com/aws/aws-sdk-go-v2/service/elasticloadbalancing/types"
)

// The in-cluster cloud provider makes a classic load balancer for the ingress (unless the profile says NLB) and for each Service of
// type LoadBalancer, under an unpredictable name. They have a separate API and a different ARN format.

// classicOf queries every classic load balancer with the cluster's tags or in one of the VPCs.
func (c *Client) classicOf(region string, id identity, vpcs []string) question {
	return question{
		service: "elasticloadbalancing", call: "DescribeLoadBalancers", region: region,
		asked: fmt.Sprintf("classic, tags of %v %s, vpc=%v", id.infraIDs, id.cluster, vpcs),
		ask: func(ctx context.Context) ([]thing, error) {
			api := c.classicIn(region)
			all, err := collect(ctx, classic.NewDescribeLoadBalancersPaginator(api, &classic.DescribeLoadBalancersInput{}),
				func(page *classic.DescribeLoadBalancersOutput) []types.LoadBalancerDescription {
					return page.LoadBalancerDescriptions
				})
			if err != nil {
				return nil, err
			}
			tags, err := classicTags(ctx, api, all)
			if err != nil {
				return nil, err
			}
			var out []thing
			for _, b := range all {
				name := awssdk.ToString(b.LoadBalancerName)
				if id.whose(tags[name]) == ours || slices.Contains(vpcs, awssdk.ToString(b.VPCId)) {
					out = append(out, classicThing(region, name))
				}
			}
			return out, nil
		},
	}
}

// classicTags reads tags by name.
func classicTags(ctx context.Context, api *classic.Client, all []types.LoadBalancerDescription) (map[string]map[string]string, error) {
	out := map[string]map[string]string{}
	names := each(all, func(b types.LoadBalancerDescription) string { return awssdk.ToString(b.LoadBalancerName) })
	return out, byTwenties(names, func(some []string) error {
		page, err := api.DescribeTags(ctx, &classic.DescribeTagsInput{LoadBalancerNames: some})
		if err != nil {
			return err
		}
		for _, d := range page.TagDescriptions {
			tags := map[string]string{}
			for _, t := range d.Tags {
				tags[awssdk.ToString(t.Key)] = awssdk.ToString(t.Value)
			}
			out[awssdk.ToString(d.LoadBalancerName)] = tags
		}
		return nil
	})
}

// classicByName queries one.
func (c *Client) classicByName(region, name string) question {
	return question{
		service: "elasticloadbalancing", call: "DescribeLoadBalancers", region: region, asked: "classic, name=" + name,
		ask: func(ctx context.Context) ([]thing, error) {
			out, err := c.classicIn(region).DescribeLoadBalancers(ctx, &classic.DescribeLoadBalancersInput{LoadBalancerNames: []string{name}})
			if err != nil || len(out.LoadBalancerDescriptions) == 0 {
				return nil, err
			}
			return []thing{classicThing(region, name)}, nil
		},
	}
}

func classicThing(region, name string) thing {
	return thing{kind: "classic-load-balancer", id: name, name: name, free: fmt.Sprintf(
		"an administrator of the account: aws elb delete-load-balancer --load-balancer-name %s --region %s", name, region)}
}
