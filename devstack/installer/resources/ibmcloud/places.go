package ibmcloud

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/ocpctl/ocpctl/devstack/must"
)

// vpcPath is the path of a VPC collection in the cloud's region.
func (c *Cloud) vpcPath(region, path string) string { return "/vpc/" + region + "/v1/" + path }

func vpcQuery(pairs ...string) url.Values {
	q := url.Values{"version": {"2025-07-08"}, "generation": {"2"}}
	for i := 0; i+1 < len(pairs); i += 2 {
		q.Set(pairs[i], pairs[i+1])
	}
	return q
}

// getVPC reads a collection's first page, or one resource.
func (c *Cloud) getVPC(ctx context.Context, op, path string, out any, filters ...string) error {
	return c.do(ctx, call{op: "vpc:" + op, path: c.vpcPath(c.Region, path), query: vpcQuery(filters...)}, out)
}

func (c *Cloud) postVPC(ctx context.Context, op, path string, body, out any) error {
	return c.do(ctx, call{op: "vpc:" + op, method: http.MethodPost, path: c.vpcPath(c.Region, path), query: vpcQuery(), body: body}, out)
}

func (c *Cloud) deleteVPC(ctx context.Context, op, path string) error {
	err := c.do(ctx, call{op: "vpc:" + op, method: http.MethodDelete, path: c.vpcPath(c.Region, path), query: vpcQuery()}, nil)
	if Missing(err) {
		return nil
	}
	return err
}

// AvailableZones returns the region's zones.
func (c *Cloud) AvailableZones(ctx context.Context) (zones []string, err error) {
	var out struct{ Zones []reference }
	if err := c.getVPC(ctx, "list_region_zones", "regions/"+c.Region+"/zones", &out); err != nil {
		return nil, err
	}
	for _, z := range out.Zones {
		zones = append(zones, z.Name)
	}
	return zones, nil
}

// HasProfile reports whether the region has a size of machines.
func (c *Cloud) HasProfile(ctx context.Context, name string) (bool, error) {
	var out struct{ Profiles []reference }
	err := c.getVPC(ctx, "list_instance_profiles", "instance/profiles", &out)
	return slices.ContainsFunc(out.Profiles, func(p reference) bool { return p.Name == name }), err
}

// ErrNoGroup means that a resource group does not exist.
var ErrNoGroup = errors.New("not found")

// FindGroup finds a resource group by name or, as the installer's own check does, by id.
func (c *Cloud) FindGroup(ctx context.Context, name string) (group reference, err error) {
	defer must.Catch(&err)
	var out struct{ Resources []reference }
	must.Do(c.do(ctx, call{op: "rc:list_resource_groups", path: "/rc/v2/resource_groups", query: url.Values{"account_id": {c.Account}}}, &out))
	i := slices.IndexFunc(out.Resources, func(g reference) bool { return g.Name == name || g.ID == name })
	must.FailIf(i < 0, "ResourceGroup '%q' %w", name, ErrNoGroup)
	return out.Resources[i], nil
}

// Zone is where a cluster's records are: a zone of Internet Services (CIS) or of DNS Services.
type Zone struct {
	Instance string // the CRN of the CIS instance, or the GUID of that of DNS Services
	ID       string
	Name     string
	Private  bool
}

// instances is the first page of the account's instances of a service.
func (c *Cloud) instances(ctx context.Context, service string) ([]reference, error) {
	var out struct{ Resources []reference }
	err := c.do(ctx, call{op: "rc:list_resource_instances", path: "/rc/v2/resource_instances", query: url.Values{"resource_id": {service}}}, &out)
	return out.Resources, err
}

// DNSZones lists the zones of every instance, of CIS or of DNS Services. One broken instance fails the search, as in the real installer.
func (c *Cloud) DNSZones(ctx context.Context, private bool) (zones []Zone, err error) {
	defer must.Catch(&err)
	service := internetService
	if private {
		service = dnsService
	}
	instances := must.Get(c.instances(ctx, service))
	for _, instance := range instances {
		var out struct {
			Result []reference `json:"result"`
			Zones  []reference `json:"dnszones"`
		}
		if private {
			err = c.do(ctx, call{op: "dns:list_dnszones", path: "/dns/v1/instances/" + instance.GUID + "/dnszones"}, &out)
		} else {
			err = c.do(ctx, call{op: "cis:list_zones", path: cisPath(instance.CRN, "")}, &out)
		}
		must.Do(err)
		for _, z := range append(out.Result, out.Zones...) {
			zone := Zone{Instance: instance.CRN, ID: z.ID, Name: z.Name, Private: private}
			if private {
				zone.Instance = instance.GUID
			}
			zones = append(zones, zone)
		}
	}
	return zones, nil
}

// FindZone finds the zone of a base domain by its exact name.
func (c *Cloud) FindZone(ctx context.Context, domain string, private bool) (_ Zone, err error) {
	defer must.Catch(&err)
	zones := must.Get(c.DNSZones(ctx, private))
	i := slices.IndexFunc(zones, func(z Zone) bool { return z.Name == domain })
	must.FailIf(i < 0, "DNS zone %q not found", domain)
	return zones[i], nil
}

func cisPath(crn, rest string) string { return "/cis/v1/" + url.PathEscape(crn) + "/zones" + rest }

// path is the path of the zone's records, or of another collection of it.
func (z Zone) path(collection string) string {
	if z.Private {
		return "/dns/v1/instances/" + z.Instance + "/dnszones/" + z.ID + "/" + collection
	}
	return cisPath(z.Instance, "/"+z.ID+"/"+collection)
}

// Record is a DNS record.
type Record struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	Content string `json:"content"`
	Data    struct {
		CNAME string `json:"cname"`
	} `json:"rdata"`
}

// Records lists a zone's records: the first page of CIS, every page of DNS Services, as the real destroyer reads them.
func (c *Cloud) Records(ctx context.Context, z Zone) ([]Record, error) {
	if !z.Private {
		var out struct{ Result []Record }
		err := c.do(ctx, call{op: "cis:list_all_dns_records", path: z.path("dns_records")}, &out)
		return out.Result, err
	}
	var all []Record
	for {
		var out struct {
			Records []Record `json:"resource_records"`
			Total   int      `json:"total_count"`
		}
		err := c.do(ctx, call{op: "dns:list_resource_records", path: z.path("resource_records"), query: url.Values{"offset": {fmt.Sprint(len(all))}}}, &out)
		if err != nil {
			return nil, err
		}
		all = append(all, out.Records...)
		if len(out.Records) == 0 || len(all) >= out.Total {
			return all, nil
		}
	}
}

// HasRecord looks a name up in a CIS zone.
func (c *Cloud) HasRecord(ctx context.Context, z Zone, name string) (bool, error) {
	if z.Private {
		records, err := c.Records(ctx, z)
		return slices.ContainsFunc(records, func(r Record) bool { return r.Name == name }), err
	}
	var out struct{ Result []Record }
	err := c.do(ctx, call{op: "cis:list_all_dns_records", path: z.path("dns_records"), query: url.Values{"name": {name}}}, &out)
	return len(out.Result) > 0, err
}

// createRecord creates an alias.
func (c *Cloud) createRecord(ctx context.Context, z Zone, name, target string) error {
	if z.Private {
		body := map[string]any{"name": strings.TrimSuffix(name, "."+z.Name), "type": "CNAME", "ttl": 60, "rdata": map[string]string{"cname": target}}
		return c.do(ctx, call{op: "dns:create_resource_record", method: http.MethodPost, path: z.path("resource_records"), body: body}, nil)
	}
	body := map[string]any{"name": name, "type": "CNAME", "content": target}
	return c.do(ctx, call{op: "cis:create_dns_record", method: http.MethodPost, path: z.path("dns_records"), body: body}, nil)
}

func (c *Cloud) deleteRecord(ctx context.Context, z Zone, id string) error {
	r := call{op: "cis:delete_dns_record", method: http.MethodDelete, path: z.path("dns_records/" + id)}
	if z.Private {
		r = call{op: "dns:delete_resource_record", method: http.MethodDelete, path: z.path("resource_records/" + id)}
	}
	if err := c.do(ctx, r, nil); !Missing(err) {
		return err
	}
	return nil
}
