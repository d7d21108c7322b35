package aws

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Resource is one thing in the account, whatever its service.
type Resource struct {
	Seq     int64               `json:"seq"` // order of creation
	Account string              `json:"account"`
	Service string              `json:"service"` // ec2, elasticloadbalancing, iam, route53
	Type    string              `json:"type"`    // as in an ARN where it has one: vpc, instance, loadbalancer, role …
	ID      string              `json:"id"`      // vpc-0…, a load balancer's ARN, an IAM name, a zone's id
	Name    string              `json:"name,omitempty"`
	Region  string              `json:"region,omitempty"` // empty: global
	VPC     string              `json:"vpc,omitempty"`
	Parent  string              `json:"parent,omitempty"` // ends with it and is no obstacle to its deletion
	Uses    []string            `json:"uses,omitempty"`   // what cannot be deleted while this exists
	State   string              `json:"state,omitempty"`
	Next    string              `json:"next,omitempty"` // the state it is on its way to, reached at NextAt
	NextAt  time.Time           `json:"nextAt,omitzero"`
	Tags    map[string]string   `json:"tags,omitempty"`
	Attrs   map[string]string   `json:"attrs,omitempty"`
	Values  map[string][]string `json:"values,omitempty"`
	Created time.Time           `json:"created"`
	Gone    time.Time           `json:"gone,omitzero"`    // a tombstone: deleted then, still told of for a while
	Until   time.Time           `json:"until,omitzero"`   // when the tombstone is forgotten
	Stands  bool                `json:"stands,omitempty"` // part of the world at the start, never a leftover
	saved   uint64              // the sum of what the state file has of it; 0: nothing
	Secrets map[string]string   `json:"secrets,omitempty"` // in the state file alone: no copy that is handed out has them
}

// Alive says that the resource exists and is no tombstone.
func (r *Resource) Alive() bool { return r.Gone.IsZero() }

// ARN is the resource's name across services: its ID where that is one, as it is for every service this package does
// not know; empty for types that have none.
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
	}
	return ""
}

// arnParts are the service, the region, the account and the kind in an ARN: arn:aws:rds:us-east-1:123456789012:db:name.
func arnParts(arn string) (service, region, account, kind string) {
	parts := append(strings.SplitN(arn, ":", 6), make([]string, 6)...)
	kind, _, _ = strings.Cut(parts[5], "/")
	kind, _, _ = strings.Cut(kind, ":")
	return parts[2], parts[3], parts[4], kind
}

func (r *Resource) vals(name string) []string { return r.Values[name] }

// clone is a copy to hand out, without what is secret.
func (r *Resource) clone() Resource {
	out := *r
	out.Tags, out.Attrs, out.Uses = maps.Clone(r.Tags), maps.Clone(r.Attrs), slices.Clone(r.Uses)
	out.Values = maps.Clone(r.Values)
	out.Secrets = nil
	return out
}

// mentions says whether text occurs anywhere in what a person would look at.
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
