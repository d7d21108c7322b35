package config

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAClusterWithTektonIsCheckedFieldByField(t *testing.T) {
	oidc := strings.Replace(sound, "oidc: [", `oidc: [{issuer: "https://token.actions.githubusercontent.com", platform: github}, {issuer: "https://oidc.example.com/id/1", platform: kubernetes}, `, 1)
	for name, c := range map[string]struct{ tekton, want string }{
		"sound":                  {`[{issuer: "https://oidc.example.com/id/1", api_url: "https://k8s.example.com:6443", token_ref: "file:/run/secrets/tekton/token"}]`, ""},
		"no issuer":              {`[{api_url: "https://k8s.example.com", token_ref: "file:/t"}]`, "tekton[0].issuer is empty; give the issuer of the cluster's service accounts"},
		"an unknown issuer":      {`[{issuer: "https://other.example.com", api_url: "https://k8s.example.com", token_ref: "file:/t"}]`, `tekton[0].issuer is "https://other.example.com", which is not in oidc`},
		"an issuer of GitHub":    {`[{issuer: "https://token.actions.githubusercontent.com", api_url: "https://k8s.example.com", token_ref: "file:/t"}]`, "oidc[0].platform says is github"},
		"no address":             {`[{issuer: "https://oidc.example.com/id/1", token_ref: "file:/t"}]`, `tekton[0].api_url is ""; give the https:// address`},
		"an unencrypted address": {`[{issuer: "https://oidc.example.com/id/1", api_url: "http://k8s.example.com", token_ref: "file:/t"}]`, "tekton[0].api_url is http://k8s.example.com; outside the demo give an https:// address"},
		"a token in the file":    {`[{issuer: "https://oidc.example.com/id/1", api_url: "https://k8s.example.com", token_ref: "eyJhbGciOi"}]`, "tekton[0].token_ref is not a reference"},
		"given twice": {`[{issuer: "https://oidc.example.com/id/1", api_url: "https://k8s.example.com", token_ref: "file:/t"},
			{issuer: "https://oidc.example.com/id/1", api_url: "https://k8s.example.com", token_ref: "file:/t"}]`, "tekton[1].issuer is given twice"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := read(t, oidc+"tekton: "+c.tekton+"\n")
			if c.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, c.want)
			require.NotContains(t, err.Error(), "eyJhbGciOi")
		})
	}
}
