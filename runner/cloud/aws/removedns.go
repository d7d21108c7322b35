package aws

import (
	"context"
	"fmt"
	"slices"
	"strings"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/route53"
	r53types "github.com/aws/aws-sdk-go-v2/service/route53/types"

	"github.com/ocpctl/ocpctl/runner/cloud"
)

// ownRecords are the only DNS names that the installer and the cluster create, as Route 53 spells them.
var ownRecords = []string{"api", "api-int", `\052.apps`}

// removeZones deletes the untagged private zone with the cluster's name. Its caller reference proves that our installer created it. A zone
// with the cluster's tags is left to the installer.
func (s *removal) removeZones(ctx context.Context, domain string) {
	zones, err := s.zonesCalled(ctx, domain)
	s.AddError("remove the zone", err)
	for _, z := range zones {
		what := "hosted zone " + z.id + " (" + domain + ")"
		if !z.private || !s.owner.isBeginOf(z.reference, "-") {
			s.Keep(cloud.KeptAnothers, z.id, "%s was not created for this cluster (caller reference %q)", what, z.reference)
			continue
		}
		tags, err := s.zoneTags(ctx, z.id)
		switch {
		case err != nil:
			s.AddError("read the tags of "+what, err)
		case s.owner.claimOf(tags) == ours:
		case len(tags) > 0:
			s.Keep(cloud.KeptAnothers, z.id, "%s has tags that do not belong to this cluster", what)
		default:
			s.ownRecordsOf(ctx, z, domain, nil)
			_, err = s.r53.DeleteHostedZone(ctx, &route53.DeleteHostedZoneInput{Id: &z.id})
			s.NoteDeletion(z.id, what, err)
		}
	}
}

// publicRecords deletes our records from the base domain's zones, except those that still have a twin in a private zone: the
// installer's destroy handles these pairs.
func (s *removal) publicRecords(ctx context.Context, t cloud.Target) {
	public, err := s.publicZonesCalled(ctx, t.BaseDomain)
	if err != nil {
		s.AddError("remove the public records", err)
		return
	}
	zones, err := s.zonesCalled(ctx, t.Domain())
	if err != nil {
		s.AddError("remove the public records", err)
		return
	}
	var twins []string
	for _, z := range zones {
		records, err := s.recordsIn(ctx, z.id)
		if err != nil {
			s.AddError("remove the public records", err)
			return
		}
		for _, r := range records {
			twins = append(twins, trimDot(r.Name))
		}
	}
	for _, z := range public {
		s.ownRecordsOf(ctx, z, t.Domain(), twins)
	}
}

// ownRecordsOf deletes the records with our exact names from a zone, except those listed in keep.
func (s *removal) ownRecordsOf(ctx context.Context, z zone, domain string, keep []string) {
	records, err := s.recordsIn(ctx, z.id)
	s.AddError("remove the records", err)
	whose := s.owner.findAnotherOwner(records, domain)
	for _, r := range records {
		name := trimDot(r.Name)
		own, isOurs := strings.CutSuffix(name, "."+domain)
		if !isOurs || !slices.Contains(ownRecords, own) || slices.Contains(keep, name) {
			continue
		}
		if whose != "" {
			s.Keep(cloud.KeptRecord, idOf(z, r), "%s record %s in zone %s stays, because a record of %s leads to %s, which belongs to another cluster or to somebody", r.Type, name, z.id, domain, whose)
			continue
		}
		s.removeRecord(ctx, z, r)
	}
}

func (s *removal) removeRecord(ctx context.Context, z zone, r r53types.ResourceRecordSet) {
	_, err := s.r53.ChangeResourceRecordSets(ctx, &route53.ChangeResourceRecordSetsInput{
		HostedZoneId: &z.id,
		ChangeBatch:  &r53types.ChangeBatch{Changes: []r53types.Change{{Action: r53types.ChangeActionDelete, ResourceRecordSet: &r}}},
	})
	s.NoteDeletion(idOf(z, r), fmt.Sprintf("%s record %s of zone %s", r.Type, trimDot(r.Name), z.id), err)
}

// idOf is how the count calls a record.
func idOf(z zone, r r53types.ResourceRecordSet) string {
	return z.id + "/" + trimDot(r.Name) + "/" + string(r.Type)
}

// externalRecords deletes what the cluster's own external-dns left in the base domain's zones. It tells why the other records below the
// cluster's domain stay. Call it when no node is left that would make them again.
func (s *removal) externalRecords(ctx context.Context, t cloud.Target) {
	public, err := s.publicZonesCalled(ctx, t.BaseDomain)
	s.AddError("remove the records of external-dns", err)
	for _, z := range public {
		records, err := s.recordsIn(ctx, z.id)
		s.AddError("remove the records of external-dns", err)
		records = slices.DeleteFunc(records, func(r r53types.ResourceRecordSet) bool {
			own, below := strings.CutSuffix(trimDot(r.Name), "."+t.Domain())
			return trimDot(r.Name) != t.Domain() && (!below || slices.Contains(ownRecords, own))
		})
		owners := cloud.ExternalOwners(convertEach(records, func(r r53types.ResourceRecordSet) cloud.Record {
			return cloud.Record{Name: trimDot(r.Name), Type: string(r.Type), Texts: convertEach(r.ResourceRecords, func(v r53types.ResourceRecord) string { return awssdk.ToString(v.Value) })}
		}))
		for i, r := range records {
			if owners[i].Only(t) {
				s.removeRecord(ctx, z, r)
			} else {
				s.Keep(cloud.KeptRecord, idOf(z, r), "%s record %s in zone %s %s", r.Type, trimDot(r.Name), z.id, owners[i])
			}
		}
	}
}

// findAnotherOwner returns what a record of our name points to if that is not ours.
func (o owner) findAnotherOwner(records []r53types.ResourceRecordSet, domain string) string {
	for _, r := range records {
		if host := o.leadsElsewhere(r, domain); host != "" {
			return host
		}
	}
	return ""
}

// leadsElsewhere returns what a record of our name points to if that is not ours: an api record points to a load balancer with one of our
// infraIDs, and the wildcard of the applications to some load balancer. A cluster unknown to this installation, or a person, may use the same
// name, and an install that failed because of that must not delete their records.
func (o owner) leadsElsewhere(r r53types.ResourceRecordSet, domain string) string {
	own, isOurs := strings.CutSuffix(trimDot(r.Name), "."+domain)
	if !isOurs || !slices.Contains(ownRecords, own) {
		return ""
	}
	host, addressed := pointsTo(r)
	if addressed || strings.HasPrefix(own, "api") && !o.isBeginOf(host, "-") {
		return host
	}
	return ""
}

// pointsTo returns the host that a record leads to: by an alias or, in partitions without them, a CNAME. The installer makes no others, so
// one with addresses is somebody else's.
func pointsTo(r r53types.ResourceRecordSet) (host string, addressed bool) {
	switch {
	case r.AliasTarget != nil:
		host = trimDot(r.AliasTarget.DNSName)
	case len(r.ResourceRecords) > 0:
		host = trimDot(r.ResourceRecords[0].Value)
	}
	host = strings.TrimPrefix(strings.TrimPrefix(host, "dualstack."), "internal-")
	return host, r.AliasTarget == nil && r.Type != r53types.RRTypeCname
}
