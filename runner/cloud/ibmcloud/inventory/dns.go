package inventory

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/IBM/networking-go-sdk/dnsrecordsv1"
	"github.com/IBM/networking-go-sdk/dnssvcsv1"
	"github.com/IBM/networking-go-sdk/zonesv1"
	"github.com/IBM/platform-services-go-sdk/resourcecontrollerv2"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/runner/cloud/ibmcloud/answer"
)

// zone is a zone of either service.
type zone struct{ instance, id, name string }

// key is what records and networks are within.
func (z zone) key() string { return "dns-zone/" + z.id }

// instancesOf lists the instances of a DNS service.
func (l *listing) instancesOf(ctx context.Context, part, service string) (crns []string, err error) {
	err = l.eachInstance(ctx, part, &resourcecontrollerv2.ListResourceInstancesOptions{ResourceID: &service}, func(r resourcecontrollerv2.ResourceInstance) error {
		crns = append(crns, answer.Text(r.CRN, r.ID))
		return nil
	})
	return crns, err
}

// isBase reports that clusters of ours have their records in a zone.
func (l *listing) isBase(z zone) bool { return slices.Contains(l.cfg.BaseDomains, z.name) }

// zones reports those that are named like a cluster.
func (l *listing) zones(all []zone, detail string) error {
	var page []thing
	for _, z := range all {
		mine := slices.ContainsFunc(l.cfg.BaseDomains, func(base string) bool { return clusterOf(z.name, base) != "" })
		page = append(page, thing{holds: mine, SeenResource: contract.SeenResource{ID: z.key(), Type: "dns-zone", Name: z.name, Detail: detail}})
	}
	return l.report(page)
}

func (l *listing) record(z zone, id, name, kind string, at time.Time) thing {
	return thing{holds: recordOf(name, z.name), in: []string{z.key()}, SeenResource: contract.SeenResource{
		ID: strings.Join([]string{"record", z.id, name, kind, id}, "/"), Type: "record", Name: name, MadeAt: at,
	}}
}

// listCIS lists the records of clusters in the zones of Internet Services.
func (l *listing) listCIS() {
	var instances []string
	l.lists.run("ListResourceInstances", func(ctx context.Context) (err error) {
		instances, err = l.instancesOf(ctx, partCIS, serviceCIS)
		return err
	})
	for _, instance := range instances {
		var zones []zone
		l.lists.run("ListZones", func(ctx context.Context) (err error) {
			if zones, err = l.cisZonesOf(ctx, instance); err != nil {
				return err
			}
			return l.zones(zones, "public")
		})
		for _, z := range zones {
			if l.isBase(z) {
				l.lists.run("ListAllDnsRecords", func(ctx context.Context) error { return l.cisRecordsOf(ctx, z) })
			}
		}
	}
}

func (l *listing) cisZonesOf(ctx context.Context, instance string) (all []zone, err error) {
	api, err := l.cisZones(instance)
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
			all = append(all, zone{instance, answer.Text(z.ID), dnsName(z.Name)})
		}
		return len(list.Result), list.ResultInfo.TotalCount, nil
	})
	return all, err
}

func (l *listing) cisRecordsOf(ctx context.Context, z zone) error {
	api, err := l.cisRecords(z.instance, z.id)
	if err != nil {
		return err
	}
	return answer.CountedPages(func(page, _ int64) (int, *int64, error) {
		list, response, err := api.ListAllDnsRecordsWithContext(ctx, &dnsrecordsv1.ListAllDnsRecordsOptions{Page: &page, PerPage: answer.Hundred()})
		switch {
		case err != nil:
			return 0, nil, answer.Explain(response, err)
		case list == nil || list.Result == nil || list.ResultInfo == nil:
			return 0, nil, answer.ErrNoList
		}
		var found []thing
		for _, r := range list.Result {
			found = append(found, l.record(z, answer.Text(r.ID), dnsName(r.Name), answer.Text(r.Type), timeOf(answer.Text(r.CreatedOn))))
		}
		return len(list.Result), list.ResultInfo.TotalCount, l.report(found)
	})
}

// listDNS lists the records of clusters in the zones of DNS Services, and the networks that may resolve them.
func (l *listing) listDNS() {
	var instances []string
	l.lists.run("ListResourceInstances", func(ctx context.Context) (err error) {
		instances, err = l.instancesOf(ctx, partDNS, serviceDNS)
		return err
	})
	for _, instance := range instances {
		of, _ := answer.ParseCRN(instance)
		var zones []zone
		l.lists.run("ListDnszones", func(ctx context.Context) (err error) {
			if zones, err = l.dnsZonesOf(ctx, of.Instance); err != nil {
				return err
			}
			return l.zones(zones, "private")
		})
		for _, z := range zones {
			if l.isBase(z) {
				l.lists.run("ListResourceRecords", func(ctx context.Context) error { return l.dnsRecordsOf(ctx, z) })
				l.lists.run("ListPermittedNetworks", func(ctx context.Context) error { return l.networksOf(ctx, z) })
			}
		}
	}
}

func (l *listing) dnsZonesOf(ctx context.Context, instance string) (all []zone, err error) {
	api, err := l.dnsServices()
	if err != nil {
		return nil, err
	}
	p, err := api.NewDnszonesPager(&dnssvcsv1.ListDnszonesOptions{InstanceID: &instance, Limit: answer.Hundred()})
	err = answer.Pages(ctx, p, err, func(page []dnssvcsv1.Dnszone) error {
		for _, z := range page {
			all = append(all, zone{instance, answer.Text(z.ID), dnsName(z.Name)})
		}
		return nil
	})
	return all, err
}

func (l *listing) dnsRecordsOf(ctx context.Context, z zone) error {
	api, err := l.dnsServices()
	if err != nil {
		return err
	}
	p, err := api.NewResourceRecordsPager(&dnssvcsv1.ListResourceRecordsOptions{InstanceID: &z.instance, DnszoneID: &z.id, Limit: answer.Hundred()})
	return answer.Pages(ctx, p, err, func(page []dnssvcsv1.ResourceRecord) error {
		var found []thing
		for _, r := range page {
			found = append(found, l.record(z, answer.Text(r.ID), dnsName(r.Name), answer.Text(r.Type), made(r.CreatedOn)))
		}
		return l.report(found)
	})
}

// networksOf reports the networks whose VPC is reported or does not exist any more. The call has no pages.
func (l *listing) networksOf(ctx context.Context, z zone) error {
	api, err := l.dnsServices()
	if err != nil {
		return err
	}
	list, response, err := api.ListPermittedNetworksWithContext(ctx, &dnssvcsv1.ListPermittedNetworksOptions{InstanceID: &z.instance, DnszoneID: &z.id})
	switch {
	case err != nil:
		return answer.Explain(response, err)
	case list == nil || list.PermittedNetworks == nil:
		return answer.ErrNoList
	}
	for _, n := range list.PermittedNetworks {
		if n.PermittedNetwork == nil {
			continue
		}
		crn := answer.Text(n.PermittedNetwork.VpcCrn)
		of, ok := answer.ParseCRN(crn)
		if !ok {
			continue
		}
		vpcs, err := l.vpcsIn(ctx, of.Region())
		if err != nil {
			return err
		}
		reported, exists := vpcs[crn]
		t := thing{holds: !exists, SeenResource: contract.SeenResource{ID: "permitted-network/" + answer.Text(n.ID), Type: "permitted-network", Name: z.name, MadeAt: made(n.CreatedOn)}}
		if reported {
			t.Within = crn
		}
		if err := l.report([]thing{t}); err != nil {
			return err
		}
	}
	return nil
}

// dnsName is a name in lower case and without a final dot.
func dnsName(name *string) string { return strings.TrimSuffix(strings.ToLower(answer.Text(name)), ".") }
