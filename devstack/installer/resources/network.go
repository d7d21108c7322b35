package resources

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	elb "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	elbtypes "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"

	"github.com/ocpctl/ocpctl/devstack/must"
)

// ec2Tags returns the specification that tags a resource in the call that creates it.
func (b *Build) ec2Tags(kind types.ResourceType, name string) []types.TagSpecification {
	return []types.TagSpecification{{ResourceType: kind, Tags: sorted(b.tags(name), func(k, v *string) types.Tag {
		return types.Tag{Key: k, Value: v}
	})}}
}

// Network creates the VPC and its content: subnets, gateways, routes, security groups and the S3 endpoint.
func (b *Build) Network(ctx context.Context) (err error) {
	defer must.Catch(&err)
	vpc, err := b.ec2.CreateVpc(ctx, &ec2.CreateVpcInput{
		CidrBlock: aws.String("10.0.0.0/16"), TagSpecifications: b.ec2Tags(types.ResourceTypeVpc, b.InfraID+"-vpc"),
	})
	must.Wrap(err, "failed to create vpc")
	b.vpc = aws.ToString(vpc.Vpc.VpcId)
	gateway := must.Get(b.internetGateway(ctx))
	public := must.Get(b.routes(ctx, b.InfraID+"-rt-public", &ec2.CreateRouteInput{GatewayId: &gateway}))
	b.routeTable = []string{public}
	for i, zone := range b.Zones {
		must.Do(b.zoneNetwork(ctx, i, zone, public))
	}
	must.Do(b.securityGroups(ctx))
	_, err = b.ec2.CreateVpcEndpoint(ctx, &ec2.CreateVpcEndpointInput{
		VpcId: &b.vpc, ServiceName: aws.String("com.amazonaws." + b.Region + ".s3"), VpcEndpointType: types.VpcEndpointTypeGateway,
		RouteTableIds: b.routeTable, TagSpecifications: b.ec2Tags(types.ResourceTypeVpcEndpoint, b.InfraID+"-vpce-s3"),
	})
	must.Wrap(err, "failed to create vpc endpoint")
	return nil
}

func (b *Build) internetGateway(ctx context.Context) (string, error) {
	gateway, err := b.ec2.CreateInternetGateway(ctx, &ec2.CreateInternetGatewayInput{
		TagSpecifications: b.ec2Tags(types.ResourceTypeInternetGateway, b.InfraID+"-igw"),
	})
	if err != nil {
		return "", fmt.Errorf("failed to create internet gateway: %w", err)
	}
	id := aws.ToString(gateway.InternetGateway.InternetGatewayId)
	if _, err := b.ec2.AttachInternetGateway(ctx, &ec2.AttachInternetGatewayInput{InternetGatewayId: &id, VpcId: &b.vpc}); err != nil {
		return "", fmt.Errorf("failed to attach internet gateway: %w", err)
	}
	return id, nil
}

// zoneNetwork creates one zone's pair of subnets, its address, NAT gateway and private routes.
func (b *Build) zoneNetwork(ctx context.Context, i int, zone, publicRoutes string) (err error) {
	defer must.Catch(&err)
	public := must.Get(b.subnet(ctx, fmt.Sprintf("10.0.%d.0/20", i*16), zone, "public"))
	private := must.Get(b.subnet(ctx, fmt.Sprintf("10.0.%d.0/20", 128+i*16), zone, "private"))
	b.publicSubnets, b.privateSubnets = append(b.publicSubnets, public), append(b.privateSubnets, private)
	must.Do(b.associate(ctx, publicRoutes, public))
	address, err := b.ec2.AllocateAddress(ctx, &ec2.AllocateAddressInput{
		Domain: types.DomainTypeVpc, TagSpecifications: b.ec2Tags(types.ResourceTypeElasticIp, b.InfraID+"-eip-apiserver"),
	})
	must.Wrap(err, "failed to allocate Elastic IP")
	nat, err := b.ec2.CreateNatGateway(ctx, &ec2.CreateNatGatewayInput{
		SubnetId: &public, AllocationId: address.AllocationId, TagSpecifications: b.ec2Tags(types.ResourceTypeNatgateway, b.InfraID+"-nat"),
	})
	must.Wrap(err, "failed to create NAT gateway")
	natID := nat.NatGateway.NatGatewayId
	waiter := ec2.NewNatGatewayAvailableWaiter(b.ec2, func(o *ec2.NatGatewayAvailableWaiterOptions) {
		o.MinDelay, o.MaxDelay = 20*time.Millisecond, time.Second
	})
	must.Wrap(waiter.Wait(ctx, &ec2.DescribeNatGatewaysInput{NatGatewayIds: []string{*natID}}, 15*time.Minute), "failed to wait for nat gateway %q", *natID)
	table := must.Get(b.routes(ctx, b.InfraID+"-rt-private-"+zone, &ec2.CreateRouteInput{NatGatewayId: natID}))
	b.routeTable = append(b.routeTable, table)
	return b.associate(ctx, table, private)
}

func (b *Build) subnet(ctx context.Context, cidr, zone, kind string) (string, error) {
	out, err := b.ec2.CreateSubnet(ctx, &ec2.CreateSubnetInput{
		VpcId: &b.vpc, CidrBlock: &cidr, AvailabilityZone: &zone,
		TagSpecifications: b.ec2Tags(types.ResourceTypeSubnet, b.InfraID+"-subnet-"+kind+"-"+zone),
	})
	if err != nil {
		return "", fmt.Errorf("failed to create subnet: %w", err)
	}
	return aws.ToString(out.Subnet.SubnetId), nil
}

// routes creates a route table with the given target for the default route.
func (b *Build) routes(ctx context.Context, name string, target *ec2.CreateRouteInput) (string, error) {
	out, err := b.ec2.CreateRouteTable(ctx, &ec2.CreateRouteTableInput{
		VpcId: &b.vpc, TagSpecifications: b.ec2Tags(types.ResourceTypeRouteTable, name),
	})
	if err != nil {
		return "", fmt.Errorf("failed to create route table: %w", err)
	}
	target.RouteTableId, target.DestinationCidrBlock = out.RouteTable.RouteTableId, aws.String("0.0.0.0/0")
	if _, err := b.ec2.CreateRoute(ctx, target); err != nil {
		return "", fmt.Errorf("failed to create route: %w", err)
	}
	return aws.ToString(out.RouteTable.RouteTableId), nil
}

func (b *Build) associate(ctx context.Context, table, subnet string) error {
	if _, err := b.ec2.AssociateRouteTable(ctx, &ec2.AssociateRouteTableInput{RouteTableId: &table, SubnetId: &subnet}); err != nil {
		return fmt.Errorf("failed to associate route table: %w", err)
	}
	return nil
}

func (b *Build) securityGroups(ctx context.Context) (err error) {
	defer must.Catch(&err)
	for _, role := range []string{"apiserver-lb", "controlplane", "lb", "node"} {
		name := b.InfraID + "-" + role
		out, err := b.ec2.CreateSecurityGroup(ctx, &ec2.CreateSecurityGroupInput{
			VpcId: &b.vpc, GroupName: &name, Description: aws.String("Kubernetes cluster " + b.InfraID + ": " + role),
			TagSpecifications: b.ec2Tags(types.ResourceTypeSecurityGroup, name),
		})
		must.Wrap(err, "failed to create security group")
		_, err = b.ec2.AuthorizeSecurityGroupIngress(ctx, &ec2.AuthorizeSecurityGroupIngressInput{
			GroupId: out.GroupId, IpPermissions: []types.IpPermission{{
				IpProtocol: aws.String("tcp"), FromPort: aws.Int32(6443), ToPort: aws.Int32(6443), IpRanges: []types.IpRange{{CidrIp: aws.String("10.0.0.0/16")}},
			}},
		})
		must.Wrap(err, "failed to authorize ingress")
		switch role {
		case "node":
			b.nodeGroup = aws.ToString(out.GroupId)
		case "apiserver-lb":
			b.lbGroup = aws.ToString(out.GroupId)
		}
	}
	return nil
}

// AvailableZones lists the region's available zones.
func (c *Cloud) AvailableZones(ctx context.Context) ([]string, error) {
	out, err := c.ec2.DescribeAvailabilityZones(ctx, &ec2.DescribeAvailabilityZonesInput{})
	if err != nil {
		return nil, fmt.Errorf("failed to fetch availability zones: %w", err)
	}
	var zones []string
	for _, z := range out.AvailabilityZones {
		if z.State == types.AvailabilityZoneStateAvailable && aws.ToString(z.ZoneName) != "us-east-1e" {
			zones = append(zones, aws.ToString(z.ZoneName))
		}
	}
	return zones, nil
}

// balancer is the data of a load balancer for a DNS alias.
type balancer struct{ dnsName, zone string }

func (b *Build) elbTags(name string) []elbtypes.Tag {
	return sorted(b.tags(name), func(k, v *string) elbtypes.Tag { return elbtypes.Tag{Key: k, Value: v} })
}

// Balancers creates the two network load balancers of the API.
func (b *Build) Balancers(ctx context.Context) (err error) {
	b.external, err = b.balancer(ctx, b.InfraID+"-ext", elbtypes.LoadBalancerSchemeEnumInternetFacing, b.publicSubnets, 6443)
	if err != nil {
		return err
	}
	b.internal, err = b.balancer(ctx, b.InfraID+"-int", elbtypes.LoadBalancerSchemeEnumInternal, b.privateSubnets, 6443, 22623)
	return err
}

func (b *Build) balancer(ctx context.Context, name string, scheme elbtypes.LoadBalancerSchemeEnum, subnets []string, ports ...int32) (_ balancer, err error) {
	defer must.Catch(&err)
	out, err := b.elb.CreateLoadBalancer(ctx, &elb.CreateLoadBalancerInput{
		Name: &name, Type: elbtypes.LoadBalancerTypeEnumNetwork, Scheme: scheme, Subnets: subnets, SecurityGroups: []string{b.lbGroup}, Tags: b.elbTags(name),
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
		Name: &name, Port: &port, Protocol: elbtypes.ProtocolEnumTcp, TargetType: elbtypes.TargetTypeEnumIp, VpcId: &b.vpc, Tags: b.elbTags(name),
	})
	must.Wrap(err, "failed to create target group %q", name)
	arn := out.TargetGroups[0].TargetGroupArn
	_, err = b.elb.CreateListener(ctx, &elb.CreateListenerInput{
		LoadBalancerArn: balancerARN, Port: &port, Protocol: elbtypes.ProtocolEnumTcp, Tags: b.elbTags(name),
		DefaultActions: []elbtypes.Action{{Type: elbtypes.ActionTypeEnumForward, TargetGroupArn: arn}},
	})
	must.Wrap(err, "failed to create listener")
	return nil
}
