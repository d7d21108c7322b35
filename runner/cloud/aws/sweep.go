package aws

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/route53"
	r53types "github.com/aws/aws-sdk-go-v2/service/route53/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/ocpctl/ocpctl/runner/cloud"
)

// ownRecords are the only DNS names the installer and the cluster write, as Route 53 spells them.
var ownRecords = []string{"api", "api-int", `\052.apps`}

// Sweep deletes what the installer's destroy leaves behind when its create was cut short: the private zone that was
// never tagged, the public records without a private twin, the bootstrap bucket that was never tagged. Everything by
// exact name, and only for recorded identities; call it after destroy exited. What merely looks alike is left to Verify.
// It answers what it deleted, also when something else failed.
func (c *Client) Sweep(ctx context.Context, t cloud.Target) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, sweepTimeout) // an answer that never comes must not keep the attempt for ever
	defer cancel()
	account, err := c.Account(ctx)
	if err != nil {
		return nil, err
	}
	if want := recordedAccount(t, account); want != account {
		return nil, fmt.Errorf("sweep: these credentials belong to account %s, the cluster to %s", account, want)
	}
	infraIDs, _ := names(t)
	if len(infraIDs) == 0 {
		return nil, nil // nothing was ever recorded, so nothing was ever made by us
	}
	s := &sweep{Client: c, infraIDs: infraIDs}
	s.zones(ctx, t.Domain())
	s.publicRecords(ctx, t)
	for _, id := range infraIDs {
		s.bucket(ctx, bootstrapBucket(id))
	}
	return s.deleted, errors.Join(s.errs...)
}

type sweep struct {
	*Client
	infraIDs []string
	deleted  []string
	errs     []error
}

func (s *sweep) fail(doing string, err error) {
	if err != nil && !notFound(err) {
		s.errs = append(s.errs, fmt.Errorf("%s: %w", doing, err))
	}
}

// zones deletes the untagged private zone of the cluster's name. Its caller reference proves that our installer made it.
// A tagged one is the installer's to delete.
func (s *sweep) zones(ctx context.Context, domain string) {
	zones, err := s.zonesNamed(ctx, domain)
	s.fail("look for zone "+domain, err)
	for _, z := range zones {
		if !z.private || !hasAnyPrefix(z.callerReference, suffixed(s.infraIDs, "-")) {
			continue
		}
		tags, err := s.r53.ListTagsForResource(ctx, &route53.ListTagsForResourceInput{ResourceId: &z.id, ResourceType: r53types.TagResourceTypeHostedzone})
		if err != nil {
			s.fail("read the tags of zone "+z.id, err)
			continue
		}
		if tags.ResourceTagSet != nil && len(tags.ResourceTagSet.Tags) > 0 {
			continue
		}
		s.ownRecordsOf(ctx, z, domain, nil)
		_, err = s.r53.DeleteHostedZone(ctx, &route53.DeleteHostedZoneInput{Id: &z.id})
		s.fail("delete zone "+z.id, err)
		if err == nil {
			s.deleted = append(s.deleted, "hosted zone "+z.id+" ("+z.name+")")
		}
	}
}

// publicRecords deletes our records from the base domain's zones, but not those that still have a twin in a private zone:
// the installer's destroy pairs them.
func (s *sweep) publicRecords(ctx context.Context, t cloud.Target) {
	public, err := s.publicZones(ctx, t.BaseDomain)
	if err != nil {
		s.fail("sweep", err)
		return
	}
	zones, err := s.zonesNamed(ctx, t.Domain())
	if err != nil {
		s.fail("look for zone "+t.Domain(), err)
		return
	}
	var twins []string
	for _, z := range zones {
		records, err := s.records(ctx, z.id)
		if err != nil {
			s.fail("list the records of zone "+z.id, err)
			return
		}
		for _, r := range records {
			twins = append(twins, dnsName(r.Name))
		}
	}
	for _, z := range public {
		s.ownRecordsOf(ctx, z, t.Domain(), twins)
	}
}

// ownRecordsOf deletes the records of our exact names from a zone, except those named in keep.
func (s *sweep) ownRecordsOf(ctx context.Context, z zone, domain string, keep []string) {
	records, err := s.records(ctx, z.id)
	s.fail("list the records of zone "+z.id, err)
	if whose := s.another(records, domain); whose != "" {
		s.errs = append(s.errs, fmt.Errorf("the records of %s in zone %s lead to %s, which is another cluster's: they are left alone", domain, z.id, whose))
		return
	}
	for _, r := range records {
		name := dnsName(r.Name)
		own, isOurs := strings.CutSuffix(name, "."+domain)
		if !isOurs || !slices.Contains(ownRecords, own) || slices.Contains(keep, name) {
			continue
		}
		_, err := s.r53.ChangeResourceRecordSets(ctx, &route53.ChangeResourceRecordSetsInput{
			HostedZoneId: &z.id,
			ChangeBatch:  &r53types.ChangeBatch{Changes: []r53types.Change{{Action: r53types.ChangeActionDelete, ResourceRecordSet: &r}}},
		})
		s.fail("delete record "+name, err)
		if err == nil {
			s.deleted = append(s.deleted, fmt.Sprintf("%s record %s from zone %s", r.Type, name, z.id))
		}
	}
}

// another is the load balancer an api record of our name leads to when it bears none of our infraIDs. A name can be in use
// by a cluster this control plane knows nothing of, and an install that failed for it must not take that one's records.
func (s *sweep) another(records []r53types.ResourceRecordSet, domain string) string {
	for _, r := range records {
		if r.AliasTarget == nil || !slices.Contains([]string{"api." + domain, "api-int." + domain}, dnsName(r.Name)) {
			continue
		}
		host := strings.TrimPrefix(dnsName(r.AliasTarget.DNSName), "dualstack.")
		if !hasAnyPrefix(host, suffixed(s.infraIDs, "-")) {
			return host
		}
	}
	return ""
}

// bucket empties a bucket, versions included, and deletes it.
func (s *sweep) bucket(ctx context.Context, name string) {
	region, found, err := s.bucketRegion(ctx, name)
	if err != nil || !found {
		s.fail("look for bucket "+name, err)
		return
	}
	api := s3In(s.cfg, region)
	p := s3.NewListObjectVersionsPaginator(api, &s3.ListObjectVersionsInput{Bucket: &name})
	for p.HasMorePages() {
		page, err := p.NextPage(ctx)
		if err != nil {
			s.fail("list bucket "+name, err)
			return
		}
		for _, v := range page.Versions {
			s.object(ctx, api, name, v.Key, v.VersionId)
		}
		for _, m := range page.DeleteMarkers {
			s.object(ctx, api, name, m.Key, m.VersionId)
		}
	}
	_, err = api.DeleteBucket(ctx, &s3.DeleteBucketInput{Bucket: &name})
	s.fail("delete bucket "+name, err)
	if err == nil {
		s.deleted = append(s.deleted, "bucket "+name)
	}
}

func (s *sweep) object(ctx context.Context, api *s3.Client, bucket string, key, version *string) {
	in := &s3.DeleteObjectInput{Bucket: &bucket, Key: key}
	if v := awssdk.ToString(version); v != "" && v != "null" {
		in.VersionId = version
	}
	_, err := api.DeleteObject(ctx, in)
	s.fail("delete "+awssdk.ToString(key)+" from bucket "+bucket, err)
}
