package installer_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/installer"
	"github.com/ocpctl/ocpctl/devstack/installer/installertest"
)

const certManager = `{"apiVersion":"v1","kind":"List","items":[
	{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"cert-manager-operator"}},
	{"apiVersion":"operators.coreos.com/v1","kind":"OperatorGroup","metadata":{"name":"cert-manager","namespace":"cert-manager-operator"}},
	{"apiVersion":"operators.coreos.com/v1alpha1","kind":"Subscription","metadata":{"name":"openshift-cert-manager-operator","namespace":"cert-manager-operator"}}]}`

func (l *living) apply(manifests string, args ...string) installertest.Result {
	l.t.Helper()
	args = append([]string{"--kubeconfig=" + l.kubeconfig, "apply", "--server-side", "-f", "-"}, args...)
	return l.Feed(l.t, "oc", l.dir, manifests, args...)
}

func (l *living) waitFor(what, condition string, args ...string) installertest.Result {
	l.t.Helper()
	return l.oc(append([]string{"wait", what, "--for=condition=" + condition, "--timeout=1s"}, args...)...)
}

func TestWhatIsAppliedIsThereAndGoesWithTheCluster(t *testing.T) {
	l := live(t, 0)
	require.Equal(t, "Error from server (NotFound): customresourcedefinitions.apiextensions.k8s.io \"certificates.cert-manager.io\" not found\n",
		l.waitFor("crd/certificates.cert-manager.io", "Established").Stderr)
	for times := 1; times <= 2; times++ {
		out := l.apply(certManager, "--force-conflicts", "--field-manager=ocpctl")
		require.Zero(t, out.Code, out.Stderr)
		require.Equal(t, "namespace/cert-manager-operator serverside-applied\noperatorgroup.operators.coreos.com/cert-manager serverside-applied\n"+
			"subscription.operators.coreos.com/openshift-cert-manager-operator serverside-applied\n", out.Stdout)
		out = l.oc("get", "subscriptions.operators.coreos.com", "-n", "cert-manager-operator", "-o", "json")
		var list struct {
			Items []struct {
				Metadata struct {
					Name          string
					Generation    int
					ManagedFields []struct{ Manager string }
				}
			}
		}
		require.NoError(t, json.Unmarshal([]byte(out.Stdout), &list))
		require.Len(t, list.Items, 1)
		require.Equal(t, []any{times, "ocpctl"}, []any{list.Items[0].Metadata.Generation, list.Items[0].Metadata.ManagedFields[0].Manager})
	}
	out := l.waitFor("crd/certificates.cert-manager.io", "Established")
	require.Equal(t, []any{0, "customresourcedefinition.apiextensions.k8s.io/certificates.cert-manager.io condition met\n"}, []any{out.Code, out.Stdout})
	require.Zero(t, l.waitFor("deployment/cert-manager-webhook", "Available", "-n", "cert-manager").Code)
	require.Equal(t, "Error from server (NotFound): deployments.apps \"cert-manager-webhook\" not found\n", l.waitFor("deployment/cert-manager-webhook", "Available").Stderr)

	out = l.apply("apiVersion: cert-manager.io/v1\nkind: ClusterIssuer\nmetadata: {name: self}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: cert-manager-operator}\n")
	require.Zero(t, out.Code, out.Stderr)
	l.Must(t, l.dir, "destroy cluster")
	require.Empty(t, l.Left(t, l.infraID))
	require.Contains(t, l.apply(certManager).Stderr, "Unable to connect to the server: dial tcp: lookup api.shop.labs.example.com: no such host")
}

func TestApplyingFailsTheWaysItReallyDoes(t *testing.T) {
	l := live(t, 0)
	for manifests, text := range map[string]string{
		`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"nowhere"}}`: "Error from server (NotFound): namespaces \"nowhere\" not found\n",
		`{"apiVersion":"cert-manager.io/v1","kind":"Issuer","metadata":{"name":"a"}}`:          "no matches for kind \"Issuer\" in version \"cert-manager.io/v1\"\n",
		`{"apiVersion":"v1","kind":"ConfigMap","metadata":{}}`:                                 "resource name may not be empty\n",
		`{"metadata":{"name":"a"}}`: "Object 'Kind' is missing",
		``:                          "error: no objects passed to apply\n",
		`{`:                         "error: error parsing STDIN",
	} {
		out := l.apply(manifests)
		require.Equal(t, 1, out.Code)
		require.Contains(t, out.Stderr, text)
	}
	require.Contains(t, l.oc("apply", "-f", "-").Stderr, "--server-side")

	namespace := `{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"shop"}}`
	require.Zero(t, l.apply(namespace, "--field-manager=helm").Code)
	out := l.apply(namespace, "--field-manager=ocpctl")
	require.Equal(t, []any{1, "error: Apply failed with 1 conflict: conflict with \"helm\" using v1: .spec\n"}, []any{out.Code, out.Stderr})
	require.Zero(t, l.apply(namespace, "--field-manager=ocpctl", "--force-conflicts").Code)

	require.Zero(t, l.apply(certManager, "--field-manager=ocpctl").Code)
	fault := func(command string, f installer.Fault) {
		require.NoError(t, installer.WriteFaults(l.Faults, installer.Faults{command + "/shop": f}))
	}
	fault("oc-wait", installer.Fault{Times: 1, FailAt: "established"})
	out = l.waitFor("crd/certificates.cert-manager.io", "Established")
	require.Equal(t, []any{1, "error: timed out waiting for the condition on customresourcedefinitions/certificates.cert-manager.io\n"}, []any{out.Code, out.Stderr})
	require.Equal(t, 1, l.waitFor("crd/certificates.cert-manager.io", "Available").Code, "a condition it does not have")
	require.Equal(t, "Error from server (NotFound): certificates.cert-manager.io \"a\" not found\n", l.waitFor("certificate/a", "Ready").Stderr)
	require.Contains(t, l.waitFor("pony/a", "Ready").Stderr, "the server doesn't have a resource type \"pony\"")
	fault("oc-apply", installer.Fault{Times: 1})
	require.Equal(t, "Unable to connect to the server: EOF\n", l.apply(certManager).Stderr)
	fault("oc-apply", installer.Fault{Times: 1, Message: "Error from server (Forbidden): namespaces is forbidden"})
	require.Equal(t, "Error from server (Forbidden): namespaces is forbidden\n", l.apply(certManager).Stderr)
}
