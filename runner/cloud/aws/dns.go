package aws

import (
	"context"
	"fmt"
	"slices"
	"strings"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/route53"
	"github.com/aws/aws-sdk-go-v2/service/route53/types"
)

// zone is a hosted zone with a requested name.
type zone struct {
	id, reference string // the caller reference set by its creator
	private       bool
}

// zonesCalled looks for zones with exactly this name, private and public.
func (c *Client) zonesCalled(ctx context.Context, name string) ([]zone, error) {
	var found []zone
	in := &route53.ListHostedZonesByNameInput{DNSName: awssdk.String(name + ".")}
	for {
		page, err := c.r53.ListHostedZonesByName(ctx, in)
		if err != nil {
			return nil, fmt.Errorf("look for the zones called %s: %w", name, err)
		}
		for _, z := range page.HostedZones {
			if trimDot(z.Name) != name { // the list is ordered, beginning with the requested name
				return found, nil
			}
			found = append(found, zone{
				id: strings.TrimPrefix(awssdk.ToString(z.Id), "/hostedzone/"), reference: awssdk.ToString(z.CallerReference),
				private: z.Config != nil && z.Config.PrivateZone,
			})
		}
		if !page.IsTruncated {
			return found, nil
		}
		in.DNSName, in.HostedZoneId = page.NextDNSName, page.NextHostedZoneId
	}
}

// publicZonesCalled leaves out private zones. Several zones may have the same name.
func (c *Client) publicZonesCalled(ctx context.Context, name string) ([]zone, error) {
	zones, err := c.zonesCalled(ctx, name)
	return slices.DeleteFunc(zones, func(z zone) bool { return z.private }), err
}

// recordsIn reads a whole zone.
func (c *Client) recordsIn(ctx context.Context, zoneID string) ([]types.ResourceRecordSet, error) {
	p := route53.NewListResourceRecordSetsPaginator(c.r53, &route53.ListResourceRecordSetsInput{HostedZoneId: &zoneID})
	records, err := collectPages(ctx, p, func(page *route53.ListResourceRecordSetsOutput) []types.ResourceRecordSet {
		return page.ResourceRecordSets
	})
	if err != nil {
		return nil, fmt.Errorf("list the records of zone %s: %w", zoneID, err)
	}
	return records, nil
}

// trimDot returns a DNS name without its final dot.
func trimDot(name *string) string { return strings.TrimSuffix(awssdk.ToString(name), ".") }

func (c *Client) zoneTags(ctx context.Context, id string) (map[string]string, error) {
	out, err := c.r53.ListTagsForResource(ctx, &route53.ListTagsForResourceInput{ResourceId: &id, ResourceType: types.TagResourceTypeHostedzone})
	if err != nil || out.ResourceTagSet == nil {
		return nil, err
	}
	tags := map[string]string{}
	for _, t := range out.ResourceTagSet.Tags {
		tags[awssdk.ToString(t.Key)] = awssdk.ToString(t.Value)
	}
	return tags, nil
}
