// Package profiles is the catalogue: what a cluster may look like, how long it may live and what it costs.
//
// A profile is a YAML file. It is read strictly: anything unknown, missing or out of bounds is an error with file, line and field,
// and all errors are reported at once. The package renders the installer's install-config from a profile and a granted request. It
// must never hold or render a secret (the runner adds pull secret and SSH key), and its only I/O is reading the files it is given.
package profiles

import (
	"slices"
	"time"

	"github.com/ocpctl/ocpctl/internal/kinds"
	"github.com/ocpctl/ocpctl/internal/price/list"
	"github.com/ocpctl/ocpctl/internal/workhours"
)

// Profile describes a kind of cluster and its bounds. It is read once and never changed.
type Profile struct {
	Name, DisplayName, Description string

	Platform        string // one of platforms: "aws", "ibmcloud" or "kubernetes"
	Provisioner     string // the kind of its clusters, see internal/kinds
	Enabled         bool
	DisabledReason  string // shown to people; set exactly if not Enabled
	CredentialsMode string // the installer's credentialsMode: Manual (ccoctl makes roles) or Mint (the runner's own keys are stored in the cluster)
	AdminOnly       bool   // only for platform admins; always set with Mint
	IsDefault       bool   // for requests that name no profile
	TeamBreakGlass  bool   // with Mint: only platform admins of the cluster's team may approve access to its kubeadmin password

	Versions     Allowed
	BaseDomains  Allowed
	Regions      []Region // the default region is DefaultRegion
	ControlPlane ControlPlane
	Workers      Workers
	Sleep        string // how its clusters sleep: SleepWorkers, SleepStopped or SleepNever
	Account      string // ExclusiveAccount: each of its clusters has a cloud account for itself; empty: none has
	Spot         string // SpotWorkers: their workers are spot machines of AWS; empty: none of their machines is

	WorkHours workhours.Schedule // when people work with its clusters; empty: as the team says
	OffHours  OffHours
	Idle      Idle   // what is done about clusters that nobody uses
	TTLFrom   string // from when their time to live counts: TTLFromAccepted or TTLFromActivity

	DefaultRegion string

	DefaultTTL time.Duration // in real hours; a demo scales them (policy.Settings)
	MaxTTL     time.Duration
	Grace      time.Duration   // after the pull request was closed or the label removed
	RunGrace   time.Duration   // after the run of a pipeline failed; see lifecycle.GraceAfter
	WarnBefore []time.Duration // how long before its end a ready cluster's people are warned, the longest first
	MaxAccess  time.Duration   // how long a kubeconfig may be valid; zero: as the installation says
	Attempts   int             // create attempts
	Deadlines  Deadlines

	Networking    Networking
	Publish       string // External
	LoadBalancer  string // the ingress's load balancer on aws: NLB; empty elsewhere
	AllowUserTags bool
	PricesAsOf    string // date of the list prices, YYYY-MM-DD
	Addons        Addons
	Namespace     kinds.NamespaceOrder // of the kind of that name
	Hosted        kinds.HostedOrder    // of the kind hypershift
	WhenFull      string               // what happens if a quota is full: WhenFullRefuse (default) or WhenFullWait
}

// What happens to requests for the profile if a quota is full.
const (
	WhenFullRefuse = "refuse"
	WhenFullWait   = "wait" // accepted, begins when there is room
)

// Nodes returns how many machines a cluster of the profile has.
func (p Profile) Nodes() int { return p.ControlPlane.Replicas + p.Workers.Replicas }

// Allowed is an allow-list with a default.
type Allowed struct {
	Allow   []string
	Default string
}

// Has reports whether value may be requested.
func (a Allowed) Has(value string) bool { return slices.Contains(a.Allow, value) }

// Region is a region in which a cluster may be created.
type Region struct {
	Name         string
	Zones        []string // explicit, because without them the installer uses every zone of the region
	Fallback     []string // regions that take the place of this one, in this order, while it gets no new cluster
	SpareZones   []string // in whose order a later try replaces a zone that had no capacity
	HourlyCents  int      // list price of one cluster of this profile, US cents per hour; computed from the price list unless the file names it
	OnDemand     *int     // the same with all machines on demand; nil: they are
	AsleepCents  *int     // the same while it is asleep; computed like HourlyCents; nil: it never sleeps, or there is no price list
	WorkerMicros *int     // of HourlyCents, what each worker adds, in millionths of a dollar; nil: there is no price list
}

// FallsBack reports that another region may take the place of the default.
func (p Profile) FallsBack() bool {
	region, _ := p.Region(p.DefaultRegion)
	return len(region.Fallback) > 0
}

// How the clusters of a profile sleep.
const (
	SleepWorkers = "workers" // their workers are removed; what a profile that says nothing allows if its workers can be scaled
	SleepStopped = "stopped" // all their machines are stopped
	SleepNever   = "never"
)

// SpotWorkers says that a profile's workers are spot machines. The control plane never is.
const SpotWorkers = "workers"

// ControlPlane describes the control-plane machines.
type ControlPlane struct {
	Replicas     int
	InstanceType string
	Schedulable  bool // they also run workloads; true exactly when there are no workers
}

// Workers describes the worker machines.
type Workers struct {
	Replicas     int
	InstanceType string
	Least, Most  int // bounds of scaling; both equal to Replicas: scaling is not possible
}

// Deadlines limit one attempt.
type Deadlines struct {
	Create, Destroy time.Duration
}

// Networking is the cluster's networking, in the installer's terms.
type Networking struct {
	Type           string
	MachineNetwork string // CIDR
	ClusterNetwork string // CIDR
	HostPrefix     int
	ServiceNetwork string // CIDR
}

// Region looks a region up by name.
func (p Profile) Region(name string) (Region, bool) {
	for _, r := range p.Regions {
		if r.Name == name {
			return r, true
		}
	}
	return Region{}, false
}

// RegionNames lists the allowed regions in the profile's order.
func (p Profile) RegionNames() []string {
	names := make([]string, 0, len(p.Regions))
	for _, r := range p.Regions {
		names = append(names, r.Name)
	}
	return names
}

// Catalogue holds every profile, ordered by name, and the other objects. The zero value is empty.
type Catalogue struct {
	profiles []Profile

	Teams      []Team // ordered by name; empty: teams are not declared, and any name is valid
	Quotas     []Quota
	Policies   []Policy
	Identities []Identity
	People     []Person    // ordered by name
	Addons     []Addon     // ordered by name
	Pools      []Pool      // ordered by name
	Accounts   []Account   // ordered by name; none of a platform: its clusters are made in the account of the installation's own credentials
	Prices     []list.List `json:"-"` // ordered by cloud
	Hash       string      // SHA-256 over the files, first 12 hex digits; stored with every verdict

	places map[Object]Place
	files  map[string]string // content by path
}

// Without returns the catalogue of an installation that does not offer some platforms: their profiles are disabled, with the reason of the
// platform. A profile that is disabled by its file keeps its own reason.
func (c Catalogue) Without(platforms map[string]string) Catalogue {
	c.profiles = slices.Clone(c.profiles)
	for i, p := range c.profiles {
		if why, off := platforms[p.Platform]; off && p.Enabled {
			c.profiles[i].Enabled, c.profiles[i].DisabledReason = false, why
		}
	}
	return c
}

// OnlyBaseDomain returns the base domain of a platform if its profiles allow exactly one; else empty.
func (c Catalogue) OnlyBaseDomain(platform string) string {
	var only string
	for _, p := range c.profiles {
		for _, domain := range p.BaseDomains.Allow {
			if p.Platform == platform && only != "" && only != domain {
				return ""
			}
			if p.Platform == platform {
				only = domain
			}
		}
	}
	return only
}

// DefaultVersion returns the version that the first enabled profile of a platform installs unless it is told another one; empty if there
// is none.
func (c Catalogue) DefaultVersion(platform string) string {
	for _, p := range c.profiles {
		if p.Platform == platform && p.Enabled {
			return p.Versions.Default
		}
	}
	return ""
}

// Get looks a profile up by its exact name.
func (c Catalogue) Get(name string) (Profile, bool) {
	for _, p := range c.profiles {
		if p.Name == name {
			return p, true
		}
	}
	return Profile{}, false
}

// Names lists every profile, enabled or not, in alphabetical order.
func (c Catalogue) Names() []string {
	names := make([]string, 0, len(c.profiles))
	for _, p := range c.profiles {
		names = append(names, p.Name)
	}
	return names
}

// All returns every profile in alphabetical order. Callers must not change what the profiles point to.
func (c Catalogue) All() []Profile { return slices.Clone(c.profiles) }

// Team looks a team up by its exact name. declared is false if the catalogue declares no teams at all.
func (c Catalogue) Team(name string) (t Team, known, declared bool) {
	for _, t := range c.Teams {
		if t.Name == name {
			return t, true, true
		}
	}
	return Team{}, false, len(c.Teams) > 0
}

// Default returns the profile for requests that name none, among the enabled profiles for everybody: the one with default: true, else the
// cheapest in its default region, and the first by name among equals. ok is false if there is none.
func (c Catalogue) Default() (p Profile, ok bool) { return c.DefaultOf([]string{"*"}) }

// DefaultOf is Default limited to profiles whose names match one of the globs.
func (c Catalogue) DefaultOf(globs []string) (p Profile, ok bool) {
	least := 0
	for _, candidate := range c.profiles {
		ofMachines := kinds.Can(candidate.Provisioner, kinds.Installer) || candidate.IsDefault // nobody is surprised by a smaller kind
		if !candidate.Enabled || candidate.AdminOnly || !ofMachines || !FitsAny(globs, candidate.Name) {
			continue
		}
		region, _ := candidate.Region(candidate.DefaultRegion)
		if candidate.IsDefault {
			return candidate, true
		}
		if !ok || region.HourlyCents < least {
			p, ok, least = candidate, true, region.HourlyCents
		}
	}
	return p, ok
}
