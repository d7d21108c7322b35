package devstack_test

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/aws"
	"github.com/ocpctl/ocpctl/profiles"
)

// The add-ons of deploy/addons, from a label to a page below apps that is verified, and to the end.
func TestAClustersAppsHaveACertificateThatBrowsersTrust(t *testing.T) {
	t.Parallel()
	l := newLife(t, time.Minute)
	login, err := l.StartLogin(l.ctx, 0)
	require.NoError(t, err)
	t.Cleanup(login.Stop)
	server := startACME(t, l.Stack)
	files := map[string]string{}
	for _, name := range []string{"cert-manager-route53.yaml", "apps-certificate.yaml"} {
		raw, err := os.ReadFile(filepath.Join("..", "deploy", "addons", name))
		require.NoError(t, err)
		files["addons/"+name] = string(raw)
	}
	const real = "server: https://acme-v02.api.letsencrypt.org/directory\n"
	require.Contains(t, files["addons/apps-certificate.yaml"], real)
	files["addons/apps-certificate.yaml"] = strings.Replace(files["addons/apps-certificate.yaml"], real,
		"server: "+server.Directory+"\n        caBundle: "+base64.StdEncoding.EncodeToString(server.CA)+"\n", 1)
	l.catalogueWith(files)
	require.NoError(t, l.GitHub.Commit(profiles.RepositoryFilePath, "addons: [cert-manager-route53, apps-certificate]\n"))
	number, id, domain := l.readyCluster("Trusted routes")
	l.runUntil("both add-ons work", 60*time.Second, func() bool {
		return l.count(`SELECT count(*) FROM conditions WHERE cluster_id = $1 AND type IN ('AddonApplied/cert-manager-route53', 'AddonApplied/apps-certificate') AND status = 'True'`, id) == 2
	})

	trusted := browserFor(login)
	roots := x509.NewCertPool()
	require.True(t, roots.AppendCertsFromPEM(server.Root))
	trusted.Transport.(*http.Transport).TLSClientConfig = &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
	status, at, page := fetch(t, trusted, "https://console-openshift-console.apps."+domain, nil)
	require.Equal(t, http.StatusOK, status, page)
	require.Contains(t, at, "https://oauth-openshift.apps."+domain+"/oauth/authorize", "without a word about certificates")
	_, err = trusted.Get("https://api." + domain + ":6443/healthz")
	require.ErrorContains(t, err, "certificate", "the API keeps the installer's")
	require.Empty(t, l.AWS.Resources("_acme-challenge.apps."+domain), "the proof goes once it was read")

	roles := slices.DeleteFunc(l.AWS.Resources("cert-manager-openshift-route53"), func(r aws.Resource) bool { return r.Type != "role" })
	require.Len(t, roles, 1, "ccoctl made it")
	require.Contains(t, roles[0].Attrs["boundary"], "cluster-boundary")
	require.Equal(t, domain, roles[0].Tags["ocpctl-domain"], "its boundary lets it write the records below this name alone")

	l.unlabel(number)
}
