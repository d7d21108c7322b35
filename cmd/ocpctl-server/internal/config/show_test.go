package config

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// leaky is a file with secrets in every place where one could stand by mistake.
const leaky = sound + `
slack: {signing_secret_ref: hunter2, bot_token_ref: "aws-sm:ocpctl/slack#bot"}
saml: {metadata: "https://idp.example.com/metadata?token=hunter2"}
aws: {accounts: ["123456789012"], sts_endpoints: ["https://me:hunter2@sts.example.com"]}
session: {key_ref: "hunter2"}
tekton: [{issuer: "https://issuer.example.com", api_url: "https://me:hunter2@k8s.example.com:6443", token_ref: hunter2}]
limits: {wake: 7s}
`

func TestTheEffectiveValuesArePrintedWithTheirOriginAndWithoutSecrets(t *testing.T) {
	text := strings.Replace(leaky, "  pull_secret_ref:", "  env: {AWS_SECRET_ACCESS_KEY: hunter2, AWS_REGION: eu-west-1, HTTPS_PROXY: 'http://me:hunter2@proxy.example.com:3128', AWS_WEB_IDENTITY_TOKEN_FILE: /var/run/token}\n  pull_secret_ref:", 1)
	l, _ := read(t, text, "OCPCTL_LIMITS_WAKE=9s", "OCPCTL_DATABASE_URL_REF=postgres://me:hunter2@db/ocpctl", "OCPCTL_GITHUB_API_URL=https://me:hunter2@ghe.example.com/api/v3/",
		"OCPCTL_GITHUB_HOOK_ADDRESSES=192.0.2.0/24,198.51.100.0/24")
	for name, write := range map[string]func(*bytes.Buffer) error{
		"table": func(out *bytes.Buffer) error { return l.WriteTable(out) },
		"yaml":  func(out *bytes.Buffer) error { return l.WriteYAML(out) },
	} {
		var out bytes.Buffer
		require.NoError(t, write(&out))
		require.NotContains(t, out.String(), "hunter2")
		golden := filepath.Join("testdata", "shown."+name)
		if *update {
			require.NoError(t, os.WriteFile(golden, out.Bytes(), 0o600))
		}
		want, err := os.ReadFile(golden)
		require.NoError(t, err)
		require.Equal(t, string(want), out.String())
	}
}

func TestWhatIsPrintedAsYAMLIsAConfiguration(t *testing.T) {
	l, err := read(t, sound, "OCPCTL_LIMITS_WAKE=9s")
	require.NoError(t, err)
	var out bytes.Buffer
	require.NoError(t, l.WriteYAML(&out))
	again, err := read(t, out.String())
	require.NoError(t, err)
	require.Equal(t, l.Limits, again.Limits)
	require.Equal(t, l.GitHub.APIURL, again.GitHub.APIURL)
	require.Equal(t, l.Repositories, again.Repositories)
}
