package ibmcloud

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/IBM/go-sdk-core/v5/core"
	"github.com/IBM/networking-go-sdk/dnsrecordsv1"
	"github.com/IBM/networking-go-sdk/dnssvcsv1"

	"github.com/ocpctl/ocpctl/runner/cloud"
)

// ownRecords are the only DNS names that the installer and the cluster create.
func ownRecords(domain string) []string {
	return []string{"api." + domain, "api-int." + domain, "*.apps." + domain}
}

// removeDNS deletes the cluster's records from the base domain's zones, public and private, and its VPC from the networks that may ask a private
// zone. All pages are read: the installer's destroyer reads one.
func (s *removal) removeDNS(ctx context.Context, t cloud.Target, found []regional) {
	public, err := s.publicZones(ctx)
	s.AddError("remove the public records", err)
	for _, z := range public {
		if z.Name == t.BaseDomain {
			records, err := s.publicRecords(ctx, z)
			s.AddError("remove the public records", err)
			s.removeRecords(ctx, z, t.Domain(), records, s.deletePublic)
			s.externalRecords(ctx, t, z, records, s.deletePublic)
		}
	}
	private, err := s.privateZones(ctx)
	s.AddError("remove the private records", err)
	for _, z := range private {
		if z.Name == t.BaseDomain {
			records, err := s.privateRecords(ctx, z)
			s.AddError("remove the private records", err)
			s.removeRecords(ctx, z, t.Domain(), records, s.deletePrivate)
			s.externalRecords(ctx, t, z, records, s.deletePrivate)
		}
		s.removePermitted(ctx, z, found)
	}
}

// removeRecords deletes the records with our exact names. They are CNAMEs of load balancers, of which some are gone already; if one leads to
// somebody else's load balancer, to another region or elsewhere, or is of another type, the name is in use by another cluster or a person, and
// all of it stays.
func (s *removal) removeRecords(ctx context.Context, z zone, domain string, all []record, remove func(context.Context, zone, record) error) {
	ours := slices.DeleteFunc(slices.Clone(all), func(r record) bool { return !slices.Contains(ownRecords(domain), trimDot(r.Name)) })
	if len(ours) == 0 {
		return
	}
	if !s.hostsSeen {
		s.Errs = append(s.Errs, fmt.Errorf("%s is in zone %s, but not all load balancers could be listed: it was not deleted", domain, z.Name))
		return
	}
	for _, r := range ours {
		host := trimDot(r.Content)
		switch {
		case s.owner.isOlder(r.describeIn(z), r.creationTime()):
			return
		case r.Type != "CNAME" || s.hosts[host]:
			s.keepAll(z, ours, "%s record %s in zone %s leads to %s, which belongs to another cluster or to somebody", r.Type, r.Name, z.Name, r.Content)
			return
		case !s.own[host] && !slices.Contains(s.regions, regionOf(host)):
			s.keepAll(z, ours, "%s record %s in zone %s leads to %s, which is neither this cluster's load balancer nor a deleted one in %s (if nobody needs the record, ask the DNS administrator to delete it)",
				r.Type, r.Name, z.Name, r.Content, strings.Join(s.regions, " or "))
			return
		}
	}
	for _, r := range ours {
		s.NoteDeletion(z.ID+"/"+r.ID, r.Type+" record "+r.Name+" of zone "+z.Name, remove(ctx, z, r))
	}
}

// keepAll records why all records of the cluster's names in a zone stay.
func (s *removal) keepAll(z zone, all []record, format string, args ...any) {
	for _, r := range all {
		s.Keep(cloud.KeptRecord, z.ID+"/"+r.ID, format, args...)
	}
}

// externalRecords deletes what the cluster's own external-dns left in a zone. It tells why the other records below the cluster's domain stay.
func (s *removal) externalRecords(ctx context.Context, t cloud.Target, z zone, all []record, remove func(context.Context, zone, record) error) {
	domain := t.Domain()
	var below []record
	var marks []cloud.Record
	for _, r := range all {
		name := trimDot(r.Name)
		if name == domain || strings.HasSuffix(name, "."+domain) && !slices.Contains(ownRecords(domain), name) {
			below, marks = append(below, r), append(marks, cloud.Record{Name: name, Type: r.Type, Texts: []string{r.Content}})
		}
	}
	for i, owners := range cloud.ExternalOwners(marks) {
		r := below[i]
		switch mark := s.owner.ageMark(r.creationTime()); {
		case mark != "":
			s.Keep(cloud.KeptRecord, z.ID+"/"+r.ID, "%s was %s", r.describeIn(z), mark)
		case owners.Only(t):
			s.NoteDeletion(z.ID+"/"+r.ID, r.Type+" record "+r.Name+" of zone "+z.Name, remove(ctx, z, r))
		default:
			s.Keep(cloud.KeptRecord, z.ID+"/"+r.ID, "%s record %s in zone %s %s", r.Type, r.Name, z.Name, owners)
		}
	}
}

func (s *removal) deletePublic(ctx context.Context, z zone, r record) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	api, err := s.recordsAPI(z)
	if err != nil {
		return err
	}
	_, err = resultOrRefusal(api.DeleteDnsRecordWithContext(ctx, &dnsrecordsv1.DeleteDnsRecordOptions{DnsrecordIdentifier: &r.ID}))
	return err
}

func (s *removal) deletePrivate(ctx context.Context, z zone, r record) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	api, err := s.dnsServices()
	if err != nil {
		return err
	}
	return explainRefusal(api.DeleteResourceRecordWithContext(ctx, &dnssvcsv1.DeleteResourceRecordOptions{InstanceID: &z.instance, DnszoneID: &z.ID, RecordID: &r.ID}))
}

// removePermitted removes the cluster's VPCs from the networks of a private zone of any name. It must come before they are deleted: a network has no
// name, and the CRN of a VPC that is gone does not tell whose it was.
func (s *removal) removePermitted(ctx context.Context, z zone, found []regional) {
	api, err := s.dnsServices()
	if err != nil {
		s.AddError("remove the permitted networks", err)
		return
	}
	callCtx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	type network struct {
		ID      string `json:"id"`
		State   string `json:"state"`
		Network struct {
			CRN string `json:"vpc_crn"`
		} `json:"permitted_network"`
	}
	networks, err := readAll[network](list{what: "permitted networks of " + z.Name, array: "permitted_networks", next: onePage, get: func(string) (any, *core.DetailedResponse, error) {
		return api.ListPermittedNetworksWithContext(callCtx, &dnssvcsv1.ListPermittedNetworksOptions{InstanceID: &z.instance, DnszoneID: &z.ID})
	}})
	s.AddError("remove", err)
	for _, n := range networks {
		ours := slices.ContainsFunc(found, func(r regional) bool {
			return slices.ContainsFunc(r.ours[vpcs.name], func(v object) bool { return v.CRN != "" && v.CRN == n.Network.CRN })
		})
		if !ours || n.State == "REMOVAL_IN_PROGRESS" {
			continue
		}
		_, err := resultOrRefusal(api.DeletePermittedNetworkWithContext(callCtx, &dnssvcsv1.DeletePermittedNetworkOptions{InstanceID: &z.instance, DnszoneID: &z.ID, PermittedNetworkID: &n.ID}))
		s.NoteDeletion(n.ID, "permitted network "+n.ID+" of zone "+z.Name, err)
	}
}

// trimDot is a DNS name without its final dot, in lower case.
func trimDot(name string) string { return strings.ToLower(strings.TrimSuffix(name, ".")) }
