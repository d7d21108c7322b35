package resources

import (
	"context"
	"errors"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/elasticloadbalancing"
	elb "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
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

func (c *Cloud) clearClassic(ctx context.Context, vpc string, _ []types.Filter) error {
	p := elasticloadbalancing.NewDescribeLoadBalancersPaginator(c.classic, &elasticloadbalancing.DescribeLoadBalancersInput{})
	for p.HasMorePages() {
		page, err := p.NextPage(ctx)
		if err != nil {
			return err
		}
		for _, b := range page.LoadBalancerDescriptions {
			if aws.ToString(b.VPCId) != vpc {
				continue
			}
			if _, err := c.classic.DeleteLoadBalancer(ctx, &elasticloadbalancing.DeleteLoadBalancerInput{LoadBalancerName: b.LoadBalancerName}); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *Cloud) clearInterfaces(ctx context.Context, _ string, inVPC []types.Filter) error {
	out, err := c.ec2.DescribeNetworkInterfaces(ctx, &ec2.DescribeNetworkInterfacesInput{Filters: inVPC})
	if err != nil {
		return err
	}
	var errs []error
	for _, i := range out.NetworkInterfaces {
		if err := c.deleteEC2(ctx, "network-interface", aws.ToString(i.NetworkInterfaceId)); err != nil && !missing(err) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

func (c *Cloud) clearGroups(ctx context.Context, _ string, inVPC []types.Filter) error {
	out, err := c.ec2.DescribeSecurityGroups(ctx, &ec2.DescribeSecurityGroupsInput{Filters: inVPC})
	if err != nil {
		return err
	}
	var errs []error
	for _, g := range out.SecurityGroups {
		if aws.ToString(g.GroupName) == "default" {
			continue
		}
		if err := c.deleteEC2(ctx, "security-group", aws.ToString(g.GroupId)); err != nil && !missing(err) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

func (c *Cloud) clearSubnets(ctx context.Context, _ string, inVPC []types.Filter) error {
	out, err := c.ec2.DescribeSubnets(ctx, &ec2.DescribeSubnetsInput{Filters: inVPC})
	if err != nil {
		return err
	}
	var errs []error
	for _, s := range out.Subnets {
		if err := c.deleteEC2(ctx, "subnet", aws.ToString(s.SubnetId)); err != nil && !missing(err) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
