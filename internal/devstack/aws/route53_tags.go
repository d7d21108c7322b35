package aws

import (
	"encoding/xml"
	"maps"
	"net/url"
	"slices"
)

type tagChange struct {
	Add []struct {
		Key   string
		Value string
	} `xml:"AddTags>Tag"`
	Remove []string `xml:"RemoveTagKeys>Key"`
}

func changeZoneTags(c *call) ([]node, error) {
	z, err := c.zoneAsked()
	if err != nil {
		return nil, err
	}
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
	z, err := c.zoneAsked()
	if err != nil {
		return nil, err
	}
	tags := node{name: "Tags"}
	for _, k := range slices.Sorted(maps.Keys(z.Tags)) {
		tags.kids = append(tags.kids, group("Tag", el("Key", k), el("Value", z.Tags[k])))
	}
	return []node{group("ResourceTagSet", el("ResourceType", "hostedzone"), el("ResourceId", z.ID), tags)}, nil
}
