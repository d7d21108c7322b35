package platform

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/internal/secret"
	"github.com/ocpctl/ocpctl/runner/cloud"
)

type aws struct{}

// DefaultType implements Platform (openshift/installer pkg/types/aws/defaults/platform.go).
func (aws) DefaultType() string { return "m6i.xlarge" }

// ParseKeys implements Platform: {"aws_access_key_id": …, "aws_secret_access_key": …, "aws_session_token": …}; the last one is optional.
func (aws) ParseKeys(document secret.Text) (cloud.Keys, error) {
	values, err := stringsOf(document, `{"aws_access_key_id":"…","aws_secret_access_key":"…"}`, "aws_access_key_id", "aws_secret_access_key", "?aws_session_token")
	if err != nil {
		return cloud.Keys{}, err
	}
	return cloud.Keys{ID: values[0], Secret: secret.New(values[1]), Token: secret.New(values[2])}, nil
}

// KeyFile implements Platform with a shared-credentials file, which every SDK and tool of AWS reads: an environment can be read by anyone
// who may inspect the process. A role is assumed by the programs' SDK, which does it again before a session ends: an install takes longer than the
// hour that every role allows. https://docs.aws.amazon.com/sdkref/latest/guide/feature-assume-role-credentials.html
func (aws) KeyFile(own []string, k cloud.Keys) (name string, content secret.Text) {
	lines := []string{"[default]"}
	if k.Role.ARN != "" {
		lines = append(lines, "role_arn = "+k.Role.ARN, "external_id = "+k.Role.ExternalID, "role_session_name = "+k.Role.Session, "duration_seconds = 3600")
		if k.Empty() && isInContainer(own) {
			return "aws-credentials", secret.New(strings.Join(append(lines, "credential_source = EcsContainer\n"), "\n"))
		}
		lines = append(lines, "source_profile = "+baseProfile, "["+baseProfile+"]")
	}
	switch {
	case k.Empty():
		lines = append(lines, "role_arn = "+valueOf(own, "AWS_ROLE_ARN"), "web_identity_token_file = "+valueOf(own, "AWS_WEB_IDENTITY_TOKEN_FILE"), "role_session_name = "+k.Role.Session)
	default:
		lines = append(lines, "aws_access_key_id = "+k.ID, "aws_secret_access_key = "+k.Secret.Reveal())
		if !k.Token.Empty() {
			lines = append(lines, "aws_session_token = "+k.Token.Reveal())
		}
	}
	return "aws-credentials", secret.New(strings.Join(lines, "\n") + "\n")
}

// baseProfile has the credentials that assume a role.
const baseProfile = "ocpctl"

// isInContainer reports that the runner's own credentials are those of its container (EKS Pod Identity), and not of a token in a file.
func isInContainer(own []string) bool {
	return valueOf(own, "AWS_WEB_IDENTITY_TOKEN_FILE") == "" && valueOf(own, "AWS_CONTAINER_CREDENTIALS_FULL_URI") != ""
}

// Environment implements Platform.
func (aws) Environment(own []string, keys cloud.Keys, keyFile string) map[string]string {
	env := map[string]string{"AWS_EC2_METADATA_DISABLED": "true"}
	if keys.Role.ARN != "" {
		env["AWS_SDK_LOAD_CONFIG"] = "1" // the older SDK reads no role without it
	}
	for _, pair := range own {
		key, value, _ := strings.Cut(pair, "=")
		if strings.HasPrefix(key, "AWS_") && key != "AWS_EC2_METADATA_DISABLED" && (keyFile == "" || !awsCredentials(key) || keys.Empty() && strings.HasPrefix(key, awsContainer)) {
			env[key] = value
		}
	}
	// The SDK reads its files under HOME, which is changed.
	if home := valueOf(own, "HOME"); home != "" {
		for key, name := range map[string]string{"AWS_SHARED_CREDENTIALS_FILE": "credentials", "AWS_CONFIG_FILE": "config"} {
			if _, set := env[key]; !set {
				env[key] = filepath.Join(home, ".aws", name)
			}
		}
	}
	if keyFile != "" { // only these keys: a profile in a config file could assume a role with them
		env["AWS_SHARED_CREDENTIALS_FILE"], env["AWS_CONFIG_FILE"] = keyFile, os.DevNull
	}
	return env
}

// awsCredentials matches variables that would pass keys in the environment or override those in the file.
func awsCredentials(key string) bool {
	switch key {
	case "AWS_ACCESS_KEY_ID", "AWS_ACCESS_KEY", "AWS_SECRET_ACCESS_KEY", "AWS_SECRET_KEY", "AWS_SESSION_TOKEN", "AWS_SECURITY_TOKEN",
		"AWS_PROFILE", "AWS_DEFAULT_PROFILE", "AWS_ROLE_ARN", "AWS_ROLE_SESSION_NAME", "AWS_WEB_IDENTITY_TOKEN_FILE":
		return true
	}
	return strings.HasPrefix(key, awsContainer)
}

const awsContainer = "AWS_CONTAINER_"

// CreateCredentials implements Platform.
func (aws) CreateCredentials(c Credentials) []string {
	args := []string{"aws", "create-all", "--name", c.Name, "--region", c.Region, "--credentials-requests-dir", c.Requests, "--output-dir", c.Out}
	if c.Boundary != "" {
		args = append(args, "--permissions-boundary-arn", c.Boundary)
	}
	return args
}

// DeleteCredentials implements Platform.
func (aws) DeleteCredentials(c Credentials) []string {
	return []string{"aws", "delete", "--name", c.Name, "--region", c.Region}
}

// DeleteNeedsRequests implements Platform: ccoctl finds roles by their tag.
func (aws) DeleteNeedsRequests() bool { return false }

// SigningKey implements Platform: roles trust tokens that are signed with it.
func (aws) SigningKey() bool { return true }

// TestCredentials implements Platform.
func (aws) TestCredentials() string { return "aws sts get-caller-identity" }

// ReplaceControlPlane implements Platform: a control plane machine set makes a new machine for a deleted one.
func (aws) ReplaceControlPlane(machine string) string {
	return "the cluster's control plane machine set makes a new machine after: oc delete machine " + machine + " -n openshift-machine-api"
}

// LimitsAt implements Platform.
func (aws) LimitsAt(region string, q contract.Quota) string {
	home := "https://" + region + ".console.aws.amazon.com/servicequotas/home"
	if q.Code == "" {
		return home
	}
	return fmt.Sprintf("%s/services/%s/quotas/%s", home, q.Service, q.Code)
}
