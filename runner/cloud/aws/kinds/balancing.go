package kinds

import (
	"context"
	"maps"
	"slices"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	classic "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancing"
	classictypes "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancing/types"
	elb "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	"github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"
)

// Balancing is one kind of resource of load balancing, which has two APIs. All are regional. Their lists contain no tags.
type Balancing struct {
	Noun   string
	Call   string
	Delete string // the command that deletes one, followed by its id
	list   func(context.Context, BalancingAPI, Which, Take) error
	tags   func(context.Context, BalancingAPI, []string) (map[string]map[string]string, error)
}

// BalancingAPI are the clients of both APIs in one region.
type BalancingAPI struct {
	V2 *elb.Client
	V1 *classic.Client
}

// NewBalancingAPI returns the clients for a region.
func NewBalancingAPI(cfg awssdk.Config, region string) BalancingAPI {
	return BalancingAPI{
		V2: elb.NewFromConfig(cfg, func(o *elb.Options) { o.Region = region }),
		V1: classic.NewFromConfig(cfg, func(o *classic.Options) { o.Region = region }),
	}
}

// Which says which of a kind are listed; nothing set: all.
type Which struct{ Names, ARNs []string }

// The kinds of load balancing. The in-cluster cloud provider makes a classic load balancer for the ingress (unless the profile says NLB) and for
// each Service of type LoadBalancer, under a name that nobody can foresee; its id is its name.
var (
	LoadBalancer    = Balancing{"load-balancer", "DescribeLoadBalancers", "elbv2 delete-load-balancer --load-balancer-arn", listBalancers, tagsByARN}
	TargetGroup     = Balancing{"target-group", "DescribeTargetGroups", "elbv2 delete-target-group --target-group-arn", listTargetGroups, tagsByARN}
	ClassicBalancer = Balancing{"classic-load-balancer", "DescribeLoadBalancers", "elb delete-load-balancer --load-balancer-name", listClassics, tagsByName}

	AllBalancing = []Balancing{LoadBalancer, TargetGroup, ClassicBalancer}
)

// List gives those of the kind to take, page by page, without tags.
func (k Balancing) List(ctx context.Context, api BalancingAPI, which Which, take Take) error {
	return k.list(ctx, api, which, take)
}

// Find returns those of the kind, without tags.
func (k Balancing) Find(ctx context.Context, api BalancingAPI, which Which) (found []Resource, err error) {
	err = k.list(ctx, api, which, func(page []Resource) error {
		found = append(found, page...)
		return nil
	})
	return found, err
}

// mostTagged is how many resources one DescribeTags call takes, in both APIs.
const mostTagged = 20

// AddTags reads the tags of what was listed. If one of them was deleted meanwhile, AWS refuses all; then each is asked for alone: somebody
// else's deleted one must not hide ours.
func (k Balancing) AddTags(ctx context.Context, api BalancingAPI, all []Resource) error {
	tags := map[string]map[string]string{}
	for some := range slices.Chunk(all, mostTagged) {
		ids := make([]string, len(some))
		for i, r := range some {
			ids[i] = r.ID
		}
		if err := k.addTags(ctx, api, tags, ids); err != nil {
			return err
		}
	}
	for i, r := range all {
		all[i].Tags = tags[r.ID]
	}
	return nil
}

func (k Balancing) addTags(ctx context.Context, api BalancingAPI, into map[string]map[string]string, ids []string) error {
	found, err := k.tags(ctx, api, ids)
	switch {
	case err != nil && IsAbsent(err) && len(ids) > 1:
		for _, id := range ids {
			if err := k.addTags(ctx, api, into, []string{id}); err != nil {
				return err
			}
		}
	case err != nil && !IsAbsent(err):
		return err
	}
	maps.Copy(into, found)
	return nil
}

// listBalancers gives the kind of load balancer as the detail: network, application, gateway.
func listBalancers(ctx context.Context, api BalancingAPI, which Which, take Take) error {
	p := elb.NewDescribeLoadBalancersPaginator(api.V2, &elb.DescribeLoadBalancersInput{Names: which.Names, LoadBalancerArns: which.ARNs})
	return EachPage(ctx, p, func(page *elb.DescribeLoadBalancersOutput) error {
		return takeAll(take, page.LoadBalancers, func(l types.LoadBalancer) Resource {
			return Resource{ID: awssdk.ToString(l.LoadBalancerArn), Name: awssdk.ToString(l.LoadBalancerName), Detail: string(l.Type), MadeAt: l.CreatedTime}.addIn(l.VpcId)
		})
	})
}

func listTargetGroups(ctx context.Context, api BalancingAPI, which Which, take Take) error {
	p := elb.NewDescribeTargetGroupsPaginator(api.V2, &elb.DescribeTargetGroupsInput{Names: which.Names, TargetGroupArns: which.ARNs})
	return EachPage(ctx, p, func(page *elb.DescribeTargetGroupsOutput) error {
		return takeAll(take, page.TargetGroups, func(g types.TargetGroup) Resource {
			return Resource{ID: awssdk.ToString(g.TargetGroupArn), Name: awssdk.ToString(g.TargetGroupName)}.addIn(g.VpcId)
		})
	})
}

func listClassics(ctx context.Context, api BalancingAPI, which Which, take Take) error {
	p := classic.NewDescribeLoadBalancersPaginator(api.V1, &classic.DescribeLoadBalancersInput{LoadBalancerNames: which.Names})
	return EachPage(ctx, p, func(page *classic.DescribeLoadBalancersOutput) error {
		return takeAll(take, page.LoadBalancerDescriptions, func(l classictypes.LoadBalancerDescription) Resource {
			name := awssdk.ToString(l.LoadBalancerName)
			return Resource{ID: name, Name: name, Detail: "classic", MadeAt: l.CreatedTime}.addIn(l.VPCId)
		})
	})
}

func tagsByARN(ctx context.Context, api BalancingAPI, arns []string) (map[string]map[string]string, error) {
	out, err := Once(ctx, api.V2.DescribeTags, &elb.DescribeTagsInput{ResourceArns: arns})
	if err != nil {
		return nil, err
	}
	found := map[string]map[string]string{}
	for _, d := range out.TagDescriptions {
		found[awssdk.ToString(d.ResourceArn)] = TagsOf(d.Tags, func(t types.Tag) (*string, *string) { return t.Key, t.Value })
	}
	return found, nil
}

func tagsByName(ctx context.Context, api BalancingAPI, names []string) (map[string]map[string]string, error) {
	out, err := Once(ctx, api.V1.DescribeTags, &classic.DescribeTagsInput{LoadBalancerNames: names})
	if err != nil {
		return nil, err
	}
	found := map[string]map[string]string{}
	for _, d := range out.TagDescriptions {
		found[awssdk.ToString(d.LoadBalancerName)] = TagsOf(d.Tags, func(t classictypes.Tag) (*string, *string) { return t.Key, t.Value })
	}
	return found, nil
}
