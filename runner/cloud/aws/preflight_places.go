package aws

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/runner/cloud"
)

func (c *Client) checkZones(ctx context.Context, region string, zones []string) ([]cloud.Problem, error) {
	out, err := c.ec2In(region).DescribeAvailabilityZones(ctx, &ec2.DescribeAvailabilityZonesInput{})
	if err != nil {
		return nil, fmt.Errorf("list the zones of %s: %w", region, err)
	}
	var offered []string
	for _, z := range out.AvailabilityZones {
		if z.State == types.AvailabilityZoneStateAvailable {
			offered = append(offered, awssdk.ToString(z.ZoneName))
		}
	}
	slices.Sort(offered)
	var problems []cloud.Problem
	for _, zone := range zones {
		if !slices.Contains(offered, zone) {
			problems = append(problems, cloud.Problem{
				Code: "ZoneNotOffered", Block: true, Whose: contract.WhoseUser, Message: fmt.Sprintf("zone %s is not available in %s to this account", zone, region),
				Next: "choose among " + strings.Join(offered, ", "),
			})
		}
	}
	return problems, nil
}

// checkTypes checks that every instance type is offered in every zone.
func (c *Client) checkTypes(ctx context.Context, region string, zones, instanceTypes []string) ([]cloud.Problem, error) {
	var problems []cloud.Problem
	var failed []error
	for _, instanceType := range instanceTypes {
		offered, err := c.zonesOffering(ctx, region, instanceType)
		if err != nil {
			failed = append(failed, err)
			continue
		}
		for _, zone := range zones {
			if !slices.Contains(offered, zone) {
				problems = append(problems, cloud.Problem{
					Code: "InstanceTypeNotOffered", Block: true, Whose: contract.WhoseUser, Message: fmt.Sprintf("instance type %s is not offered in %s", instanceType, zone),
					Next: zonesElsewhere(offered, region),
				})
			}
		}
	}
	return problems, errors.Join(failed...)
}

func zonesElsewhere(zones []string, region string) string {
	if len(zones) == 0 {
		return "choose another instance type: no zone of " + region + " offers it to this account"
	}
	return "choose another instance type or zone; it is offered in: " + strings.Join(zones, ", ")
}

func (c *Client) zonesOffering(ctx context.Context, region, instanceType string) ([]string, error) {
	p := ec2.NewDescribeInstanceTypeOfferingsPaginator(c.ec2In(region), &ec2.DescribeInstanceTypeOfferingsInput{
		LocationType: types.LocationTypeAvailabilityZone,
		Filters:      []types.Filter{{Name: awssdk.String("instance-type"), Values: []string{instanceType}}},
	})
	var zones []string
	for p.HasMorePages() {
		page, err := p.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("ask where %s is offered: %w", instanceType, err)
		}
		for _, o := range page.InstanceTypeOfferings {
			zones = append(zones, awssdk.ToString(o.Location))
		}
	}
	slices.Sort(zones)
	return zones, nil
}
