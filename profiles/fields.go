package profiles

import (
	"cmp"
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/ocpctl/ocpctl/internal/duration"
	"github.com/ocpctl/ocpctl/internal/kinds"
)

// Patterns for a profile's values; those of a cloud are in platforms. nameForm leaves space for "ocp/" within GitHub's 50 characters for a label.
var (
	nameForm    = regexp.MustCompile(`^[a-z][-a-z0-9]{0,39}$`)
	versionForm = regexp.MustCompile(`^4\.[0-9]{1,2}\.[0-9]{1,3}(-(ec|rc)\.[0-9]{1,2})?$`)
	domainForm  = regexp.MustCompile(`^([a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?\.)+[a-z]{2,63}$`)
)

// The bounds that a profile must keep.
const (
	mostTTLHours = 720
	mostWorkers  = 50
	mostGrace    = 24 * time.Hour
	leastWarning = time.Minute
	mostWarning  = 24 * time.Hour
	mostWarnings = 5
	mostDomain   = 200 // leaves space for "api-int.<name>." within DNS's 253
)

// LeastAccess is the shortest time for which a kubeconfig can be valid: Kubernetes makes no token for less.
const LeastAccess = 10 * time.Minute

// readProfile reads one file. The profile is usable only if there are no problems.
func readProfile(r *reader, body []byte) Profile {
	r.page = "docs/catalogue.md#profiles"
	p := Profile{WhenFull: WhenFullRefuse, RunGrace: usualRunGrace, TTLFrom: TTLFromAccepted}
	doc := r.document(body, "profile")
	if doc == nil {
		return p
	}
	kind := kindOf(doc)
	r.object(doc, "", fieldsOf(r, &p, kind)...)
	p.Provisioner = cmp.Or(p.Provisioner, kind)
	if r.lines["workers.minReplicas"] == 0 {
		p.Workers.Least = p.Workers.Replicas
	}
	if r.lines["workers.maxReplicas"] == 0 {
		p.Workers.Most = p.Workers.Replicas
	}
	if len(p.WarnBefore) == 0 {
		p.WarnBefore = slices.Clone(usualWarnings)
	}
	slices.SortFunc(p.WarnBefore, func(a, b time.Duration) int { return cmp.Compare(b, a) })
	compare(r, p)
	if p.Sleep == "" {
		p.Sleep = SleepNever
		if p.Workers.Least < p.Workers.Most && p.Workers.Replicas > 0 && p.Spot == "" {
			p.Sleep = SleepWorkers
		}
	}
	completeOffHours(r, &p)
	compareIdle(r, p)
	return p
}

// profileFields describes the fields of a profile file.
func profileFields(r *reader, p *Profile) []field {
	return []field{
		text("name", &p.Name, profileNameAccept, profileName),
		text("displayName", &p.DisplayName, "a text", isFilled),
		text("description", &p.Description, "a text", isFilled),
		choice("platform", &p.Platform, platformNames...),
		optional(choice("provisioner", &p.Provisioner, kinds.OpenShift, kinds.HyperShift, kinds.Namespace)),
		boolean("enabled", &p.Enabled),
		optional(text("disabledReason", &p.DisabledReason, "a text, when enabled is false", isFilled)),
		choice("credentialsMode", &p.CredentialsMode, "Manual", "Mint"),
		optional(boolean("adminOnly", &p.AdminOnly)),
		optional(boolean("default", &p.IsDefault)),
		optional(boolean("teamBreakGlass", &p.TeamBreakGlass)),
		workHours(r, &p.WorkHours),
		offHours(r, &p.OffHours),
		idle(r, &p.Idle),
		optional(choice("ttlFrom", &p.TTLFrom, TTLFromAccepted, TTLFromActivity)),
		optional(r.inner("sleep", choice("mode", &p.Sleep, SleepWorkers, SleepStopped, SleepNever))),
		optional(choice("account", &p.Account, ExclusiveAccount)),
		spot(r, &p.Spot),
		allowList(r, "versions", &p.Versions, "a version such as \"4.20.3\", in quotes", versionForm.MatchString),
		allowList(r, "baseDomains", &p.BaseDomains, "a lowercase DNS domain", domain),
		regions(r, p, machineRegion),
		r.inner("controlPlane",
			whole("replicas", &p.ControlPlane.Replicas, 1, 3), instance(&p.ControlPlane.InstanceType), boolean("schedulable", &p.ControlPlane.Schedulable)),
		r.inner("workers",
			whole("replicas", &p.Workers.Replicas, 0, mostWorkers), instance(&p.Workers.InstanceType),
			optional(whole("minReplicas", &p.Workers.Least, 0, mostWorkers)), optional(whole("maxReplicas", &p.Workers.Most, 0, mostWorkers))),
		r.inner("ttl", hours("defaultHours", &p.DefaultTTL, mostTTLHours), hours("maxHours", &p.MaxTTL, mostTTLHours)),
		span("grace", &p.Grace, mostGrace),
		optional(span("runGrace", &p.RunGrace, mostGrace)),
		optional(warnings(r, &p.WarnBefore)),
		optional(lifetime("maxAccess", &p.MaxAccess)),
		whole("attempts", &p.Attempts, 1, 5),
		r.inner("deadlines", span("create", &p.Deadlines.Create, 6*time.Hour), span("destroy", &p.Deadlines.Destroy, 6*time.Hour)),
		r.inner("networking",
			choice("networkType", &p.Networking.Type, "OVNKubernetes"),
			text("machineNetwork", &p.Networking.MachineNetwork, cidrText, cidr),
			text("clusterNetwork", &p.Networking.ClusterNetwork, cidrText, cidr),
			whole("hostPrefix", &p.Networking.HostPrefix, 16, 28),
			text("serviceNetwork", &p.Networking.ServiceNetwork, cidrText, cidr)),
		publish(r, &p.Publish),
		optional(choice("loadBalancer", &p.LoadBalancer, "NLB")), // see compare; a Classic load balancer uses another API than the one that the teardown counts with
		r.inner("tags", boolean("allowUser", &p.AllowUserTags)),
		addonsField(r, &p.Addons),
		optional(choice("whenFull", &p.WhenFull, WhenFullRefuse, WhenFullWait)),
		text("pricesAsOf", &p.PricesAsOf, "a date in quotes, YYYY-MM-DD", date),
		kind("Profile"),
	}
}

// publish reads how a cluster's API is published. An internal one is reached only from a network that is there before the cluster, and no
// field names one: its runner would wait in vain for an API that it cannot reach. Clusters that were accepted as internal stay what they are.
func publish(r *reader, into *string) field {
	f := choice("publish", into, "External")
	read := f.read
	f.read = func(n *yaml.Node, path string) bool {
		if scalar(n, "!!str") && n.Value == "Internal" {
			r.failOn(n, path, "Internal is not supported, because a profile cannot name the network from which the cluster would be reached", "External")
			return true
		}
		return read(n, path)
	}
	return f
}

// usualRunGrace is the grace of a profile that names none: time to look at a failure and to run its jobs again.
const usualRunGrace = 15 * time.Minute

// usualWarnings are the times of a profile that names none.
var usualWarnings = []time.Duration{time.Hour, 15 * time.Minute}

// warnings reads how long before the end of a cluster its people are warned.
func warnings(r *reader, into *[]time.Duration) field {
	accept := fmt.Sprintf("a duration such as 60m, from %s to %gh, each once and at most %d of them", duration.Typed(leastWarning), mostWarning.Hours(), mostWarnings)
	return r.items("warnBeforeDestroy", accept, func(n *yaml.Node, _ string) bool {
		d, ok := duration.Parse(n.Value)
		if !scalar(n, "!!str") || !ok || d < leastWarning || d > mostWarning || slices.Contains(*into, d) || len(*into) == mostWarnings {
			return false
		}
		*into = append(*into, d)
		return true
	})
}

// lifetime reads how long a kubeconfig may be valid.
func lifetime(name string, into *time.Duration) field {
	f := span(name, into, mostTTLHours*time.Hour)
	f.accept = fmt.Sprintf("a duration such as 4h, from %s to %dh", duration.Typed(LeastAccess), mostTTLHours)
	read := f.read
	f.read = func(n *yaml.Node, path string) bool { return read(n, path) && *into >= LeastAccess }
	return f
}

// allowList reads an allow-list of strings with its default.
func allowList(r *reader, name string, into *Allowed, accept string, ok func(string) bool) field {
	return r.inner(name,
		r.items("allow", accept, func(n *yaml.Node, _ string) bool {
			into.Allow = append(into.Allow, n.Value)
			return scalar(n, "!!str") && ok(n.Value)
		}),
		text("default", &into.Default, accept, ok))
}

// machineRegion describes a region with zones and prices of machines.
func machineRegion(r *reader, region *Region) []field {
	return []field{
		text("name", &region.Name, "a region such as us-east-1 or us-south", isFilled),
		zoneList(r, "zones", &region.Zones),
		optional(zoneList(r, "spareZones", &region.SpareZones)),
		optional(r.texts("fallback", &region.Fallback, "another region of the list", isFilled)),
		optional(whole("hourlyCents", &region.HourlyCents, 1, 100_000)),
		optional(asleepCents(region)),
	}
}

// regions reads the allow-list of regions; fields describes one.
func regions(r *reader, p *Profile, fields func(*reader, *Region) []field) field {
	return r.inner("regions",
		r.items("allow", "a mapping with "+r.names(fields(r, &Region{})), func(n *yaml.Node, path string) bool {
			var region Region
			r.object(n, path, fields(r, &region)...)
			p.Regions = append(p.Regions, region)
			return true
		}),
		text("default", &p.DefaultRegion, "a region of the list", isFilled))
}

func zoneList(r *reader, name string, into *[]string) field {
	return r.items(name, "a zone such as us-east-1a or us-south-1", func(n *yaml.Node, _ string) bool {
		*into = append(*into, n.Value)
		return scalar(n, "!!str")
	})
}

// asleepCents reads what an hour costs while a cluster is asleep.
func asleepCents(region *Region) field {
	var cents int
	f := whole("asleepCents", &cents, 0, 100_000)
	read := f.read
	f.read = func(n *yaml.Node, path string) bool { return read(n, path) && put(&region.AsleepCents, &cents) }
	return f
}

func instance(into *string) field {
	return text("instanceType", into, "an instance type such as m6i.xlarge or bx2-4x16", isFilled)
}

// profileNameAccept excludes "keep": ocp/keep is the label that holds a pull request's clusters.
const profileNameAccept = nameAccept + "; not keep"

func profileName(name string) bool { return nameForm.MatchString(name) && name != "keep" }

const nameAccept = "lowercase letters, digits and dashes, at most 40, starting with a letter"

const cidrText = "an IPv4 network such as 10.0.0.0/16"

func cidr(s string) bool {
	prefix, err := netip.ParsePrefix(s)
	return err == nil && prefix.Addr().Is4() && prefix == prefix.Masked()
}

func domain(s string) bool { return len(s) <= mostDomain && domainForm.MatchString(s) }

func isFilled(s string) bool { return strings.TrimSpace(s) != "" }

func date(s string) bool {
	_, err := time.Parse(time.DateOnly, s)
	return err == nil
}
