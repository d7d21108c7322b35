package resources

import (
	"context"
	"errors"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/elasticloadbalancing"
	elb "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"

	"github.com/ocpctl/ocpctl/devstack/must"
)

// deleteVPC deletes a VPC and its content, tagged or not, because workloads create load balancers and groups in it.
func (c *Cloud) deleteVPC(ctx context.Context, id string) error {
	inVPC := []types.Filter{{Name: aws.String("vpc-id"), Values: []string{id}}}
	for _, clear := range []func(context.Context, string, []types.Filter) error{
		c.clearBalancers, c.clearClassic, c.clearInterfaces, c.clearGroups, c.clearSubnets,
	} {
		if err := clear(ctx, id, inVPC); err != nil {
			return err
		}
	}
	_, err := c.ec2.DeleteVpc(ctx, &ec2.DeleteVpcInput{VpcId: &id})
	return err
}

func (c *Cloud) clearBalancers(ctx context.Context, vpc string, _ []types.Filter) error {
	p := elb.NewDescribeLoadBalancersPaginator(c.elb, &elb.DescribeLoadBalancersInput{})
	for p.HasMorePages() {
		page, err := p.NextPage(ctx)
		if err != nil {
			return err
		}
		for _, b := range page.LoadBalancers {
			if aws.ToString(b.VpcId) != vpc {
				continue
			}
			if err := c.deleteELB(ctx, "loadbalancer", aws.ToString(b.LoadBalancerArn)); err != nil && !missing(err) {
				return err
			}
		}
	}
	return nil
}

func (c *Cloud) clearClassic(ctx context.Context, vpc string, _ []types.Filter) (err error) {
	defer must.Catch(&err)
	p := elasticloadbalancing.NewDescribeLoadBalancersPaginator(c.classic, &elasticloadbalancing.DescribeLoadBalancersInput{})
	for p.HasMorePages() {
		page := must.Get(p.NextPage(ctx))
		for _, b := range page.LoadBalancerDescriptions {
			if aws.ToString(b.VPCId) != vpc {
				continue
			}
			must.Get(c.classic.DeleteLoadBalancer(ctx, &elasticloadbalancing.DeleteLoadBalancerInput{LoadBalancerName: b.LoadBalancerName}))
		}
	}
	return nil
}

func (c *Cloud) clearInterfaces(ctx context.Context, _ string, inVPC []types.Filter) error {
	out, err := c.ec2.DescribeNetworkInterfaces(ctx, &ec2.DescribeNetworkInterfacesInput{Filters: inVPC})
	if err != nil {
		return err
	}
	return deleteEach(ctx, c, "network-interface", out.NetworkInterfaces, func(i types.NetworkInterface) *string { return i.NetworkInterfaceId })
}

func (c *Cloud) clearGroups(ctx context.Context, _ string, inVPC []types.Filter) error {
	out, err := c.ec2.DescribeSecurityGroups(ctx, &ec2.DescribeSecurityGroupsInput{Filters: inVPC})
	if err != nil {
		return err
	}
	own := slices.DeleteFunc(out.SecurityGroups, func(g types.SecurityGroup) bool { return aws.ToString(g.GroupName) == "default" })
	return deleteEach(ctx, c, "security-group", own, func(g types.SecurityGroup) *string { return g.GroupId })
}

func (c *Cloud) clearSubnets(ctx context.Context, _ string, inVPC []types.Filter) error {
	out, err := c.ec2.DescribeSubnets(ctx, &ec2.DescribeSubnetsInput{Filters: inVPC})
	if err != nil {
		return err
	}
	return deleteEach(ctx, c, "subnet", out.Subnets, func(s types.Subnet) *string { return s.SubnetId })
}

// deleteEach deletes what there is of one kind, and goes on after a refusal.
func deleteEach[T any](ctx context.Context, c *Cloud, kind string, all []T, id func(T) *string) error {
	var errs []error
	for _, one := range all {
		if err := c.deleteEC2(ctx, kind, aws.ToString(id(one))); err != nil && !missing(err) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
