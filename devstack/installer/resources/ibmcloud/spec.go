package ibmcloud

import "strings"

// The catalogue's ids of services and plans that the installer knows.
const (
	storageService  = "dff97f5c-bc5e-4455-b470-411c3edbe49c"
	storagePlan     = "744bfc56-d12c-4866-88d5-dac9139e0e5d"
	internetService = "75874a60-cb12-11e7-948e-37ac098eb1b9"
	dnsService      = "b4ed8a30-936f-11e9-b289-1d079699cbe5"
)

// Spec is what to create.
type Spec struct {
	InfraID          string
	Name, BaseDomain string
	Internal         bool // its names are in DNS Services, and it has no public addresses
	ResourceGroup    string
	Zones            []string
	Masters, Workers int
	MasterType       string
	WorkerType       string
}

// Domain is the name below which the cluster's records are.
func (s Spec) Domain() string { return s.Name + "." + strings.TrimSuffix(s.BaseDomain, ".") }

// Group is the name of the resource group: the given one, or the one that the installer makes.
func (s Spec) Group() string {
	if s.ResourceGroup != "" {
		return s.ResourceGroup
	}
	return s.InfraID
}

// Build creates one cluster's resources, step by step. It remembers ids only within one process, and finds the rest by name.
type Build struct {
	*Cloud
	Spec

	group         string            // id of the resource group
	storage       reference         // the installer's own Object Storage
	vpc           reference         //
	image         string            //
	gateways      map[string]string // by zone
	subnets       map[string]string // by name
	groups        map[string]string // security groups by name
	public, local balancer
	bootstrapNIC  string
}

// NewBuild returns a Build that has created nothing yet.
func (c *Cloud) NewBuild(s Spec) *Build {
	return &Build{Cloud: c, Spec: s, gateways: map[string]string{}, subnets: map[string]string{}, groups: map[string]string{}}
}

// reference is what a service says about a resource, as far as the stand-in needs it.
type reference struct {
	ID     string `json:"id"`
	CRN    string `json:"crn"`
	GUID   string `json:"guid"`
	Name   string `json:"name"`
	Status string `json:"status"`
}

type balancer struct {
	ID       string `json:"id"`
	Name     string `json:"name"`
	Hostname string `json:"hostname"`
	Status   string `json:"provisioning_status"`
}

func id(of string) map[string]string      { return map[string]string{"id": of} }
func named(name string) map[string]string { return map[string]string{"name": name} }
