package aws

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Resource is one resource of the account, of any service.
type Resource struct {
	Seq     int64               `json:"seq"` // order of creation
	Account string              `json:"account"`
	Service string              `json:"service"` // ec2, elasticloadbalancing, iam, route53, s3
	Type    string              `json:"type"`    // as in its ARN, if it has one: vpc, instance, loadbalancer, role …
	ID      string              `json:"id"`      // vpc-0…, a load balancer's ARN, an IAM name, a zone's id
	Name    string              `json:"name,omitempty"`
	Region  string              `json:"region,omitempty"` // empty: global
	VPC     string              `json:"vpc,omitempty"`
	Parent  string              `json:"parent,omitempty"` // it ends with its parent and does not block the parent's deletion
	Uses    []string            `json:"uses,omitempty"`   // resources that cannot be deleted while this one exists
	State   string              `json:"state,omitempty"`
	Next    string              `json:"next,omitempty"` // the next state, reached at NextAt
	NextAt  time.Time           `json:"nextAt,omitzero"`
	Tags    map[string]string   `json:"tags,omitempty"`
	Attrs   map[string]string   `json:"attrs,omitempty"`
	Values  map[string][]string `json:"values,omitempty"`
	Created time.Time           `json:"created"`
	Gone    time.Time           `json:"gone,omitzero"`     // a tombstone: deleted at that time, still listed for a while
	Until   time.Time           `json:"until,omitzero"`    // when the tombstone is forgotten
	Metered time.Time           `json:"metered,omitzero"`  // since when it is counted by the meter, on the meter's clock; zero: it is not
	Stands  bool                `json:"stands,omitempty"`  // part of the initial world, never a leftover
	Secrets map[string]string   `json:"secrets,omitempty"` // only in the state file; copies that are handed out do not have them
}

// Alive reports that the resource exists and is no tombstone.
func (r *Resource) Alive() bool { return r.Gone.IsZero() }

// Number is the order of creation.
func (r *Resource) Number() int64 { return r.Seq }

// Forgotten reports that the resource is gone without a tombstone.
func (r *Resource) Forgotten() bool { return !r.Alive() && r.Until.IsZero() }

// ARN returns the resource's ARN: its ID if that is an ARN, as for every service that this package does not know; empty for types
// without one.
func (r *Resource) ARN() string {
	if strings.HasPrefix(r.ID, "arn:") {
		return r.ID
	}
	switch r.Service {
	case "ec2":
		if r.Type == "placement-group" {
			return fmt.Sprintf("arn:aws:ec2:%s:%s:%s/%s", r.Region, r.Account, r.Type, r.Name)
		}
		return fmt.Sprintf("arn:aws:ec2:%s:%s:%s/%s", r.Region, r.Account, r.Type, r.ID)
	case "iam":
		return fmt.Sprintf("arn:aws:iam::%s:%s/%s", r.Account, r.Type, r.Name)
	case "route53":
		if r.Type == "hostedzone" {
			return "arn:aws:route53:::hostedzone/" + r.ID
		}
	case "s3":
		return "arn:aws:s3:::" + r.Name
	}
	return ""
}

// arnParts returns service, region, account and kind of an ARN: arn:aws:rds:us-east-1:123456789012:db:name.
func arnParts(arn string) (service, region, account, kind string) {
	parts := append(strings.SplitN(arn, ":", 6), make([]string, 6)...)
	kind, _, _ = strings.Cut(parts[5], "/")
	kind, _, _ = strings.Cut(kind, ":")
	return parts[2], parts[3], parts[4], kind
}

func (r *Resource) vals(name string) []string { return r.Values[name] }

// clone returns a copy without secrets.
func (r *Resource) clone() Resource {
	out := *r
	out.Tags, out.Attrs, out.Uses = maps.Clone(r.Tags), maps.Clone(r.Attrs), slices.Clone(r.Uses)
	out.Values = maps.Clone(r.Values)
	out.Secrets = nil
	return out
}

// mentions reports whether text occurs in any field that a person would search.
func (r *Resource) mentions(text string) bool {
	fields := []string{r.ID, r.Name}
	for k, v := range r.Tags {
		fields = append(fields, k, v)
	}
	for _, v := range r.Attrs {
		fields = append(fields, v)
	}
	for _, vs := range r.Values {
		fields = append(fields, vs...)
	}
	return slices.ContainsFunc(fields, func(f string) bool { return strings.Contains(f, text) })
}
