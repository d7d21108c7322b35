package inventory

import (
	"context"
	"slices"
	"strings"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/runner/cloud/ibmcloud/answer"
	"github.com/ocpctl/ocpctl/runner/cloud/ibmcloud/kinds"
)

// zoneKey is what records and networks are within.
func zoneKey(z kinds.Zone) string { return "dns-zone/" + z.ID }

// isBase reports that clusters of ours have their records in a zone.
func (l *listing) isBase(z kinds.Zone) bool { return slices.Contains(l.cfg.BaseDomains, z.Name) }

// reportZones reports those that are named like a cluster.
func (l *listing) reportZones(all []kinds.Zone, detail string) error {
	var page []thing
	for _, z := range all {
		mine := slices.ContainsFunc(l.cfg.BaseDomains, func(base string) bool { return clusterOf(z.Name, base) != "" })
		page = append(page, thing{holds: mine, SeenResource: contract.SeenResource{ID: zoneKey(z), Type: "dns-zone", Name: z.Name, Detail: detail}})
	}
	return l.reportPage(page)
}

func (l *listing) newRecord(z kinds.Zone, r kinds.Record) thing {
	return thing{holds: recordOf(r.Name, z.Name), in: []string{zoneKey(z)}, SeenResource: contract.SeenResource{
		ID: strings.Join([]string{"record", z.ID, r.Name, r.Type, r.ID}, "/"), Type: "record", Name: r.Name, MadeAt: r.MadeAt,
	}}
}

// listCIS lists the records of clusters in the zones of Internet Services.
func (l *listing) listCIS() { l.listZones(kinds.InternetServices, "public") }

// listDNS lists the records of clusters in the zones of DNS Services, and the networks that may resolve them.
func (l *listing) listDNS() { l.listZones(kinds.DNSServices, "private") }

func (l *listing) listZones(service kinds.DNS, detail string) {
	var instances []string
	l.runList("ListResourceInstances", func(ctx context.Context) (err error) {
		instances, err = l.api.ListInstancesOf(ctx, service)
		return err
	})
	for _, instance := range instances {
		var zones []kinds.Zone
		l.runList(service.ZonesCall, func(ctx context.Context) (err error) {
			if zones, err = service.Zones(ctx, l.api, instance); err != nil {
				return err
			}
			return l.reportZones(zones, detail)
		})
		for _, z := range zones {
			if !l.isBase(z) {
				continue
			}
			l.runList(service.RecordCall, func(ctx context.Context) error { return l.recordsOf(ctx, z) })
			if z.Private {
				l.runList("ListPermittedNetworks", func(ctx context.Context) error { return l.networksOf(ctx, z) })
			}
		}
	}
}

func (l *listing) recordsOf(ctx context.Context, z kinds.Zone) error {
	return l.api.ListRecords(ctx, z, func(page []kinds.Record) error {
		var found []thing
		for _, r := range page {
			found = append(found, l.newRecord(z, r))
		}
		return l.reportPage(found)
	})
}

// networksOf reports the networks whose VPC is reported or does not exist any more.
func (l *listing) networksOf(ctx context.Context, z kinds.Zone) error {
	all, err := l.api.ListNetworks(ctx, z)
	if err != nil {
		return err
	}
	for _, n := range all {
		of, ok := answer.ParseCRN(n.VPC)
		if !ok {
			continue
		}
		vpcs, err := l.vpcsIn(ctx, of.Region())
		if err != nil {
			return err
		}
		reported, exists := vpcs[n.VPC]
		t := thing{holds: !exists, SeenResource: contract.SeenResource{ID: "permitted-network/" + n.ID, Type: "permitted-network", Name: z.Name, MadeAt: n.MadeAt}}
		if reported {
			t.Within = n.VPC
		}
		if err := l.reportPage([]thing{t}); err != nil {
			return err
		}
	}
	return nil
}
