package config

import (
	"cmp"
	"fmt"
	"regexp"

	"github.com/ocpctl/ocpctl/internal/names"
	"github.com/ocpctl/ocpctl/internal/secret"
	"github.com/ocpctl/ocpctl/profiles"
)

// Clouds says for each platform in which account clusters are, and with which keys runners work there.
type Clouds struct {
	AWS      Cloud `yaml:"aws"`      // empty fields: account, and runner.cloud_credentials_ref
	IBMCloud Cloud `yaml:"ibmcloud"` // with features.ibm_cloud
}

type Cloud struct {
	Account        string `yaml:"account"`         // the only one for clusters; empty: any
	CredentialsRef string `yaml:"credentials_ref"` // the cloud's keys as JSON; empty: the runner's own identity, which only AWS has
}

// Cloud returns what is set for a platform.
func (c Config) Cloud(platform string) Cloud {
	switch platform {
	case names.AWS:
		return Cloud{Account: cmp.Or(c.Clouds.AWS.Account, c.Account), CredentialsRef: cmp.Or(c.Clouds.AWS.CredentialsRef, c.Runner.CloudCredsRef)}
	case names.IBMCloud:
		return c.Clouds.IBMCloud
	}
	return Cloud{}
}

// CredentialsField returns the field with a platform's credentials, and its value.
func (c Config) CredentialsField(platform string) (field, ref string) {
	if platform == names.AWS && c.Clouds.AWS.CredentialsRef == "" {
		return "runner.cloud_credentials_ref", c.Runner.CloudCredsRef
	}
	return "clouds." + platform + ".credentials_ref", c.Cloud(platform).CredentialsRef
}

// Platforms are the clouds that a configuration knows, in the order in which people read them.
var Platforms = []string{names.AWS, names.IBMCloud}

// cloudForm is the form of what is set for a platform.
type cloudForm struct {
	account       *regexp.Regexp
	what, example string // an account, and the document behind credentials_ref, for people
}

var cloudForms = map[string]cloudForm{
	names.AWS:      formOf(names.AWS, `{"aws_access_key_id": …, "aws_secret_access_key": …}`),
	names.IBMCloud: formOf(names.IBMCloud, `{"ibmcloud_api_key": …}`),
}

func formOf(platform, example string) cloudForm {
	account, what := profiles.AccountForm(platform)
	return cloudForm{account, what, example}
}

// checkClouds checks what is set for each platform.
func (c Config) checkClouds(r Roles) (bad []error) {
	for _, p := range Platforms {
		set, form := map[string]Cloud{names.AWS: c.Clouds.AWS, names.IBMCloud: c.Clouds.IBMCloud}[p], cloudForms[p]
		if set.Account != "" && !form.account.MatchString(set.Account) {
			bad = append(bad, fmt.Errorf("clouds.%s.account is %q; give %s, or omit it", p, set.Account, form.what))
		}
		if set.CredentialsRef != "" && !isRef(set.CredentialsRef) {
			bad = append(bad, fmt.Errorf("clouds.%s.credentials_ref is not a reference; give a reference (%s) to the cloud's keys: %s, or omit it", p, secret.References, form.example))
		}
	}
	if c.Account != "" && !cloudForms[names.AWS].account.MatchString(c.Account) {
		bad = append(bad, fmt.Errorf("account is %q; give %s, or omit it: another cloud's is set below clouds", c.Account, cloudForms[names.AWS].what))
	}
	for _, two := range []struct{ field, value, other, otherValue string }{
		{"clouds.aws.account", c.Clouds.AWS.Account, "account", c.Account},
		{"clouds.aws.credentials_ref", c.Clouds.AWS.CredentialsRef, "runner.cloud_credentials_ref", c.Runner.CloudCredsRef},
	} {
		if two.value != "" && two.otherValue != "" && two.value != two.otherValue {
			bad = append(bad, fmt.Errorf("%s and %s are both set, and differ; they mean the same, so omit one", two.field, two.other))
		}
	}
	if needs := c.Features.IBMCloud && (r.Has(APIRole) || r.Has(WorkerRole)); needs && c.Clouds.IBMCloud.CredentialsRef == "" {
		bad = append(bad, fmt.Errorf("features.ibm_cloud is on, and clouds.ibmcloud.credentials_ref is empty; give a reference (%s) to %s: the installer works with an API key alone",
			secret.References, cloudForms[names.IBMCloud].example))
	}
	return bad
}
