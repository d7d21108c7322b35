package ibmcloud

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Resource is one resource of an account, of any service.
type Resource struct {
	Seq     int64               `json:"seq"` // order of creation
	Account string              `json:"account"`
	Service string              `json:"service"` // as in its CRN: is, cloud-object-storage, internet-svcs, dns-svcs, iam-identity …
	Type    string              `json:"type"`    // as in its CRN: vpc, load-balancer, serviceid; "instance" for a service's instance
	ID      string              `json:"id"`      // r014-…, ServiceId-…; the GUID of a service's instance
	Name    string              `json:"name,omitempty"`
	Group   string              `json:"group,omitempty"`  // ID of its resource group
	Region  string              `json:"region,omitempty"` // empty: global
	Zone    string              `json:"zone,omitempty"`
	VPC     string              `json:"vpc,omitempty"`
	Parent  string              `json:"parent,omitempty"` // it ends with its parent and does not block the parent's deletion
	Uses    []string            `json:"uses,omitempty"`   // resources that cannot be deleted while this one exists
	State   string              `json:"state,omitempty"`
	Next    string              `json:"next,omitempty"` // the next state, reached at NextAt; "gone": it ends then
	NextAt  time.Time           `json:"nextAt,omitzero"`
	Tags    []string            `json:"tags,omitempty"` // user tags, in lower case
	Attrs   map[string]string   `json:"attrs,omitempty"`
	Values  map[string][]string `json:"values,omitempty"`
	Created time.Time           `json:"created"`
	Gone    time.Time           `json:"gone,omitzero"`    // a tombstone: deleted at that time, still in the search index
	Until   time.Time           `json:"until,omitzero"`   // when the tombstone is forgotten
	Metered time.Time           `json:"metered,omitzero"` // since when it is counted by the meter, on the meter's clock; zero: it is not
	Stands  bool                `json:"stands,omitempty"` // part of the initial world, never a leftover
	Secret  string              `json:"secret,omitempty"` // an API key; only in the state file, never in copies that are handed out
}

// Alive reports that the resource exists and is no tombstone.
func (r *Resource) Alive() bool { return r.Gone.IsZero() }

// Number is the order of creation.
func (r *Resource) Number() int64 { return r.Seq }

// Forgotten reports that the resource is gone without a tombstone.
func (r *Resource) Forgotten() bool { return !r.Alive() && r.Until.IsZero() }

// CRN returns the resource's Cloud Resource Name.
func (r *Resource) CRN() string {
	if crn := r.Attrs["crn"]; crn != "" {
		return crn
	}
	place := r.Region
	if r.Zone != "" && r.Service == "is" {
		place = r.Zone
	}
	switch {
	case r.Type == "instance" && r.Service != "is":
		return fmt.Sprintf("crn:v1:bluemix:public:%s:global:a/%s:%s::", r.Service, r.Account, r.ID)
	case r.Type == "bucket" || r.Type == "resource-key" || r.Type == "zone":
		return fmt.Sprintf("crn:v1:bluemix:public:%s:global:a/%s:%s:%s:%s", r.Service, r.Account, r.Parent, r.Type, r.ID)
	}
	return fmt.Sprintf("crn:v1:bluemix:public:%s:%s:a/%s::%s:%s", r.Service, place, r.Account, r.Type, r.ID)
}

// called reports that a CRN is the resource's.
func (r *Resource) called(crn string) bool {
	return r.Attrs["crn"] == crn || strings.HasSuffix(strings.TrimRight(crn, ":"), r.ID) && r.CRN() == crn
}

// prepare makes the maps that handlers write to.
func (r *Resource) prepare() {
	if r.Attrs == nil {
		r.Attrs = map[string]string{}
	}
	if r.Values == nil {
		r.Values = map[string][]string{}
	}
}

// clone returns a copy without the secret.
func (r *Resource) clone() Resource {
	out := *r
	out.Tags, out.Uses, out.Attrs = slices.Clone(r.Tags), slices.Clone(r.Uses), maps.Clone(r.Attrs)
	out.Values = map[string][]string{}
	for k, v := range r.Values {
		out.Values[k] = slices.Clone(v)
	}
	out.Secret = ""
	return out
}

// mentions reports whether text occurs in any field that a person would search.
func (r *Resource) mentions(text string) bool {
	fields := append([]string{r.ID, r.Name}, r.Tags...)
	fields = slices.AppendSeq(fields, maps.Values(r.Attrs))
	for _, vs := range r.Values {
		fields = append(fields, vs...)
	}
	return slices.ContainsFunc(fields, func(f string) bool { return strings.Contains(strings.ToLower(f), strings.ToLower(text)) })
}
