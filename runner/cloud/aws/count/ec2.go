package count

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

// ec2Kind is one kind of EC2 resource that a cluster may leave behind.
type ec2Kind struct {
	noun     string // vpc; also the kind in the leftover
	arnType  string // as in an ARN
	call     string
	idFilter string // the filter for ids
	inVPC    string // the filter for a VPC id; empty: cannot be queried by VPC
	named    bool   // the installer gives it a Name tag, by which it is searched for too
	list     func(context.Context, *ec2.Client, []types.Filter) ([]thing, error)
	delete   string // the command that deletes one, followed by its id
}

var instances = ec2Kind{"instance", "instance", "DescribeInstances", "instance-id", "vpc-id", true, listInstances, "terminate-instances --instance-ids"}

// ec2Kinds lists the kinds in the order of queries and reports: what blocks others comes first.
var ec2Kinds = append([]ec2Kind{
	instances,
	{"network-interface", "network-interface", "DescribeNetworkInterfaces", "network-interface-id", "vpc-id", true, listInterfaces, "delete-network-interface --network-interface-id"},
	{"nat-gateway", "natgateway", "DescribeNatGateways", "nat-gateway-id", "vpc-id", true, listNATGateways, "delete-nat-gateway --nat-gateway-id"},
	{"address", "elastic-ip", "DescribeAddresses", "allocation-id", "", true, listAddresses, "release-address --allocation-id"},
	{"volume", "volume", "DescribeVolumes", "volume-id", "", true, listVolumes, "delete-volume --volume-id"},
	{"snapshot", "snapshot", "DescribeSnapshots", "snapshot-id", "", true, listSnapshots, "delete-snapshot --snapshot-id"},
	{"image", "image", "DescribeImages", "image-id", "", true, listImages, "deregister-image --image-id"},
	{"vpc-endpoint", "vpc-endpoint", "DescribeVpcEndpoints", "vpc-endpoint-id", "vpc-id", true, listEndpoints, "delete-vpc-endpoints --vpc-endpoint-ids"},
	{"security-group", "security-group", "DescribeSecurityGroups", "group-id", "vpc-id", true, listSecurityGroups, "delete-security-group --group-id"},
	{"route-table", "route-table", "DescribeRouteTables", "route-table-id", "vpc-id", true, listRouteTables, "delete-route-table --route-table-id"},
	{"subnet", "subnet", "DescribeSubnets", "subnet-id", "vpc-id", true, listSubnets, "delete-subnet --subnet-id"},
	{"internet-gateway", "internet-gateway", "DescribeInternetGateways", "internet-gateway-id", "attachment.vpc-id", true, listInternetGateways, "delete-internet-gateway --internet-gateway-id"},
	{"vpc", "vpc", "DescribeVpcs", "vpc-id", "", true, listVPCs, "delete-vpc --vpc-id"},
}, rareKinds...)

// ec2Question queries one kind with one filter.
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

// ec2Free says who can remove an EC2 resource and how.
func ec2Free(noun, id, region string) string {
	command := ""
	for _, k := range ec2Kinds {
		if k.noun == noun {
			command = k.delete
		}
	}
	free := fmt.Sprintf("an administrator of the account: aws ec2 %s %s --region %s", command, id, region)
	switch noun {
	case "network-interface", "security-group":
		free += " (first delete what uses it: a load balancer or an endpoint made by a workload)"
	case "volume", "snapshot":
		free += " (made by a workload's persistent volume; ask its owner whether the data may go)"
	case "image":
		free += " (then delete its snapshots)"
	case "subnet", "internet-gateway", "vpc":
		free += " (after everything in it is gone)"
	}
	return free
}
