package kubernetes

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	authorizationv1 "k8s.io/api/authorization/v1"
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// examined answers the calls of Access as an API server does.
type examined struct {
	t       *testing.T
	allowed func(authorizationv1.ResourceAttributes) bool
	refused map[string]*metav1.Status // by kind of attempt
	warning string
	tried   []string
}

func (e *examined) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.Method + " " + r.URL.Path {
	case "GET /version":
		w.Header().Set("Date", noon.Format(http.TimeFormat))
		send(w, 200, map[string]string{"gitVersion": "v1.34.4"})
	case "POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews":
		var review authorizationv1.SelfSubjectAccessReview
		require.NoError(e.t, json.NewDecoder(r.Body).Decode(&review))
		review.Status.Allowed = e.allowed(*review.Spec.ResourceAttributes)
		send(w, 201, review)
	case "POST /apis/batch/v1/namespaces/ocpctl-runners/jobs":
		require.Equal(e.t, "All", r.URL.Query().Get("dryRun"), "nothing is created")
		var job batchv1.Job
		require.NoError(e.t, json.NewDecoder(r.Body).Decode(&job))
		kind := job.Labels[LabelKind]
		e.tried = append(e.tried, kind)
		if e.refused[kind] != nil {
			send(w, 403, e.refused[kind])
			return
		}
		if e.warning != "" {
			w.Header().Set("Warning", fmt.Sprintf("299 - %q", e.warning))
		}
		send(w, 201, job)
	default:
		require.Fail(e.t, "an unexpected call: "+r.Method+" "+r.URL.Path)
	}
}

// leastRights is what the chart's Role allows.
func leastRights(asked authorizationv1.ResourceAttributes) bool {
	for _, right := range Rights() {
		for _, verb := range right.Verbs {
			if asked == (authorizationv1.ResourceAttributes{Namespace: "ocpctl-runners", Group: right.Group, Resource: right.Resource, Verb: verb}) {
				return true
			}
		}
	}
	return false
}

func access(t *testing.T, e *examined) (Access, error) {
	e.t = t
	server := httptest.NewServer(e)
	t.Cleanup(server.Close)
	return dispatcher(t, server.URL, func(c *Config) {
		c.ImagePullSecrets = []string{"registry"}
		c.Mounts = []Mount{{Secret: "ocpctl-keys", Path: "/run/secrets/keys"}, {ConfigMap: "ca", Path: "/etc/ca"}}
	}).Access(t.Context())
}

func TestAProcessWithTheChartsRightsIsInOrder(t *testing.T) {
	e := &examined{allowed: leastRights}
	found, err := access(t, e)
	require.NoError(t, err)
	require.Equal(t, "v1.34.4", found.Version)
	require.True(t, noon.Truncate(time.Second).Equal(found.Clock))
	require.Equal(t, "ocpctl-runners", found.Namespace)
	require.Empty(t, found.Missing)
	require.Empty(t, found.Excess)
	require.Empty(t, found.Refused)
	require.Equal(t, kinds, e.tried)
	require.Equal(t, []string{"ConfigMap ca", "Secret ocpctl-keys", "Secret registry", "service account ocpctl-runner-create", "service account ocpctl-runner-destroy", "service account ocpctl-scan"}, found.Unread)
}

func TestEachRightThatIsMissingIsNamed(t *testing.T) {
	found, err := access(t, &examined{allowed: func(asked authorizationv1.ResourceAttributes) bool {
		return leastRights(asked) && asked.Verb != "watch"
	}})
	require.NoError(t, err)
	require.Equal(t, []string{"watch jobs.batch", "watch pods"}, found.Missing)
}

func TestRightsBeyondTheNeededAreNamed(t *testing.T) {
	found, err := access(t, &examined{allowed: func(authorizationv1.ResourceAttributes) bool { return true }})
	require.NoError(t, err)
	require.Empty(t, found.Missing)
	require.Contains(t, found.Excess, "get secrets")
	require.Contains(t, found.Excess, "create pods/exec")
	require.Contains(t, found.Excess, "list secrets in every namespace")
	require.Len(t, found.Excess, len(dangerousRights("x")))
}

func TestAJobThatWouldBeRefusedIsFoundWithoutCreatingIt(t *testing.T) {
	e := &examined{allowed: leastRights, warning: `would violate PodSecurity "restricted:latest"`, refused: map[string]*metav1.Status{
		"destroy": status(403, metav1.StatusReasonForbidden, "exceeded quota: jobs"),
	}}
	found, err := access(t, e)
	require.NoError(t, err)
	require.Len(t, found.Refused, len(kinds))
	require.Equal(t, []string{e.warning}, found.Refused[0].Warned)
	require.Equal(t, "destroy", found.Refused[1].Kind)
	require.ErrorContains(t, found.Refused[1].Err, "exceeded quota: jobs")
}

func TestAnAPIThatDoesNotAnswerIsAnError(t *testing.T) {
	_, err := dispatcher(t, "http://127.0.0.1:1", nil).Access(t.Context())
	require.ErrorContains(t, err, "ask the Kubernetes API for its version")
}
