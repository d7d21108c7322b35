package credentials

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const api = "https://api.shop.labs.example.com:6443"

// installed is a kubeconfig as openshift-install writes it.
const installed = `clusters:
- cluster:
    certificate-authority-data: Q0E=
    server: ` + api + `
  name: shop
contexts:
- context:
    cluster: shop
    user: admin
  name: admin
current-context: admin
preferences: {}
users:
- name: admin
  user:
    client-certificate-data: Q0VSVA==
    client-key-data: S0VZ
`

func TestAKubeconfigOnlySaysWhereAndAsWhom(t *testing.T) {
	require.NoError(t, plainKubeconfig([]byte(installed), api))
	require.NoError(t, plainKubeconfig([]byte("apiVersion: v1\nkind: Config\n"+installed), api))
	replace := func(old, more string) string {
		require.Contains(t, installed, old)
		return strings.Replace(installed, old, more, 1)
	}
	for name, bad := range map[string]string{
		"a program to run":        replace("    client-key-data: S0VZ", "    exec: {command: /bin/sh, args: [-c, id], apiVersion: client.authentication.k8s.io/v1}"),
		"an auth provider":        replace("    client-key-data: S0VZ", "    auth-provider: {name: gcp, config: {cmd-path: /bin/sh}}"),
		"a file of the user's":    replace("    client-key-data: S0VZ", "    client-key: /home/me/.ssh/id_ed25519"),
		"a token file":            replace("    client-key-data: S0VZ", "    tokenFile: /home/me/token"),
		"a proxy":                 replace("    server: "+api, "    server: "+api+"\n    proxy-url: http://evil.example"),
		"any certificate":         replace("    server: "+api, "    server: "+api+"\n    insecure-skip-tls-verify: true"),
		"another server":          replace(api, "https://evil.example:6443"),
		"a second, other server":  replace("contexts:", "- name: other\n  cluster: {server: 'https://evil.example'}\ncontexts:"),
		"an extension":            installed + "extensions: [{name: x, extension: {}}]\n",
		"another document":        installed + "---\nusers: []\n",
		"nothing":                 "",
		"no YAML":                 "\t{",
		"a list":                  "- a\n",
		"no cluster":              "users: [{name: a, user: {token: b}}]\n",
		"the same through anchor": "x: &x {exec: {command: sh}}\n" + replace("    client-key-data: S0VZ", "    <<: *x"),
	} {
		require.Error(t, plainKubeconfig([]byte(bad), api), name)
	}
	require.NotContains(t, plainKubeconfig([]byte(replace("S0VZ", "S0VZ\n    password: hunter2")), api).Error(), "hunter2")
}
