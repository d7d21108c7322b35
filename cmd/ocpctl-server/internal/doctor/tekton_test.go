package doctor

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/cmd/ocpctl-server/internal/config"
	standin "github.com/ocpctl/ocpctl/devstack/tekton"
)

func TestPipelineRunsMustBeReadable(t *testing.T) {
	const issuer = "https://oidc.example.com/id/1"
	api := standin.Start()
	t.Cleanup(api.Stop)
	dir := t.TempDir()
	ca, token := filepath.Join(dir, "ca.crt"), filepath.Join(dir, "token")
	require.NoError(t, os.WriteFile(ca, api.CA(), 0o600))
	require.NoError(t, os.WriteFile(token, []byte(standin.Token), 0o600))
	examine := func(c config.Config) []Result {
		f := &findings{area: "tekton"}
		newDoctor(Config{Settings: config.Loaded{Config: c}}).checkTekton(t.Context(), f)
		return f.results
	}
	configured := config.Config{
		OIDC:   []config.Issuer{{Issuer: issuer, Platform: "kubernetes"}},
		Tekton: []config.Tekton{{Issuer: issuer, APIURL: api.URL(), TokenRef: "file:" + token, CAFile: ca}},
	}
	require.Equal(t, []Result{{Check: "tekton.tekton[0]", Status: OK, Found: "PipelineRuns can be read in every namespace at " + api.URL()}}, examine(configured))

	for name, c := range map[string]struct {
		fault func(http.ResponseWriter) bool
		found string
		next  string
	}{
		"no Tekton there": {func(w http.ResponseWriter) bool { http.NotFound(w, nil); return true }, "knows no PipelineRuns", "Install Tekton Pipelines"},
		"no right": {func(w http.ResponseWriter) bool {
			standin.Refuse(w, 403, "Forbidden", `pipelineruns.tekton.dev "ocpctl-doctor-probe" is forbidden`, nil)
			return true
		}, "is forbidden", "deploy/tekton/watch.yaml"},
		"no answer": {func(http.ResponseWriter) bool { panic(http.ErrAbortHandler) }, "EOF", "Check tekton[0]"},
	} {
		t.Run(name, func(t *testing.T) {
			api.Fault(c.fault)
			results := examine(configured)
			require.Len(t, results, 1)
			require.Equal(t, Fail, results[0].Status)
			require.Contains(t, results[0].Found, c.found)
			require.Contains(t, results[0].Next, c.next)
			require.NotContains(t, results[0].Found, standin.Token)
		})
	}

	api.Fault(nil)
	for name, c := range map[string]struct {
		may   []string
		found string
		next  string
	}{
		"a right in some namespaces": {nil, "in some namespaces only", "deploy/tekton/watch.yaml"},
		"too many rights":            {[]string{"get tekton.dev/pipelineruns", "get /secrets"}, "can read every Secret", "nothing else"},
	} {
		t.Run(name, func(t *testing.T) {
			api.Allow(c.may...)
			results := examine(configured)
			require.Len(t, results, 1)
			require.Equal(t, Warn, results[0].Status)
			require.Contains(t, results[0].Found, c.found)
			require.Contains(t, results[0].Next, c.next)
		})
	}

	configured.Tekton = nil
	results := examine(configured)
	require.Equal(t, Skipped, results[0].Status)
	require.Contains(t, results[0].Found, "end by their time to live alone")
	configured.Tekton = []config.Tekton{{Issuer: issuer, APIURL: api.URL(), CAFile: ca + ".missing"}}
	require.Equal(t, Fail, examine(configured)[0].Status)
}
