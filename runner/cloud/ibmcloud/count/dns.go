package count

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/IBM/networking-go-sdk/dnsrecordsv1"
	"github.com/IBM/networking-go-sdk/dnssvcsv1"
	"github.com/IBM/networking-go-sdk/zonesv1"
	"github.com/IBM/platform-services-go-sdk/resourcecontrollerv2"

	"github.com/ocpctl/ocpctl/runner/cloud/ibmcloud/answer"
)

// zone is a DNS zone of Internet Services, or of DNS Services if it is private.
type zone struct {
	instance string // CRN of Internet Services, GUID of DNS Services
	id, name string
	private  bool
}

const dnsAdministrator = "the DNS administrator: "

// zonesOf lists every zone that the account has, in every instance of both services. Each call is a query of its own in the record. Zones
// named like the cluster are left over.
func (c *Client) zonesOf(ctx context.Context, domain string) (all []zone, answers []reply) {
	for _, service := range []struct {
		id, name string
		list     func(context.Context, string) ([]zone, error)
	}{{serviceCIS, "internet-svcs", c.listCISZones}, {serviceDNS, "dns-svcs", c.listDNSZones}} {
		instances := c.ask(ctx, c.instancesOf(service.id, service.name))
		var crns []string
		for _, i := range instances.things {
			if i.kind == kindInstance {
				crns = append(crns, i.crn)
			}
		}
		instances.keepFindings() // instances are no leftovers
		answers = append(answers, instances)
		for _, instance := range crns {
			if of, ok := answer.ParseCRN(instance); ok && service.id == serviceDNS {
				instance = of.Instance
			}
			found, a := c.zonesIn(ctx, service.name, instance, service.list)
			a.things = append(a.things, zonesLeft(found, domain)...)
			all, answers = append(all, found...), append(answers, a)
		}
	}
	return all, answers
}

// instancesOf lists the account's instances of one service.
func (c *Client) instancesOf(service, name string) question {
	return c.instances("service="+name, &resourcecontrollerv2.ListResourceInstancesOptions{ResourceID: &service}, nil)
}

func (c *Client) zonesIn(ctx context.Context, service, instance string, list func(context.Context, string) ([]zone, error)) (found []zone, a reply) {
	a = c.ask(ctx, question{service: service, call: "ListZones", region: global, asked: "instance=" + instance,
		ask: func(ctx context.Context) (_ []thing, err error) {
			found, err = list(ctx, instance)
			return nil, err
		}})
	a.query.Count = len(found)
	return found, a
}

func (c *Client) listCISZones(ctx context.Context, instance string) (found []zone, err error) {
	api, err := c.cisZones(instance)
	if err != nil {
		return nil, err
	}
	perPage := int64(50)
	err = answer.CountedPages(func(page, _ int64) (int, *int64, error) {
		list, response, err := api.ListZonesWithContext(ctx, &zonesv1.ListZonesOptions{Page: &page, PerPage: &perPage})
		switch {
		case err != nil:
			return 0, nil, answer.Explain(response, err)
		case list == nil || list.Result == nil || list.ResultInfo == nil:
			return 0, nil, answer.ErrNoList
		}
		for _, z := range list.Result {
			found = append(found, zone{instance: instance, id: answer.Text(z.ID), name: dnsName(z.Name)})
		}
		return len(list.Result), list.ResultInfo.TotalCount, nil
	})
	return found, err
}

func (c *Client) listDNSZones(ctx context.Context, instance string) (found []zone, err error) {
	api, err := c.dnsServices()
	if err != nil {
		return nil, err
	}
	p, err := api.NewDnszonesPager(&dnssvcsv1.ListDnszonesOptions{InstanceID: &instance, Limit: answer.Hundred()})
	_, err = collect(ctx, p, err, func(z dnssvcsv1.Dnszone) thing {
		found = append(found, zone{instance: instance, id: answer.Text(z.ID), name: dnsName(z.Name), private: true})
		return thing{}
	})
	return found, err
}

// zonesLeft are zones named like the cluster.
func zonesLeft(all []zone, domain string) (left []thing) {
	for _, z := range all {
		if z.name != domain && !strings.HasSuffix(z.name, "."+domain) {
			continue
		}
		command := fmt.Sprintf("ibmcloud cis domain-remove %s -i %s", z.id, z.instance)
		if z.private {
			command = fmt.Sprintf("ibmcloud dns zone-delete %s -i %s", z.id, z.instance)
		}
		left = append(left, thing{kind: "dns-zone", id: z.id, name: z.name, free: dnsAdministrator + command})
	}
	return left
}

// recordsLeft queries a zone's records below the cluster's domain. The whole zone is listed.
func (c *Client) recordsLeft(z zone, domain string) question {
	q := question{service: "internet-svcs", call: "ListAllDnsRecords", region: global, asked: "zone=" + z.id + " suffix=." + domain}
	list := c.listCISRecords
	if z.private {
		q.service, q.call, list = "dns-svcs", "ListResourceRecords", c.listDNSRecords
	}
	q.ask = func(ctx context.Context) ([]thing, error) {
		all, err := list(ctx, z)
		return slices.DeleteFunc(all, func(t thing) bool { return t.name != domain && !strings.HasSuffix(t.name, "."+domain) }), err
	}
	return q
}

func (c *Client) listCISRecords(ctx context.Context, z zone) (found []thing, err error) {
	api, err := c.cisRecords(z)
	if err != nil {
		return nil, err
	}
	err = answer.CountedPages(func(page, _ int64) (int, *int64, error) {
		list, response, err := api.ListAllDnsRecordsWithContext(ctx, &dnsrecordsv1.ListAllDnsRecordsOptions{Page: &page, PerPage: answer.Hundred()})
		switch {
		case err != nil:
			return 0, nil, answer.Explain(response, err)
		case list == nil || list.Result == nil || list.ResultInfo == nil:
			return 0, nil, answer.ErrNoList
		}
		for _, r := range list.Result {
			found = append(found, recordThing(z, answer.Text(r.ID), dnsName(r.Name), fmt.Sprintf("ibmcloud cis dns-record-delete %s %s -i %s", z.id, answer.Text(r.ID), z.instance)))
		}
		return len(list.Result), list.ResultInfo.TotalCount, nil
	})
	return found, err
}

func (c *Client) listDNSRecords(ctx context.Context, z zone) ([]thing, error) {
	api, err := c.dnsServices()
	if err != nil {
		return nil, err
	}
	p, err := api.NewResourceRecordsPager(&dnssvcsv1.ListResourceRecordsOptions{InstanceID: &z.instance, DnszoneID: &z.id, Limit: answer.Hundred()})
	return collect(ctx, p, err, func(r dnssvcsv1.ResourceRecord) thing {
		return recordThing(z, answer.Text(r.ID), dnsName(r.Name), fmt.Sprintf("ibmcloud dns resource-record-delete %s %s -i %s", z.id, answer.Text(r.ID), z.instance))
	})
}

func recordThing(z zone, id, name, command string) thing {
	return thing{kind: "record", id: z.id + "/" + id, name: name, free: dnsAdministrator + command}
}

// networksLeft queries the networks that may resolve a private zone, and are one of the VPCs. The call has no pages.
func (c *Client) networksLeft(z zone, vpcs []string) question {
	return question{
		service: "dns-svcs", call: "ListPermittedNetworks", region: global, asked: "zone=" + z.id + " vpc=" + strings.Join(vpcs, ","),
		ask: func(ctx context.Context) ([]thing, error) {
			api, err := c.dnsServices()
			if err != nil {
				return nil, err
			}
			list, response, err := api.ListPermittedNetworksWithContext(ctx, &dnssvcsv1.ListPermittedNetworksOptions{InstanceID: &z.instance, DnszoneID: &z.id})
			switch {
			case err != nil:
				return nil, answer.Explain(response, err)
			case list == nil || list.PermittedNetworks == nil:
				return nil, answer.ErrNoList
			}
			var left []thing
			for _, n := range list.PermittedNetworks {
				if n.PermittedNetwork == nil {
					continue
				}
				if of, ok := answer.ParseCRN(answer.Text(n.PermittedNetwork.VpcCrn)); ok && slices.Contains(vpcs, of.ID) {
					left = append(left, thing{kind: "permitted-network", id: answer.Text(n.ID), name: z.name,
						free: dnsAdministrator + fmt.Sprintf("ibmcloud dns permitted-network-remove %s %s -i %s", z.id, answer.Text(n.ID), z.instance)})
				}
			}
			return left, nil
		},
	}
}

// dnsName is a name in lower case and without a final dot.
func dnsName(name *string) string { return strings.TrimSuffix(strings.ToLower(answer.Text(name)), ".") }
