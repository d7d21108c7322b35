package tekton_test

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	standin "github.com/ocpctl/ocpctl/devstack/tekton"
	"github.com/ocpctl/ocpctl/internal/secret"
	"github.com/ocpctl/ocpctl/internal/tekton"
)

const issuer = "https://oidc.example.com/id/1"

// ask is a client of a stand-in whose token stands in a file.
func ask(t *testing.T) (client *tekton.Client, api *standin.API, token string) {
	t.Helper()
	api = standin.Start()
	t.Cleanup(api.Stop)
	dir := t.TempDir()
	ca, token := filepath.Join(dir, "ca.crt"), filepath.Join(dir, "token")
	require.NoError(t, os.WriteFile(ca, api.CA(), 0o600))
	require.NoError(t, os.WriteFile(token, []byte(standin.Token+"\n"), 0o600))
	client, err := tekton.New([]tekton.Cluster{{Issuer: issuer, API: api.URL(), CAFile: ca, Token: func(ctx context.Context) (secret.Text, error) {
		return secret.Lookup(ctx, "file:"+token)
	}}})
	require.NoError(t, err)
	return client, api, token
}

func TestHowAPipelineRunStands(t *testing.T) {
	client, api, _ := ask(t)
	done := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		status, reason string
		want           tekton.State
	}{
		"just created":                       {},
		"waiting":                            {status: "Unknown", reason: "PipelineRunPending"},
		"running":                            {status: "Unknown", reason: "Running"},
		"cancelled, and finally goes on":     {status: "Unknown", reason: "CancelledRunningFinally"},
		"succeeded":                          {"True", "Succeeded", tekton.State{Finished: true, Conclusion: "success", At: done}},
		"succeeded with skipped tasks":       {"True", "Completed", tekton.State{Finished: true, Conclusion: "success", At: done}},
		"failed":                             {"False", "Failed", tekton.State{Finished: true, Conclusion: "failure", At: done}},
		"never began":                        {"False", "CouldntGetPipeline", tekton.State{Finished: true, Conclusion: "failure", At: done}},
		"cancelled":                          {"False", "Cancelled", tekton.State{Finished: true, Conclusion: "cancelled", At: done}},
		"ran out of time":                    {"False", "PipelineRunTimeout", tekton.State{Finished: true, Conclusion: "timed_out", At: done}},
		"failed with a reason from tomorrow": {"False", "SomethingNew", tekton.State{Finished: true, Conclusion: "failure", At: done}},
	} {
		t.Run(name, func(t *testing.T) {
			run := standin.Run{Namespace: "ci", Name: "e2e-1", UID: "u-1", Status: c.status, Reason: c.reason}
			if c.want.Finished {
				run.Completed = done
			}
			api.Put(run)
			got, err := client.PipelineRun(t.Context(), issuer, "ci", "e2e-1", "u-1")
			require.NoError(t, err)
			require.Equal(t, c.want, got)
		})
	}
}

func TestOnlyTheAPIsOwnWordMakesAPipelineRunGone(t *testing.T) {
	client, api, _ := ask(t)
	api.Put(standin.Run{Namespace: "ci", Name: "e2e-1", UID: "u-2", Status: "True", Reason: "Succeeded"})
	page := func(code int, text string) func(http.ResponseWriter) bool {
		return func(w http.ResponseWriter) bool { http.Error(w, text, code); return true }
	}
	status := func(code int, reason string, details map[string]any) func(http.ResponseWriter) bool {
		return func(w http.ResponseWriter) bool { standin.Refuse(w, code, reason, "no", details); return true }
	}
	for name, c := range map[string]struct {
		run   string
		fault func(http.ResponseWriter) bool
		want  error // nil: no answer
	}{
		"it is not there":                  {"e2e-0", nil, tekton.ErrNotFound},
		"another one has its name":         {"e2e-1", nil, tekton.ErrNotFound},
		"Tekton is not installed":          {"e2e-1", page(404, "404 page not found"), tekton.ErrNoTekton},
		"a proxy knows no such page":       {"e2e-1", page(404, "<html>"), tekton.ErrNoTekton},
		"another object is not there":      {"e2e-1", status(404, "NotFound", map[string]any{"name": "ci", "kind": "namespaces"}), tekton.ErrNoTekton},
		"no right":                         {"e2e-1", status(403, "Forbidden", nil), tekton.ErrForbidden},
		"a proxy forbids it":               {"e2e-1", page(403, "no"), nil},
		"too many requests":                {"e2e-1", status(429, "TooManyRequests", nil), nil},
		"the API server is starting":       {"e2e-1", page(500, "starting"), nil},
		"a redirect":                       {"e2e-1", func(w http.ResponseWriter) bool { w.Header().Set("Location", "/"); w.WriteHeader(302); return true }, nil},
		"half an answer":                   {"e2e-1", func(w http.ResponseWriter) bool { _, err := w.Write([]byte(`{"kind": "Pipe`)); return err == nil }, nil},
		"an answer that is no PipelineRun": {"e2e-1", func(w http.ResponseWriter) bool { _, err := w.Write([]byte(`{}`)); return err == nil }, nil},
		"a PipelineRun that has no uid": {"e2e-1", func(w http.ResponseWriter) bool {
			_, err := w.Write([]byte(`{"kind": "PipelineRun"}`))
			return err == nil
		}, nil},
		"an answer that breaks off at once": {"e2e-1", func(http.ResponseWriter) bool { panic(http.ErrAbortHandler) }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			api.Fault(c.fault)
			_, err := client.PipelineRun(t.Context(), issuer, "ci", c.run, "u-1")
			require.Error(t, err)
			for _, one := range []error{tekton.ErrNotFound, tekton.ErrNoTekton, tekton.ErrForbidden, tekton.ErrUnknownCluster} {
				require.Equal(t, one == c.want, errors.Is(err, one), "%v is %v", err, one)
			}
			require.NotContains(t, err.Error(), standin.Token)
		})
	}
}

func TestATokenIsReadAnewWhenItIsRefused(t *testing.T) {
	client, api, token := ask(t)
	api.Put(standin.Run{Namespace: "ci", Name: "e2e-1", UID: "u-1"})
	get := func() error { _, err := client.PipelineRun(t.Context(), issuer, "ci", "e2e-1", "u-1"); return err }
	require.NoError(t, get())
	api.Accept("the next one")
	require.ErrorIs(t, get(), tekton.ErrForbidden)
	require.NoError(t, os.WriteFile(token, []byte("the next one"), 0o600))
	require.NoError(t, get())
	require.NoError(t, os.Remove(token))
	require.NoError(t, get(), "it is kept for a minute")
	api.Accept("yet another one")
	require.ErrorContains(t, get(), "get the token for "+api.URL())
}

func TestAClusterThatIsNotConfiguredIsNotAsked(t *testing.T) {
	client, api, _ := ask(t)
	require.True(t, client.Knows(issuer))
	for _, one := range []*tekton.Client{client, nil, {}} {
		require.False(t, one.Knows("https://elsewhere.example.com"))
		_, err := one.PipelineRun(t.Context(), "https://elsewhere.example.com", "ci", "e2e-1", "u-1")
		require.ErrorIs(t, err, tekton.ErrUnknownCluster)
	}
	require.Zero(t, api.Asked())
}

func TestTheTokensRightsAreAskedFor(t *testing.T) {
	client, api, _ := ask(t)
	for _, right := range []tekton.Right{tekton.GetPipelineRuns, tekton.GetSecrets} {
		has, err := client.Has(t.Context(), issuer, right)
		require.NoError(t, err)
		require.Equal(t, right == tekton.GetPipelineRuns, has)
	}
	api.Allow("get /secrets")
	has, err := client.Has(t.Context(), issuer, tekton.GetPipelineRuns)
	require.NoError(t, err)
	require.False(t, has)
	_, err = client.Has(t.Context(), issuer, tekton.Right{})
	require.ErrorContains(t, err, "no resourceAttributes")
	_, err = client.Has(t.Context(), "https://elsewhere.example.com", tekton.GetSecrets)
	require.ErrorIs(t, err, tekton.ErrUnknownCluster)
	api.Accept("another one")
	_, err = client.Has(t.Context(), issuer, tekton.GetSecrets)
	require.ErrorIs(t, err, tekton.ErrForbidden)
}

func TestACAFileMustHaveCertificates(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ca.crt")
	require.NoError(t, os.WriteFile(path, []byte("no certificate"), 0o600))
	for _, file := range []string{path, path + ".missing"} {
		_, err := tekton.New([]tekton.Cluster{{Issuer: issuer, API: "https://k8s.example.com", CAFile: file}})
		require.ErrorContains(t, err, "prepare to ask the Kubernetes API https://k8s.example.com")
	}
	client, api, _ := ask(t)
	untrusted, err := tekton.New([]tekton.Cluster{{Issuer: issuer, API: api.URL(), Token: func(context.Context) (secret.Text, error) {
		return secret.New(standin.Token), nil
	}}})
	require.NoError(t, err)
	_, err = untrusted.PipelineRun(t.Context(), issuer, "ci", "e2e-1", "u-1")
	require.ErrorContains(t, err, "certificate")
	require.True(t, client.Knows(issuer))
	require.Zero(t, api.Asked())
}
