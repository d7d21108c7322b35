package devstack_test

import (
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/devstack"
	"github.com/ocpctl/ocpctl/lifecycle"
)

// A label gives a namespace on a hub, whose kubeconfig works there and nowhere else. When the pull request is closed, it goes with proof.
func TestALabelGivesANamespaceThatGoesWithItsPullRequest(t *testing.T) {
	t.Parallel()
	l := newLifeOf(t, devstack.Config{Hour: time.Hour, Hubs: true})
	number := l.labelledWith("ocp/namespace", "A small change")
	asked := time.Now()
	l.runUntil("ready", time.Minute, func() bool { return l.count(`SELECT count(*) FROM clusters WHERE status = 'READY'`) == 1 })
	t.Logf("ready after %s", time.Since(asked).Round(10*time.Millisecond))
	id := l.clusters()[0].ID
	var infraID, account, provisioner string
	require.NoError(t, l.pool.QueryRow(l.ctx, `SELECT a.infra_id, c.account, c.provisioner FROM clusters c JOIN attempts a ON a.cluster_id = c.id WHERE a.infra_id <> ''`).Scan(&infraID, &account, &provisioner))
	require.Equal(t, []string{"lab", "namespace"}, []string{account, provisioner})
	require.NotEmpty(t, l.Hub.Left(infraID))
	l.runUntil("the comment says so", 20*time.Second, func() bool {
		return l.comments(number, "namespace on Kubernetes in lab") && l.comments(number, "ocpctl kubeconfig")
	})

	answer, raw := l.as("requester").send(http.MethodGet, "/api/v1/clusters/"+id+"/kubeconfig?role=edit&wait=20", nil)
	require.Equal(t, http.StatusOK, answer.StatusCode, "%s", raw)
	var k struct {
		Clusters []struct{ Cluster struct{ Server string } }
		Contexts []struct{ Context struct{ Namespace string } }
		Users    []struct{ User struct{ Token string } }
	}
	require.NoError(t, yaml.Unmarshal(raw, &k))
	require.Equal(t, infraID, k.Contexts[0].Context.Namespace)
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(l.Hub.CA())
	client := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}}}
	reads := func(path string) int {
		r, err := http.NewRequestWithContext(l.ctx, http.MethodGet, k.Clusters[0].Cluster.Server+path, nil)
		require.NoError(t, err)
		r.Header.Set("Authorization", "Bearer "+k.Users[0].User.Token)
		response, err := client.Do(r)
		require.NoError(t, err)
		response.Body.Close()
		return response.StatusCode
	}
	require.Equal(t, http.StatusOK, reads("/api/v1/namespaces/"+infraID+"/secrets"))
	require.Equal(t, http.StatusForbidden, reads("/api/v1/namespaces/kube-system/secrets"))
	require.Equal(t, http.StatusForbidden, reads("/api/v1/namespaces"))

	cluster := ask[v1.ClusterDetail](l.as("requester"), http.MethodGet, "/api/v1/clusters/"+id, nil, http.StatusOK)
	require.Equal(t, "namespace", cluster.Provisioner)
	for _, a := range cluster.Actions {
		switch a.Verb {
		case "console", "log-bundle", "break-glass":
			require.Equal(t, "not_of_kind", a.Code, a.Verb)
		case "scale-workers", "sleep", "refresh":
			require.False(t, a.Possible, a.Verb)
		case "kubeconfig", "extend", "destroy":
			require.True(t, a.Possible, a.Verb)
		}
	}
	refused := l.as("requester").refused(http.MethodPost, "/api/v1/clusters/"+id+"/console-links", struct{}{}, http.StatusConflict)
	require.Contains(t, refused.Detail, "it is a namespace on a shared cluster, and not a cluster of its own")

	require.NoError(t, l.Hub.Put("/api/v1/namespaces/"+infraID+"/persistentvolumeclaims/data", map[string]any{
		"kind": "PersistentVolumeClaim", "metadata": map[string]any{"name": "data", "namespace": infraID}}))
	require.NoError(t, l.GitHub.Close(number, "maya"))
	l.runUntil("released", time.Minute, l.every(lifecycle.Released))
	require.Empty(t, l.Hub.Left(infraID))
	require.Equal(t, 2, l.count(`SELECT count(*) FROM verifications v JOIN attempts a ON a.id = v.attempt_id WHERE a.cluster_id = $1 AND v.clean AND v.account = $2`, id, l.Hub.UID()))
	require.Equal(t, http.StatusUnauthorized, reads("/api/v1/namespaces/"+infraID+"/pods"))
	l.assertNothingLeft()
	l.assertSettled()
}

// A hub that is away for a while delays a teardown, and nothing is called gone before it was counted.
func TestAHubThatIsAwayDelaysTheTeardown(t *testing.T) {
	t.Parallel()
	l := newLifeOf(t, devstack.Config{Hour: time.Hour, Hubs: true})
	number := l.labelledWith("ocp/namespace", "Another change")
	l.runUntil("ready", time.Minute, func() bool { return l.count(`SELECT count(*) FROM clusters WHERE status = 'READY'`) == 1 })
	l.Hub.Away(8 * time.Second)
	require.NoError(t, l.GitHub.Unlabel(number, "ocp/namespace", "maya"))
	l.runUntil("a teardown failed", time.Minute, func() bool {
		return l.count(`SELECT count(*) FROM attempts WHERE kind = 'destroy' AND outcome = 'failed'`) > 0
	})
	require.Zero(t, l.count(`SELECT count(*) FROM clusters WHERE status = 'DESTROYED'`))
	l.runUntil("released", 2*time.Minute, l.every(lifecycle.Released))
	l.assertNothingLeft()
}

// A label gives a cluster whose control plane is hosted on the hub. Its readers' accounts are its own, and it goes with proof.
func TestALabelGivesAHostedClusterThatGoesWithItsPullRequest(t *testing.T) {
	t.Parallel()
	l := newLifeOf(t, devstack.Config{Hour: time.Hour, Hubs: true})
	before := l.Hub.Left("")
	number := l.labelledWith("ocp/hcp-small", "A change that needs an operator")
	l.runUntil("ready", time.Minute, func() bool { return l.count(`SELECT count(*) FROM clusters WHERE status = 'READY'`) == 1 })
	id := l.clusters()[0].ID
	var infraID, name, api, console, provisioner string
	require.NoError(t, l.pool.QueryRow(l.ctx, `SELECT a.infra_id, c.name, o.api_url, o.console_url, c.provisioner FROM clusters c JOIN attempts a ON a.cluster_id = c.id
		JOIN cluster_outputs o ON o.cluster_id = c.id WHERE a.infra_id <> ''`).Scan(&infraID, &name, &api, &console, &provisioner))
	require.Equal(t, "hypershift", provisioner)
	require.Regexp(t, `^https://lb-[0-9a-f]{8}\.hub\.example\.com:6443$`, api)
	require.Equal(t, "https://console-openshift-console.apps."+name+".apps.hub.example.com", console)
	require.Len(t, l.Hub.Left("/namespaces/"+infraID+"-"+name+"/virtualmachines/"), 2)
	l.runUntil("the comment says so", 20*time.Second, func() bool {
		return l.comments(number, "4.20.3 with a hosted control plane on Kubernetes in lab") && l.comments(number, "ocpctl kubeconfig")
	})

	answer, raw := l.as("requester").send(http.MethodGet, "/api/v1/clusters/"+id+"/kubeconfig?role=edit&wait=20", nil)
	require.Equal(t, http.StatusOK, answer.StatusCode, "%s", raw)
	require.Contains(t, string(raw), api)
	require.Empty(t, l.Hub.Left("ocpctl-access"), "the account is in the cluster, and not on the hub")
	cluster := ask[v1.ClusterDetail](l.as("requester"), http.MethodGet, "/api/v1/clusters/"+id, nil, http.StatusOK)
	for _, a := range cluster.Actions {
		switch a.Verb {
		case "console", "log-bundle":
			require.Equal(t, "not_of_kind", a.Code, a.Verb)
		case "scale-workers", "refresh":
			require.False(t, a.Possible, a.Verb)
		case "kubeconfig", "extend", "destroy", "sleep":
			require.True(t, a.Possible, a.Verb)
		}
	}
	refused := l.as("requester").refused(http.MethodPost, "/api/v1/clusters/"+id+"/console-links", struct{}{}, http.StatusConflict)
	require.Contains(t, refused.Detail, "its control plane is hosted on a hub")

	_, err := l.GitHub.Comment(number, "/ocp sleep", "maya")
	require.NoError(t, err)
	l.runUntil("asleep", time.Minute, l.every(lifecycle.PhaseAsleep))
	require.Empty(t, l.Hub.Left("/namespaces/"+infraID+"-"+name+"/virtualmachines/"), "its nodes are gone, and its control plane is not")
	ask[v1.Accepted](l.as("admin"), http.MethodPost, "/api/v1/clusters/"+id+"/wake", nil, http.StatusAccepted)
	l.runUntil("awake", time.Minute, func() bool {
		return l.count(`SELECT count(*) FROM clusters WHERE id = $1 AND phase = 'ready' AND power = ''`, id) == 1
	})
	require.Len(t, l.Hub.Left("/namespaces/"+infraID+"-"+name+"/virtualmachines/"), 2)

	require.NoError(t, l.GitHub.Close(number, "maya"))
	l.runUntil("released", time.Minute, l.every(lifecycle.Released))
	require.Equal(t, before, l.Hub.Left(""))
	require.Equal(t, 2, l.count(`SELECT count(*) FROM verifications v JOIN attempts a ON a.id = v.attempt_id WHERE a.cluster_id = $1 AND v.clean AND v.account = $2`, id, l.Hub.UID()))
	l.assertNothingLeft()
	l.assertSettled()
}
