package aws

import (
	"context"
	"slices"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	elb "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	elbtypes "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"

	"github.com/ocpctl/ocpctl/internal/tagkey"
)

// holding is a resource that counts against a limit.
type holding struct {
	cluster string // from our tag; empty: somebody else's
	scope   string // the zone, if the limit is per zone
	amount  int
}

func oneOf(tags []types.Tag) holding {
	return holding{cluster: ec2Tags(tags)[tagkey.ClusterID], amount: 1}
}

func (c *Client) vpcsHeld(ctx context.Context, region string) ([]holding, error) {
	p := ec2.NewDescribeVpcsPaginator(c.ec2In(region), &ec2.DescribeVpcsInput{})
	return collectPages(ctx, p, func(page *ec2.DescribeVpcsOutput) []holding {
		return convertEach(page.Vpcs, func(v types.Vpc) holding { return oneOf(v.Tags) })
	})
}

func (c *Client) gatewaysHeld(ctx context.Context, region string) ([]holding, error) {
	p := ec2.NewDescribeInternetGatewaysPaginator(c.ec2In(region), &ec2.DescribeInternetGatewaysInput{})
	return collectPages(ctx, p, func(page *ec2.DescribeInternetGatewaysOutput) []holding {
		return convertEach(page.InternetGateways, func(g types.InternetGateway) holding { return oneOf(g.Tags) })
	})
}

func (c *Client) addressesHeld(ctx context.Context, region string) ([]holding, error) {
	out, err := c.ec2In(region).DescribeAddresses(ctx, &ec2.DescribeAddressesInput{}) // this call has no pages
	if err != nil {
		return nil, err
	}
	return convertEach(out.Addresses, func(a types.Address) holding { return oneOf(a.Tags) }), nil
}

func (c *Client) securityGroupsHeld(ctx context.Context, region string) ([]holding, error) {
	p := ec2.NewDescribeSecurityGroupsPaginator(c.ec2In(region), &ec2.DescribeSecurityGroupsInput{})
	return collectPages(ctx, p, func(page *ec2.DescribeSecurityGroupsOutput) []holding {
		return convertEach(page.SecurityGroups, func(g types.SecurityGroup) holding { return oneOf(g.Tags) })
	})
}

func (c *Client) endpointsHeld(ctx context.Context, region string) ([]holding, error) {
	p := ec2.NewDescribeVpcEndpointsPaginator(c.ec2In(region), &ec2.DescribeVpcEndpointsInput{})
	over := []types.State{types.StateDeleted, types.StateFailed, types.StateRejected, types.StateExpired}
	return collectPages(ctx, p, func(page *ec2.DescribeVpcEndpointsOutput) []holding {
		gateways := slices.DeleteFunc(page.VpcEndpoints, func(e types.VpcEndpoint) bool {
			return e.VpcEndpointType != types.VpcEndpointTypeGateway || slices.Contains(over, e.State)
		})
		return convertEach(gateways, func(e types.VpcEndpoint) holding { return oneOf(e.Tags) })
	})
}

// natGatewaysHeld counts pending, available and deleting gateways by the zone of their subnet.
func (c *Client) natGatewaysHeld(ctx context.Context, region string) ([]holding, error) {
	zones := map[string]string{} // by subnet
	_, err := collectPages(ctx, ec2.NewDescribeSubnetsPaginator(c.ec2In(region), &ec2.DescribeSubnetsInput{}), func(page *ec2.DescribeSubnetsOutput) []holding {
		for _, s := range page.Subnets {
			zones[awssdk.ToString(s.SubnetId)] = awssdk.ToString(s.AvailabilityZone)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	p := ec2.NewDescribeNatGatewaysPaginator(c.ec2In(region), &ec2.DescribeNatGatewaysInput{})
	return collectPages(ctx, p, func(page *ec2.DescribeNatGatewaysOutput) []holding {
		counted := slices.DeleteFunc(page.NatGateways, func(n types.NatGateway) bool {
			return n.State == types.NatGatewayStateDeleted || n.State == types.NatGatewayStateFailed
		})
		return convertEach(counted, func(n types.NatGateway) holding {
			h := oneOf(n.Tags)
			h.scope = zones[awssdk.ToString(n.SubnetId)]
			return h
		})
	})
}

// balancersHeld counts network load balancers.
func (c *Client) balancersHeld(ctx context.Context, region string) ([]holding, error) {
	p := elb.NewDescribeLoadBalancersPaginator(c.elbIn(region), &elb.DescribeLoadBalancersInput{})
	arns, err := collectPages(ctx, p, func(page *elb.DescribeLoadBalancersOutput) []string {
		network := slices.DeleteFunc(page.LoadBalancers, func(b elbtypes.LoadBalancer) bool { return b.Type != elbtypes.LoadBalancerTypeEnumNetwork })
		return convertEach(network, func(b elbtypes.LoadBalancer) string { return awssdk.ToString(b.LoadBalancerArn) })
	})
	if err != nil {
		return nil, err
	}
	clusters, err := c.clustersOf(ctx, region, arns)
	if err != nil {
		return nil, err
	}
	return convertEach(arns, func(arn string) holding { return holding{cluster: clusters[arn], amount: 1} }), nil
}

// clustersOf reads our tag from load balancers, twenty in a call, the maximum. If one was deleted meanwhile, AWS refuses all twenty;
// then each is queried alone, and a deleted one has no cluster.
func (c *Client) clustersOf(ctx context.Context, region string, arns []string) (map[string]string, error) {
	clusters := map[string]string{}
	read := func(some ...string) error {
		out, err := c.elbIn(region).DescribeTags(ctx, &elb.DescribeTagsInput{ResourceArns: some})
		if err != nil {
			return err
		}
		for _, d := range out.TagDescriptions {
			for _, tag := range d.Tags {
				if awssdk.ToString(tag.Key) == tagkey.ClusterID {
					clusters[awssdk.ToString(d.ResourceArn)] = awssdk.ToString(tag.Value)
				}
			}
		}
		return nil
	}
	for some := range slices.Chunk(arns, 20) {
		err := read(some...)
		for i := 0; isAbsent(err) && i < len(some); i++ {
			if oneErr := read(some[i]); oneErr != nil && !isAbsent(oneErr) {
				err = oneErr
			}
		}
		if err != nil && !isAbsent(err) {
			return nil, err
		}
	}
	return clusters, nil
}
