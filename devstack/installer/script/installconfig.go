package script

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"golang.org/x/crypto/ssh"

	"github.com/ocpctl/ocpctl/devstack/must"
)

// installConfig is the part of install-config.yaml that the stand-in uses, and the other fields that it knows.
type installConfig struct {
	APIVersion      string           `yaml:"apiVersion" json:"apiVersion"`
	BaseDomain      string           `yaml:"baseDomain" json:"baseDomain"`
	Metadata        configMetadata   `yaml:"metadata" json:"metadata"`
	CredentialsMode string           `yaml:"credentialsMode" json:"credentialsMode,omitempty"`
	ControlPlane    *pool            `yaml:"controlPlane" json:"controlPlane,omitempty"`
	Compute         []pool           `yaml:"compute" json:"compute,omitempty"`
	Platform        platform         `yaml:"platform" json:"platform"`
	Publish         string           `yaml:"publish" json:"publish,omitempty"`
	PullSecret      string           `yaml:"pullSecret" json:"pullSecret"`
	SSHKey          string           `yaml:"sshKey" json:"sshKey,omitempty"`
	FIPS            bool             `yaml:"fips" json:"fips,omitempty"`
	Networking      map[string]any   `yaml:"networking" json:"networking,omitempty"`
	Capabilities    map[string]any   `yaml:"capabilities" json:"capabilities,omitempty"`
	Proxy           map[string]any   `yaml:"proxy" json:"proxy,omitempty"`
	Digests         []map[string]any `yaml:"imageDigestSources" json:"imageDigestSources,omitempty"`
	TrustBundle     string           `yaml:"additionalTrustBundle" json:"additionalTrustBundle,omitempty"`
	Partitioning    string           `yaml:"cpuPartitioningMode" json:"cpuPartitioningMode,omitempty"`
	FeatureSet      string           `yaml:"featureSet" json:"featureSet,omitempty"`
	Arbiter         map[string]any   `yaml:"arbiter" json:"arbiter,omitempty"`
}

type configMetadata struct {
	Name              string `yaml:"name" json:"name"`
	CreationTimestamp any    `yaml:"creationTimestamp" json:"creationTimestamp"`
}

type pool struct {
	Name           string `yaml:"name" json:"name"`
	Replicas       *int   `yaml:"replicas" json:"replicas"`
	Architecture   string `yaml:"architecture" json:"architecture,omitempty"`
	Hyperthreading string `yaml:"hyperthreading" json:"hyperthreading,omitempty"`
	Platform       struct {
		AWS *machinePlatform    `yaml:"aws" json:"aws,omitempty"`
		IBM *ibmMachinePlatform `yaml:"ibmcloud" json:"ibmcloud,omitempty"`
	} `yaml:"platform" json:"platform"`
}

type machinePlatform struct {
	Type       string         `yaml:"type" json:"type,omitempty"`
	Zones      []string       `yaml:"zones" json:"zones,omitempty"`
	RootVolume map[string]any `yaml:"rootVolume" json:"rootVolume,omitempty"`
	AMIID      string         `yaml:"amiID" json:"amiID,omitempty"`
	IAMRole    string         `yaml:"iamRole" json:"iamRole,omitempty"`
	IAMProfile string         `yaml:"iamProfile" json:"iamProfile,omitempty"`
	Metadata   map[string]any `yaml:"metadataService" json:"metadataService,omitempty"`
	Groups     []string       `yaml:"additionalSecurityGroupIDs" json:"additionalSecurityGroupIDs,omitempty"`
}

type platform struct {
	AWS *awsPlatform `yaml:"aws" json:"aws,omitempty"`
	IBM *ibmPlatform `yaml:"ibmcloud" json:"ibmcloud,omitempty"`
}

// parseConfig parses install-config.yaml. An unknown key is only a warning, as in the real installer.
func parseConfig(raw []byte) (config installConfig, unknown, err error) {
	decoder := yaml.NewDecoder(bytes.NewReader(raw))
	decoder.KnownFields(true)
	unknown = decoder.Decode(&config)
	if unknown == nil || errors.Is(unknown, io.EOF) {
		return config, nil, nil
	}
	config = installConfig{}
	if err := yaml.Unmarshal(raw, &config); err != nil {
		return config, nil, fmt.Errorf("failed to unmarshal install-config.yaml: %w", err)
	}
	return config, unknown, nil
}

var (
	validName   = regexp.MustCompile(`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`)
	validModes  = []string{"", "Mint", "Passthrough", "Manual"}
	validPublic = []string{"", "External", "Internal"}
)

// validate lists what is wrong, with the real installer's texts. It prints an invalid pull secret completely, as the real installer
// does.
func (c installConfig) validate() []string {
	var wrong []string
	add := func(ok bool, format string, args ...any) {
		if !ok {
			wrong = append(wrong, fmt.Sprintf(format, args...))
		}
	}
	add(c.APIVersion == "v1", `apiVersion: Invalid value: %q: install-config version must be "v1"`, c.APIVersion)
	add(c.Metadata.Name != "", "metadata.name: Required value: cluster name required")
	add(c.Metadata.Name == "" || validName.MatchString(c.Metadata.Name) && len(c.Metadata.Name) <= 54,
		"metadata.name: Invalid value: %q: a lowercase RFC 1123 subdomain of at most 54 characters", c.Metadata.Name)
	add(validName.MatchString(strings.TrimSuffix(c.BaseDomain, ".")), "baseDomain: Invalid value: %q: a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters", c.BaseDomain)
	add(slices.Contains(validModes, c.CredentialsMode), "credentialsMode: Unsupported value: %q", c.CredentialsMode)
	add(slices.Contains(validPublic, c.Publish), "publish: Unsupported value: %q", c.Publish)
	add(c.replicas() > 0, "controlPlane.replicas: Invalid value: 0: number of control plane replicas must be positive")
	if on := c.on(); on == nil {
		add(false, "platform: Invalid value: \"\": must specify one of the platforms (aws, ibmcloud)")
	} else {
		wrong = append(wrong, on.validate(c)...)
	}
	if c.SSHKey != "" {
		_, _, _, _, err := ssh.ParseAuthorizedKey([]byte(c.SSHKey))
		add(err == nil, "sshKey: Invalid value: %q: %s", c.SSHKey, err)
	}
	if err := validPullSecret(c.PullSecret); err != nil {
		add(false, "pullSecret: Invalid value: %q: %s", c.PullSecret, err)
	}
	return wrong
}

func validPullSecret(raw string) (err error) {
	defer must.Catch(&err)
	var secret struct {
		Auths map[string]map[string]any `json:"auths"`
	}
	must.Do(json.Unmarshal([]byte(raw), &secret))
	must.FailIf(len(secret.Auths) == 0, "auths required")
	for host, auth := range secret.Auths {
		must.FailIf(auth["auth"] == nil && auth["credsStore"] == nil, "%q requires either auth or credsStore", host)
	}
	return nil
}

func (c installConfig) replicas() int {
	if c.ControlPlane == nil || c.ControlPlane.Replicas == nil {
		return 3
	}
	return *c.ControlPlane.Replicas
}

func (c installConfig) workers() int {
	if len(c.Compute) == 0 {
		return 3
	}
	n := 0
	for _, p := range c.Compute {
		if p.Replicas == nil {
			n += 3
		} else {
			n += *p.Replicas
		}
	}
	return n
}

func (c installConfig) domain() string {
	return c.Metadata.Name + "." + strings.TrimSuffix(c.BaseDomain, ".")
}

// machineType returns a pool's type, with the platform's and the installer's default.
func (c installConfig) machineType(p *pool) string {
	on := c.on()
	kind, _ := on.machines(c, p)
	fallback, _ := on.machines(c, nil)
	return cmp.Or(kind, fallback, on.defaultType())
}

// zones returns the union of the pools' zones; nil if a pool names none, which means all of the region.
func (c installConfig) zones() []string {
	_, fallback := c.on().machines(c, nil)
	pools := c.Compute
	if c.ControlPlane != nil {
		pools = append([]pool{*c.ControlPlane}, pools...)
	}
	if len(pools) == 0 {
		return fallback
	}
	var union []string
	for i := range pools {
		_, zones := c.on().machines(c, &pools[i])
		if len(zones) == 0 {
			zones = fallback
		}
		if len(zones) == 0 {
			return nil
		}
		union = append(union, zones...)
	}
	slices.Sort(union)
	return slices.Compact(union)
}
