package aws

import (
	"cmp"
	"encoding/xml"
	"slices"
	"strconv"
	"strings"

	"github.com/ocpctl/ocpctl/devstack/must"
)

// recordSet is a ResourceRecordSet in its wire format.
type recordSet struct {
	Name          string
	Type          string
	SetIdentifier string
	TTL           int64
	Values        []string `xml:"ResourceRecords>ResourceRecord>Value"`
	Alias         *struct {
		Zone   string `xml:"HostedZoneId"`
		Name   string `xml:"DNSName"`
		Health bool   `xml:"EvaluateTargetHealth"`
	} `xml:"AliasTarget"`
}

type changeBatch struct {
	Changes []struct {
		Action string
		Set    recordSet `xml:"ResourceRecordSet"`
	} `xml:"ChangeBatch>Changes>Change"`
}

// recordID is unique: a name may have one set of a type (and identifier) in a zone.
func recordID(zone string, s recordSet) string {
	return strings.Join([]string{zone, dnsName(s.Name), s.Type, s.SetIdentifier}, "/")
}

func (w *world) record(z *Resource, s recordSet) *Resource {
	r := w.Add(&Resource{Account: z.Account, Service: "route53", Type: "record", ID: recordID(z.ID, s), Name: dnsName(s.Name), Parent: z.ID})
	r.fill(s)
	return r
}

func (r *Resource) fill(s recordSet) {
	r.Attrs["type"], r.Attrs["ttl"], r.Attrs["set"] = s.Type, strconv.FormatInt(s.TTL, 10), s.SetIdentifier
	r.Values["values"] = s.Values
	if s.Alias != nil {
		r.Attrs["alias"], r.Attrs["alias-zone"], r.Attrs["alias-health"] = dnsName(s.Alias.Name), s.Alias.Zone, strconv.FormatBool(s.Alias.Health)
	} else {
		delete(r.Attrs, "alias")
	}
}

func (r *Resource) same(s recordSet) bool {
	if s.Alias != nil {
		return r.Attrs["alias"] == dnsName(s.Alias.Name) && r.Attrs["alias-zone"] == s.Alias.Zone
	}
	mine, theirs := slices.Sorted(slices.Values(r.vals("values"))), slices.Sorted(slices.Values(s.Values))
	return r.Attrs["alias"] == "" && r.Attrs["ttl"] == strconv.FormatInt(s.TTL, 10) && slices.Equal(mine, theirs)
}

// changeRecords is all or nothing: it checks every change before it makes the first one.
func changeRecords(c *call) ([]node, error) {
	z := must.Get(c.zoneAsked())
	var in changeBatch
	if err := xml.Unmarshal(c.body, &in); err != nil {
		return nil, fault("InvalidInput", "%s", err)
	}
	for _, ch := range in.Changes {
		must.Do(c.checkChange(z, ch.Action, ch.Set))
	}
	for _, ch := range in.Changes {
		old := c.recordOf(z, ch.Set)
		switch {
		case ch.Action == "DELETE":
			c.world.Remove(old)
		case old != nil:
			old.fill(ch.Set)
		default:
			c.record(z, ch.Set)
		}
	}
	return []node{changeInfo(c)}, nil
}

func (c *call) recordOf(z *Resource, s recordSet) *Resource {
	id := recordID(z.ID, s)
	return c.First(func(r *Resource) bool { return r.Type == "record" && r.Account == z.Account && r.ID == id })
}

func (c *call) checkChange(z *Resource, action string, s recordSet) error {
	name, old := dnsName(s.Name), c.recordOf(z, s)
	what := "[name='" + name + "', type='" + s.Type + "']"
	switch {
	case name != z.Name && !strings.HasSuffix(name, "."+z.Name):
		return fault("InvalidChangeBatch", "[RRSet with DNS name %s is not permitted in zone %s]", name, z.Name)
	case s.Alias == nil && len(s.Values) == 0:
		return fault("InvalidInput", "Invalid request: Expected exactly one of [AliasTarget, all of [TTL, and ResourceRecords], or TrafficPolicyInstanceId], but found none in Change with %s", what)
	case action == "CREATE" && old != nil:
		return fault("InvalidChangeBatch", "[Tried to create resource record set %s but it already exists]", what)
	case action == "DELETE" && old == nil:
		return fault("InvalidChangeBatch", "[Tried to delete resource record set %s but it was not found]", what)
	case action == "DELETE" && !old.same(s):
		return fault("InvalidChangeBatch", "[Tried to delete resource record set %s but the values provided do not match the current values]", what)
	case action == "DELETE" && old.Attrs["apex"] == "true":
		return fault("InvalidChangeBatch", "[A HostedZone must contain at least one %s record for the zone itself.]", s.Type)
	case action == "DELETE" && c.protected(old) != nil:
		return c.protected(old)
	case action == "DELETE" && c.pinned(old):
		return fault("PriorRequestNotComplete", "The request was rejected because Route 53 was still processing a prior request.")
	case !slices.Contains([]string{"CREATE", "DELETE", "UPSERT"}, action):
		return fault("InvalidInput", "Invalid action %s", action)
	}
	return nil
}

func (r *Resource) recordKey() string {
	return dnsKey(r.Name) + " " + r.Attrs["type"] + " " + r.Attrs["set"]
}

// listRecords begins at the given name and type and returns at most maxitems (default and maximum 300).
func listRecords(c *call) ([]node, error) {
	z := must.Get(c.zoneAsked())
	limit := min(c.limited(c.params.number("maxitems"), 300), 300)
	from := ""
	if name := c.params.get("name"); name != "" {
		from = strings.TrimRight(dnsKey(dnsName(name))+" "+c.params.get("type")+" "+c.params.get("identifier"), " ")
	}
	found := slices.DeleteFunc(c.records(z), func(r *Resource) bool { return r.recordKey() < from })
	slices.SortFunc(found, func(a, b *Resource) int { return cmp.Compare(a.recordKey(), b.recordKey()) })
	out := []node{el("MaxItems", limit), el("IsTruncated", len(found) > limit)}
	if len(found) > limit {
		next := found[limit]
		out = append(out, el("NextRecordName", next.Name), el("NextRecordType", next.Attrs["type"]))
		if next.Attrs["set"] != "" {
			out = append(out, el("NextRecordIdentifier", next.Attrs["set"]))
		}
		found = found[:limit]
	}
	return append(out, each("ResourceRecordSets", found, renderRecord)), nil
}

func renderRecord(r *Resource) node {
	out := group("ResourceRecordSet", el("Name", r.Name), el("Type", r.Attrs["type"]))
	if r.Attrs["set"] != "" {
		out.kids = append(out.kids, el("SetIdentifier", r.Attrs["set"]))
	}
	if alias := r.Attrs["alias"]; alias != "" {
		target := group("AliasTarget", el("HostedZoneId", r.Attrs["alias-zone"]), el("DNSName", alias), el("EvaluateTargetHealth", r.Attrs["alias-health"]))
		out.kids = append(out.kids, target)
		return out
	}
	value := func(v string) node { return group("ResourceRecord", el("Value", v)) }
	out.kids = append(out.kids, el("TTL", r.Attrs["ttl"]), each("ResourceRecords", r.vals("values"), value))
	return out
}
