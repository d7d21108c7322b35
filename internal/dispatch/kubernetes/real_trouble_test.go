//go:build kubernetes

package kubernetes

import (
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	development "github.com/ocpctl/ocpctl/devstack/kubernetes"
	"github.com/ocpctl/ocpctl/internal/dispatch"
)

// quota limits something in the runners' namespace until the test ends, and returns when the limit is in force.
func quota(t *testing.T, resource string) {
	t.Helper()
	admin(t, http.MethodPost, core+"/resourcequotas", map[string]any{
		"apiVersion": "v1", "kind": "ResourceQuota", "metadata": map[string]any{"name": "runners"}, "spec": map[string]any{"hard": map[string]any{resource: "0"}},
	})
	t.Cleanup(func() { admin(t, http.MethodDelete, core+"/resourcequotas/runners", nil) })
	require.Eventually(t, func() bool {
		var found struct {
			Status struct{ Used map[string]string }
		}
		require.NoError(t, real.Admin(t.Context(), http.MethodGet, core+"/resourcequotas/runners", nil, &found))
		return found.Status.Used[resource] != ""
	}, patience, 50*time.Millisecond)
}

func TestAQuotaOfPodsIsToldWhileTheJobWaits(t *testing.T) {
	quota(t, "pods")
	l := newLife(t, "polite", nil).start()
	l.sees(dispatch.Running, QuotaExceeded, "exceeded quota: runners")
}

func TestAQuotaOfJobsRefusesTheStart(t *testing.T) {
	quota(t, "count/jobs.batch")
	l := newLife(t, "polite", nil)
	var refusal *dispatch.Refusal
	l.until("the quota is in force", func() bool { return errors.As(l.d.Start(t.Context(), l.job), &refusal) })
	require.Equal(t, QuotaExceeded, refusal.Trouble.Code)
	require.Contains(t, refusal.Trouble.Message, "exceeded quota: runners")
	require.Equal(t, dispatch.Missing, l.observe().Sighting)
}

func TestAPodThatAdmissionRefusesIsForbidden(t *testing.T) {
	l := newLife(t, "polite", func(c *Config) { c.ServiceAccounts.Create = "nobody" }).start()
	l.sees(dispatch.Running, Forbidden, `service account`)
}

func TestAPolicyThatRefusesTheJobRefusesTheStart(t *testing.T) {
	const path = "/apis/admissionregistration.k8s.io/v1/"
	admin(t, http.MethodPost, path+"validatingadmissionpolicies", map[string]any{
		"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicy", "metadata": map[string]any{"name": "no-mallory"},
		"spec": map[string]any{
			"matchConstraints": map[string]any{"resourceRules": []any{map[string]any{"apiGroups": []string{"batch"}, "apiVersions": []string{"v1"}, "operations": []string{"CREATE"}, "resources": []string{"jobs"}}}},
			"validations":      []any{map[string]any{"expression": `!("ocpctl/team" in object.metadata.labels) || object.metadata.labels["ocpctl/team"] != "mallory"`, "message": "this team runs nothing here"}},
		},
	})
	t.Cleanup(func() { admin(t, http.MethodDelete, path+"validatingadmissionpolicies/no-mallory", nil) })
	admin(t, http.MethodPost, path+"validatingadmissionpolicybindings", map[string]any{
		"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicyBinding", "metadata": map[string]any{"name": "no-mallory"},
		"spec": map[string]any{"policyName": "no-mallory", "validationActions": []string{"Deny"}},
	})
	t.Cleanup(func() { admin(t, http.MethodDelete, path+"validatingadmissionpolicybindings/no-mallory", nil) })
	var refusal *dispatch.Refusal
	require.Eventually(t, func() bool { // the API server needs some seconds until a policy is in force
		l := newLife(t, "brief", nil)
		l.job.Team = "mallory"
		return errors.As(l.d.Start(t.Context(), l.job), &refusal)
	}, patience, 500*time.Millisecond)
	require.Equal(t, Forbidden, refusal.Trouble.Code)
	require.Contains(t, refusal.Trouble.Message, "this team runs nothing here")
}

func TestAPodThatNoNodeTakesIsUnschedulable(t *testing.T) {
	l := newLife(t, "polite", func(c *Config) { c.NodeSelector = map[string]string{"disk": "fast"} }).start()
	l.sees(dispatch.Running, Unschedulable, "0/2 nodes are available")
	require.NoError(t, l.d.Stop(t.Context(), l.job.Attempt))
	l.sees(dispatch.Ended, "", "")
}

func TestAnImageThatIsNowhereCannotBePulled(t *testing.T) {
	l := newLife(t, "polite", func(c *Config) { c.Image = "registry.example.com/runner:2" }).start()
	l.sees(dispatch.Running, ImagePullFailed, "registry.example.com/runner:2")
}

func TestAMissingSecretIsAConfigError(t *testing.T) {
	l := newLife(t, "polite", func(c *Config) { c.Mounts = []Mount{{Secret: "nowhere", Path: "/run/secrets/ocpctl"}} }).start()
	l.sees(dispatch.Running, ConfigError, `secret "nowhere" not found`)
}

func TestAnImageThatRunsAsRootIsAConfigError(t *testing.T) {
	l := newLife(t, "polite", func(c *Config) { c.Image = "probe:root" }).start()
	l.sees(dispatch.Running, ConfigError, "runAsNonRoot")
}

func TestARunnerThatUsesTooMuchMemoryIsKilled(t *testing.T) {
	l := newLife(t, "hungry", nil).start()
	l.sees(dispatch.Ended, OutOfMemory, "limit of 100Mi")
}

func TestARunnerThatFailsSaysItsLastLine(t *testing.T) {
	l := newLife(t, "failing", nil).start()
	l.sees(dispatch.Ended, ExitedWithError, "exit code 3")
	require.Contains(t, l.observe().Trouble.Message, "this runner fails")
}

func TestAnEvictionForAFullWorkDirectoryIsRecognisedHoweverTheRunnerEnds(t *testing.T) {
	for _, how := range []string{"filling", "deaf"} { // ends when it is asked to, with 0; is killed
		t.Run(how, func(t *testing.T) {
			l := newLife(t, how, func(c *Config) { c.WorkSize = "1Mi" }).start()
			l.sees(dispatch.Ended, Evicted, `EmptyDir volume "work" exceeds the limit "1Mi"`)
		})
	}
}

func TestADeadlineEndsTheRunner(t *testing.T) {
	l := newLife(t, "polite", nil).start()
	l.running()
	admin(t, http.MethodPatch, batch+"/jobs/"+l.name(), map[string]any{"spec": map[string]any{"activeDeadlineSeconds": 1}})
	l.sees(dispatch.Ended, DeadlineExceeded, "its Job's deadline of 1s")
}

func TestAJobThatWasDeletedByHandIsMissing(t *testing.T) {
	l := newLife(t, "polite", nil).start()
	l.running()
	admin(t, http.MethodDelete, batch+"/jobs/"+l.name()+"?propagationPolicy=Background", nil)
	l.sees(dispatch.Missing, Deleted, "deleted from outside ocpctl")
	require.Empty(t, l.left(t.Context()), "its secret is gone too")
}

func TestAPodWithoutItsJobStillCountsAndIsStopped(t *testing.T) {
	l := newLife(t, "polite", nil).start()
	l.running()
	admin(t, http.MethodDelete, batch+"/jobs/"+l.name()+"?propagationPolicy=Orphan", nil)
	l.until("the Job is gone", func() bool { j, _, err := l.d.findJob(t.Context(), l.job.Attempt); return err == nil && j == nil })
	require.Equal(t, dispatch.Running, l.observe().Sighting)
	living, err := l.d.Living(t.Context(), l.job.Cluster)
	require.NoError(t, err)
	require.Equal(t, []int{1}, living)
	require.NoError(t, l.d.Stop(t.Context(), l.job.Attempt))
	l.sees(dispatch.Missing, Deleted, "")
	require.Equal(t, []string{"secrets/" + l.name()}, l.left(t.Context()), "an orphaned secret has no owner to go with, and the server may not delete it")
	admin(t, http.MethodDelete, core+"/secrets/"+l.name(), nil)
}

func TestAPodThatWasDeletedByHandIsRecognisedUnlessItsRunnerEndedItself(t *testing.T) {
	for behaviour, code := range map[string]string{"stubborn": Deleted, "polite": ""} { // a polite runner reports why it ended
		t.Run(behaviour, func(t *testing.T) {
			l := newLife(t, behaviour, nil).start()
			pod := l.running()
			admin(t, http.MethodDelete, core+"/pods/"+pod.Name, map[string]any{"gracePeriodSeconds": 1})
			l.sees(dispatch.Ended, code, "")
		})
	}
}

func TestADrainedNodeEvictsTheRunner(t *testing.T) {
	l := newLife(t, "stubborn", nil).start()
	pod := l.running()
	admin(t, http.MethodPost, core+"/pods/"+pod.Name+"/eviction", map[string]any{"apiVersion": "policy/v1", "kind": "Eviction",
		"metadata": map[string]any{"name": pod.Name, "namespace": development.Namespace}, "deleteOptions": map[string]any{"gracePeriodSeconds": 1}})
	l.sees(dispatch.Running, Evicted, "was drained")
}

func TestALostNodeIsSaidAndItsPodIsUnknownAfterItsTime(t *testing.T) {
	l := newLife(t, "polite", nil).start()
	pod := l.running()
	node := pod.Spec.NodeName
	require.NoError(t, real.LoseNode(node))
	back := func() { require.NoError(t, real.ReturnNode(node)) }
	defer func() { back() }()
	l.sees(dispatch.Running, NodeLost, "the runner's node "+node)

	later := replica(t, asServer(t), reports.URL, func(c *Config) {
		c.Now = func() time.Time { return time.Now().Add(2*LeastGrace + silentFor + time.Minute) }
	})
	seen, err := later.Observe(t.Context(), l.job.Attempt)
	require.NoError(t, err)
	require.Equal(t, dispatch.Unknown, seen.Sighting, "its node never confirmed the end")
	require.ErrorContains(t, later.Forget(t.Context(), l.job.Attempt), "was not seen to end")

	back()
	back = func() {}
	l.until("its node confirms the end", func() bool {
		seen := l.observe().Sighting
		return seen == dispatch.Ended
	})
	l.until("the node is ready again", func() bool {
		var found corev1.Node
		require.NoError(t, real.Admin(t.Context(), http.MethodGet, "/api/v1/nodes/"+node, nil, &found))
		return len(found.Spec.Taints) == 0
	})
}

func TestTheServerMayDoWhatTheChartsRoleSaysAndNothingElse(t *testing.T) {
	to := asServer(t)
	client := replica(t, to, reports.URL, nil).api
	for _, call := range []struct{ method, path string }{
		{http.MethodGet, core + "/secrets"},
		{http.MethodGet, core + "/secrets/any"},
		{http.MethodGet, core + "/configmaps"},
		{http.MethodPost, core + "/pods"},
		{http.MethodGet, core + "/pods/any"},
		{http.MethodPost, core + "/pods/any/eviction"},
		{http.MethodPost, core + "/serviceaccounts/" + development.CreateAccount + "/token"},
		{http.MethodGet, "/api/v1/namespaces/default/pods"},
		{http.MethodGet, "/api/v1/pods"},
		{http.MethodGet, "/apis/batch/v1/namespaces/default/jobs"},
		{http.MethodGet, "/apis/batch/v1/jobs"},
		{http.MethodPost, "/api/v1/namespaces/ocpctl/secrets"},
		{http.MethodGet, "/api/v1/nodes"},
		{http.MethodGet, "/apis/rbac.authorization.k8s.io/v1/namespaces/" + development.Namespace + "/roles"},
	} {
		t.Run(call.method+" "+call.path, func(t *testing.T) {
			err := client.core.Verb(call.method).AbsPath(call.path).Body([]byte("{}")).Do(t.Context()).Error()
			require.ErrorContains(t, err, "forbidden", fmt.Sprint(err))
		})
	}
}
