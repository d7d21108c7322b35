package aws

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"slices"
	"strings"

	"github.com/ocpctl/ocpctl/devstack/must"
)

var route53Routes = []route{
	{"POST", "2013-04-01/hostedzone", "CreateHostedZone"}, {"GET", "2013-04-01/hostedzone", "ListHostedZones"},
	{"GET", "2013-04-01/hostedzonesbyname", "ListHostedZonesByName"},
	{"GET", "2013-04-01/hostedzone/*", "GetHostedZone"}, {"DELETE", "2013-04-01/hostedzone/*", "DeleteHostedZone"},
	{"POST", "2013-04-01/hostedzone/*/rrset", "ChangeResourceRecordSets"}, {"GET", "2013-04-01/hostedzone/*/rrset", "ListResourceRecordSets"},
	{"POST", "2013-04-01/tags/hostedzone/*", "ChangeTagsForResource"}, {"GET", "2013-04-01/tags/hostedzone/*", "ListTagsForResource"},
	{"POST", "2013-04-01/tags/hostedzone", "ListTagsForResources"}, {"GET", "2013-04-01/change/*", "GetChange"},
}

var route53Calls = map[string]handler{
	"CreateHostedZone": createZone, "GetHostedZone": getZone, "DeleteHostedZone": deleteZone,
	"ListHostedZones": listZones, "ListHostedZonesByName": listZonesByName,
	"ChangeResourceRecordSets": changeRecords, "ListResourceRecordSets": listRecords,
	"ChangeTagsForResource": changeZoneTags, "ListTagsForResource": listZoneTags,
	"ListTagsForResources": listTagsOfZones, "GetChange": getChange,
}

// zone creates a hosted zone with the records that every zone has. It stores comment and caller reference: only they identify the
// owner of an untagged zone.
func (w *world) zone(name, reference, comment string, private bool) *Resource {
	z := w.Add(&Resource{Service: "route53", Type: "hostedzone", ID: newUpper("Z", 20), Name: name,
		Attrs: map[string]string{"reference": reference, "comment": comment, "private": fmt.Sprint(private)}})
	servers := []string{"ns-1536.awsdns-00.co.uk.", "ns-0.awsdns-00.com.", "ns-1024.awsdns-00.org.", "ns-512.awsdns-00.net."}
	w.record(z, recordSet{Name: name, Type: "NS", TTL: 172800, Values: servers}).Attrs["apex"] = "true"
	soa := servers[0] + " awsdns-hostmaster.amazon.com. 1 7200 900 1209600 86400"
	w.record(z, recordSet{Name: name, Type: "SOA", TTL: 900, Values: []string{soa}}).Attrs["apex"] = "true"
	return z
}

// dnsName returns a name as Route 53 stores it: lower case, absolute, the asterisk as \052.
func dnsName(name string) string {
	name = strings.ToLower(strings.TrimSuffix(name, "."))
	return strings.ReplaceAll(name, "*", `\052`) + "."
}

// dnsKey returns the sort key of a name: Route 53 sorts by labels from the right.
func dnsKey(name string) string {
	labels := strings.Split(strings.TrimSuffix(name, "."), ".")
	slices.Reverse(labels)
	return strings.Join(labels, ".") + "."
}

type zoneVPC struct {
	Region string `xml:"VPCRegion"`
	ID     string `xml:"VPCId"`
}

type createZoneInput struct {
	Name            string
	CallerReference string
	VPC             *zoneVPC
	Comment         string `xml:"HostedZoneConfig>Comment"`
}

func createZone(c *call) ([]node, error) {
	var in createZoneInput
	if err := xml.Unmarshal(c.body, &in); err != nil {
		return nil, fault("InvalidInput", "%s", err)
	}
	name := dnsName(in.Name)
	must.EndIf(c.First(func(r *Resource) bool { return c.isZone(r) && r.Attrs["reference"] == in.CallerReference }) != nil,
		fault("HostedZoneAlreadyExists", "A hosted zone has already been created with the specified caller reference."))
	vpc := ""
	if in.VPC != nil {
		vpc = in.VPC.ID
		found := c.First(func(r *Resource) bool {
			return r.Type == "vpc" && r.ID == vpc && r.Region == in.VPC.Region && r.Account == c.Account
		})
		must.EndIf(found == nil,
			fault("InvalidVPCId", "The VPC %s in region %s that you provided is not authorized to make the association.", vpc, in.VPC.Region))
		if c.First(func(r *Resource) bool {
			return c.isZone(r) && r.Name == name && slices.Contains(r.vals("vpcs"), in.VPC.Region+" "+vpc)
		}) != nil {
			return nil, fault("ConflictingDomainExists", "The VPC %s is already associated with another hosted zone for domain %s", vpc, name)
		}
	}
	must.Do(c.checkQuota("L-4EA4796A", "", 1))
	z := c.zone(name, in.CallerReference, in.Comment, vpc != "")
	out := []node{c.zoneNode(z)}
	if vpc != "" {
		z.Values["vpcs"] = []string{in.VPC.Region + " " + vpc}
		out = append(out, group("VPC", el("VPCRegion", in.VPC.Region), el("VPCId", vpc)))
	} else {
		out = append(out, delegation(c, z))
	}
	c.status, c.location = 201, "https://route53.amazonaws.com/2013-04-01/hostedzone/"+z.ID
	return append(out, changeInfo(c)), nil
}

func (c *call) isZone(r *Resource) bool {
	return r.Type == "hostedzone" && r.Account == c.Account
}

// zoneAsked returns the zone that a REST call names, or NoSuchHostedZone.
func (c *call) zoneAsked() (*Resource, error) {
	z := c.First(func(r *Resource) bool { return c.isZone(r) && r.ID == c.path[0] })
	if z == nil {
		return nil, fault("NoSuchHostedZone", "No hosted zone found with ID: %s", c.path[0])
	}
	return z, nil
}

func (w *world) records(z *Resource) []*Resource {
	return w.Every(func(r *Resource) bool { return r.Type == "record" && r.Parent == z.ID })
}

func (c *call) zoneNode(z *Resource) node {
	return group("HostedZone", el("Id", "/hostedzone/"+z.ID), el("Name", z.Name), el("CallerReference", z.Attrs["reference"]),
		group("Config", el("Comment", z.Attrs["comment"]), el("PrivateZone", z.Attrs["private"])), el("ResourceRecordSetCount", len(c.records(z))))
}

func delegation(c *call, z *Resource) node {
	for _, r := range c.records(z) {
		if r.Attrs["type"] == "NS" && r.Name == z.Name {
			return group("DelegationSet", texts("NameServers", "NameServer", r.vals("values")))
		}
	}
	return node{name: "DelegationSet"}
}

func changeInfo(c *call) node { return renderChange(c, newUpper("C", 20)) }

// renderChange returns a change, which every name server has at once.
func renderChange(c *call, id string) node {
	return group("ChangeInfo", el("Id", "/change/"+id), el("Status", "INSYNC"), el("SubmittedAt", c.Now()))
}

func getChange(c *call) ([]node, error) { return []node{renderChange(c, c.path[0])}, nil }

func getZone(c *call) ([]node, error) {
	z := must.Get(c.zoneAsked())
	out := []node{c.zoneNode(z)}
	if z.Attrs["private"] != "true" {
		return append(out, delegation(c, z)), nil
	}
	vpcs := node{name: "VPCs"}
	for _, v := range z.vals("vpcs") {
		region, id, _ := strings.Cut(v, " ")
		vpcs.kids = append(vpcs.kids, group("VPC", el("VPCRegion", region), el("VPCId", id)))
	}
	return append(out, vpcs), nil
}

func deleteZone(c *call) ([]node, error) {
	z := must.Get(c.zoneAsked())
	must.Do(c.protected(z))
	own := slices.ContainsFunc(c.records(z), func(r *Resource) bool { return r.Attrs["apex"] != "true" })
	must.EndIf(own || c.pinned(z),
		fault("HostedZoneNotEmpty", "The specified hosted zone contains non-required resource record sets and so cannot be deleted."))
	c.world.Remove(z)
	return []node{changeInfo(c)}, nil
}

func (c *call) maxItems() int { return c.limited(c.params.number("maxitems"), 100) }

func listZones(c *call) ([]node, error) {
	found, next, err := after(c.Every(c.isZone), c.params.get("marker"), c.maxItems(), func(r *Resource) string { return r.ID })
	if err != nil {
		return nil, fault("InvalidInput", "The marker is invalid")
	}
	out := []node{each("HostedZones", found, c.zoneNode), el("MaxItems", c.maxItems()), el("IsTruncated", next != "")}
	if next != "" {
		out = append(out, el("NextMarker", next))
	}
	return out, nil
}

// listZonesByName begins at the given name and continues to the end of all zones, like the real call: it is not a filter.
func listZonesByName(c *call) ([]node, error) {
	key := func(name, id string) string { return dnsKey(name) + " " + id }
	from := ""
	if name := c.params.get("dnsname"); name != "" {
		from = key(dnsName(name), strings.TrimPrefix(c.params.get("hostedzoneid"), "/hostedzone/"))
	}
	found := c.Every(func(r *Resource) bool { return c.isZone(r) && key(r.Name, r.ID) >= from })
	slices.SortFunc(found, func(a, b *Resource) int { return cmp.Compare(key(a.Name, a.ID), key(b.Name, b.ID)) })
	out := []node{el("MaxItems", c.maxItems()), el("IsTruncated", len(found) > c.maxItems())}
	if len(found) > c.maxItems() {
		next := found[c.maxItems()]
		out = append(out, el("NextDNSName", next.Name), el("NextHostedZoneId", next.ID))
		found = found[:c.maxItems()]
	}
	return append(out, each("HostedZones", found, c.zoneNode)), nil
}
