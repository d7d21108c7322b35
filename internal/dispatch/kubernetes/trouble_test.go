package kubernetes

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/ocpctl/ocpctl/internal/dispatch"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// objects reads what the API returned about one attempt.
func objects(t *testing.T, name string) (job *batchv1.Job, pods []corev1.Pod, events []corev1.Event) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", "trouble", name+".json"))
	require.NoError(t, err)
	var list struct{ Items []json.RawMessage }
	require.NoError(t, json.Unmarshal(raw, &list))
	for _, item := range list.Items {
		var kind metav1.TypeMeta
		require.NoError(t, json.Unmarshal(item, &kind))
		switch kind.Kind {
		case "Job":
			job = &batchv1.Job{}
			require.NoError(t, json.Unmarshal(item, job))
		case "Pod":
			pods = append(pods, corev1.Pod{})
			require.NoError(t, json.Unmarshal(item, &pods[len(pods)-1]))
		case "Event":
			events = append(events, corev1.Event{})
			require.NoError(t, json.Unmarshal(item, &events[len(events)-1]))
		default:
			require.Fail(t, "unexpected "+kind.Kind)
		}
	}
	return job, pods, events
}

// What each state of the API's objects means. An empty code: nothing is wrong.
var states = map[string]struct {
	sight         dispatch.Sighting
	code, message string
}{
	"unschedulable": {dispatch.Running, Unschedulable,
		"no node takes the runner's pod: 0/3 nodes are available: 1 node(s) had untolerated taint {node-role.kubernetes.io/master: }, 2 Insufficient memory"},
	"image-pull": {dispatch.Running, ImagePullFailed, "the image quay.io/example/ocpctl-runner:1.4.0 of the runner's pod cannot be pulled"},
	"image-name": {dispatch.Running, ImagePullFailed, "the image quay.io/example/ocpctl-runner:1.4.0 of the runner's pod cannot be pulled"},
	"config-error": {dispatch.Running, ConfigError,
		`the runner's container cannot be configured: container has runAsNonRoot and image will run as root (pod: "ocpctl-clu-01jcz8k7w5n3r1t9v2x4y6zabc-create-3-x7k2p_ocpctl-runners(0e7f3f0a-2c43-4c0b-8a0e-6a9f5d7b9c22)", container: runner)`},
	"no-program": {dispatch.Ended, ConfigError,
		`the runner's container could not be started: failed to create containerd task: failed to create shim task: OCI runtime create failed: exec: "/usr/bin/ocpctl-runner": stat /usr/bin/ocpctl-runner: no such file or directory: unknown`},
	"secret-missing": {dispatch.Running, ConfigError,
		`a volume of the runner's pod cannot be mounted: MountVolume.SetUp failed for volume "token" : secret "ocpctl-clu-01jcz8k7w5n3r1t9v2x4y6zabc-create-3" not found`},
	"init-failed": {dispatch.Ended, InitFailed, "the init container istio-init of the runner's pod ended with exit code 1: cannot reach the proxy"},
	"quota": {dispatch.Running, QuotaExceeded,
		"the runner's pod was refused: Error creating: pods is forbidden: exceeded quota: runners, requested: requests.memory=1Gi, used: requests.memory=40Gi, limited: requests.memory=40Gi"},
	"admission": {dispatch.Running, Forbidden,
		`the runner's pod was refused: Error creating: pods is forbidden: violates PodSecurity "restricted:latest": runAsNonRoot != true (pod or container "runner" must set securityContext.runAsNonRoot=true)`},
	"no-service-account": {dispatch.Running, Forbidden,
		`the runner's pod was refused: Error creating: pods is forbidden: error looking up service account ocpctl-runners/ocpctl-runner-create: serviceaccount "ocpctl-runner-create" not found`},
	"out-of-memory":             {dispatch.Ended, OutOfMemory, "the runner's pod was killed because it used more memory than its limit of 2Gi"},
	"out-of-memory-of-the-node": {dispatch.Ended, OutOfMemory, "the runner's pod was killed because its node ran out of memory"},
	"evicted-for-disk":          {dispatch.Ended, Evicted, `the runner's pod was evicted from its node: Usage of EmptyDir volume "work" exceeds the limit "20Gi"`},
	"evicted-quietly":           {dispatch.Ended, Evicted, `the runner's pod was evicted from its node: Usage of EmptyDir volume "work" exceeds the limit "20Gi"`},
	"node-restarted":            {dispatch.Ended, NodeLost, "the runner's node ip-10-0-41-17.ec2.internal restarted, and the runner ended with it"},
	"node-restarted-waiting":    {dispatch.Ended, NodeLost, "the runner's node ip-10-0-41-17.ec2.internal restarted, and the runner ended with it"},
	"evicted-for-memory": {dispatch.Ended, Evicted,
		"the runner's pod was evicted from its node: The node was low on resource: memory. Threshold quantity: 100Mi, available: 50Mi. Container runner was using 1900Mi, request is 1Gi, has larger consumption of memory"},
	"drained":       {dispatch.Running, Evicted, "the runner's pod was evicted because its node ip-10-0-41-17.ec2.internal was drained"},
	"preempted":     {dispatch.Ended, Preempted, "the runner's pod was removed for a pod with a higher priority"},
	"node-lost":     {dispatch.Unknown, NodeLost, "the runner's node ip-10-0-41-17.ec2.internal stopped responding or was removed"},
	"node-silent":   {dispatch.Unknown, NodeLost, "the runner's node ip-10-0-41-17.ec2.internal stopped responding or was removed"},
	"node-removed":  {dispatch.Ended, NodeLost, "the runner's node ip-10-0-41-17.ec2.internal stopped responding or was removed"},
	"node-shutdown": {dispatch.Ended, NodeLost, "the runner's node ip-10-0-41-17.ec2.internal stopped responding or was removed"},
	"node-rejects": {dispatch.Ended, Unschedulable,
		"the node ip-10-0-41-17.ec2.internal rejected the runner's pod: Pod was rejected: Node didn't have enough resource: cpu, requested: 500, used: 3800, capacity: 4000"},
	"deadline":                {dispatch.Ended, DeadlineExceeded, "the runner did not end within its Job's deadline of 5h0m0s"},
	"pod-deleted":             {dispatch.Ended, Deleted, "the runner's pod was deleted from outside ocpctl"},
	"failed":                  {dispatch.Ended, ExitedWithError, "the runner ended with exit code 1: post the result: the Status API did not answer within 20s"},
	"killed":                  {dispatch.Ended, ExitedWithError, "the runner's pod was killed"},
	"counted-later":           {dispatch.Ended, ExitedWithError, `the runner ended with exit code 2: required flag(s) "server" not set`},
	"stopped":                 {dispatch.Ended, "", ""},
	"suspended":               {dispatch.Ended, "", ""},
	"suspending":              {dispatch.Running, "", ""},
	"stopping-without-a-node": {dispatch.Ended, Unschedulable, "no node takes the runner's pod: 0/3 nodes are available: 3 Insufficient memory"},
	"succeeded":               {dispatch.Ended, "", ""},
	"running":                 {dispatch.Running, "", ""},
	"waiting-for-a-pod":       {dispatch.Running, "", ""},
	"orphaned":                {dispatch.Running, "", ""},
	"nothing":                 {dispatch.Missing, "", ""},
}

func TestTroubleIsRecognisedFromTheAPIsObjects(t *testing.T) {
	d := &Dispatcher{cfg: Config{Now: func() time.Time { return noon }}}
	files, err := filepath.Glob("testdata/trouble/*.json")
	require.NoError(t, err)
	require.Len(t, files, len(states))
	for name, want := range states {
		t.Run(name, func(t *testing.T) {
			job, pods, events := objects(t, name)
			require.Equal(t, want.sight, sightingOf(job, pods, noon))
			got := d.recogniseTrouble(job, pods, events)
			if want.code == "" {
				require.Nil(t, got)
				return
			}
			require.NotNil(t, got)
			require.Equal(t, want.code, got.Code)
			require.Equal(t, want.message, got.Message)
			require.NotEmpty(t, got.Next)
			require.Equal(t, "ocpctl", got.Whose)
			require.False(t, strings.HasSuffix(got.Message, ".") || strings.HasSuffix(got.Next, "."), "it becomes part of a sentence")
		})
	}
}

func TestTheAdviceAfterALackOfMemoryNamesTheResourcesThatCount(t *testing.T) {
	d := &Dispatcher{cfg: Config{Settings: Defaults(), Now: func() time.Time { return noon }}}
	d.cfg.Resources["ibmcloud"], d.cfg.Resources["large"] = Resources{}, Resources{}
	for _, of := range []struct{ profile, platform, kind, want string }{
		{"small", "ibmcloud", "create", "ibmcloud-create"}, {"small", "ibmcloud", "scale", "ibmcloud"}, {"large", "ibmcloud", "create", "large"},
		{"small", "aws", "destroy", "destroy"}, {"small", "aws", "create", "default"},
	} {
		for _, name := range []string{"out-of-memory", "out-of-memory-of-the-node"} {
			job, pods, events := objects(t, name)
			pods[0].Labels = map[string]string{LabelProfile: of.profile, LabelPlatform: of.platform, LabelKind: of.kind}
			require.Contains(t, d.recogniseTrouble(job, pods, events).Next+",", " in runner.kubernetes.resources."+of.want+",")
		}
	}
}

func TestEventsAreAskedOnlyWhereTheStatusSaysNothing(t *testing.T) {
	for name := range states {
		job, pods, events := objects(t, name)
		quietly := len(pods) == 1 && hasEndedQuietly(&pods[0])
		asks := quietly || len(pods) == 0 && job != nil && completionOf(job) == nil || len(pods) == 1 && isCreating(&pods[0])
		if len(events) > 0 {
			require.True(t, asks, name)
		}
		if sightingOf(job, pods, noon) == dispatch.Ended && !isSuspended(job) && !quietly {
			require.False(t, asks, name)
		}
	}
}

func TestARefusalIsToldFromAnAnswerThatDidNotCome(t *testing.T) {
	jobs := schema.GroupResource{Group: "batch", Resource: "jobs"}
	quota := apierrors.NewForbidden(jobs, "x", errors.New("exceeded quota: runners, requested: count/jobs.batch=1, used: count/jobs.batch=50, limited: count/jobs.batch=50"))
	var refusal *dispatch.Refusal
	require.ErrorAs(t, toRefusal("Job", quota), &refusal)
	require.Equal(t, QuotaExceeded, refusal.Trouble.Code)
	require.ErrorAs(t, toRefusal("Job", apierrors.NewForbidden(jobs, "x", errors.New("no rights"))), &refusal)
	require.Equal(t, Forbidden, refusal.Trouble.Code)
	require.ErrorAs(t, toRefusal("Job", apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, "runners")), &refusal)
	for _, err := range []error{
		apierrors.NewTooManyRequests("later", 1), apierrors.NewInternalError(errors.New("etcd")), apierrors.NewTimeoutError("slow", 1),
		errors.New("connection refused"), apierrors.NewServiceUnavailable("starting"),
	} {
		require.False(t, errors.As(toRefusal("Job", err), &refusal), err.Error())
	}
}

func TestAMessageFromOutsideIsOneShortLineThatStaysTheSame(t *testing.T) {
	require.Equal(t, "no reason was given", shortenMessage(" \n"))
	require.Equal(t, "a b", shortenMessage("a\n  b. "))
	require.LessOrEqual(t, len(shortenMessage(strings.Repeat("é", 1000))), most+len("…"))
	require.Equal(t, shortenMessage(`Error creating: pods "x-abcde" is forbidden: no`), shortenMessage(`Error creating: pods "x-fghij" is forbidden: no`))
}
