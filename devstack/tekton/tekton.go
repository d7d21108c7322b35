// Package tekton is a stand-in for the API of a Kubernetes cluster with Tekton, as far as PipelineRuns are read: over TLS, with the
// tokens, the answers and the errors of a real API server. It runs no pipeline: a test says how each PipelineRun stands.
package tekton

import (
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"sync"
	"time"
)

// Token is the token of the service account that may get PipelineRuns.
const Token = "stand-in-token-of-the-watcher"

// Run is a PipelineRun.
type Run struct {
	Namespace, Name, UID string
	Status, Reason       string // of the condition Succeeded, e.g. False and Failed; empty: the run has no condition yet
	Completed            time.Time
}

// API is a running stand-in.
type API struct {
	server *httptest.Server

	mu    sync.Mutex
	runs  map[string]Run // by namespace/name
	fault func(w http.ResponseWriter) bool
	token string
	may   map[string]bool // what the token may do in every namespace, as "get tekton.dev/pipelineruns"
	asked int
}

// Start listens on the loopback until Stop is called.
func Start() *API {
	a := &API{runs: map[string]Run{}, token: Token, may: map[string]bool{"get tekton.dev/pipelineruns": true}}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews", a.review)
	mux.HandleFunc("GET /apis/tekton.dev/v1/namespaces/{namespace}/pipelineruns/{name}", a.get)
	a.server = httptest.NewTLSServer(mux)
	return a
}

// Stop stops it.
func (a *API) Stop() { a.server.Close() }

// URL is its address.
func (a *API) URL() string { return a.server.URL }

// Client returns a client that trusts it.
func (a *API) Client() *http.Client { return a.server.Client() }

// CA is the certificate authority of its TLS certificate, in PEM.
func (a *API) CA() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.server.Certificate().Raw})
}

// Put stores a PipelineRun.
func (a *API) Put(r Run) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.runs[r.Namespace+"/"+r.Name] = r
}

// Delete removes a PipelineRun.
func (a *API) Delete(namespace, name string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.runs, namespace+"/"+name)
}

// Accept replaces the accepted token.
func (a *API) Accept(token string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.token = token
}

// Allow replaces what the token may do in every namespace, such as "get tekton.dev/pipelineruns" or "get /secrets". Reading a PipelineRun
// does not depend on it; Fault refuses that.
func (a *API) Allow(rights ...string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.may = map[string]bool{}
	for _, right := range rights {
		a.may[right] = true
	}
}

// Fault lets a function answer from now on, where it returns true; nil: none.
func (a *API) Fault(f func(w http.ResponseWriter) bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.fault = f
}

// Asked returns how often it was asked.
func (a *API) Asked() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.asked
}

func (a *API) get(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.asked++
	name := r.PathValue("name")
	run, found := a.runs[r.PathValue("namespace")+"/"+name]
	switch {
	case a.fault != nil && a.fault(w):
	case r.Header.Get("Authorization") != "Bearer "+a.token:
		Refuse(w, http.StatusUnauthorized, "Unauthorized", "Unauthorized", nil)
	case !found:
		Refuse(w, http.StatusNotFound, "NotFound", `pipelineruns.tekton.dev "`+name+`" not found`,
			map[string]any{"name": name, "group": "tekton.dev", "kind": "pipelineruns"})
	default:
		reply(w, http.StatusOK, run.object())
	}
}

// review answers what the token may do.
func (a *API) review(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		Kind string `json:"kind"`
		Spec struct {
			ResourceAttributes struct{ Verb, Group, Resource, Namespace string }
		} `json:"spec"`
	}
	err := json.NewDecoder(r.Body).Decode(&asked)
	of := asked.Spec.ResourceAttributes
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case r.Header.Get("Authorization") != "Bearer "+a.token:
		Refuse(w, http.StatusUnauthorized, "Unauthorized", "Unauthorized", nil)
	case err != nil || asked.Kind != "SelfSubjectAccessReview" || of.Verb == "" || of.Resource == "":
		Refuse(w, http.StatusBadRequest, "BadRequest", "the review has no resourceAttributes", nil)
	default:
		reply(w, http.StatusCreated, map[string]any{
			"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview", "metadata": map[string]any{}, "spec": asked.Spec,
			"status": map[string]any{"allowed": a.may[of.Verb+" "+of.Group+"/"+of.Resource]},
		})
	}
}

// Refuse answers with a Status, as an API server does.
func Refuse(w http.ResponseWriter, code int, reason, message string, details map[string]any) {
	status := map[string]any{
		"kind": "Status", "apiVersion": "v1", "metadata": map[string]any{}, "status": "Failure", "message": message, "reason": reason, "code": code,
	}
	if details != nil {
		status["details"] = details
	}
	reply(w, code, status)
}

// object is the PipelineRun as the API returns it.
func (r Run) object() map[string]any {
	status := map[string]any{}
	if r.Status != "" {
		status["conditions"] = []any{map[string]any{
			"type": "Succeeded", "status": r.Status, "reason": r.Reason, "message": "Tasks Completed: 3 (Failed: 0, Cancelled 0), Skipped: 0", "lastTransitionTime": stamp(r.Completed),
		}}
	}
	if !r.Completed.IsZero() {
		status["completionTime"] = stamp(r.Completed)
	}
	return map[string]any{
		"apiVersion": "tekton.dev/v1", "kind": "PipelineRun",
		"metadata": map[string]any{"name": r.Name, "namespace": r.Namespace, "uid": r.UID, "labels": map[string]any{"tekton.dev/pipeline": "e2e"}},
		"spec":     map[string]any{"pipelineRef": map[string]any{"name": "e2e"}}, "status": status,
	}
}

// stamp is a time as Kubernetes writes it: null for none.
func stamp(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UTC().Format(time.RFC3339)
}

func reply(w http.ResponseWriter, code int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(body) // the caller disconnected
}
