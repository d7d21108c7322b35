package kubernetes

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/ocpctl/ocpctl/internal/dispatch"
)

// cluster answers as an API server does, as far as a dispatcher calls it. It has no controllers: tests set what these would write. A real
// cluster is asked with the build tag kubernetes.
type cluster struct {
	t  *testing.T
	mu sync.Mutex

	jobs    []batchv1.Job
	pods    []corev1.Pod
	secrets []corev1.Secret
	calls   []string                                // method and resource, in order; watches as WATCH
	bodies  []string                                // of deletions and patches
	fail    func(call string) *metav1.Status        // answers instead, if it returns something
	watches func(resource, version string) []string // what each watch delivers before it ends; nil: it stays open
}

func newCluster(t *testing.T) (*cluster, *Dispatcher) {
	t.Helper()
	c := &cluster{t: t}
	server := httptest.NewServer(c)
	t.Cleanup(server.Close)
	return c, dispatcher(t, server.URL, nil)
}

func dispatcher(t *testing.T, url string, change func(*Config)) *Dispatcher {
	t.Helper()
	cfg := settled()
	cfg.Timeout, cfg.Now = 5*time.Second, func() time.Time { return noon }
	if change != nil {
		change(&cfg)
	}
	d, err := New(&rest.Config{Host: url}, cfg)
	require.NoError(t, err)
	return d
}

// settled is a configuration as a file gives it.
func settled() Config {
	return Config{
		Settings: Settings{
			Namespace: "ocpctl-runners", Image: "quay.io/example/ocpctl-runner:1.4.0",
			ServiceAccounts: ServiceAccounts{Create: "ocpctl-runner-create", Destroy: "ocpctl-runner-destroy", Scan: "ocpctl-scan"},
		},
		Installation: "prod", StatusURL: "https://ocpctl.example.com",
	}
}

func attempt(number int, kind string) dispatch.Job {
	return dispatch.Job{
		Attempt: fmt.Sprintf("att_01JCZ8M4S3X6V9Q2T5W8YBAD%02d", number), Cluster: "clu_01JCZ8K7W5N3R1T9V2X4Y6ZABC", Number: number, Kind: kind,
		Token: "the-token", Job: "job_01JCZ8M4S3X6V9Q2T5W8YBJOB", Team: "platform", Profile: "aws-standard", Platform: "aws", Deadline: 3 * time.Hour,
	}
}

// scan is a job of a scan's runner.
func scan(number int) dispatch.Job {
	return dispatch.Job{Attempt: "scn_01JCZ8M4S3X6V9Q2T5W8YBXSCAN", Number: number, Kind: dispatch.KindScan, Token: "the-token", Job: "job_01JCZ8M4S3X6V9Q2T5W8YBSWJB", Platform: "aws"}
}

func (c *cluster) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/") // …/namespaces/<namespace>/<resource>[/<name>]
	at := 4
	if parts[0] == "api" {
		at = 3
	}
	require.Equal(c.t, "ocpctl-runners", parts[at])
	resource, name := parts[at+1], strings.Join(parts[at+2:], "/")
	body, _ := io.ReadAll(r.Body)
	call := r.Method + " " + resource
	if r.URL.Query().Get("watch") != "" {
		c.watch(w, r, resource)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls = append(c.calls, call)
	if c.fail != nil {
		if status := c.fail(call); status != nil {
			if status.Details != nil && status.Details.RetryAfterSeconds > 0 {
				w.Header().Set("Retry-After", fmt.Sprint(status.Details.RetryAfterSeconds))
			}
			send(w, int(status.Code), status)
			return
		}
	}
	c.handle(w, call, name, r.URL.Query().Get("labelSelector"), body)
}

func send(w http.ResponseWriter, code int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(body)
}

func status(code int32, reason metav1.StatusReason, message string) *metav1.Status {
	return &metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: "Failure", Code: code, Reason: reason, Message: message}
}

func (c *cluster) handle(w http.ResponseWriter, call, name, selector string, body []byte) {
	missing := status(404, metav1.StatusReasonNotFound, name+" not found")
	switch call {
	case "POST jobs":
		var job batchv1.Job
		require.NoError(c.t, json.Unmarshal(body, &job))
		for _, known := range c.jobs {
			if known.Name == job.Name {
				send(w, 409, status(409, metav1.StatusReasonAlreadyExists, job.Name+" already exists"))
				return
			}
		}
		job.UID = types.UID(fmt.Sprintf("uid-%d", len(c.jobs)+1))
		c.jobs = append(c.jobs, job)
		send(w, 201, job)
	case "POST secrets":
		var secret corev1.Secret
		require.NoError(c.t, json.Unmarshal(body, &secret))
		for _, known := range c.secrets {
			if known.Name == secret.Name {
				send(w, 409, status(409, metav1.StatusReasonAlreadyExists, secret.Name+" already exists"))
				return
			}
		}
		c.secrets = append(c.secrets, secret)
		send(w, 201, secret)
	case "GET jobs":
		list := batchv1.JobList{TypeMeta: metav1.TypeMeta{APIVersion: "batch/v1", Kind: "JobList"}, ListMeta: metav1.ListMeta{ResourceVersion: "10"}}
		for _, job := range c.jobs {
			if name == job.Name {
				job.TypeMeta = metav1.TypeMeta{APIVersion: "batch/v1", Kind: "Job"}
				send(w, 200, job)
				return
			}
			if matches(selector, job.Labels) {
				list.Items = append(list.Items, job)
			}
		}
		if name != "" {
			send(w, 404, missing)
			return
		}
		send(w, 200, list)
	case "GET pods":
		list := corev1.PodList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "PodList"}, ListMeta: metav1.ListMeta{ResourceVersion: "10"}}
		for _, pod := range c.pods {
			if matches(selector, pod.Labels) {
				list.Items = append(list.Items, pod)
			}
		}
		send(w, 200, list)
	case "GET events":
		send(w, 200, corev1.EventList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "EventList"}})
	case "PATCH jobs", "DELETE jobs", "DELETE pods":
		c.bodies = append(c.bodies, name+" "+string(body))
		for i := range c.jobs {
			if c.jobs[i].Name == name && call == "PATCH jobs" {
				c.jobs[i].Spec.Suspend = new(true)
				send(w, 200, c.jobs[i])
				return
			}
		}
		send(w, 200, metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: "Success"})
	default:
		require.Fail(c.t, "a call that the service account has no right to: "+call)
	}
}

func matches(selector string, labels map[string]string) bool {
	for pair := range strings.SplitSeq(selector, ",") {
		if key, value, ok := strings.Cut(pair, "="); ok && labels[key] != value {
			return false
		}
	}
	return true
}

func (c *cluster) watch(w http.ResponseWriter, r *http.Request, resource string) {
	c.mu.Lock()
	c.calls = append(c.calls, "WATCH "+resource)
	var lines []string
	open := true
	if c.watches != nil {
		lines = c.watches(resource, r.URL.Query().Get("resourceVersion"))
		open = lines == nil
	}
	c.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	for _, line := range lines {
		fmt.Fprintln(w, line)
	}
	w.(http.Flusher).Flush()
	if open {
		<-r.Context().Done()
	}
}

func (c *cluster) called(call string) (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, made := range c.calls {
		if made == call {
			n++
		}
	}
	return n
}

// running gives an attempt's Job the pod that the Job controller and a kubelet would.
func (c *cluster) running(job dispatch.Job, phase corev1.PodPhase) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, known := range c.jobs {
		if known.Labels[LabelAttemptID] == job.Attempt {
			c.pods = append(c.pods, corev1.Pod{
				ObjectMeta: metav1.ObjectMeta{Name: known.Name + "-x7k2p", UID: types.UID("pod-" + job.Attempt), Labels: known.Spec.Template.Labels},
				Spec:       corev1.PodSpec{NodeName: "node-1"}, Status: corev1.PodStatus{Phase: phase},
			})
		}
	}
}

// serverOf serves the same cluster at another address.
func serverOf(t *testing.T, c *cluster) string {
	t.Helper()
	server := httptest.NewServer(c)
	t.Cleanup(server.Close)
	return server.URL
}
