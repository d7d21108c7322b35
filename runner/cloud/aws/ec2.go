package aws

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

// ec2Kind is one kind of EC2 resource a cluster may leave behind.
type ec2Kind struct {
	noun     string // vpc; also the kind in the leftover
	arnType  string // as it stands in an ARN
	call     string
	idFilter string // the filter that takes an id
	inVPC    string // the filter that takes a VPC id; empty: cannot be asked by VPC
	list     func(context.Context, *ec2.Client, []types.Filter) ([]thing, error)
}

// ec2Kinds in the order they are asked and reported: what blocks others first.
var ec2Kinds = []ec2Kind{
	{"instance", "instance", "DescribeInstances", "instance-id", "vpc-id", listInstances},
	{"network-interface", "network-interface", "DescribeNetworkInterfaces", "network-interface-id", "vpc-id", listInterfaces},
	{"nat-gateway", "natgateway", "DescribeNatGateways", "nat-gateway-id", "vpc-id", listNATGateways},
	{"address", "elastic-ip", "DescribeAddresses", "allocation-id", "", listAddresses},
	{"volume", "volume", "DescribeVolumes", "volume-id", "", listVolumes},
	{"snapshot", "snapshot", "DescribeSnapshots", "snapshot-id", "", listSnapshots},
	{"image", "image", "DescribeImages", "image-id", "", listImages},
	{"vpc-endpoint", "vpc-endpoint", "DescribeVpcEndpoints", "vpc-endpoint-id", "vpc-id", listEndpoints},
	{"security-group", "security-group", "DescribeSecurityGroups", "group-id", "vpc-id", listSecurityGroups},
	{"route-table", "route-table", "DescribeRouteTables", "route-table-id", "vpc-id", listRouteTables},
	{"subnet", "subnet", "DescribeSubnets", "subnet-id", "vpc-id", listSubnets},
	{"internet-gateway", "internet-gateway", "DescribeInternetGateways", "internet-gateway-id", "attachment.vpc-id", listInternetGateways},
	{"vpc", "vpc", "DescribeVpcs", "vpc-id", "", listVPCs},
}

// ec2Question asks for one kind with one filter.
func (c *Client) ec2Question(region string, kind ec2Kind, filter string, values ...string) question {
	return question{
		service: "ec2", call: kind.call, region: region, asked: filter + "=" + strings.Join(values, ","),
		ask: func(ctx context.Context) ([]thing, error) {
			things, err := kind.list(ctx, c.ec2In(region), []types.Filter{{Name: &filter, Values: values}})
			for i := range things {
				things[i].kind = cmp.Or(things[i].kind, kind.noun)
				things[i].free = ec2Free(things[i].kind, things[i].id, region)
			}
			return things, err
		},
	}
}

// ec2Free says who can free an EC2 resource and how.
func ec2Free(noun, id, region string) string {
	command := map[string]string{
		"instance": "terminate-instances --instance-ids", "network-interface": "delete-network-interface --network-interface-id",
		"nat-gateway": "delete-nat-gateway --nat-gateway-id", "address": "release-address --allocation-id",
		"volume": "delete-volume --volume-id", "snapshot": "delete-snapshot --snapshot-id", "image": "deregister-image --image-id",
		"vpc-endpoint": "delete-vpc-endpoints --vpc-endpoint-ids", "security-group": "delete-security-group --group-id",
		"route-table": "delete-route-table --route-table-id", "subnet": "delete-subnet --subnet-id",
		"internet-gateway": "delete-internet-gateway --internet-gateway-id", "vpc": "delete-vpc --vpc-id",
	}[noun]
	free := fmt.Sprintf("an administrator of the account: aws ec2 %s %s --region %s", command, id, region)
	switch noun {
	case "network-interface", "security-group":
		free += " (first delete what uses it: a load balancer or an endpoint made by a workload)"
	case "volume", "snapshot":
		free += " (made by a workload's persistent volume; ask its owner whether the data may go)"
	case "subnet", "internet-gateway", "vpc":
		free += " (after everything in it is gone)"
	}
	return free
}

func nameTag(tags []types.Tag) string {
	for _, t := range tags {
		if awssdk.ToString(t.Key) == "Name" {
			return awssdk.ToString(t.Value)
		}
	}
	return ""
}
