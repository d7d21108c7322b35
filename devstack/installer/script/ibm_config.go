package script

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/ocpctl/ocpctl/devstack/installer"
	"github.com/ocpctl/ocpctl/devstack/installer/release"
	"github.com/ocpctl/ocpctl/devstack/installer/resources/ibmcloud"
	"github.com/ocpctl/ocpctl/devstack/must"
)

type ibmMachinePlatform struct {
	Type       string           `yaml:"type" json:"type,omitempty"`
	Zones      []string         `yaml:"zones" json:"zones,omitempty"`
	BootVolume map[string]any   `yaml:"bootVolume" json:"bootVolume,omitempty"`
	Hosts      []map[string]any `yaml:"dedicatedHosts" json:"dedicatedHosts,omitempty"`
}

type ibmPlatform struct {
	Region              string              `yaml:"region" json:"region"`
	ResourceGroup       string              `yaml:"resourceGroupName" json:"resourceGroupName,omitempty"`
	NetworkGroup        string              `yaml:"networkResourceGroupName" json:"networkResourceGroupName,omitempty"`
	VPC                 string              `yaml:"vpcName" json:"vpcName,omitempty"`
	ControlPlaneSubnets []string            `yaml:"controlPlaneSubnets" json:"controlPlaneSubnets,omitempty"`
	ComputeSubnets      []string            `yaml:"computeSubnets" json:"computeSubnets,omitempty"`
	Default             *ibmMachinePlatform `yaml:"defaultMachinePlatform" json:"defaultMachinePlatform,omitempty"`
	ServiceEndpoints    []map[string]any    `yaml:"serviceEndpoints" json:"serviceEndpoints,omitempty"`
}

// onIBMCloud is the platform IBM Cloud.
type onIBMCloud struct{}

func (onIBMCloud) name() string         { return "ibmcloud" }
func (onIBMCloud) infraCluster() string { return "IBMVPCCluster" }
func (onIBMCloud) infraMachine() string { return "IBMVPCMachine" }
func (onIBMCloud) defaultType() string  { return "bx2-4x16" }

func (onIBMCloud) mints(string) bool { return false }

var validProfile = regexp.MustCompile(`^[a-z0-9]+-[0-9]+x[0-9]+`)

// validate lists what is wrong without a look at the cloud.
func (o onIBMCloud) validate(c installConfig) (wrong []string) {
	p := c.Platform.IBM
	add := func(ok bool, format string, args ...any) {
		if !ok {
			wrong = append(wrong, fmt.Sprintf(format, args...))
		}
	}
	add(p.Region != "", "platform.ibmcloud.region: Required value: region must be specified")
	add(c.CredentialsMode == "" || c.CredentialsMode == "Manual", `credentialsMode: Unsupported value: %q: supported values: "Manual"`, c.CredentialsMode)
	add((p.VPC == "") == (p.NetworkGroup == ""), "platform.ibmcloud.vpcName: Invalid value: %q: vpcName and networkResourceGroupName must be given together", p.VPC)
	add(p.VPC == "", "platform.ibmcloud.vpcName: Invalid value: %q: the stand-in installs into a network of its own only", p.VPC)
	for _, pool := range append([]pool{{Name: "defaultMachinePlatform"}}, append(slices.Clone(c.Compute), deref(c.ControlPlane)...)...) {
		kind, zones := o.machines(c, &pool)
		if pool.Name == "defaultMachinePlatform" {
			kind, zones = o.machines(c, nil)
		}
		add(kind == "" || validProfile.MatchString(kind), "%s.platform.ibmcloud.type: Invalid value: %q", pool.Name, kind)
		for _, zone := range zones {
			add(strings.HasPrefix(zone, p.Region+"-"), "%s.platform.ibmcloud.zones: Invalid value: %q: zone not in configured region (%s)", pool.Name, zone, p.Region)
		}
	}
	return wrong
}

func deref(p *pool) []pool {
	if p == nil {
		return nil
	}
	return []pool{*p}
}

func (onIBMCloud) machines(c installConfig, p *pool) (kind string, zones []string) {
	of := c.Platform.IBM.Default
	if p != nil {
		of = p.Platform.IBM
	}
	if of == nil {
		return "", nil
	}
	return of.Type, of.Zones
}

func (onIBMCloud) manifests(a *assets, object objectWriter) map[string]string {
	return map[string]string{
		"cluster-api/01_ibmcloud-cluster.yaml": object("infrastructure.cluster.x-k8s.io/v1beta2", "IBMVPCCluster", "openshift-cluster-api-guests", a.infraID, ""),
		"manifests/cloud-provider-config.yaml": object("v1", "ConfigMap", "openshift-config", "cloud-provider-config",
			"data:\n  config: |\n    [provider]\n    clusterID = "+a.infraID+"\n    region = "+a.config.Platform.IBM.Region+"\n    g2ResourceGroupName = "+a.spec().Group()+"\n    g2VpcName = "+a.infraID+"-vpc\n"),
	}
}

// spec is the cluster, without the zones that the install-config leaves out.
func (a *assets) spec() ibmcloud.Spec {
	worker := a.config.machineType(nil)
	if len(a.config.Compute) > 0 {
		worker = a.config.machineType(&a.config.Compute[0])
	}
	return ibmcloud.Spec{
		InfraID: a.infraID, Name: a.config.Metadata.Name, BaseDomain: strings.TrimSuffix(a.config.BaseDomain, "."), Internal: a.config.Publish == "Internal",
		ResourceGroup: a.config.Platform.IBM.ResourceGroup, Zones: a.config.zones(), Masters: a.config.replicas(), Workers: a.config.workers(),
		MasterType: a.config.machineType(a.config.ControlPlane), WorkerType: worker,
	}
}

// describe writes what was looked up when metadata.json was first made. What could not be found then is empty.
func (onIBMCloud) describe(a *assets, m *metadata) { m.IBM = a.found }

// open checks the credentials, and what the real installer validates by live calls.
func (o onIBMCloud) open(ctx context.Context, r *run, a *assets) (_ account, err error) {
	defer must.Catch(&err)
	cloud, err := ibmcloud.Open(a.config.Platform.IBM.Region, r.Wrote, "IC_API_KEY")
	must.EndIf(err != nil, fail(exitGeneric, "%s", err))
	if !cloud.HasKey() {
		// The real installer asks for a key here, and reads the end of the input.
		fmt.Fprintln(r.out, "? IBM Cloud API Key [? for help] ")
		return nil, fail(exitGeneric, "failed to fetch Install Config: failed to create install config: failed to retrieve IBM Cloud credentials: EOF")
	}
	err = cloud.Login(ctx)
	must.EndIf(err != nil, fail(exitConfig, "failed to fetch Install Config: failed to create install config: failed to create IBM Cloud client: %s", err))
	wrong := o.live(ctx, cloud, a)
	must.EndIf(wrong != nil, fail(exitConfig, "failed to fetch Install Config: failed to create install config: %s", wrong))
	if a.found == nil {
		a.found = o.lookUp(ctx, r, cloud, a)
		must.Do(r.save(a))
	}
	return &ibmAccount{cloud}, nil
}

// live are the checks that need the cloud: resource group, sizes, zones of the region, the DNS zone.
func (o onIBMCloud) live(ctx context.Context, cloud *ibmcloud.Cloud, a *assets) (err error) {
	defer must.Catch(&err)
	spec := a.spec()
	if spec.ResourceGroup != "" {
		if _, err := cloud.FindGroup(ctx, spec.ResourceGroup); errors.Is(err, ibmcloud.ErrNoGroup) {
			return fmt.Errorf("platform.ibmcloud.resourceGroupName: Not found: %q", spec.ResourceGroup)
		} else if err != nil {
			return err
		}
	}
	for _, kind := range []string{spec.MasterType, spec.WorkerType} {
		if known, err := cloud.HasProfile(ctx, kind); err != nil {
			return err
		} else if !known {
			return fmt.Errorf("platform.ibmcloud.type: Not found: %q", kind)
		}
	}
	known := must.Get(cloud.AvailableZones(ctx))
	for _, zone := range spec.Zones {
		must.FailIf(!slices.Contains(known, zone),
			"platform.ibmcloud.zones: Invalid value: %q: zone not in configured region (%s)", zone, cloud.Region)
	}
	_, err = cloud.FindZone(ctx, spec.BaseDomain, spec.Internal)
	must.Wrap(err, "baseDomain: Invalid value: %q", spec.BaseDomain)
	return nil
}

// lookUp is what metadata.json says of the account. The real installer ignores every error here, and writes empty values.
func (onIBMCloud) lookUp(ctx context.Context, r *run, cloud *ibmcloud.Cloud, a *assets) *ibmcloud.Metadata {
	spec := a.spec()
	m := &ibmcloud.Metadata{BaseDomain: spec.BaseDomain, Region: cloud.Region, ResourceGroupName: spec.Group()}
	if r.Leaks(installer.LeakMetadata) {
		return m
	}
	m.AccountID = cloud.Account
	zone, err := cloud.FindZone(ctx, spec.BaseDomain, spec.Internal)
	switch {
	case err != nil:
	case spec.Internal:
		m.DNSInstanceID = zone.Instance
	default:
		m.CISInstanceCRN = zone.Instance
	}
	return m
}

// ibmAccount is one region of an IBM Cloud account.
type ibmAccount struct{ *ibmcloud.Cloud }

func (*ibmAccount) requests() []release.Request { return release.IBMRequests() }

var apiKeyLine = regexp.MustCompile(`ibmcloud_api_key: (\S+)`)

// usable: the API key in the Secret has to work.
func (c *ibmAccount) usable(ctx context.Context, a *assets, request release.Request) (bool, error) {
	for _, secret := range a.credentials {
		if m := apiKeyLine.FindSubmatch(secret.Data); secret.Filename == "manifests/"+request.File() && m != nil {
			return c.KeyWorks(ctx, string(m[1]))
		}
	}
	return false, nil
}

func (c *ibmAccount) newBuild(ctx context.Context, i *install) (build, error) {
	spec := i.spec()
	if len(spec.Zones) == 0 {
		var err error
		if spec.Zones, err = c.AvailableZones(ctx); err != nil {
			return nil, fail(exitGeneric, "failed to fetch Master Machines: %s", err)
		}
	}
	return &ibmBuild{i, c.NewBuild(spec)}, nil
}
