//go:build kubernetes

package kubernetes

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"

	development "github.com/ocpctl/ocpctl/devstack/kubernetes"
	"github.com/ocpctl/ocpctl/internal/dispatch"
	"github.com/ocpctl/ocpctl/internal/dispatch/dispatchtest"
)

// These tests run with make test-kubernetes, on a control plane and two nodes that this process starts. The dispatcher has a token with
// the rights of the Helm chart's role and no others.

// patience is how long a test waits for a condition.
const patience = 2 * time.Minute

// real is the cluster of all tests; reports takes what their runners say.
var (
	real    *development.Server
	reports = httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
)

const probe = "probe:1"

func TestMain(m *testing.M) {
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "dispatch-kubernetes-")
		if err != nil {
			panic(err)
		}
		defer os.RemoveAll(dir)
		root := filepath.Join(dir, "image")
		if err := os.MkdirAll(filepath.Join(root, filepath.Dir(Program)), 0o755); err != nil {
			panic(err)
		}
		if err := dispatchtest.Build(filepath.Join(root, Program)); err != nil {
			panic(err)
		}
		settings = development.Config{
			Dir: filepath.Join(dir, "kubernetes"), Nodes: 2, Heartbeat: time.Second, NodeGrace: 10 * time.Second, Toleration: 2 * time.Second,
			Images: []development.Image{{Name: probe, Rootfs: root, User: "65532"}, {Name: "probe:root", Rootfs: root}},
		}
		real, err = development.Start(context.Background(), settings)
		if err != nil {
			panic(err)
		}
		defer func() { _ = real.Stop() }() // a test may have started another
		if err := real.Runners(context.Background(), filepath.Join(dir, "kubeconfig")); err != nil {
			panic(err)
		}
		kubeconfig = filepath.Join(dir, "kubeconfig")
		return m.Run()
	}())
}

// settings start the cluster again; kubeconfig is the server's.
var (
	settings   development.Config
	kubeconfig string
)

// asServer returns how the server reaches the API.
func asServer(t testing.TB) *rest.Config {
	t.Helper()
	to, err := Connect(kubeconfig)
	require.NoError(t, err)
	return to
}

// replica returns a dispatcher as a server has it.
func replica(t testing.TB, to *rest.Config, statusURL string, change func(*Config)) *Dispatcher {
	t.Helper()
	cfg := Config{
		Settings: Settings{
			Namespace: development.Namespace, Image: probe,
			ServiceAccounts: ServiceAccounts{Create: development.CreateAccount, Destroy: development.DestroyAccount, Scan: development.ScanAccount},
			Resources:       map[string]Resources{"default": {Requests: map[string]string{"cpu": "10m", "memory": "16Mi"}, Limits: map[string]string{"memory": "100Mi"}}},
		},
		Installation: "test", StatusURL: statusURL,
	}
	if change != nil {
		change(&cfg)
	}
	d, err := New(to, cfg)
	require.NoError(t, err)
	return d
}

func TestJobsAreADispatcher(t *testing.T) {
	dispatchtest.Run(t, dispatchtest.Config{
		New: func(t *testing.T, statusURL string) dispatchtest.Dispatcher {
			return replica(t, asServer(t), statusURL, nil)
		},
		Patience: patience, Mode: 0o440,
	})
}

// life is one attempt on the real cluster.
type life struct {
	*testing.T
	d   *Dispatcher
	job dispatch.Job
}

// newJob returns an attempt of a cluster of its own.
func newJob(behaviour string) dispatch.Job {
	unique := fmt.Sprint(serial.Add(1), "-", time.Now().UnixNano())
	return dispatch.Job{Attempt: "att_" + behaviour + "_" + unique, Cluster: "clu_" + unique, Number: 1, Kind: "create", Token: "the-token", Team: "platform"}
}

var serial atomic.Int64

// listen returns the address of a server that calls back at every report of a runner.
func listen(t testing.TB, heard func()) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { heard() }))
	t.Cleanup(server.Close)
	return server.URL
}

// resourceOf returns the resource in a path of the API.
func resourceOf(path string) string {
	_, rest, _ := strings.Cut(path, "/namespaces/"+development.Namespace+"/")
	resource, _, _ := strings.Cut(rest, "/")
	return resource
}

// newLife prepares an attempt whose runner behaves as the probe's behaviour says. The test ends with nothing of it left.
func newLife(t *testing.T, behaviour string, change func(*Config)) *life {
	t.Helper()
	l := &life{T: t, d: replica(t, asServer(t), reports.URL, change), job: newJob(behaviour)}
	t.Cleanup(func() {
		ctx := context.Background()
		require.NoError(t, l.d.Kill(ctx, l.job.Attempt))
		l.until("nothing is left", func() bool { return l.d.Forget(ctx, l.job.Attempt) == nil && len(l.left(ctx)) == 0 })
	})
	return l
}

func (l *life) start() *life {
	l.Helper()
	require.NoError(l, l.d.Start(l.Context(), l.job))
	return l
}

func (l *life) until(what string, done func() bool) {
	l.Helper()
	require.Eventually(l, done, patience, 50*time.Millisecond, what)
}

func (l *life) observe() dispatch.Observation {
	l.Helper()
	seen, err := l.d.Observe(context.Background(), l.job.Attempt)
	require.NoError(l, err)
	return seen
}

// sees waits until the attempt is observed with this sighting and trouble.
func (l *life) sees(sighting dispatch.Sighting, code, text string) {
	l.Helper()
	var last dispatch.Observation
	require.Eventually(l, func() bool {
		last = l.observe()
		if code == "" {
			return last.Sighting == sighting && last.Trouble == nil
		}
		return last.Sighting == sighting && last.Trouble != nil && last.Trouble.Code == code && strings.Contains(last.Trouble.Message, text)
	}, patience, 50*time.Millisecond, "%s with %s %q; last seen: %+v", sighting, code, text, &last)
	require.True(l, code == "" || last.Trouble.Next != "" && last.Trouble.Whose == whose)
}

// running waits for the runner's process, and returns its pod.
func (l *life) running() corev1.Pod {
	l.Helper()
	var pod corev1.Pod
	l.until("it runs", func() bool {
		pods := l.pods()
		if len(pods) == 1 {
			pod = pods[0]
		}
		return pod.Status.Phase == corev1.PodRunning
	})
	return pod
}

func (l *life) pods() []corev1.Pod {
	l.Helper()
	pods, err := l.d.api.listPods(context.Background(), l.d.ofAttempt(l.job.Attempt))
	require.NoError(l, err)
	return pods
}

// name is that of the attempt's Job and secret.
func (l *life) name() string {
	l.Helper()
	name, err := jobName(l.job)
	require.NoError(l, err)
	return name
}

const batch, core = "/apis/batch/v1/namespaces/" + development.Namespace, "/api/v1/namespaces/" + development.Namespace

// admin does what an administrator does outside ocpctl.
func admin(t *testing.T, method, path string, body any) {
	t.Helper()
	require.NoError(t, real.Admin(context.Background(), method, path, body, nil))
}

// left lists the Jobs, pods and secrets of the attempt, as an administrator sees them.
func (l *life) left(ctx context.Context) (names []string) {
	l.Helper()
	for _, path := range []string{batch + "/jobs", core + "/pods", core + "/secrets"} {
		var list struct {
			Items []struct{ Metadata struct{ Name string } }
		}
		require.NoError(l, real.Admin(ctx, http.MethodGet, path+"?labelSelector="+LabelAttemptID+"="+l.job.Attempt, nil, &list))
		for _, item := range list.Items {
			names = append(names, filepath.Base(path)+"/"+item.Metadata.Name)
		}
	}
	return names
}
