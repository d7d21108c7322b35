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

	"github.com/ocpctl/ocpctl/runner/cloud"
)

// Preflight reports what stands in the way of an install, before anything is recorded: the account, the base domain's
// zone, the name, the zones and the instance types. Only a proven shortfall blocks; a question the cloud did not answer
// is a warning. The error is for a context that ended.
func (c *Client) Preflight(ctx context.Context, t cloud.Target, zones, instanceTypes []string) ([]cloud.Problem, error) {
	var problems []cloud.Problem
	for _, check := range []func(context.Context) ([]cloud.Problem, error){
		func(ctx context.Context) ([]cloud.Problem, error) { return c.checkAccount(ctx, t.Account) },
		func(ctx context.Context) ([]cloud.Problem, error) { return c.checkDomain(ctx, t) },
		func(ctx context.Context) ([]cloud.Problem, error) { return c.checkZones(ctx, t.Region, zones) },
		func(ctx context.Context) ([]cloud.Problem, error) {
			return c.checkTypes(ctx, t.Region, zones, instanceTypes)
		},
	} {
		callCtx, cancel := context.WithTimeout(ctx, callTimeout)
		found, err := check(callCtx)
		cancel()
		if ctx.Err() != nil {
			return problems, fmt.Errorf("preflight: %w", ctx.Err())
		}
		problems = append(problems, found...)
		if err != nil {
			problems = append(problems, cloud.Problem{
				Code: "NotAnswered", Words: "the cloud did not answer: " + err.Error(),
				Next: "the install goes on; if it fails for this, an administrator of the account has to allow the call",
			})
		}
	}
	return problems, nil
}

func (c *Client) checkAccount(ctx context.Context, want string) ([]cloud.Problem, error) {
	got, err := c.Account(ctx)
	switch {
	case err != nil && refusedCredentials(err):
		return []cloud.Problem{{
			Code: "CredentialsRefused", Block: true, Words: "AWS does not accept the runner's credentials: " + err.Error(),
			Next: "an administrator of this installation has to renew them",
		}}, nil
	case err != nil:
		return nil, err
	case want != "" && got != want:
		return []cloud.Problem{{
			Code: "WrongAccount", Block: true, Words: fmt.Sprintf("the runner's credentials belong to account %s, wanted is %s", got, want),
			Next: "an administrator of this installation has to give the runner credentials of account " + want,
		}}, nil
	}
	return nil, nil
}

// checkDomain looks for the public zone, and for anything under the cluster's own name in it.
func (c *Client) checkDomain(ctx context.Context, t cloud.Target) ([]cloud.Problem, error) {
	public, err := c.publicZones(ctx, t.BaseDomain)
	if err != nil {
		return nil, err
	}
	if len(public) == 0 {
		return []cloud.Problem{{
			Code: "ZoneMissing", Block: true, Words: fmt.Sprintf("there is no public hosted zone for %s in this account", t.BaseDomain),
			Next: "choose another base domain, or ask the DNS administrator to create the zone",
		}}, nil
	}
	questions := []question{c.zonesLeft(t.Domain())}
	for _, z := range public {
		questions = append(questions, c.recordsLeft(z, t.Domain()))
	}
	var taken []string
	for _, q := range questions {
		things, err := q.ask(ctx)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", q.call, err)
		}
		for _, found := range things {
			taken = append(taken, found.name)
		}
	}
	if len(taken) == 0 {
		return nil, nil
	}
	slices.Sort(taken)
	return []cloud.Problem{{
		Code: "NameInUse", Block: true,
		Words: fmt.Sprintf("%s is already in DNS (%s)", t.Domain(), strings.Join(slices.Compact(taken), ", ")),
		Next:  "choose another name, or ask the DNS administrator who owns these records",
	}}, nil
}

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
				Code: "ZoneNotOffered", Block: true, Words: fmt.Sprintf("zone %s is not available in %s to this account", zone, region),
				Next: "choose among " + strings.Join(offered, ", "),
			})
		}
	}
	return problems, nil
}

// checkTypes asks whether every instance type is offered in every zone.
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
					Code: "InstanceTypeNotOffered", Block: true, Words: fmt.Sprintf("instance type %s is not offered in %s", instanceType, zone),
					Next: "choose another instance type or zone; it is offered in: " + strings.Join(offered, ", "),
				})
			}
		}
	}
	return problems, errors.Join(failed...)
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
