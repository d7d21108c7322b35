package aws

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ocpctl/ocpctl/devstack/standin"
)

// Resource is one resource of the account, of any service.
type Resource standin.Resource[map[string]string]

// Base is the resource without what only this cloud knows.
func (r *Resource) Base() *standin.Resource[map[string]string] {
	return (*standin.Resource[map[string]string])(r)
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

// Prepare makes the maps that handlers write to.
func (r *Resource) Prepare() {
	if r.Tags == nil {
		r.Tags = map[string]string{}
	}
	if r.Attrs == nil {
		r.Attrs = map[string]string{}
	}
	if r.Values == nil {
		r.Values = map[string][]string{}
	}
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

// Mentions reports whether text occurs in any field that a person would search.
func (r *Resource) Mentions(text string) bool {
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
