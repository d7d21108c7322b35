//go:build install

package install

import (
	"net/http"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// install puts the kinds of other projects into the cluster that the chart can make objects of.
func (c *cluster) installKinds(t *testing.T) {
	raw, err := os.ReadFile("testdata/crds.yaml")
	require.NoError(t, err)
	groups := map[string]bool{}
	for _, definition := range objects(t, raw) {
		c.create(t, definition)
		groups[text(definition, "spec", "group")] = true
	}
	for group := range groups {
		eventually(t, "the API server serves "+group, func() bool {
			_, found := c.get(t, "/apis/"+group+"/v1")
			return found
		})
	}
}

func TestTheAPIServerAcceptsEveryObjectOfTheExamples(t *testing.T) {
	c := startCluster(t, nil)
	c.installKinds(t)
	for _, name := range []string{namespace, runners} {
		c.createNamespace(t, name)
	}
	apart := []string{"--set", "roles=apart", "--set", "monitoring.serviceMonitor.enabled=true", "--set", "monitoring.dashboards.enabled=true"}
	for _, example := range []string{"eks", "openshift", "try"} {
		for mode, more := range map[string][]string{"as it is": nil, "apart": apart} {
			t.Run(example+" "+mode, func(t *testing.T) {
				rendered, err := c.helm(t, append([]string{"template", release, chart, "--kube-version", "1.34", "--namespace", namespace, "-f", chart + "/values-" + example + ".yaml"}, more...)...)
				require.NoError(t, err)
				all := objects(t, []byte(rendered))
				require.Greater(t, len(all), 15)
				for _, o := range all {
					if o.kind() == "ServiceAccount" { // pods are checked against it
						c.create(t, o)
					}
				}
				for _, o := range all {
					got := c.apply(t, o, true)
					require.Contains(t, []int{http.StatusOK, http.StatusCreated}, got.status, "%s %s: %s", o.kind(), o.name(), got.body)
					require.Empty(t, got.warnings, "%s %s", o.kind(), o.name())
				}
			})
		}
	}
}

// The images of PostgreSQL and S3 are not on this machine, so their pods wait for them. What an upgrade and an uninstallation do to
// passwords and volumes does not depend on that.
func TestAnEmbeddedReleaseKeepsItsPasswordsAndItsVolumes(t *testing.T) {
	c := startCluster(t, nil)
	values := []string{release, chart, "--namespace", namespace, "-f", chart + "/values-try.yaml"}
	_, err := c.helm(t, append([]string{"install", "--create-namespace"}, values...)...)
	require.NoError(t, err)
	secrets := []string{"/api/v1/namespaces/" + namespace + "/secrets/ocpctl-embedded", "/api/v1/namespaces/" + runners + "/secrets/ocpctl-embedded"}
	var before []any
	for _, path := range secrets {
		secret, found := c.get(t, path)
		require.True(t, found, path)
		require.NotEmpty(t, secret["data"])
		before = append(before, secret["data"])
	}

	_, err = c.helm(t, append([]string{"upgrade", "--set", "components.server.replicas=2"}, values...)...)
	require.NoError(t, err)
	_, err = c.helm(t, "uninstall", release, "--namespace", namespace)
	require.NoError(t, err)
	_, err = c.helm(t, append([]string{"install"}, values...)...)
	require.NoError(t, err, "what an uninstallation keeps belongs to the next installation of the same name")
	for i, path := range secrets {
		secret, found := c.get(t, path)
		require.True(t, found, path)
		require.Equal(t, before[i], secret["data"], path)
	}
	require.Len(t, c.list(t, "/api/v1/namespaces/"+namespace+"/persistentvolumeclaims"), 2)
}
