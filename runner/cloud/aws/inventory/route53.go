package inventory

import (
	"context"
	"maps"
	"slices"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/route53"
	"github.com/aws/aws-sdk-go-v2/service/route53/types"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/runner/cloud/aws/kinds"
)

// mostZones is how many zones one ListTagsForResources call takes.
const mostZones = 10

// dns is the account's Route 53.
type dns struct {
	*Client
	api  *route53.Client
	emit Emit

	zones []string          // ids of the zones of the base domains, whose records are listed
	names map[string]string // of these zones
}

// listRoute53 lists hosted zones, private and public, and the records of clusters in the zones of the base domains.
func (c *Client) listRoute53(ctx context.Context, emit Emit) error {
	d := &dns{Client: c, api: route53.NewFromConfig(c.aws), emit: emit, names: map[string]string{}}
	all := listsOf(ctx)
	all.Run(d.listZones)
	for _, zone := range d.zones {
		all.Run(func(ctx context.Context) error { return d.listRecords(ctx, zone) })
	}
	return all.Err()
}

func (d *dns) listZones(ctx context.Context) error {
	p := route53.NewListHostedZonesPaginator(d.api, &route53.ListHostedZonesInput{})
	return kinds.EachPage(ctx, p, func(page *route53.ListHostedZonesOutput) error {
		for some := range slices.Chunk(page.HostedZones, mostZones) {
			if err := d.judgeZones(ctx, some); err != nil {
				return err
			}
		}
		return nil
	})
}

// judgeZones emits the zones that may be a cluster's: by tag, by a name one label below a base domain, and by the comment with which the
// installer makes its zone before it tags it. The detail says whether a zone is private or public.
func (d *dns) judgeZones(ctx context.Context, zones []types.HostedZone) error {
	tags, err := d.readTags(ctx, zones)
	if err != nil {
		return err
	}
	var seen []contract.SeenResource
	for _, z := range zones {
		id, name := kinds.ZoneID(z.Id), kinds.DNSName(z.Name)
		if slices.Contains(d.cfg.BaseDomains, name) {
			d.zones = append(d.zones, id)
			d.names[id] = name
		}
		below := slices.ContainsFunc(d.cfg.BaseDomains, func(domain string) bool { return clusterOf(name, domain) != "" })
		made := z.Config != nil && awssdk.ToString(z.Config.Comment) == installerComment
		if !isTagged(tags[id]) && !below && !made {
			continue
		}
		detail := "public"
		if z.Config != nil && z.Config.PrivateZone {
			detail = "private"
		}
		if made && len(tags[id]) == 0 { // the infraID with a random end: all that an untagged zone says about who made it
			detail += " " + awssdk.ToString(z.CallerReference)
		}
		seen = append(seen, contract.SeenResource{ID: d.arnOf(id), Type: kinds.Zone, Name: name, Tags: tags[id], Detail: detail})
	}
	return d.emit(seen)
}

// readTags asks for the tags of at most mostZones zones. If one of them was deleted meanwhile, each is asked for alone.
func (d *dns) readTags(ctx context.Context, zones []types.HostedZone) (map[string]map[string]string, error) {
	var of []string
	for _, z := range zones {
		of = append(of, kinds.ZoneID(z.Id))
	}
	out, err := kinds.Once(ctx, d.api.ListTagsForResources, &route53.ListTagsForResourcesInput{ResourceType: types.TagResourceTypeHostedzone, ResourceIds: of})
	found := map[string]map[string]string{}
	switch {
	case err != nil && kinds.IsAbsent(err) && len(zones) > 1:
		for _, z := range zones {
			one, err := d.readTags(ctx, []types.HostedZone{z})
			if err != nil {
				return nil, err
			}
			maps.Copy(found, one)
		}
		return found, nil
	case err != nil && kinds.IsAbsent(err):
		return found, nil
	case err != nil:
		return nil, err
	}
	for _, set := range out.ResourceTagSets {
		found[kinds.ZoneID(set.ResourceId)] = kinds.TagsOf(set.Tags, func(t types.Tag) (*string, *string) { return t.Key, t.Value })
	}
	return found, nil
}

// listRecords emits the records that the installer makes for clusters, by their exact names.
func (d *dns) listRecords(ctx context.Context, zone string) error {
	domain := d.names[zone]
	return kinds.ListRecords(ctx, d.api, zone, func(page []types.ResourceRecordSet) error {
		var seen []contract.SeenResource
		for _, r := range page {
			name := kinds.DNSName(r.Name)
			if !recordOf(name, domain) || !leadsToMachines(r.Type) {
				continue
			}
			id := "record/" + zone + "/" + name + "/" + string(r.Type)
			if set := awssdk.ToString(r.SetIdentifier); set != "" {
				id += "/" + set
			}
			seen = append(seen, contract.SeenResource{ID: id, Type: kinds.Record, Name: name, Within: d.arnOf(zone)})
		}
		return d.emit(seen)
	})
}

// leadsToMachines reports whether a record of the type leads to machines. The installer makes no others.
func leadsToMachines(t types.RRType) bool {
	return t == types.RRTypeA || t == types.RRTypeAaaa || t == types.RRTypeCname
}

func (d *dns) arnOf(zone string) string { return d.globalARN(partRoute53, "hostedzone/"+zone) }
