package platform

import (
	"strings"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/internal/secret"
	"github.com/ocpctl/ocpctl/runner/cloud"
)

type ibmCloud struct{}

// DefaultType implements Platform (openshift/installer pkg/types/ibmcloud/defaults/machinepool.go).
func (ibmCloud) DefaultType() string { return "bx2-4x16" }

// ParseKeys implements Platform: {"ibmcloud_api_key": …}.
func (ibmCloud) ParseKeys(document secret.Text) (cloud.Keys, error) {
	values, err := stringsOf(document, `{"ibmcloud_api_key":"…"}`, "ibmcloud_api_key")
	if err != nil {
		return cloud.Keys{}, err
	}
	return cloud.Keys{Secret: secret.New(values[0])}, nil
}

// KeyFile implements Platform: the installer and ccoctl read no file.
func (ibmCloud) KeyFile([]string, cloud.Keys) (name string, content secret.Text) {
	return "", secret.Text{}
}

// Environment implements Platform. The API key is in the environment, because the programs read it nowhere else; no other credential of the
// runner's own environment reaches them.
func (ibmCloud) Environment(own []string, keys cloud.Keys, _ string) map[string]string {
	env := map[string]string{}
	for _, pair := range own {
		if key, value, _ := strings.Cut(pair, "="); strings.HasPrefix(key, "IBMCLOUD_") && !secret.IBMVariable(key) {
			env[key] = value
		}
	}
	if !keys.Empty() {
		env["IC_API_KEY"] = keys.Secret.Reveal() // the first that ccoctl and the installer look for (cloud-credential-operator pkg/cmd/provisioning/ibmcloud, APIKeyEnvVars)
	}
	return env
}

// CreateCredentials implements Platform. The service IDs may do what they need in the cluster's own resource group only.
func (ibmCloud) CreateCredentials(c Credentials) []string {
	return []string{"ibmcloud", "create-service-id", "--name", c.Name, "--resource-group-name", c.Name,
		"--credentials-requests-dir", c.Requests, "--output-dir", c.Out}
}

// DeleteCredentials implements Platform. A service ID that exists twice, as after a create that was killed and repeated, is deleted twice.
func (ibmCloud) DeleteCredentials(c Credentials) []string {
	return []string{"ibmcloud", "delete-service-id", "--name", c.Name, "--credentials-requests-dir", c.Requests, "--force"}
}

// DeleteNeedsRequests implements Platform: ccoctl derives the names of service IDs from them.
func (ibmCloud) DeleteNeedsRequests() bool { return true }

// SigningKey implements Platform: operators use API keys, not tokens.
func (ibmCloud) SigningKey() bool { return false }

// TestCredentials implements Platform. The CLI reads the key from its own variable; the files that it reads are its own, not the reference's.
func (ibmCloud) TestCredentials() string {
	return `IBMCLOUD_API_KEY="$(jq -r .ibmcloud_api_key key.json)" ibmcloud login --no-region && ibmcloud account show`
}

// ReplaceControlPlane implements Platform: there are no control plane machine sets on IBM Cloud VPC.
func (ibmCloud) ReplaceControlPlane(string) string {
	return "request a new cluster, because on IBM Cloud nothing replaces a machine of the control plane"
}

// LimitsAt implements Platform: IBM Cloud raises limits on request only.
func (ibmCloud) LimitsAt(string, contract.Quota) string {
	return "https://cloud.ibm.com/unifiedsupport/cases/form"
}
