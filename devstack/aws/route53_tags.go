package aws

import (
	"encoding/xml"
	"net/url"

	"github.com/ocpctl/ocpctl/devstack/must"
)

type tagChange struct {
	Add []struct {
		Key   string
		Value string
	} `xml:"AddTags>Tag"`
	Remove []string `xml:"RemoveTagKeys>Key"`
}

func changeZoneTags(c *call) ([]node, error) {
	z := must.Get(c.zoneAsked())
	var in tagChange
	if err := xml.Unmarshal(c.body, &in); err != nil {
		return nil, fault("InvalidInput", "%s", err)
	}
	for _, t := range in.Add {
		z.Tags[t.Key] = t.Value
	}
	for _, k := range in.Remove {
		key, err := url.PathUnescape(k)
		if err != nil {
			key = k
		}
		delete(z.Tags, key)
	}
	return nil, nil
}

func listZoneTags(c *call) ([]node, error) {
	z := must.Get(c.zoneAsked())
	return []node{zoneTags(z)}, nil
}

// mostTagged is how many zones one call may ask about.
const mostTagged = 10

// listTagsOfZones refuses the whole call if one of the zones does not exist.
func listTagsOfZones(c *call) ([]node, error) {
	var in struct {
		IDs []string `xml:"ResourceIds>ResourceId"`
	}
	if err := xml.Unmarshal(c.body, &in); err != nil {
		return nil, fault("InvalidInput", "%s", err)
	}
	must.EndIf(len(in.IDs) == 0 || len(in.IDs) > mostTagged,
		fault("InvalidInput", "%d resource ids were given; give 1 to %d", len(in.IDs), mostTagged))
	sets := node{name: "ResourceTagSets"}
	for _, id := range in.IDs {
		z := c.First(func(r *Resource) bool { return c.isZone(r) && r.ID == id })
		must.EndIf(z == nil, fault("NoSuchHostedZone", "No hosted zone found with ID: %s", id))
		sets.kids = append(sets.kids, zoneTags(z))
	}
	return []node{sets}, nil
}

func zoneTags(z *Resource) node {
	return group("ResourceTagSet", el("ResourceType", "hostedzone"), el("ResourceId", z.ID), tagNodes("Tags", z))
}
