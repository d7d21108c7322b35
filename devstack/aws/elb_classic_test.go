package aws_test

import (
	"testing"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	elb "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancing"
	"github.com/aws/aws-sdk-go-v2/service/elasticloadbalancing/types"
	newer "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/aws"
)

func (c *cloud) ingress(t *testing.T, name, subnet string, tags ...types.Tag) error {
	t.Helper()
	_, err := c.classic.CreateLoadBalancer(t.Context(), &elb.CreateLoadBalancerInput{LoadBalancerName: &name, Subnets: []string{subnet}, Tags: tags,
		Listeners: []types.Listener{{Protocol: sdk.String("TCP"), LoadBalancerPort: 443, InstancePort: sdk.Int32(30443)}}})
	return err
}

func TestAClassicBalancerIsNoneOfTheNewer(t *testing.T) {
	c := start(t, aws.Config{Limits: map[string]int{"L-E9E9831D": 2}})
	ctx := t.Context()
	vpc := c.vpc(t)
	sub := c.subnet(t, vpc, "10.0.0.0/20", "us-east-1a")
	name := "a0123456789abcdef"
	require.NoError(t, c.ingress(t, name, sub, types.Tag{Key: sdk.String(owned), Value: sdk.String("owned")}))
	require.NoError(t, c.ingress(t, name, sub), "the same again is the same balancer")
	require.NoError(t, c.ingress(t, "second", sub))
	refused(t, c.ingress(t, "third", sub), "TooManyLoadBalancers")
	refused(t, c.ingress(t, "fourth", "subnet-0"), "TooManyLoadBalancers")
	require.NoError(t, c.SetLimit("L-E9E9831D", 3))
	refused(t, c.ingress(t, "fourth", "subnet-0"), "SubnetNotFound")

	seen, err := c.classic.DescribeLoadBalancers(ctx, &elb.DescribeLoadBalancersInput{LoadBalancerNames: []string{name}})
	require.NoError(t, err)
	one := seen.LoadBalancerDescriptions[0]
	require.Equal(t, vpc, *one.VPCId)
	require.Equal(t, []string{sub}, one.Subnets)
	require.Equal(t, int32(443), one.ListenerDescriptions[0].Listener.LoadBalancerPort)
	_, err = c.classic.DescribeLoadBalancers(ctx, &elb.DescribeLoadBalancersInput{LoadBalancerNames: []string{"nobody"}})
	refused(t, err, "LoadBalancerNotFound")
	all, err := c.elb.DescribeLoadBalancers(ctx, &newer.DescribeLoadBalancersInput{})
	require.NoError(t, err)
	require.Empty(t, all.LoadBalancers, "the newer API does not know it")

	found, _ := c.arns(t, 50)
	require.Contains(t, found, "arn:aws:elasticloadbalancing:us-east-1:123456789012:loadbalancer/"+name)
	tags, err := c.classic.DescribeTags(ctx, &elb.DescribeTagsInput{LoadBalancerNames: []string{name}})
	require.NoError(t, err)
	require.Equal(t, []types.Tag{{Key: sdk.String(owned), Value: sdk.String("owned")}}, tags.TagDescriptions[0].Tags)

	pages := 0
	for p := elb.NewDescribeLoadBalancersPaginator(c.classic, &elb.DescribeLoadBalancersInput{PageSize: sdk.Int32(1)}); p.HasMorePages(); pages++ {
		_, err := p.NextPage(ctx)
		require.NoError(t, err)
	}
	require.Equal(t, 2, pages)
}

func TestAClassicBalancersInterfacesOutliveIt(t *testing.T) {
	c := start(t, aws.Config{})
	ctx := t.Context()
	sub := c.subnet(t, c.vpc(t), "10.0.0.0/20", "us-east-1a")
	require.NoError(t, c.ingress(t, "ingress", sub))
	_, err := c.ec2.DeleteSubnet(ctx, &ec2.DeleteSubnetInput{SubnetId: &sub})
	refused(t, err, "DependencyViolation")
	for range 2 {
		_, err = c.classic.DeleteLoadBalancer(ctx, &elb.DeleteLoadBalancerInput{LoadBalancerName: sdk.String("ingress")})
		require.NoError(t, err, "deleting what is gone succeeds")
	}
	require.Eventually(t, func() bool {
		_, err := c.ec2.DeleteSubnet(ctx, &ec2.DeleteSubnetInput{SubnetId: &sub})
		return err == nil
	}, 5*time.Second, time.Millisecond)
}
