package installer

import (
	"errors"
	"fmt"

	"go.yaml.in/yaml/v3"

	"github.com/ocpctl/ocpctl/internal/secret"
)

// Pasted are the fields of an install-config that are not frozen with it. An empty one leaves the existing value.
type Pasted struct {
	PullSecret      secret.Text
	SSHKey          string // public key
	CredentialsMode string
	ResourceGroup   string // of IBM Cloud
}

// Paste adds the missing fields to a frozen install-config. The result contains the pull secret.
func Paste(frozen string, p Pasted) ([]byte, error) {
	var config map[string]any
	if err := yaml.Unmarshal([]byte(frozen), &config); err != nil || config == nil {
		return nil, errors.New("the frozen install-config is not a YAML object")
	}
	for field, value := range map[string]string{"pullSecret": p.PullSecret.Reveal(), "sshKey": p.SSHKey, "credentialsMode": p.CredentialsMode} {
		if value != "" {
			config[field] = value
		}
	}
	if p.ResourceGroup != "" {
		platform, _ := config["platform"].(map[string]any)
		part, ok := platform["ibmcloud"].(map[string]any)
		if !ok {
			return nil, errors.New("the frozen install-config has no platform.ibmcloud")
		}
		part["resourceGroupName"] = p.ResourceGroup
	}
	raw, err := yaml.Marshal(config)
	if err != nil {
		return nil, fmt.Errorf("render install-config: %w", err)
	}
	return raw, nil
}
