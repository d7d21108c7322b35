package kinds

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

// EC2 is one kind of EC2 resource. All are regional.
type EC2 struct {
	Noun    string // as in a leftover and in contract.SeenResource
	ARN     string // as in an ARN
	Call    string // that lists it
	IDs     string // the filter for ids
	InVPC   string // the filter for the id of a VPC; empty: it cannot be asked for by VPC
	IsNamed bool   // the installer gives it a Name tag, by which it is searched for, too
	Delete  string // the command that deletes one, followed by its id
	list    func(context.Context, *ec2.Client, query, Take) error
}

// VPC is the kind in which others are.
var VPC = EC2{"vpc", "vpc", "DescribeVpcs", "vpc-id", "", true, "delete-vpc --vpc-id", listVPCs}

// AllEC2 lists the kinds in the order of queries and reports: what blocks others comes first, and what belongs to something else comes after it,
// except for VPCs.
//
// The last six are kinds that no install creates by itself, but that its destroyer handles (dhcp-options, carrier and egress-only gateways,
// peerings, placement groups) or gets stuck on (launch templates: it retries their ARN for ever).
var AllEC2 = []EC2{
	{"instance", "instance", "DescribeInstances", "instance-id", "vpc-id", true, "terminate-instances --instance-ids", listInstances},
	{"network-interface", "network-interface", "DescribeNetworkInterfaces", "network-interface-id", "vpc-id", true, "delete-network-interface --network-interface-id", listInterfaces},
	{"nat-gateway", "natgateway", "DescribeNatGateways", "nat-gateway-id", "vpc-id", true, "delete-nat-gateway --nat-gateway-id", listNATGateways},
	{"address", "elastic-ip", "DescribeAddresses", "allocation-id", "", true, "release-address --allocation-id", listAddresses},
	{"volume", "volume", "DescribeVolumes", "volume-id", "", true, "delete-volume --volume-id", listVolumes},
	{"image", "image", "DescribeImages", "image-id", "", true, "deregister-image --image-id", listImages},
	{"snapshot", "snapshot", "DescribeSnapshots", "snapshot-id", "", true, "delete-snapshot --snapshot-id", listSnapshots},
	{"vpc-endpoint", "vpc-endpoint", "DescribeVpcEndpoints", "vpc-endpoint-id", "vpc-id", true, "delete-vpc-endpoints --vpc-endpoint-ids", listEndpoints},
	{"security-group", "security-group", "DescribeSecurityGroups", "group-id", "vpc-id", true, "delete-security-group --group-id", listSecurityGroups},
	{"route-table", "route-table", "DescribeRouteTables", "route-table-id", "vpc-id", true, "delete-route-table --route-table-id", listRouteTables},
	{"subnet", "subnet", "DescribeSubnets", "subnet-id", "vpc-id", true, "delete-subnet --subnet-id", listSubnets},
	{"internet-gateway", "internet-gateway", "DescribeInternetGateways", "internet-gateway-id", "attachment.vpc-id", true, "delete-internet-gateway --internet-gateway-id", listInternetGateways},
	VPC,
	{"peering-connection", "vpc-peering-connection", "DescribeVpcPeeringConnections", "vpc-peering-connection-id", eitherVPC, false, "delete-vpc-peering-connection --vpc-peering-connection-id", listPeerings},
	{"egress-only-gateway", "egress-only-internet-gateway", "DescribeEgressOnlyInternetGateways", idOfEgress, attachedVPC, false, "delete-egress-only-internet-gateway --egress-only-internet-gateway-id", listEgressGateways},
	{"carrier-gateway", "carrier-gateway", "DescribeCarrierGateways", "carrier-gateway-id", "vpc-id", false, "delete-carrier-gateway --carrier-gateway-id", listCarrierGateways},
	{"dhcp-options", "dhcp-options", "DescribeDhcpOptions", "dhcp-options-id", "", false, "delete-dhcp-options --dhcp-options-id", listDHCPOptions},
	{"launch-template", "launch-template", "DescribeLaunchTemplates", idOfTemplate, "", false, "delete-launch-template --launch-template-id", listLaunchTemplates},
	{"placement-group", "placement-group", "DescribePlacementGroups", nameOfGroup, "", false, "delete-placement-group --group-name", listPlacementGroups},
}

// These look like filters and are none of the API: ids are a parameter of the call, and what is in a VPC is chosen from the whole list.
const (
	idOfEgress   = "egress-only-internet-gateway-id"
	idOfTemplate = "launch-template-id"
	nameOfGroup  = "placement-group-name" // a group's ARN ends with its name
	eitherVPC    = "either.vpc-id"        // the API has a filter for each side of a peering
	attachedVPC  = "attachments.vpc-id"
)

// query says what of a kind is listed; nothing set: everything.
type query struct {
	filters []types.Filter
	ids     []string
}

// List gives every resource of the kind to take, page by page.
func (k EC2) List(ctx context.Context, api *ec2.Client, take Take) error {
	return k.list(ctx, api, query{}, take)
}

// Find returns what has one of the values for a filter.
func (k EC2) Find(ctx context.Context, api *ec2.Client, filter string, values []string) ([]Resource, error) {
	q, inside := query{filters: []types.Filter{{Name: &filter, Values: values}}}, false
	switch filter {
	case idOfEgress, idOfTemplate, nameOfGroup:
		q = query{ids: values}
	case eitherVPC, attachedVPC:
		q, inside = query{}, true
	}
	var found []Resource
	err := k.list(ctx, api, q, func(page []Resource) error {
		for _, r := range page {
			if !inside || slices.ContainsFunc(r.In, func(id string) bool { return slices.Contains(values, id) }) {
				found = append(found, r)
			}
		}
		return nil
	})
	return found, err
}

// The longest pages that the calls allow: their defaults differ, and some have none and then show everything at once.
var (
	longPage  = awssdk.Int32(1000)
	shortPage = awssdk.Int32(100)
)

// newEC2 returns a resource that is named by its Name tag, or else by another name.
func newEC2(id *string, tags []types.Tag, otherName *string) Resource {
	r := Resource{ID: awssdk.ToString(id), Tags: ec2Tags(tags), Name: awssdk.ToString(otherName)}
	if name := r.Tags["Name"]; name != "" {
		r.Name = name
	}
	return r
}

func ec2Tags(tags []types.Tag) map[string]string {
	return TagsOf(tags, func(t types.Tag) (*string, *string) { return t.Key, t.Value })
}

// presentIDs returns what is not empty.
func presentIDs(of ...*string) (ids []string) {
	for _, id := range of {
		if awssdk.ToString(id) != "" {
			ids = append(ids, *id)
		}
	}
	return ids
}

// inGiB is a size as a detail; empty: it is not known.
func inGiB(size *int32) string {
	if size == nil {
		return ""
	}
	return strconv.Itoa(int(*size))
}

// listInstances gives the type as the detail, followed by "spot" for a spot instance.
func listInstances(ctx context.Context, api *ec2.Client, q query, take Take) error {
	p := ec2.NewDescribeInstancesPaginator(api, &ec2.DescribeInstancesInput{Filters: q.filters, MaxResults: longPage})
	return EachPage(ctx, p, func(page *ec2.DescribeInstancesOutput) error {
		var all []types.Instance
		for _, r := range page.Reservations {
			all = append(all, r.Instances...)
		}
		return takeAll(take, all, func(i types.Instance) Resource {
			r := newEC2(i.InstanceId, i.Tags, nil)
			r.In, r.MadeAt, r.Detail = presentIDs(i.VpcId), i.LaunchTime, string(i.InstanceType)
			if i.InstanceLifecycle == types.InstanceLifecycleTypeSpot {
				r.Detail += " spot"
			}
			if i.State != nil {
				r.Gone = i.State.Name == types.InstanceStateNameTerminated
				r.Stopped = i.State.Name == types.InstanceStateNameStopped || i.State.Name == types.InstanceStateNameStopping
			}
			return r
		})
	})
}

// listVolumes gives kind and GiB as the detail: gp3 120.
func listVolumes(ctx context.Context, api *ec2.Client, q query, take Take) error {
	p := ec2.NewDescribeVolumesPaginator(api, &ec2.DescribeVolumesInput{Filters: q.filters, MaxResults: longPage})
	return EachPage(ctx, p, func(page *ec2.DescribeVolumesOutput) error {
		return takeAll(take, page.Volumes, func(v types.Volume) Resource {
			r := newEC2(v.VolumeId, v.Tags, nil)
			r.MadeAt, r.Detail = v.CreateTime, fmt.Sprintf("%s %d", v.VolumeType, awssdk.ToInt32(v.Size))
			r.Gone, r.Ending = v.State == types.VolumeStateDeleted, v.State == types.VolumeStateDeleting
			for _, a := range v.Attachments {
				r.In = append(r.In, presentIDs(a.InstanceId)...)
			}
			return r
		})
	})
}

// listImages lists the account's own images. Their snapshots belong to them: they outlive the image, and have neither tag nor name when an
// install was killed between copying and tagging.
func listImages(ctx context.Context, api *ec2.Client, q query, take Take) error {
	p := ec2.NewDescribeImagesPaginator(api, &ec2.DescribeImagesInput{Filters: q.filters, Owners: []string{"self"}, MaxResults: longPage})
	return EachPage(ctx, p, func(page *ec2.DescribeImagesOutput) error {
		return takeAll(take, page.Images, func(i types.Image) Resource {
			r := Resource{ID: awssdk.ToString(i.ImageId), Name: awssdk.ToString(i.Name), Tags: ec2Tags(i.Tags), Gone: i.State == types.ImageStateDeregistered, MadeAt: parseTime(i.CreationDate)}
			for _, device := range i.BlockDeviceMappings {
				if device.Ebs != nil && awssdk.ToString(device.Ebs.SnapshotId) != "" {
					r.Holds = append(r.Holds, Held{ID: *device.Ebs.SnapshotId, Detail: inGiB(device.Ebs.VolumeSize)})
				}
			}
			return r
		})
	})
}

// listSnapshots gives the volume's GiB as the detail.
func listSnapshots(ctx context.Context, api *ec2.Client, q query, take Take) error {
	p := ec2.NewDescribeSnapshotsPaginator(api, &ec2.DescribeSnapshotsInput{Filters: q.filters, OwnerIds: []string{"self"}, MaxResults: longPage})
	return EachPage(ctx, p, func(page *ec2.DescribeSnapshotsOutput) error {
		return takeAll(take, page.Snapshots, func(s types.Snapshot) Resource {
			r := newEC2(s.SnapshotId, s.Tags, nil)
			r.In, r.MadeAt, r.Detail = presentIDs(s.VolumeId), s.StartTime, inGiB(s.VolumeSize)
			return r
		})
	})
}

func listLaunchTemplates(ctx context.Context, api *ec2.Client, q query, take Take) error {
	in := &ec2.DescribeLaunchTemplatesInput{Filters: q.filters, MaxResults: shortPage}
	if q.ids != nil { // AWS takes no length of pages beside ids
		in = &ec2.DescribeLaunchTemplatesInput{LaunchTemplateIds: q.ids}
	}
	return EachPage(ctx, ec2.NewDescribeLaunchTemplatesPaginator(api, in), func(page *ec2.DescribeLaunchTemplatesOutput) error {
		return takeAll(take, page.LaunchTemplates, func(l types.LaunchTemplate) Resource {
			return Resource{ID: awssdk.ToString(l.LaunchTemplateId), Name: awssdk.ToString(l.LaunchTemplateName), Tags: ec2Tags(l.Tags), MadeAt: l.CreateTime}
		})
	})
}

// listPlacementGroups takes a group's name for its id, as its ARN does.
func listPlacementGroups(ctx context.Context, api *ec2.Client, q query, take Take) error {
	out, err := Once(ctx, api.DescribePlacementGroups, &ec2.DescribePlacementGroupsInput{Filters: q.filters, GroupNames: q.ids}) // this call has no pages
	if err != nil {
		return err
	}
	return takeAll(take, out.PlacementGroups, func(g types.PlacementGroup) Resource {
		name := awssdk.ToString(g.GroupName)
		return Resource{ID: name, Name: name, Tags: ec2Tags(g.Tags), Gone: g.State == types.PlacementGroupStateDeleted}
	})
}
