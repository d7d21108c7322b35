package inventory

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	classic "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancing"
	classictypes "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancing/types"
	elb "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	"github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"

	"github.com/ocpctl/ocpctl/internal/contract"
)

// mostARNs is how many resources one DescribeTags call takes, in both APIs of load balancing.
const mostARNs = 20

// balancing is what is listed in one region. Lists contain no tags, so those of a page are asked for before it is judged.
type balancing struct {
	*Client
	region string
	vpcs   map[string]string
	emit   Emit
}

// listBalancing lists load balancers of both APIs and target groups: by tag, by name, and in reported VPCs.
func (c *Client) listBalancing(ctx context.Context, region string, emit Emit) error {
	b := &balancing{Client: c, region: region, emit: emit}
	all := listsOf(ctx)
	all.Run(func(ctx context.Context) (err error) {
		b.vpcs, err = c.vpcsIn(ctx, region)
		return err
	})
	all.Run(b.balancers)
	all.Run(b.targetGroups)
	all.Run(b.classics)
	return all.Err()
}

// balanced is one of them, with the key by which its tags are asked for.
type balanced struct {
	key string
	vpc *string
	contract.SeenResource
}

// judge emits what may belong to a cluster.
func (b *balancing) judge(ctx context.Context, page []balanced, tagsOf func(context.Context, []string) (map[string]map[string]string, error)) error {
	keys := make([]string, 0, len(page))
	for _, r := range page {
		keys = append(keys, r.key)
	}
	tags := map[string]map[string]string{}
	for some := range slices.Chunk(keys, mostARNs) {
		if err := addTags(ctx, tags, some, tagsOf); err != nil {
			return err
		}
	}
	var seen []contract.SeenResource
	for _, r := range page {
		r.Tags, r.Within, r.Region = tags[r.key], b.vpcs[awssdk.ToString(r.vpc)], b.region
		if tagged(r.Tags) || named(r.Name) || r.Within != "" {
			seen = append(seen, r.SeenResource)
		}
	}
	return b.emit(seen)
}

// addTags asks for the tags of some resources. If one of them was deleted meanwhile, AWS refuses all; then each is asked for alone.
func addTags(ctx context.Context, into map[string]map[string]string, some []string, tagsOf func(context.Context, []string) (map[string]map[string]string, error)) error {
	found, err := tagsOf(ctx, some)
	if err != nil && absent(err) && len(some) > 1 {
		for _, one := range some {
			if err := addTags(ctx, into, []string{one}, tagsOf); err != nil {
				return err
			}
		}
		return nil
	}
	if err != nil && !absent(err) {
		return err
	}
	maps.Copy(into, found)
	return nil
}

func (b *balancing) v2() *elb.Client {
	return elb.NewFromConfig(b.aws, func(o *elb.Options) { o.Region = b.region })
}

func (b *balancing) v1() *classic.Client {
	return classic.NewFromConfig(b.aws, func(o *classic.Options) { o.Region = b.region })
}

// balancers gives the kind as the detail: network, application, gateway.
func (b *balancing) balancers(ctx context.Context) error {
	p := elb.NewDescribeLoadBalancersPaginator(b.v2(), &elb.DescribeLoadBalancersInput{})
	return eachPage(ctx, p, func(page *elb.DescribeLoadBalancersOutput) error {
		var out []balanced
		for _, l := range page.LoadBalancers {
			out = append(out, balanced{key: awssdk.ToString(l.LoadBalancerArn), vpc: l.VpcId, SeenResource: contract.SeenResource{
				ID: awssdk.ToString(l.LoadBalancerArn), Type: "load-balancer", Name: awssdk.ToString(l.LoadBalancerName), Detail: string(l.Type), MadeAt: made(l.CreatedTime),
			}})
		}
		return b.judge(ctx, out, b.tagsByARN)
	})
}

func (b *balancing) targetGroups(ctx context.Context) error {
	p := elb.NewDescribeTargetGroupsPaginator(b.v2(), &elb.DescribeTargetGroupsInput{})
	return eachPage(ctx, p, func(page *elb.DescribeTargetGroupsOutput) error {
		var out []balanced
		for _, g := range page.TargetGroups {
			out = append(out, balanced{key: awssdk.ToString(g.TargetGroupArn), vpc: g.VpcId, SeenResource: contract.SeenResource{
				ID: awssdk.ToString(g.TargetGroupArn), Type: "target-group", Name: awssdk.ToString(g.TargetGroupName),
			}})
		}
		return b.judge(ctx, out, b.tagsByARN)
	})
}

// classics lists the load balancers of the older API, which the in-cluster cloud provider makes under names that nobody can foresee.
func (b *balancing) classics(ctx context.Context) error {
	p := classic.NewDescribeLoadBalancersPaginator(b.v1(), &classic.DescribeLoadBalancersInput{})
	return eachPage(ctx, p, func(page *classic.DescribeLoadBalancersOutput) error {
		var out []balanced
		for _, l := range page.LoadBalancerDescriptions {
			name := awssdk.ToString(l.LoadBalancerName)
			out = append(out, balanced{key: name, vpc: l.VPCId, SeenResource: contract.SeenResource{
				ID: b.arnOf(partBalancing, b.region, "loadbalancer/"+name), Type: "classic-load-balancer", Name: name, Detail: "classic", MadeAt: made(l.CreatedTime),
			}})
		}
		return b.judge(ctx, out, b.tagsByName)
	})
}

func (b *balancing) tagsByARN(ctx context.Context, arns []string) (map[string]map[string]string, error) {
	out, err := once(ctx, b.v2().DescribeTags, &elb.DescribeTagsInput{ResourceArns: arns})
	if err != nil {
		return nil, err
	}
	found := map[string]map[string]string{}
	for _, d := range out.TagDescriptions {
		found[awssdk.ToString(d.ResourceArn)] = tagsOf(d.Tags, func(t types.Tag) (*string, *string) { return t.Key, t.Value })
	}
	return found, nil
}

func (b *balancing) tagsByName(ctx context.Context, names []string) (map[string]map[string]string, error) {
	out, err := once(ctx, b.v1().DescribeTags, &classic.DescribeTagsInput{LoadBalancerNames: names})
	if err != nil {
		return nil, err
	}
	found := map[string]map[string]string{}
	for _, d := range out.TagDescriptions {
		found[awssdk.ToString(d.LoadBalancerName)] = tagsOf(d.Tags, func(t classictypes.Tag) (*string, *string) { return t.Key, t.Value })
	}
	return found, nil
}

// made is a time of creation; zero if AWS told none.
func made(at *time.Time) time.Time { return awssdk.ToTime(at).UTC() }

// timeOf parses the one time that EC2 gives as text.
func timeOf(text *string) (time.Time, error) {
	return time.Parse(time.RFC3339, strings.TrimSpace(awssdk.ToString(text)))
}
