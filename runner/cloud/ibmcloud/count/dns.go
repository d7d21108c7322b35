package count

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ocpctl/ocpctl/runner/cloud/ibmcloud/answer"
	"github.com/ocpctl/ocpctl/runner/cloud/ibmcloud/kinds"
)

const dnsAdministrator = "the DNS administrator"

// zonesOf lists every zone that the account has, in every instance of both services. Each call is a query of its own in the record. Zones
// named like the cluster are left over.
func (c *Client) zonesOf(ctx context.Context, domain string) (all []kinds.Zone, answers []reply) {
	for _, service := range []kinds.DNS{kinds.InternetServices, kinds.DNSServices} {
		var crns []string
		instances := c.askOne(ctx, c.instancesOf(service, &crns))
		if instances.query.Err == "" {
			instances.query.Count = len(crns)
		}
		answers = append(answers, instances)
		for _, crn := range crns {
			found, a := c.zonesIn(ctx, service, crn)
			a.things = append(a.things, zonesLeft(found, domain)...)
			all, answers = append(all, found...), append(answers, a)
		}
	}
	return all, answers
}

// instancesOf lists the account's instances of one service. They are no leftovers.
func (c *Client) instancesOf(service kinds.DNS, crns *[]string) question {
	return question{
		service: "resource-controller", call: "ListResourceInstances", region: global, asked: "service=" + service.Name,
		ask: func(ctx context.Context) (_ []thing, err error) {
			*crns, err = c.api.ListInstancesOf(ctx, service)
			return nil, err
		},
	}
}

func (c *Client) zonesIn(ctx context.Context, service kinds.DNS, crn string) (found []kinds.Zone, a reply) {
	a = c.askOne(ctx, question{service: service.Name, call: service.ZonesCall, region: global, asked: "instance=" + crn,
		ask: func(ctx context.Context) (_ []thing, err error) {
			found, err = service.Zones(ctx, c.api, crn)
			return nil, err
		}})
	a.query.Count = len(found)
	return found, a
}

// zonesLeft are zones named like the cluster.
func zonesLeft(all []kinds.Zone, domain string) (left []thing) {
	for _, z := range all {
		if z.Name != domain && !strings.HasSuffix(z.Name, "."+domain) {
			continue
		}
		command := fmt.Sprintf("ibmcloud cis domain-remove %s -i %s", z.ID, z.Instance)
		if z.Private {
			command = fmt.Sprintf("ibmcloud dns zone-delete %s -i %s", z.ID, z.Instance)
		}
		left = append(left, thing{kind: "dns-zone", id: z.ID, name: z.Name, free: dnsAdministrator, command: command})
	}
	return left
}

// recordsLeft queries a zone's records below the cluster's domain. The whole zone is listed.
func (c *Client) recordsLeft(z kinds.Zone, domain string) question {
	service, command := kinds.InternetServices, "cis dns-record-delete"
	if z.Private {
		service, command = kinds.DNSServices, "dns resource-record-delete"
	}
	return question{
		service: service.Name, call: service.RecordCall, region: global, asked: "zone=" + z.ID + " suffix=." + domain,
		ask: func(ctx context.Context) (left []thing, err error) {
			err = c.api.ListRecords(ctx, z, func(page []kinds.Record) error {
				for _, r := range page {
					if r.Name == domain || strings.HasSuffix(r.Name, "."+domain) {
						left = append(left, thing{kind: "record", id: z.ID + "/" + r.ID, name: r.Name,
							free: dnsAdministrator, command: fmt.Sprintf("ibmcloud %s %s %s -i %s", command, z.ID, r.ID, z.Instance)})
					}
				}
				return nil
			})
			return left, err
		},
	}
}

// networksLeft queries the networks that may resolve a private zone, and are one of the VPCs. The call has no pages.
func (c *Client) networksLeft(z kinds.Zone, vpcs []string) question {
	return question{
		service: "dns-svcs", call: "ListPermittedNetworks", region: global, asked: "zone=" + z.ID + " vpc=" + strings.Join(vpcs, ","),
		ask: func(ctx context.Context) (left []thing, err error) {
			all, err := c.api.ListNetworks(ctx, z)
			for _, n := range all {
				if of, ok := answer.ParseCRN(n.VPC); ok && slices.Contains(vpcs, of.ID) {
					left = append(left, thing{kind: "permitted-network", id: n.ID, name: z.Name,
						free: dnsAdministrator, command: fmt.Sprintf("ibmcloud dns permitted-network-remove %s %s -i %s", z.ID, n.ID, z.Instance)})
				}
			}
			return left, err
		},
	}
}
