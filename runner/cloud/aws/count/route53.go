package count

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/route53"
	"github.com/aws/aws-sdk-go-v2/service/route53/types"

	"github.com/ocpctl/ocpctl/runner/cloud/aws/kinds"
)

// zone is a hosted zone in comparable form: its name without the final dot, its id without the path.
type zone struct {
	id, name string
	private  bool
}

// zonesNamed returns every hosted zone with exactly this name, private and public.
func (c *Client) zonesNamed(ctx context.Context, name string) ([]zone, error) {
	var found []zone
	in := &route53.ListHostedZonesByNameInput{DNSName: awssdk.String(name + ".")}
	for {
		out, err := c.r53.ListHostedZonesByName(ctx, in)
		if err != nil {
			return nil, err
		}
		for _, z := range out.HostedZones {
			if kinds.DNSName(z.Name) == name {
				found = append(found, zoneOf(z))
			}
		}
		// Zones are ordered, beginning with the requested name, so the first other name ends the search.
		last := len(out.HostedZones) - 1
		if !out.IsTruncated || last >= 0 && kinds.DNSName(out.HostedZones[last].Name) != name {
			return found, nil
		}
		in.DNSName, in.HostedZoneId = out.NextDNSName, out.NextHostedZoneId
	}
}

// publicZones returns the public zones of the base domain. There may be several with one name, and an installer may write to any of
// them, so all are queried.
func (c *Client) publicZones(ctx context.Context, baseDomain string) ([]zone, error) {
	zones, err := c.zonesNamed(ctx, baseDomain)
	if err != nil {
		return nil, fmt.Errorf("look for the public zone of %s: %w", baseDomain, err)
	}
	return slices.DeleteFunc(zones, func(z zone) bool { return z.private }), nil
}

// zonesLeft queries zones named like the cluster, tagged or not.
func (c *Client) zonesLeft(domain string) question {
	return question{
		service: "route53", call: "ListHostedZonesByName", region: globalRegion, asked: "name=" + domain + ".",
		ask: func(ctx context.Context) ([]thing, error) {
			zones, err := c.zonesNamed(ctx, domain)
			return convertEach(zones, zoneThing), err
		},
	}
}

// zoneByID queries one zone.
func (c *Client) zoneByID(id string) question {
	return question{
		service: "route53", call: "GetHostedZone", region: globalRegion, asked: "id=" + id,
		ask: func(ctx context.Context) ([]thing, error) {
			out, err := c.r53.GetHostedZone(ctx, &route53.GetHostedZoneInput{Id: &id})
			if err != nil {
				return nil, err
			}
			return []thing{zoneThing(zoneOf(*out.HostedZone))}, nil
		},
	}
}

// recordsLeft queries a public zone's records below the cluster's domain. `\052.apps` is how Route 53 spells `*.apps`.
func (c *Client) recordsLeft(public zone, domain string) question {
	return question{
		service: "route53", call: "ListResourceRecordSets", region: globalRegion, asked: "zone=" + public.id + " suffix=." + domain + ".",
		ask: func(ctx context.Context) ([]thing, error) {
			var out []thing
			err := kinds.ListRecords(ctx, c.r53, public.id, func(page []types.ResourceRecordSet) error {
				for _, r := range page {
					if name := kinds.DNSName(r.Name); name == domain || strings.HasSuffix(name, "."+domain) {
						out = append(out, recordThing(public, r))
					}
				}
				return nil
			})
			return out, err
		},
	}
}

func zoneOf(z types.HostedZone) zone {
	return zone{
		id: kinds.ZoneID(z.Id), name: kinds.DNSName(z.Name),
		private: z.Config != nil && z.Config.PrivateZone,
	}
}

const dnsAdministrator = "the DNS administrator"

func zoneThing(z zone) thing {
	return thing{kind: kinds.Zone, Resource: kinds.Resource{ID: z.id, Name: z.name}, free: dnsAdministrator, command: "aws route53 delete-hosted-zone --id " + z.id,
		remark: fmt.Sprintf("%s; first delete its records, which aws route53 list-resource-record-sets --hosted-zone-id %s lists", z.name, z.id)}
}

func recordThing(z zone, r types.ResourceRecordSet) thing {
	name := kinds.DNSName(r.Name)
	return thing{kind: kinds.Record, Resource: kinds.Resource{ID: z.id + "/" + name + "/" + string(r.Type), Name: name}, free: dnsAdministrator, command: fmt.Sprintf(
		"aws route53 change-resource-record-sets --hosted-zone-id %s --change-batch '%s'", z.id, deletionBatch(r))}
}

// deletionBatch is the change batch that deletes a record: Route 53 wants the complete record in it.
func deletionBatch(r types.ResourceRecordSet) string {
	set := map[string]any{"Name": awssdk.ToString(r.Name), "Type": r.Type}
	if r.SetIdentifier != nil {
		set["SetIdentifier"] = *r.SetIdentifier
	}
	if r.AliasTarget != nil {
		set["AliasTarget"] = r.AliasTarget
	} else {
		set["TTL"], set["ResourceRecords"] = r.TTL, r.ResourceRecords
	}
	raw, err := json.Marshal(map[string]any{"Changes": []any{map[string]any{"Action": "DELETE", "ResourceRecordSet": set}}})
	if err != nil {
		return "" // strings and numbers can always be encoded
	}
	return string(raw)
}
