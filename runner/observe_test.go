package runner_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/internal/contract"
)

func TestARunnerSeesWhenPeopleLastSentRequests(t *testing.T) {
	w := opened(t, contract.KindObserve)
	hour := time.Now().UTC().Truncate(time.Hour).Add(-2 * time.Hour)
	w.file("requests-counted", requestsCounted(map[int]string{hour.Hour(): "maya", hour.Add(time.Hour).Hour(): "system:admin"}))
	require.NoError(t, w.run(t.Context()))
	got := w.result()
	if time.Now().UTC().Truncate(time.Hour).Equal(hour.Add(2 * time.Hour)) { // the hour did not end meanwhile
		require.Equal(t, contract.Result{Outcome: "succeeded", Message: "its API server lists people's requests in the hour from " + hour.Format("15:04 MST on 2 January"), LastUse: hour}, got)
	}
	require.Equal(t, []string{"restoring", "observing"}, w.phases())
	require.Empty(t, w.asked(), "it only reads")
}

func TestThatNoPersonSentRequestsIsAnAnswerToo(t *testing.T) {
	w := opened(t, contract.KindObserve)
	w.file("requests-counted", requestsCounted(map[int]string{time.Now().UTC().Hour(): "system:serviceaccount:openshift-monitoring:prometheus-k8s"}))
	require.NoError(t, w.run(t.Context()))
	require.Equal(t, contract.Result{Outcome: "succeeded", Message: "its API server lists no person's request of the last 24 hours"}, w.result())
}

func TestALookThatFailsSaysNothingAboutUse(t *testing.T) {
	for name, c := range map[string]struct {
		spoil     func(*world)
		reason    string
		says      string
		retryable bool
	}{
		"the API does not answer": {func(w *world) {
			w.on("oc", "echo 'Unable to connect to the server: EOF' >&2; exit 1")
		}, "RequestsUnknown", "Unable to connect to the server: EOF", true},
		"it may not be asked": {func(w *world) {
			w.on("oc", `echo 'Error from server (Forbidden): apirequestcounts is forbidden' >&2; exit 1`)
		}, "RequestsUnknown", "is forbidden", false},
		"it has no counts": {func(w *world) { w.file("requests-counted", "") }, "RequestsUnknown", "holds no counts", true},
		"no kubeconfig":    {func(w *world) { w.spec.KubeconfigRef = "" }, "KubeconfigMissing", "no kubeconfig", false},
		"more than 24 hours": {func(w *world) {
			w.file("requests-counted", requestsCounted(map[int]string{24: "maya"}))
		}, "RequestsUnknown", "holds no counts", true},
	} {
		t.Run(name, func(t *testing.T) {
			w := opened(t, contract.KindObserve)
			c.spoil(w)
			require.NoError(t, w.run(t.Context()))
			got := w.result()
			require.Equal(t, []any{"failed", c.reason, c.retryable}, []any{got.Outcome, got.Reason, got.Retryable}, got.Message)
			require.Contains(t, got.Message, c.says)
			require.Zero(t, got.LastUse)
		})
	}
}

// requestsCounted is what oc prints of an API server's counts: a user's requests in each of these hours of the day.
func requestsCounted(byHour map[int]string) (text string) {
	for hour, user := range byHour {
		text += fmt.Sprintf("%d %s\n", hour, user)
	}
	return text
}
