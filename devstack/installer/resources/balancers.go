package resources

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	elb "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	"github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"

	"github.com/ocpctl/ocpctl/devstack/must"
)

// balancer is the data of a load balancer for a DNS alias.
type balancer struct{ dnsName, zone string }

func (b *Build) elbTags(name string) []types.Tag {
	return sorted(b.tags(name), func(k, v *string) types.Tag { return types.Tag{Key: k, Value: v} })
}

// Balancers creates the two network load balancers of the API.
func (b *Build) Balancers(ctx context.Context) (err error) {
	b.external, err = b.balancer(ctx, b.InfraID+"-ext", types.LoadBalancerSchemeEnumInternetFacing, b.publicSubnets, 6443)
	if err != nil {
		return err
	}
	b.internal, err = b.balancer(ctx, b.InfraID+"-int", types.LoadBalancerSchemeEnumInternal, b.privateSubnets, 6443, 22623)
	return err
}

func (b *Build) balancer(ctx context.Context, name string, scheme types.LoadBalancerSchemeEnum, subnets []string, ports ...int32) (_ balancer, err error) {
	defer must.Catch(&err)
	out, err := b.elb.CreateLoadBalancer(ctx, &elb.CreateLoadBalancerInput{
		Name: &name, Type: types.LoadBalancerTypeEnumNetwork, Scheme: scheme, Subnets: subnets, SecurityGroups: []string{b.lbGroup}, Tags: b.elbTags(name),
	})
	must.Wrap(err, "failed to create load balancer %q", name)
	must.FailIf(len(out.LoadBalancers) != 1, "failed to create load balancer %q: no load balancer in the answer", name)
	made := balancer{dnsName: aws.ToString(out.LoadBalancers[0].DNSName), zone: aws.ToString(out.LoadBalancers[0].CanonicalHostedZoneId)}
	for _, port := range ports {
		must.Do(b.targetGroup(ctx, out.LoadBalancers[0].LoadBalancerArn, fmt.Sprintf("apiserver-target-%d-%s", port, RandomSuffix()), port))
	}
	return made, nil
}

func (b *Build) targetGroup(ctx context.Context, balancerARN *string, name string, port int32) (err error) {
	defer must.Catch(&err)
	out, err := b.elb.CreateTargetGroup(ctx, &elb.CreateTargetGroupInput{
		Name: &name, Port: &port, Protocol: types.ProtocolEnumTcp, TargetType: types.TargetTypeEnumIp, VpcId: &b.vpc, Tags: b.elbTags(name),
	})
	must.Wrap(err, "failed to create target group %q", name)
	arn := out.TargetGroups[0].TargetGroupArn
	_, err = b.elb.CreateListener(ctx, &elb.CreateListenerInput{
		LoadBalancerArn: balancerARN, Port: &port, Protocol: types.ProtocolEnumTcp, Tags: b.elbTags(name),
		DefaultActions: []types.Action{{Type: types.ActionTypeEnumForward, TargetGroupArn: arn}},
	})
	must.Wrap(err, "failed to create listener")
	return nil
}
