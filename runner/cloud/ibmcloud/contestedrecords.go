package ibmcloud

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"strings"

	"github.com/ocpctl/ocpctl/runner/cloud"
)

// balancerHost is what IBM Cloud calls its load balancers: something random, then the region.
var balancerHost = regexp.MustCompile(`-([a-z]{2}-[a-z]+[0-9]*)\.lb\.appdomain\.cloud$`)

// regionOf returns the region of a load balancer's host; empty: it is no load balancer's.
func regionOf(host string) string {
	if parts := balancerHost.FindStringSubmatch(host); parts != nil {
		return parts[1]
	}
	return ""
}

// findContestedRecords adds the records that the installer's destroyer would delete although they lead to somebody else's load balancer, or are
// older than the cluster. It deletes every record with a name or a content below the cluster's domain, whoever made it (openshift/installer pkg/destroy/ibmcloud/dns.go),
// and another installation may have taken the name since our own records were deleted.
func (c *Client) findContestedRecords(ctx context.Context, t cloud.Target, o *owner, found map[string]cloud.Contested) error {
	below, err := c.recordsBelow(ctx, t)
	if err != nil || len(below) == 0 {
		return err
	}
	leads, regions := map[string][]string{}, t.Regions() // a name can be in a public and in a private zone
	for _, r := range below {
		leads[trimDot(r.Name)] = append(leads[trimDot(r.Name)], trimDot(r.Content))
		regions = appendNew(regions, regionOf(trimDot(r.Content)))
	}
	others, err := c.othersBalancers(ctx, regions, o)
	if err != nil {
		return err
	}
	for _, r := range below {
		if mark := o.ageMark(r.creationTime()); mark != "" {
			found[r.describeIn(r.zone)] = cloud.Contested{ID: r.describeIn(r.zone), Mark: mark, Mention: true}
		}
		hosts := []string{trimDot(r.Content)}
		for i := 0; i < len(hosts); i++ { // a record can lead to records
			for _, next := range leads[hosts[i]] {
				hosts = appendNew(hosts, next)
			}
			if balancer, there := others[hosts[i]]; there {
				id := r.describeIn(r.zone)
				group := cmp.Or(balancer.Group.Name, balancer.Group.ID, "unknown")
				found[id] = cloud.Contested{ID: id, Mark: "it leads to " + balancer.String() + " in resource group " + group, Mention: true}
			}
		}
	}
	return nil
}

// zoned is a record with its zone.
type zoned struct {
	record
	zone zone
}

// recordsBelow lists what the destroyer takes for the cluster's records. It searches in public zones whose name is part of the base domain.
func (c *Client) recordsBelow(ctx context.Context, t cloud.Target) (below []zoned, err error) {
	add := func(z zone, list func(context.Context, zone) ([]record, error)) error {
		all, err := list(ctx, z)
		for _, r := range all {
			if isBelow(r.Name, t.Domain()) || isBelow(r.Content, t.Domain()) {
				below = append(below, zoned{r, z})
			}
		}
		return err
	}
	public, err := c.publicZones(ctx)
	if err != nil {
		return nil, err
	}
	for _, z := range public {
		if z.Name != "" && strings.Contains(t.BaseDomain, z.Name) {
			if err := add(z, c.publicRecords); err != nil {
				return nil, err
			}
		}
	}
	private, err := c.privateZones(ctx)
	if err != nil {
		return nil, err
	}
	for _, z := range private {
		if z.Name == t.BaseDomain {
			if err := add(z, c.privateRecords); err != nil {
				return nil, err
			}
		}
	}
	return below, nil
}

func isBelow(name, domain string) bool {
	return strings.HasSuffix(trimDot(name), "."+strings.ToLower(domain))
}

// othersBalancers lists the load balancers of some regions that are not the cluster's, by host. What is in the cluster's VPCs and subnets is the
// cluster's.
func (c *Client) othersBalancers(ctx context.Context, regions []string, o *owner) (map[string]object, error) {
	others := map[string]object{}
	for _, region := range regions {
		if _, err := c.vpcIn(ctx, region); isAbsent(err) {
			continue // a host may look as if it had a region
		}
		for _, k := range []kind{vpcs, subnets, loadBalancers} {
			all, err := c.objectsIn(ctx, region, k)
			if err != nil {
				return nil, fmt.Errorf("look for load balancers that records of the cluster's name lead to: %w", err)
			}
			for _, obj := range all {
				switch {
				case o.isOwn(obj):
					o.noteObject(obj)
				case k.name == loadBalancers.name && !obj.isGoing():
					others[trimDot(obj.Hostname)] = obj
				}
			}
		}
	}
	delete(others, "") // one that is just being made
	return others, nil
}
