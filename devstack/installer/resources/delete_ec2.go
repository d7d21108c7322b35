package resources

import (
	"context"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/ocpctl/ocpctl/devstack/must"
)

func (c *Cloud) deleteEC2(ctx context.Context, kind, id string) (err error) {
	switch kind {
	case "instance":
		return c.deleteInstance(ctx, id)
	case "natgateway":
		return c.deleteNAT(ctx, id)
	case "elastic-ip":
		_, err = c.ec2.ReleaseAddress(ctx, &ec2.ReleaseAddressInput{AllocationId: &id})
	case "vpc-endpoint":
		return c.deleteEndpoint(ctx, id)
	case "network-interface":
		_, err = c.ec2.DeleteNetworkInterface(ctx, &ec2.DeleteNetworkInterfaceInput{NetworkInterfaceId: &id})
	case "security-group":
		_, err = c.ec2.DeleteSecurityGroup(ctx, &ec2.DeleteSecurityGroupInput{GroupId: &id})
	case "route-table":
		return c.deleteRoutes(ctx, id)
	case "subnet":
		_, err = c.ec2.DeleteSubnet(ctx, &ec2.DeleteSubnetInput{SubnetId: &id})
	case "internet-gateway":
		return c.deleteInternetGateway(ctx, id)
	case "volume":
		_, err = c.ec2.DeleteVolume(ctx, &ec2.DeleteVolumeInput{VolumeId: &id})
	case "snapshot":
		_, err = c.ec2.DeleteSnapshot(ctx, &ec2.DeleteSnapshotInput{SnapshotId: &id})
	case "image":
		return c.deleteImage(ctx, id)
	case "vpc":
		return c.deleteVPC(ctx, id)
	default:
		return fmt.Errorf("unrecognized EC2 resource type %s", kind)
	}
	return err
}

// deleteInstance treats a terminated instance as deleted, because AWS lists it for another hour.
func (c *Cloud) deleteInstance(ctx context.Context, id string) (err error) {
	defer must.Catch(&err)
	out := must.Get(c.ec2.DescribeInstances(ctx, &ec2.DescribeInstancesInput{InstanceIds: []string{id}}))
	for _, r := range out.Reservations {
		for _, i := range r.Instances {
			if i.State != nil && i.State.Name == types.InstanceStateNameTerminated {
				continue
			}
			must.Get(c.ec2.TerminateInstances(ctx, &ec2.TerminateInstancesInput{InstanceIds: []string{id}}))
			return fmt.Errorf("instance %s is shutting down", id)
		}
	}
	return nil
}

// deleteNAT is repeated until the gateway is deleted, because its address and VPC depend on that.
func (c *Cloud) deleteNAT(ctx context.Context, id string) (err error) {
	defer must.Catch(&err)
	out := must.Get(c.ec2.DescribeNatGateways(ctx, &ec2.DescribeNatGatewaysInput{NatGatewayIds: []string{id}}))
	for _, n := range out.NatGateways {
		switch n.State {
		case types.NatGatewayStateDeleted:
			continue
		case types.NatGatewayStateDeleting:
		default:
			must.Get(c.ec2.DeleteNatGateway(ctx, &ec2.DeleteNatGatewayInput{NatGatewayId: &id}))
		}
		return fmt.Errorf("NAT gateway %s is being deleted", id)
	}
	return nil
}

func (c *Cloud) deleteEndpoint(ctx context.Context, id string) (err error) {
	defer must.Catch(&err)
	out := must.Get(c.ec2.DeleteVpcEndpoints(ctx, &ec2.DeleteVpcEndpointsInput{VpcEndpointIds: []string{id}}))
	for _, u := range out.Unsuccessful {
		must.FailIf(u.Error != nil && !strings.HasSuffix(aws.ToString(u.Error.Code), ".NotFound"),
			"%s: %s", aws.ToString(u.Error.Code), aws.ToString(u.Error.Message))
	}
	return nil
}

func (c *Cloud) deleteRoutes(ctx context.Context, id string) error {
	out, err := c.ec2.DescribeRouteTables(ctx, &ec2.DescribeRouteTablesInput{RouteTableIds: []string{id}})
	if err != nil {
		return err
	}
	for _, table := range out.RouteTables {
		for _, a := range table.Associations {
			if aws.ToBool(a.Main) {
				return nil // deleted with its VPC
			}
			_, err := c.ec2.DisassociateRouteTable(ctx, &ec2.DisassociateRouteTableInput{AssociationId: a.RouteTableAssociationId})
			if err != nil && !missing(err) {
				return err
			}
		}
	}
	_, err = c.ec2.DeleteRouteTable(ctx, &ec2.DeleteRouteTableInput{RouteTableId: &id})
	return err
}

func (c *Cloud) deleteInternetGateway(ctx context.Context, id string) error {
	out, err := c.ec2.DescribeInternetGateways(ctx, &ec2.DescribeInternetGatewaysInput{InternetGatewayIds: []string{id}})
	if err != nil {
		return err
	}
	for _, gateway := range out.InternetGateways {
		for _, a := range gateway.Attachments {
			_, err := c.ec2.DetachInternetGateway(ctx, &ec2.DetachInternetGatewayInput{InternetGatewayId: &id, VpcId: a.VpcId})
			if err != nil && !missing(err) && !codeSays(err, "NotAttached") {
				return err
			}
		}
	}
	_, err = c.ec2.DeleteInternetGateway(ctx, &ec2.DeleteInternetGatewayInput{InternetGatewayId: &id})
	return err
}
