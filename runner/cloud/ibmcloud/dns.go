package ibmcloud

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/IBM/go-sdk-core/v5/core"
	"github.com/IBM/networking-go-sdk/dnsrecordsv1"
	"github.com/IBM/networking-go-sdk/dnssvcsv1"
	"github.com/IBM/networking-go-sdk/zonesv1"
	"github.com/IBM/platform-services-go-sdk/resourcecontrollerv2"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/runner/cloud"
	"github.com/ocpctl/ocpctl/runner/cloud/ibmcloud/answer"
)

// zone is a zone of Internet Services, which is public, or of DNS Services, which is private.
type zone struct {
	instance string // the CRN of an instance of Internet Services, the GUID of one of DNS Services
	ID       string `json:"id"`
	Name     string `json:"name"`
	Status   string `json:"status"` // of Internet Services: active, pending …
	State    string `json:"state"`  // of DNS Services: ACTIVE, PENDING_NETWORK_ADD …
}

// isActive reports that the installer uses the zone.
func (z zone) isActive() bool {
	state := strings.ToLower(z.Status + z.State)
	return state == "active" || state == "pending_network_add"
}

func activeZones(all []zone, domain string) (found []zone) {
	for _, z := range all {
		if z.Name == domain && z.isActive() {
			found = append(found, z)
		}
	}
	return found
}

// domainZones are the zones of a base domain in the service where the installer makes a cluster's records.
type domainZones struct {
	private bool
	service string // what it is called
	active  []zone // those of the base domain
	public  []zone // all of Internet Services; empty for the other service
	records func(context.Context, zone) ([]record, error)
}

// domainZones looks in Internet Services for a published cluster and in DNS Services for an internal one. If it is not known which one it is, it
// looks in DNS Services if there is no zone in Internet Services.
func (c *Client) domainZones(ctx context.Context, t cloud.Target) (domainZones, error) {
	if t.Publish != contract.PublishInternal {
		all, err := c.publicZones(ctx)
		found := domainZones{service: "Internet Services", active: activeZones(all, t.BaseDomain), public: all, records: c.publicRecords}
		if err != nil || len(found.active) > 0 || t.Publish == contract.PublishExternal {
			return found, err
		}
	}
	all, err := c.privateZones(ctx)
	return domainZones{private: true, service: "DNS Services", active: activeZones(all, t.BaseDomain), records: c.privateRecords}, err
}

// publicZones lists the zones of all instances of Internet Services. One instance that does not answer makes it an error: it may have the
// zone that is looked for.
func (c *Client) publicZones(ctx context.Context) ([]zone, error) {
	return c.zonesOf(ctx, "instances of Internet Services", cisService, func(ctx context.Context, instance resource) ([]zone, error) {
		api, err := zonesv1.NewZonesV1(&zonesv1.ZonesV1Options{Authenticator: answer.Sealed(c.auth), URL: c.at.CIS, Crn: &instance.CRN})
		if err != nil {
			return nil, err
		}
		api.Service.SetHTTPClient(c.web)
		return readAll[zone](list{
			what: "zones of " + instance.CRN, array: "result",
			get: func(cursor string) (any, *core.DetailedResponse, error) {
				return api.ListZonesWithContext(ctx, &zonesv1.ListZonesOptions{Page: new(cursorNumber(cursor, 1)), PerPage: core.Int64Ptr(cisZonePage)})
			},
			next: func(page any, cursor string, items int) (string, error) {
				info := page.(*zonesv1.ListZonesResp).ResultInfo
				if info == nil {
					info = &zonesv1.ResultInfo{}
				}
				return pageAfter(cursor, info.PerPage, info.TotalCount, items)
			},
		})
	}, func(r resource) string { return r.CRN })
}

// privateZones lists the zones of all instances of DNS Services.
func (c *Client) privateZones(ctx context.Context) ([]zone, error) {
	api, err := c.dnsServices()
	if err != nil {
		return nil, err
	}
	return c.zonesOf(ctx, "instances of DNS Services", dnsService, func(ctx context.Context, instance resource) ([]zone, error) {
		return readAll[zone](list{
			what: "zones of DNS Services " + instance.GUID, array: "dnszones", next: offsetAfter,
			get: func(cursor string) (any, *core.DetailedResponse, error) {
				return api.ListDnszonesWithContext(ctx, &dnssvcsv1.ListDnszonesOptions{InstanceID: &instance.GUID, Offset: new(cursorNumber(cursor, 0)), Limit: full})
			},
		})
	}, func(r resource) string { return r.GUID })
}

func (c *Client) zonesOf(ctx context.Context, what, service string, zones func(context.Context, resource) ([]zone, error), idOf func(resource) string) ([]zone, error) {
	found, err := c.listResources(ctx, what, resourcecontrollerv2.ListResourceInstancesOptions{ResourceID: &service, State: new("active")})
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	var all []zone
	for _, instance := range found {
		its, err := zones(ctx, instance)
		if err != nil {
			return nil, err
		}
		for _, z := range its {
			z.instance = idOf(instance)
			all = append(all, z)
		}
	}
	return all, nil
}

func (c *Client) dnsServices() (*dnssvcsv1.DnsSvcsV1, error) {
	api, err := dnssvcsv1.NewDnsSvcsV1(&dnssvcsv1.DnsSvcsV1Options{Authenticator: answer.Sealed(c.auth), URL: c.at.DNSServices})
	if err != nil {
		return nil, err
	}
	api.Service.SetHTTPClient(c.web)
	return api, nil
}

func offsetAfter(page any, _ string, _ int) (string, error) {
	offset, err := page.(interface{ GetNextOffset() (*int64, error) }).GetNextOffset()
	if err != nil || offset == nil {
		return "", err
	}
	return strconv.FormatInt(*offset, 10), nil
}

// record is a DNS record of either service.
type record struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	Type    string `json:"type"`
	Content string `json:"content"`
	Created string `json:"created_on"`
}

// creationTime is when the record was created; zero: the service did not say it in a form that is known. Internet Services' is a text.
func (r record) creationTime() time.Time {
	at, err := time.Parse(time.RFC3339, r.Created)
	if err != nil {
		return time.Time{}
	}
	return at
}

// describeIn names the record for people.
func (r record) describeIn(z zone) string { return "record " + trimDot(r.Name) + " in zone " + z.Name }

func (c *Client) recordsAPI(z zone) (*dnsrecordsv1.DnsRecordsV1, error) {
	api, err := dnsrecordsv1.NewDnsRecordsV1(&dnsrecordsv1.DnsRecordsV1Options{Authenticator: answer.Sealed(c.auth), URL: c.at.CIS, Crn: &z.instance, ZoneIdentifier: &z.ID})
	if err != nil {
		return nil, err
	}
	api.Service.SetHTTPClient(c.web)
	return api, nil
}

// publicRecords lists all records of a zone of Internet Services.
func (c *Client) publicRecords(ctx context.Context, z zone) ([]record, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	api, err := c.recordsAPI(z)
	if err != nil {
		return nil, err
	}
	return readAll[record](list{
		what: "records of zone " + z.Name, array: "result",
		get: func(cursor string) (any, *core.DetailedResponse, error) {
			return api.ListAllDnsRecordsWithContext(ctx, &dnsrecordsv1.ListAllDnsRecordsOptions{Page: new(cursorNumber(cursor, 1)), PerPage: full})
		},
		next: func(page any, cursor string, items int) (string, error) {
			info := page.(*dnsrecordsv1.ListDnsrecordsResp).ResultInfo
			if info == nil {
				info = &dnsrecordsv1.ResultInfo{}
			}
			return pageAfter(cursor, info.PerPage, info.TotalCount, items)
		},
	})
}

// privateRecords lists all records of a zone of DNS Services.
func (c *Client) privateRecords(ctx context.Context, z zone) ([]record, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	api, err := c.dnsServices()
	if err != nil {
		return nil, err
	}
	type private struct {
		record
		Rdata struct {
			CNAME string `json:"cname"`
		} `json:"rdata"`
	}
	all, err := readAll[private](list{
		what: "records of private zone " + z.Name, array: "resource_records", next: offsetAfter,
		get: func(cursor string) (any, *core.DetailedResponse, error) {
			return api.ListResourceRecordsWithContext(ctx, &dnssvcsv1.ListResourceRecordsOptions{InstanceID: &z.instance, DnszoneID: &z.ID, Offset: new(cursorNumber(cursor, 0)), Limit: full})
		},
	})
	records := make([]record, len(all))
	for i, r := range all {
		records[i] = r.record
		records[i].Content = r.Rdata.CNAME
	}
	return records, err
}
