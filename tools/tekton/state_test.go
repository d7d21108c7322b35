package tekton_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	v1 "github.com/tektoncd/pipeline/pkg/apis/pipeline/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"knative.dev/pkg/apis"
	duckv1 "knative.dev/pkg/apis/duck/v1"

	standin "github.com/ocpctl/ocpctl/devstack/tekton"
	"github.com/ocpctl/ocpctl/internal/secret"
	"github.com/ocpctl/ocpctl/internal/tekton"
)

func TestAPipelineRunIsReadAsTektonWritesIt(t *testing.T) {
	var run v1.PipelineRun
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _ = json.NewEncoder(w).Encode(run) }))
	t.Cleanup(server.Close)
	client, err := tekton.New([]tekton.Cluster{{Issuer: "i", API: server.URL, Token: func(context.Context) (secret.Text, error) { return secret.New("x"), nil }}})
	require.NoError(t, err)
	done := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		status corev1.ConditionStatus
		reason v1.PipelineRunReason
		want   tekton.State
	}{
		"running":                        {corev1.ConditionUnknown, v1.PipelineRunReasonRunning, tekton.State{}},
		"pending":                        {corev1.ConditionUnknown, v1.PipelineRunReasonPending, tekton.State{}},
		"stopped, its finally tasks run": {corev1.ConditionUnknown, v1.PipelineRunReasonStoppedRunningFinally, tekton.State{}},
		"succeeded":                      {corev1.ConditionTrue, v1.PipelineRunReasonSuccessful, tekton.State{Finished: true, Conclusion: "success", At: done}},
		"completed":                      {corev1.ConditionTrue, v1.PipelineRunReasonCompleted, tekton.State{Finished: true, Conclusion: "success", At: done}},
		"failed":                         {corev1.ConditionFalse, v1.PipelineRunReasonFailed, tekton.State{Finished: true, Conclusion: "failure", At: done}},
		"cancelled":                      {corev1.ConditionFalse, v1.PipelineRunReasonCancelled, tekton.State{Finished: true, Conclusion: "cancelled", At: done}},
		"timed out":                      {corev1.ConditionFalse, v1.PipelineRunReasonTimedOut, tekton.State{Finished: true, Conclusion: "timed_out", At: done}},
	} {
		t.Run(name, func(t *testing.T) {
			run = v1.PipelineRun{TypeMeta: metav1.TypeMeta{APIVersion: "tekton.dev/v1", Kind: "PipelineRun"}, ObjectMeta: metav1.ObjectMeta{Name: "e2e", Namespace: "ci", UID: types.UID("u-1")}}
			run.Status.Status = duckv1.Status{Conditions: duckv1.Conditions{{Type: apis.ConditionSucceeded, Status: c.status, Reason: c.reason.String()}}}
			if run.IsDone() {
				run.Status.CompletionTime = &metav1.Time{Time: done}
			}
			got, err := client.PipelineRun(t.Context(), "i", "ci", "e2e", "u-1")
			require.NoError(t, err)
			require.Equal(t, c.want, got)
			require.Equal(t, run.IsDone(), got.Finished)
		})
	}
}

func TestTheStandInAnswersWithPipelineRuns(t *testing.T) {
	api := standin.Start()
	t.Cleanup(api.Stop)
	api.Put(standin.Run{Namespace: "ci", Name: "e2e-1", UID: "u-1", Status: "False", Reason: "Cancelled", Completed: time.Now()})
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, api.URL()+"/apis/tekton.dev/v1/namespaces/ci/pipelineruns/e2e-1", nil)
	require.NoError(t, err)
	r.Header.Set("Authorization", "Bearer "+standin.Token)
	res, err := api.Client().Do(r)
	require.NoError(t, err)
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	run := decode[v1.PipelineRun](t, raw)
	require.True(t, run.IsDone())
	require.True(t, run.Status.GetCondition(apis.ConditionSucceeded).IsFalse())
	require.EqualValues(t, "u-1", run.UID)
}
