package resources

import (
	"context"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/route53"
	"github.com/aws/aws-sdk-go-v2/service/route53/types"

	"github.com/ocpctl/ocpctl/devstack/must"
)

// PublicZone finds the base domain's zone; the installer stops without it.
func (c *Cloud) PublicZone(ctx context.Context, baseDomain string) (string, error) {
	zones, err := c.zones(ctx)
	if err != nil {
		return "", fmt.Errorf("failed to list hosted zones: %w", err)
	}
	for _, z := range zones {
		if aws.ToString(z.Name) == baseDomain+"." && (z.Config == nil || !z.Config.PrivateZone) {
			return zoneID(z), nil
		}
	}
	return "", fmt.Errorf("cannot find base domain: no public hosted zone %q", baseDomain+".")
}

// RecordsUnder lists the public zone's records below a domain, formatted like the installer's message.
func (c *Cloud) RecordsUnder(ctx context.Context, zoneID, domain string) ([]string, error) {
	records, err := c.records(ctx, zoneID)
	if err != nil {
		return nil, err
	}
	var found []string
	for _, r := range records {
		if name := strings.TrimSuffix(aws.ToString(r.Name), "."); strings.HasSuffix(name, "."+domain) {
			found = append(found, fmt.Sprintf("%s (%s)", name, r.Type))
		}
	}
	return found, nil
}

// CreateZone creates the private zone. It has no tags until TagZone: two calls, as in the real installer.
func (b *Build) CreateZone(ctx context.Context) (err error) {
	defer must.Catch(&err)
	b.publicZone = must.Get(b.PublicZone(ctx, b.BaseDomain))
	out, err := b.r53.CreateHostedZone(ctx, &route53.CreateHostedZoneInput{
		Name: aws.String(b.Domain() + "."), CallerReference: aws.String(b.InfraID + "-" + RandomSuffix()),
		HostedZoneConfig: &types.HostedZoneConfig{PrivateZone: true, Comment: aws.String("Created by Openshift Installer")},
		VPC:              &types.VPC{VPCId: &b.vpc, VPCRegion: types.VPCRegion(b.Region)},
	})
	must.Wrap(err, "failed to create private hosted zone")
	b.privateZone = zoneID(*out.HostedZone)
	return nil
}

// TagZone tags the private zone, so that destroy finds it.
func (b *Build) TagZone(ctx context.Context) error {
	_, err := b.r53.ChangeTagsForResource(ctx, &route53.ChangeTagsForResourceInput{
		ResourceType: types.TagResourceTypeHostedzone, ResourceId: &b.privateZone,
		AddTags: sorted(b.tags(b.InfraID+"-int"), func(k, v *string) types.Tag { return types.Tag{Key: k, Value: v} }),
	})
	if err != nil {
		return fmt.Errorf("failed to tag private hosted zone: %w", err)
	}
	return nil
}

// PublicRecord writes the public api record. It has no private twin until PrivateRecords.
func (b *Build) PublicRecord(ctx context.Context) error {
	return b.alias(ctx, b.publicZone, "api."+b.Domain(), b.external)
}

// PrivateRecords writes the private api and api-int records; without twin it omits the first one.
func (b *Build) PrivateRecords(ctx context.Context, twin bool) error {
	if !twin {
		return b.alias(ctx, b.privateZone, "api-int."+b.Domain(), b.internal)
	}
	if err := b.alias(ctx, b.privateZone, "api."+b.Domain(), b.internal); err != nil {
		return err
	}
	return b.alias(ctx, b.privateZone, "api-int."+b.Domain(), b.internal)
}

// ingressRecords writes the wildcard records of the applications, the private one first.
func (b *Build) ingressRecords(ctx context.Context, to balancer) error {
	for _, zone := range []string{b.privateZone, b.publicZone} {
		if err := b.alias(ctx, zone, "*.apps."+b.Domain(), to); err != nil {
			return err
		}
	}
	return nil
}

func (b *Build) alias(ctx context.Context, zone, name string, to balancer) error {
	record := &types.ResourceRecordSet{Name: aws.String(name + "."), Type: types.RRTypeA, AliasTarget: &types.AliasTarget{
		DNSName: aws.String(to.dnsName), HostedZoneId: aws.String(to.zone),
	}}
	if to.zone == "" { // an emulator without the zone of its load balancers
		record = &types.ResourceRecordSet{Name: aws.String(name + "."), Type: types.RRTypeCname, TTL: aws.Int64(30),
			ResourceRecords: []types.ResourceRecord{{Value: aws.String(to.dnsName)}}}
	}
	_, err := b.r53.ChangeResourceRecordSets(ctx, &route53.ChangeResourceRecordSetsInput{
		HostedZoneId: &zone,
		ChangeBatch:  &types.ChangeBatch{Changes: []types.Change{{Action: types.ChangeActionUpsert, ResourceRecordSet: record}}},
	})
	if err != nil {
		return fmt.Errorf("failed to create records for %s: %w", name, err)
	}
	return nil
}

func (c *Cloud) zones(ctx context.Context) ([]types.HostedZone, error) {
	var all []types.HostedZone
	p := route53.NewListHostedZonesPaginator(c.r53, &route53.ListHostedZonesInput{})
	for p.HasMorePages() {
		page, err := p.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		all = append(all, page.HostedZones...)
	}
	return all, nil
}

func (c *Cloud) records(ctx context.Context, zone string) ([]types.ResourceRecordSet, error) {
	var all []types.ResourceRecordSet
	p := route53.NewListResourceRecordSetsPaginator(c.r53, &route53.ListResourceRecordSetsInput{HostedZoneId: &zone})
	for p.HasMorePages() {
		page, err := p.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		all = append(all, page.ResourceRecordSets...)
	}
	return all, nil
}

func zoneID(z types.HostedZone) string { return strings.TrimPrefix(aws.ToString(z.Id), "/hostedzone/") }

// ChangeText writes or removes a TXT record of the cluster's in the public zone, as an operator of the cluster does.
func (l *Living) ChangeText(ctx context.Context, name, value string, add bool) (err error) {
	defer must.Catch(&err)
	on, ok := l.On.(awsLiving)
	must.FailIf(!ok, "the stand-in has no DNS of the cluster's own on this cloud")
	zones := must.Get(on.zones(ctx))
	action := types.ChangeActionUpsert
	if !add {
		action = types.ChangeActionDelete
	}
	for _, z := range zones {
		if !strings.HasSuffix(name, "."+aws.ToString(z.Name)) || z.Config != nil && z.Config.PrivateZone {
			continue
		}
		_, err := on.r53.ChangeResourceRecordSets(ctx, &route53.ChangeResourceRecordSetsInput{HostedZoneId: aws.String(zoneID(z)), ChangeBatch: &types.ChangeBatch{Changes: []types.Change{{
			Action: action, ResourceRecordSet: &types.ResourceRecordSet{Name: &name, Type: types.RRTypeTxt, TTL: aws.Int64(60), ResourceRecords: []types.ResourceRecord{{Value: &value}}},
		}}}})
		return err
	}
	return fmt.Errorf("no public zone has %s", name)
}
