package profiles

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/ocpctl/ocpctl/internal/kinds"
)

// MaxName is the longest cluster name. The installer cuts names to 21 characters for the infraID, and clusters with cut names could
// not be told apart.
const MaxName = 21

// NameForm is the pattern of a cluster name. The installer also accepts dots; load balancers and buckets do not.
var NameForm = regexp.MustCompile(`^[a-z]([-a-z0-9]*[a-z0-9])?$`)

// InstallInput is what a grant adds to a profile for rendering.
type InstallInput struct {
	Name, BaseDomain, Region, Version string
	Zones                             []string          // empty: the profile's zones for the region
	Tags                              map[string]string // effective tags: ours and the user's
}

// InstallConfig renders the installer's install-config.yaml without pullSecret and sshKey, and on IBM Cloud without resourceGroupName,
// which the runner adds. Of a kind that no installer makes it renders that kind's own document. The result has passed Strict. It does not contain the version, which selects the installer's binary. The error names everything that is wrong.
func (p Profile) InstallConfig(in InstallInput) ([]byte, error) {
	if !kinds.Can(p.Provisioner, kinds.Installer) {
		return p.kindDocument(in)
	}
	if len(in.Zones) == 0 {
		region, _ := p.Region(in.Region)
		in.Zones = region.Zones
	}
	var out bytes.Buffer
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	if err := encoder.Encode(p.installConfig(in)); err != nil {
		return nil, fmt.Errorf("render install-config of %s: %w", p.Name, err)
	}
	if err := errors.Join(p.offers(in), Strict(out.Bytes())); err != nil {
		return nil, fmt.Errorf("render install-config of %s: %w", p.Name, err)
	}
	return out.Bytes(), nil
}

// PublishOf returns what a rendered install-config says of publish: External or Internal; empty: it says nothing.
func PublishOf(config string) string {
	var parsed struct{ Publish string }
	_ = yaml.Unmarshal([]byte(config), &parsed) // Strict has accepted it; a cluster that was recovered has none
	return parsed.Publish
}

// offers repeats policy's check that the profile's lists contain what is requested.
func (p Profile) offers(in InstallInput) error {
	var wrong []error
	say := func(bad bool, format string, args ...any) {
		if bad {
			wrong = append(wrong, fmt.Errorf(format, args...))
		}
	}
	say(!p.BaseDomains.Has(in.BaseDomain), "base domain %q; accepted: %s", in.BaseDomain, strings.Join(p.BaseDomains.Allow, ", "))
	say(!p.Versions.Has(in.Version), "version %q; accepted: %s", in.Version, strings.Join(p.Versions.Allow, ", "))
	region, known := p.Region(in.Region)
	say(!known, "region %q; accepted: %s", in.Region, strings.Join(p.RegionNames(), ", "))
	for _, zone := range in.Zones {
		say(known && !slices.Contains(region.Zones, zone), "zone %q; accepted: %s", zone, strings.Join(region.Zones, ", "))
	}
	return errors.Join(wrong...)
}

func (p Profile) installConfig(in InstallInput) installConfig {
	pool := func(name string, replicas int, instanceType string) machinePool {
		return machinePool{Name: name, Replicas: replicas, Platform: poolPlatform{p.Platform: {Type: instanceType, Zones: in.Zones}}}
	}
	c := installConfig{
		APIVersion:      "v1",
		BaseDomain:      in.BaseDomain,
		Metadata:        metadata{Name: in.Name},
		CredentialsMode: p.CredentialsMode,
		ControlPlane:    pool("master", p.ControlPlane.Replicas, p.ControlPlane.InstanceType),
		Compute:         []machinePool{pool("worker", p.Workers.Replicas, p.Workers.InstanceType)},
		Networking: networking{
			NetworkType:    p.Networking.Type,
			MachineNetwork: []machineNetwork{{CIDR: p.Networking.MachineNetwork}},
			ClusterNetwork: []clusterNetwork{{CIDR: p.Networking.ClusterNetwork, HostPrefix: p.Networking.HostPrefix}},
			ServiceNetwork: []string{p.Networking.ServiceNetwork},
		},
		Publish: p.Publish,
	}
	switch zones := (zonesOf{in.Zones}); p.Platform {
	case "aws":
		c.Platform.AWS = &awsPlatform{Region: in.Region, Default: zones, UserTags: in.Tags, PropagateUserTags: true, LBType: p.LoadBalancer}
	case "ibmcloud": // its tags are attached to the resources once they are there
		c.Platform.IBMCloud = &ibmPlatform{Region: in.Region, Default: zones}
	}
	return c
}
