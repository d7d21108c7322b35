package kinds

import (
	"context"
	"strings"
	"time"

	"github.com/IBM/networking-go-sdk/dnsrecordsv1"
	"github.com/IBM/networking-go-sdk/dnssvcsv1"
	"github.com/IBM/networking-go-sdk/zonesv1"

	"github.com/ocpctl/ocpctl/runner/cloud/ibmcloud/answer"
)

// Zone is a DNS zone of Internet Services, or of DNS Services if it is private.
type Zone struct {
	Instance string // CRN of Internet Services, GUID of DNS Services
	ID, Name string
	Private  bool
}

// Record is a record of a zone.
type Record struct {
	ID, Name, Type string
	MadeAt         time.Time
}

// Network is a network that may resolve a private zone.
type Network struct {
	ID, VPC string // VPC: its CRN
	MadeAt  time.Time
}

// DNS is a service that has zones.
type DNS struct {
	ID         string // as Resource Controller calls it
	Name       string // as IAM calls it
	Service    string // as parts of an account are named
	ZonesCall  string
	RecordCall string
	zones      func(API, context.Context, string) ([]Zone, error)
}

// The services with zones, public ones and private ones.
var (
	InternetServices = DNS{"75874a60-cb12-11e7-948e-37ac098eb1b9", "internet-svcs", ServiceCIS, "ListZones", "ListAllDnsRecords", API.listPublicZones}
	DNSServices      = DNS{"b4ed8a30-936f-11e9-b289-1d079699cbe5", "dns-svcs", ServiceDNS, "ListDnszones", "ListResourceRecords", API.listPrivateZones}
)

// Zones lists the zones of an instance, by its CRN.
func (s DNS) Zones(ctx context.Context, a API, crn string) ([]Zone, error) {
	return s.zones(a, ctx, crn)
}

func (a API) listPublicZones(ctx context.Context, instance string) (all []Zone, err error) {
	api, err := a.cisZones(instance)
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
			all = append(all, Zone{Instance: instance, ID: answer.Text(z.ID), Name: DNSName(z.Name)})
		}
		return len(list.Result), list.ResultInfo.TotalCount, nil
	})
	return all, err
}

func (a API) listPrivateZones(ctx context.Context, crn string) (all []Zone, err error) {
	instance := crn
	if of, ok := answer.ParseCRN(crn); ok {
		instance = of.Instance
	}
	api, err := a.dnsServices()
	if err != nil {
		return nil, err
	}
	p, err := api.NewDnszonesPager(&dnssvcsv1.ListDnszonesOptions{InstanceID: &instance, Limit: answer.Hundred()})
	err = answer.Pages(ctx, p, err, func(page []dnssvcsv1.Dnszone) error {
		for _, z := range page {
			all = append(all, Zone{Instance: instance, ID: answer.Text(z.ID), Name: DNSName(z.Name), Private: true})
		}
		return nil
	})
	return all, err
}

// ListRecords gives all records of a zone to take, page by page.
func (a API) ListRecords(ctx context.Context, z Zone, take func([]Record) error) error {
	if z.Private {
		return a.listPrivateRecords(ctx, z, take)
	}
	api, err := a.cisRecords(z)
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
		var found []Record
		for _, r := range list.Result {
			found = append(found, Record{ID: answer.Text(r.ID), Name: DNSName(r.Name), Type: answer.Text(r.Type), MadeAt: ParseTime(answer.Text(r.CreatedOn))})
		}
		return len(list.Result), list.ResultInfo.TotalCount, take(found)
	})
}

func (a API) listPrivateRecords(ctx context.Context, z Zone, take func([]Record) error) error {
	api, err := a.dnsServices()
	if err != nil {
		return err
	}
	p, err := api.NewResourceRecordsPager(&dnssvcsv1.ListResourceRecordsOptions{InstanceID: &z.Instance, DnszoneID: &z.ID, Limit: answer.Hundred()})
	return answer.Pages(ctx, p, err, func(page []dnssvcsv1.ResourceRecord) error {
		var found []Record
		for _, r := range page {
			found = append(found, Record{ID: answer.Text(r.ID), Name: DNSName(r.Name), Type: answer.Text(r.Type), MadeAt: MadeAt(r.CreatedOn)})
		}
		return take(found)
	})
}

// ListNetworks returns the networks that may resolve a private zone. The call has no pages.
func (a API) ListNetworks(ctx context.Context, z Zone) (all []Network, err error) {
	api, err := a.dnsServices()
	if err != nil {
		return nil, err
	}
	list, response, err := api.ListPermittedNetworksWithContext(ctx, &dnssvcsv1.ListPermittedNetworksOptions{InstanceID: &z.Instance, DnszoneID: &z.ID})
	switch {
	case err != nil:
		return nil, answer.Explain(response, err)
	case list == nil || list.PermittedNetworks == nil:
		return nil, answer.ErrNoList
	}
	for _, n := range list.PermittedNetworks {
		if n.PermittedNetwork != nil {
			all = append(all, Network{ID: answer.Text(n.ID), VPC: answer.Text(n.PermittedNetwork.VpcCrn), MadeAt: MadeAt(n.CreatedOn)})
		}
	}
	return all, nil
}

// DNSName is a name in lower case and without a final dot.
func DNSName(name *string) string { return strings.TrimSuffix(strings.ToLower(answer.Text(name)), ".") }
