package aws

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/runner/cloud"
)

const (
	// quotasAtOnce keeps a preflight from using up the account's request rate.
	quotasAtOnce = 3
	// securityGroups is the most that an install creates: the installer checks two, OpenShift's documentation counts ten.
	securityGroups = 10
	// networkBalancers are two for the API and one for the ingress, which a profile may make a classic one instead.
	networkBalancers = 3
)

// demand is one limit that an install of a plan touches.
type demand struct {
	service, code, name string
	scopes              []string // the zones of a limit per zone; empty: one limit for the region
	need, lasting       int      // in each scope
	usage               func(context.Context, string) ([]holding, error)
}

// Quotas measures every limit that an install of the plan touches: the limit, everybody's current usage with the share of each of our
// clusters by its ClusterId tag, and the need. What could not be queried is Unknown and says why. The error is for a context that
// ended.
//
// Codes and names are those of Service Quotas (aws service-quotas list-service-quotas --service-code vpc|ec2| elasticloadbalancing);
// needs are those that the installer checks (openshift/installer pkg/asset/quota/aws/aws.go), with an address and a NAT gateway for
// each zone.
func (c *Client) Quotas(ctx context.Context, t cloud.Target, plan cloud.Plan) ([]contract.Quota, error) {
	cpus, cpuErr := c.machineDemands(ctx, t.Region, plan)
	demands := append(c.networkDemands(plan), cpus...)
	measured := make([][]contract.Quota, len(demands))
	var group errgroup.Group
	group.SetLimit(quotasAtOnce)
	for i, d := range demands {
		group.Go(func() error {
			measured[i] = c.measureQuota(ctx, t.Region, d)
			return nil
		})
	}
	_ = group.Wait() // every error is in its quota
	if ctx.Err() != nil {
		return nil, fmt.Errorf("measure quotas: %w", ctx.Err())
	}
	var out []contract.Quota
	for _, quotas := range measured {
		out = append(out, quotas...)
	}
	for _, d := range cpus {
		if cpuErr != nil {
			out = append(out, contract.Quota{Service: d.service, Code: d.code, Name: d.name, Unknown: "the needed amount is unknown: " + cpuErr.Error(), Denied: isForbidden(cpuErr)})
		}
	}
	return out, nil
}

// networkDemands are the demands of every install. AWS's defaults: 5 VPCs, 5 internet gateways, 5 addresses, 5 NAT gateways per zone,
// 20 gateway endpoints, 2500 security groups, 50 network load balancers.
func (c *Client) networkDemands(plan cloud.Plan) []demand {
	zones := len(plan.Zones)
	return []demand{
		{service: "vpc", code: "L-F678F1CE", name: "VPCs per region", need: 1, lasting: 1, usage: c.vpcsHeld},
		{service: "vpc", code: "L-A4707A72", name: "internet gateways per region", need: 1, lasting: 1, usage: c.gatewaysHeld},
		{service: "ec2", code: "L-0263D0A3", name: "Elastic IP addresses", need: zones, lasting: zones, usage: c.addressesHeld},
		{service: "vpc", code: "L-FE5A380F", name: "NAT gateways per zone", scopes: plan.Zones, need: min(zones, 1), lasting: min(zones, 1), usage: c.natGatewaysHeld},
		{service: "vpc", code: "L-1B52E74A", name: "gateway VPC endpoints per region", need: 1, lasting: 1, usage: c.endpointsHeld},
		{service: "vpc", code: "L-E79EC296", name: "security groups per region", need: securityGroups, lasting: securityGroups, usage: c.securityGroupsHeld},
		{service: "elasticloadbalancing", code: "L-69A177A2", name: "network load balancers per region", need: networkBalancers, lasting: networkBalancers, usage: c.balancersHeld},
	}
}

// machineDemands are what the plan's machines need of the limits on standard instances, on demand and spot, counted in vCPUs.
func (c *Client) machineDemands(ctx context.Context, region string, plan cloud.Plan) ([]demand, error) {
	held := func(spot bool) func(context.Context, string) ([]holding, error) {
		return func(ctx context.Context, region string) ([]holding, error) { return c.vcpusHeld(ctx, region, spot) }
	}
	all := []demand{{service: "ec2", code: "L-1216C47A", name: "vCPUs of running on-demand standard instances", usage: held(false)}}
	if slices.ContainsFunc(plan.Machines, func(m cloud.Machines) bool { return m.Spot }) {
		all = append(all, demand{service: "ec2", code: "L-34B43A08", name: "vCPUs of standard spot instances", usage: held(true)})
	}
	var names []string
	for _, m := range plan.Machines {
		if standardFamily(m.Type) {
			names = append(names, m.Type)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	vcpus, err := c.vcpusOf(ctx, region, names)
	if err != nil {
		return all, err
	}
	for _, m := range plan.Machines {
		d := &all[0]
		if m.Spot {
			d = &all[1]
		}
		d.need += vcpus[m.Type] * (m.Lasting + m.Transient)
		d.lasting += vcpus[m.Type] * m.Lasting
	}
	return all, nil
}

// measureQuota returns the quotas of one demand, one for each scope; none if nothing is needed.
func (c *Client) measureQuota(ctx context.Context, region string, d demand) []contract.Quota {
	if d.need == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	limit, limitErr := c.limitOf(ctx, region, d.service, d.code)
	held, usageErr := d.usage(ctx, region)
	if usageErr != nil {
		usageErr = fmt.Errorf("the usage could not be counted: %w", usageErr)
	}
	scopes := d.scopes
	if len(scopes) == 0 {
		scopes = []string{""}
	}
	var out []contract.Quota
	for _, scope := range scopes {
		q := contract.Quota{Service: d.service, Code: d.code, Scope: scope, Name: d.name, Limit: limit, Need: d.need, Lasting: d.lasting, UsedBy: map[string]int{}}
		if err := errors.Join(limitErr, usageErr); err != nil {
			q.Unknown, q.Denied = err.Error(), isForbidden(limitErr) || isForbidden(usageErr)
		}
		for _, h := range held {
			if h.scope != scope {
				continue
			}
			q.Used += h.amount
			if h.cluster != "" {
				q.UsedBy[h.cluster] += h.amount
			}
		}
		out = append(out, q)
	}
	return out
}
