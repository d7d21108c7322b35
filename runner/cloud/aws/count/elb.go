package count

import (
	"context"
	"fmt"
	"slices"
	"strings"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	elb "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	"github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"
)

// balancerByName queries one load balancer by its exact name.
func (c *Client) balancerByName(region, name string) question {
	return question{
		service: "elasticloadbalancing", call: "DescribeLoadBalancers", region: region, asked: "name=" + name,
		ask: func(ctx context.Context) ([]thing, error) {
			return c.balancers(ctx, region, &elb.DescribeLoadBalancersInput{Names: []string{name}}, nil)
		},
	}
}

// balancersInVPC queries every load balancer of the VPCs: workloads create them under unknown names.
func (c *Client) balancersInVPC(region string, vpcs []string) question {
	return question{
		service: "elasticloadbalancing", call: "DescribeLoadBalancers", region: region, asked: "vpc=" + strings.Join(vpcs, ","),
		ask: func(ctx context.Context) ([]thing, error) {
			return c.balancers(ctx, region, &elb.DescribeLoadBalancersInput{}, vpcs)
		},
	}
}

// targetGroups queries the target groups named <infraID>-… without another cluster's tags.
func (c *Client) targetGroups(region string, id identity) question {
	prefixes := suffixed(id.infraIDs, "-")
	return question{
		service: "elasticloadbalancing", call: "DescribeTargetGroups", region: region, asked: "name=" + strings.Join(prefixes, "*,") + "*",
		ask: func(ctx context.Context) ([]thing, error) {
			all, err := c.groups(ctx, region, &elb.DescribeTargetGroupsInput{})
			if err != nil {
				return nil, err
			}
			likely := slices.DeleteFunc(all, func(g group) bool { return !hasAnyPrefix(g.name, prefixes) }).things()
			tags, err := c.balancingTags(ctx, region, each(likely, func(t thing) string { return t.id }))
			if err != nil {
				return nil, err
			}
			return slices.DeleteFunc(likely, func(t thing) bool { return id.whose(tags[t.id]) == anothers }), nil
		},
	}
}

// targetGroupsInVPC queries the target groups of the VPCs.
func (c *Client) targetGroupsInVPC(region string, vpcs []string) question {
	return question{
		service: "elasticloadbalancing", call: "DescribeTargetGroups", region: region, asked: "vpc=" + strings.Join(vpcs, ","),
		ask: func(ctx context.Context) ([]thing, error) {
			all, err := c.groups(ctx, region, &elb.DescribeTargetGroupsInput{})
			return slices.DeleteFunc(all, func(g group) bool { return !slices.Contains(vpcs, g.vpc) }).things(), err
		},
	}
}

// balancingTags reads the tags of load balancers and target groups by ARN.
func (c *Client) balancingTags(ctx context.Context, region string, arns []string) (map[string]map[string]string, error) {
	out := map[string]map[string]string{}
	return out, byTwenties(arns, func(some []string) error {
		page, err := c.elbIn(region).DescribeTags(ctx, &elb.DescribeTagsInput{ResourceArns: some})
		if err != nil {
			return err
		}
		for _, d := range page.TagDescriptions {
			tags := map[string]string{}
			for _, t := range d.Tags {
				tags[awssdk.ToString(t.Key)] = awssdk.ToString(t.Value)
			}
			out[awssdk.ToString(d.ResourceArn)] = tags
		}
		return nil
	})
}

// byTwenties queries many ARNs, twenty at a time, the maximum of both DescribeTags calls. If one of them no longer exists, AWS
// refuses all; then each is queried alone: somebody else's deleted one must not hide ours.
func byTwenties(many []string, ask func(some []string) error) error {
	for some := range slices.Chunk(many, 20) {
		err := ask(some)
		if err != nil && notFound(err) && len(some) > 1 {
			err = byOnes(some, ask)
		}
		if err != nil && !notFound(err) {
			return err
		}
	}
	return nil
}

func byOnes(some []string, ask func([]string) error) error {
	for _, one := range some {
		if err := ask([]string{one}); err != nil && !notFound(err) {
			return err
		}
	}
	return nil
}

// balancers lists load balancers; with vpcs only those of the VPCs.
func (c *Client) balancers(ctx context.Context, region string, in *elb.DescribeLoadBalancersInput, vpcs []string) ([]thing, error) {
	p := elb.NewDescribeLoadBalancersPaginator(c.elbIn(region), in)
	return collect(ctx, p, func(page *elb.DescribeLoadBalancersOutput) []thing {
		var out []thing
		for _, b := range page.LoadBalancers {
			if vpcs == nil || slices.Contains(vpcs, awssdk.ToString(b.VpcId)) {
				out = append(out, balancerThing(region, b))
			}
		}
		return out
	})
}

func balancerThing(region string, b types.LoadBalancer) thing {
	arn := awssdk.ToString(b.LoadBalancerArn)
	return thing{
		kind: "load-balancer", id: arn, name: awssdk.ToString(b.LoadBalancerName),
		free: fmt.Sprintf("an administrator of the account: aws elbv2 delete-load-balancer --load-balancer-arn %s --region %s", arn, region),
	}
}

// group is a target group with its VPC.
type group struct {
	thing
	vpc string
}

type groups []group

func (gs groups) things() []thing {
	out := make([]thing, 0, len(gs))
	for _, g := range gs {
		out = append(out, g.thing)
	}
	return out
}

func (c *Client) groups(ctx context.Context, region string, in *elb.DescribeTargetGroupsInput) (groups, error) {
	var all groups
	p := elb.NewDescribeTargetGroupsPaginator(c.elbIn(region), in)
	for p.HasMorePages() {
		page, err := p.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, g := range page.TargetGroups {
			arn := awssdk.ToString(g.TargetGroupArn)
			all = append(all, group{vpc: awssdk.ToString(g.VpcId), thing: thing{
				kind: "target-group", id: arn, name: awssdk.ToString(g.TargetGroupName),
				free: fmt.Sprintf("an administrator of the account: aws elbv2 delete-target-group --target-group-arn %s --region %s", arn, region),
			}})
		}
	}
	return all, nil
}

func hasAnyPrefix(name string, prefixes []string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(name, p) })
}
