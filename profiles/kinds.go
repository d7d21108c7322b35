package profiles

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/ocpctl/ocpctl/internal/kinds"
)

// OnHub stands for the version of a cluster that has none of its own, and HubDomain for the base domain of one without DNS names of its own. Names
// are unique below it, as below a real one.
const (
	OnHub     = "hub"
	HubDomain = "hub.internal"
)

// ofEveryKind are the fields of a profile that mean the same for clusters of every kind.
var ofEveryKind = strings.Fields("name displayName description platform provisioner enabled disabledReason adminOnly default account regions ttl grace runGrace " +
	"warnBeforeDestroy maxAccess attempts deadlines tags whenFull pricesAsOf kind")

// kindOf returns the kind that a profile's file names. Of a file that names none or another, it is one of its platform: that of which it has a section.
func kindOf(doc *yaml.Node) string {
	if n := valueOf(doc, "provisioner"); n != nil && (kinds.WhyNot(n.Value) != "" || kinds.Can(n.Value, kinds.Installer)) {
		return n.Value
	}
	if n := valueOf(doc, "platform"); n != nil && len(kinds.On(n.Value)) > 0 {
		all := kinds.On(n.Value)
		return all[max(0, slices.IndexFunc(all, func(kind string) bool { return valueOf(doc, kind) != nil }))]
	}
	return kinds.OpenShift
}

// fieldsOf describes the fields of a profile of a kind. Those of other kinds are refused by name.
func fieldsOf(r *reader, p *Profile, kind string) []field {
	all := profileFields(r, p)
	if kinds.Can(kind, kinds.Installer) {
		return all
	}
	for i, f := range all {
		switch {
		case f.name == "regions" && kinds.Can(kind, kinds.OwnAPI):
			all[i] = regions(r, p, hypershiftRegion)
		case f.name == "regions":
			all[i] = regions(r, p, hubRegion)
		case f.name == "sleep" && kinds.Can(kind, kinds.OwnAPI):
			all[i] = optional(r.inner("sleep", choice("mode", &p.Sleep, SleepWorkers, SleepNever)))
		case f.name == "provisioner":
			all[i].optional = false
		case !slices.Contains(commonFields(kind), f.name):
			all[i] = refuseField(r, f.name, kind)
		}
	}
	p.CredentialsMode, p.Sleep = "Manual", SleepNever // nothing of the runner's keys is in it
	if kinds.Can(kind, kinds.OwnAPI) {
		return append(all, hypershiftFields(r, p))
	}
	p.Versions, p.BaseDomains = Allowed{[]string{OnHub}, OnHub}, Allowed{[]string{HubDomain}, HubDomain}
	return append(all, namespaceFields(r, &p.Namespace))
}

// commonFields are the fields of a kind that others have, too.
func commonFields(kind string) []string {
	if kinds.Can(kind, kinds.OwnAPI) {
		return append(slices.Clone(ofEveryKind), "versions", "baseDomains", "sleep")
	}
	return ofEveryKind
}

// refuseField is a field that a kind does not have.
func refuseField(r *reader, name, kind string) field {
	return field{name: name, optional: true, read: func(n *yaml.Node, path string) bool {
		r.failOn(n, path, "not supported by provisioner "+kind+": "+kinds.WhyNot(kind), "none; its fields are "+strings.Join(append(slices.Clone(commonFields(kind)), kind), ", "))
		return true
	}}
}

// hubRegion describes a region of a hub: a name of the installation's choice, and what a cluster's share of the hub costs.
func hubRegion(r *reader, region *Region) []field {
	return []field{
		text("name", &region.Name, platforms["kubernetes"].region.text, platforms["kubernetes"].region.MatchString),
		optional(r.texts("fallback", &region.Fallback, "another region of the list", isFilled)),
		whole("hourlyCents", &region.HourlyCents, 1, 100_000),
	}
}

var (
	cores     = form{regexp.MustCompile(`^([1-9][0-9]{0,5}m|[1-9][0-9]{0,3})$`), `cores such as "4" or 500m, in quotes`}
	bytesForm = form{regexp.MustCompile(`^[1-9][0-9]{0,5}[MGT]i$`), "bytes such as 512Mi or 8Gi"}
)

const (
	mostPods      = 1000
	mostBalancers = 20
)

// namespaceFields describes what a profile says of its namespaces.
func namespaceFields(r *reader, o *kinds.NamespaceOrder) field {
	o.Isolated = true
	amount := func(name string, into *string, of form) field { return text(name, into, of.text, of.MatchString) }
	network := ""
	reach := choice("network", &network, "isolated", "open")
	read := reach.read
	reach.read = func(n *yaml.Node, path string) bool {
		known := read(n, path)
		o.Isolated = network != "open"
		return known
	}
	return r.inner(kinds.Namespace,
		r.inner("quota", amount("cpu", &o.Quota.CPU, cores), amount("memory", &o.Quota.Memory, bytesForm), amount("storage", &o.Quota.Storage, bytesForm), whole("pods", &o.Quota.Pods, 1, mostPods),
			optional(whole("loadBalancers", &o.Quota.LoadBalancers, 0, mostBalancers))),
		r.inner("limits", amount("cpu", &o.Limits.CPU, cores), amount("memory", &o.Limits.Memory, bytesForm)),
		optional(reach), optional(boolean("pullSecret", &o.Pull)))
}

// compareKind checks that the profile's platform has the kind.
func compareKind(r *reader, p Profile) {
	if on := kinds.On(p.Platform); r.good("platform", "provisioner") && !slices.Contains(on, p.Provisioner) {
		r.failAt("provisioner", p.Provisioner+" on "+p.Platform, strings.Join(on, ", "))
	}
}

// Share says which share of a hub a cluster of the profile has; empty: it has machines of its own.
func (p Profile) Share() string {
	if kinds.Can(p.Provisioner, kinds.Installer) {
		return ""
	}
	if kinds.Can(p.Provisioner, kinds.OwnAPI) {
		return shareOfHosted(p.Hosted)
	}
	q := p.Namespace.Quota
	return fmt.Sprintf("%s CPU, %s of memory, %s of storage and %d pods of a shared cluster", q.CPU, q.Memory, q.Storage, q.Pods)
}

// kindDocument renders what is frozen of a kind that no installer makes.
func (p Profile) kindDocument(in InstallInput) ([]byte, error) {
	var out bytes.Buffer
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	var order any = p.Namespace
	if kinds.Can(p.Provisioner, kinds.OwnAPI) {
		order = p.Hosted
	}
	err := encoder.Encode(order)
	if err == nil {
		err = p.offers(in)
	}
	if err != nil {
		return nil, fmt.Errorf("render a %s of %s: %w", p.Provisioner, p.Name, err)
	}
	return out.Bytes(), nil
}
