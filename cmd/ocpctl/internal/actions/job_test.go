package actions_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4/jwt"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/app/admin"
	"github.com/ocpctl/ocpctl/app/api"
	"github.com/ocpctl/ocpctl/app/auth"
	"github.com/ocpctl/ocpctl/app/credentials"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/command"
	"github.com/ocpctl/ocpctl/devstack/oidc"
	"github.com/ocpctl/ocpctl/devstack/postgres/pgtest"
	"github.com/ocpctl/ocpctl/devstack/servicetest"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/policy/catalogue"
	"github.com/ocpctl/ocpctl/profiles"
	"github.com/ocpctl/ocpctl/store"
)

var update = flag.Bool("update", false, "write the golden files")

// job is a job of GitHub Actions whose steps are ocpctl's actions, before the real API.
type job struct {
	*testing.T
	url      string
	store    *store.Store
	shelf    servicetest.Shelf
	env      map[string]string
	before   func(http.ResponseWriter, *http.Request) bool
	mu       sync.Mutex
	log      bytes.Buffer
	story    strings.Builder // what is compared with the golden file
	outputs  map[string]string
	summary  string
	exec     func(*exec.Cmd) error
	canceled context.Context
	passed   atomic.Int64 // how much the clock is ahead, as a time.Duration
}

const requestToken = "the-job's-own-token"

func newJob(t *testing.T) *job {
	issuer := servicetest.Issuer(t)
	j := &job{T: t, store: servicetest.Store(t, pgtest.New(t)), shelf: servicetest.Shelf{}, outputs: map[string]string{}, canceled: context.Background()}
	terms := servicetest.Catalogue(t, map[string]string{
		"teams/platform.yaml":     "name: platform\nowner: maya\ncostCenters: [sandbox]\nenvironments: [test]\n",
		"policies/word.yaml":      "name: word\nrules:\n  - {name: one, when: \"request.name.startsWith('big')\", effect: requireApproval, message: Big ones need a word.}\n",
		"identities/actions.yaml": "identities:\n  - {name: actions, source: oidc, issuer: \"https://jobs.example\", match: {repository: [acme/shop]}, role: requester, teams: [platform]}\n",
	})
	servicetest.Issue(terms, map[string]string{"https://jobs.example": issuer.URL()})
	server := httptest.NewUnstartedServer(nil)
	j.url = "http://" + server.Listener.Addr().String()
	cfg := app.Config{
		Store: j.store, Artifacts: j.shelf, Catalogue: func() catalogue.Catalogue { return terms }, UI: j.url, Policy: policy.Settings{Installation: "test"},
		Installs: app.Installs{PullSecretRef: "file:/run/pull-secret"},
	}
	core := app.New(cfg)
	handler := api.New(api.Config{
		Store: j.store, Pace: api.NewPace(api.Rate{PerSecond: -1}, nil), UI: j.url, App: core, Admin: admin.New(core, cfg), Credentials: credentials.New(core, cfg),
		Auth: auth.New(auth.Config{
			Audience: j.url, Issuers: []auth.Issuer{{URL: issuer.URL(), Audience: j.url, Platform: profiles.IssuerGitHub}}, Identities: func() []profiles.Identity { return terms.Identities },
		}),
	})
	server.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if j.before == nil || !j.before(w, r) {
			handler.ServeHTTP(w, r)
		}
	})
	server.Start()
	t.Cleanup(server.Close)
	j.start(issuer)
	return j
}

// start gives the job what a runner gives it.
func (j *job) start(issuer *oidc.Issuer) {
	tokens := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+requestToken {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		raw, err := issuer.Token(oidc.Claims{Subject: "repo:acme/shop:ref:refs/heads/main", Audience: jwt.Audience{r.FormValue("audience")}, More: map[string]any{
			"repository": "acme/shop", "repository_id": "70107786", "repository_owner": "acme", "ref": "refs/heads/main", "event_name": "push", "sha": strings.Repeat("a", 40),
			"run_id": j.env["GITHUB_RUN_ID"], "run_attempt": j.env["GITHUB_RUN_ATTEMPT"], "run_number": "381", "workflow": "e2e", "actor": "maya",
			"job_workflow_ref": "acme/shop/.github/workflows/e2e.yml@refs/heads/main",
		}})
		if err != nil || json.NewEncoder(w).Encode(map[string]string{"value": raw}) != nil {
			w.WriteHeader(http.StatusInternalServerError)
		}
	}))
	j.Cleanup(tokens.Close)
	j.env = map[string]string{
		"HOME": j.TempDir(), "CI": "true", "GITHUB_ACTIONS": "true", "OCPCTL_SERVER": j.url, "RUNNER_TEMP": j.TempDir(),
		"ACTIONS_ID_TOKEN_REQUEST_URL": tokens.URL + "/token?api-version=2.0", "ACTIONS_ID_TOKEN_REQUEST_TOKEN": requestToken,
		"GITHUB_REPOSITORY": "acme/shop", "GITHUB_SERVER_URL": "https://github.com", "GITHUB_RUN_ID": "9100200300", "GITHUB_RUN_NUMBER": "381", "GITHUB_RUN_ATTEMPT": "1",
		"GITHUB_JOB": "e2e", "OCPCTL_JOB_INDEX": "0", "OCPCTL_ACTION_VERSION": "v1.2.3",
	}
}

// Write is the step's log.
func (j *job) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.log.Write(p)
}

func (j *job) logged() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.log.String()
}

// step runs an action as the runner does, and reads what it left in the runner's files. The inputs are name and value by turns.
func (j *job) step(action string, inputs ...string) (code int) {
	j.Helper()
	dir := j.TempDir()
	for _, name := range []string{"GITHUB_OUTPUT", "GITHUB_ENV", "GITHUB_PATH", "GITHUB_STEP_SUMMARY"} {
		j.env[name] = filepath.Join(dir, name)
		require.NoError(j, os.WriteFile(j.env[name], nil, 0o600))
	}
	given := map[string]string{}
	for i := 0; i < len(inputs); i += 2 {
		given[inputs[i]] = inputs[i+1]
	}
	raw, err := json.Marshal(given)
	require.NoError(j, err)
	j.env["OCPCTL_INPUTS"] = string(raw)
	j.log.Reset()
	world := command.World{
		In: strings.NewReader(""), Out: j, Err: j, Env: func(name string) string { return j.env[name] }, Now: func() time.Time { return time.Now().Add(time.Duration(j.passed.Load())) }, Version: "v1.2.3",
		Sleep: func(ctx context.Context, d time.Duration) error { return ctx.Err() }, Run: j.exec, Width: func() int { return 80 },
		UUID: func() string { return "not-used" },
	}
	ctx, cancel := context.WithTimeout(j.canceled, 3*time.Minute) // it takes a second; a mistake would wait for ever
	defer cancel()
	code = int(command.Run(ctx, world, []string{"action", action}))
	j.outputs = j.read("GITHUB_OUTPUT")
	exported := j.read("GITHUB_ENV")
	maps.Copy(j.env, exported)
	summary, err := os.ReadFile(j.env["GITHUB_STEP_SUMMARY"])
	require.NoError(j, err)
	j.summary = string(summary)
	j.keepsSecrets()
	j.tell(action, raw, code, exported)
	return code
}

var entry = regexp.MustCompile(`(?s)([\w-]+)<<(ocpctl_\w+)\n(.*?)\n(ocpctl_\w+)\n`)

// read reads a file of names and values. That nothing else can be in one is a test of package pipeline.
func (j *job) read(name string) map[string]string {
	raw, err := os.ReadFile(j.env[name])
	require.NoError(j, err)
	found := map[string]string{}
	for _, e := range entry.FindAllStringSubmatch(string(raw), -1) {
		require.Equal(j, e[2], e[4])
		found[e[1]] = e[3]
	}
	require.Len(j, found, strings.Count(string(raw), "<<"))
	return found
}

// keepsSecrets looks for secrets where they must not be: everywhere but in a mask.
func (j *job) keepsSecrets() {
	var seen []string
	for line := range strings.Lines(j.logged()) {
		if !strings.HasPrefix(line, "::add-mask::") {
			seen = append(seen, line)
		}
	}
	for _, name := range []string{"GITHUB_OUTPUT", "GITHUB_ENV", "GITHUB_STEP_SUMMARY"} {
		raw, err := os.ReadFile(j.env[name])
		require.NoError(j, err)
		seen = append(seen, string(raw))
	}
	for _, secret := range []string{servicetest.ClientKey, servicetest.Password, requestToken, "Bearer "} {
		require.NotContains(j, strings.Join(seen, ""), secret)
	}
}

var changing = []struct {
	form *regexp.Regexp
	as   string
}{
	{regexp.MustCompile(`clu_[0-9A-Z]{26}`), "clu_1"}, {regexp.MustCompile(`job_[0-9A-Z]{26}`), "job_1"}, {regexp.MustCompile(`apr_[0-9A-Z]{26}`), "apr_1"},
	{regexp.MustCompile(`http://127\.0\.0\.1:\d+`), "https://ocpctl.example.com"}, {regexp.MustCompile(`http%3A//127\.0\.0\.1%3A\d+`), "https%3A//ocpctl.example.com"},
	{regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`), "<time>"}, {regexp.MustCompile(`\d{4}-\d\d-\d\d \d\d:\d\d UTC \([^)]*\)`), "<time> (<away>)"},
	{regexp.MustCompile(`\d{4}-\d\d-\d\d \d\d:\d\d(:\d\d)? UTC`), "<time>"}, {regexp.MustCompile(`clu\\_[0-9A-Z]{26}`), `clu\_1`},
	{regexp.MustCompile(`(?m)^\d\d:\d\d:\d\d  `), "<time>  "}, {regexp.MustCompile(`\| after \d+ (s|min)`), "| after <time>"}, {regexp.MustCompile(`about \$[\d.]+ so far`), "about <cost> so far"},
	{regexp.MustCompile(`"wait-timeout":"\d+m?s"`), `"wait-timeout":"<limit>"`}, {regexp.MustCompile(`\(\d+ bytes\)`), "(<size>)"}, {regexp.MustCompile(`\bey[\w-]+\.[\w-]+\.[\w-]+`), "<token>"},
}

// plain is a text without what differs from run to run.
func (j *job) plain(text string) string {
	text = strings.ReplaceAll(text, j.env["RUNNER_TEMP"], "/runner/temp")
	for _, c := range changing {
		text = c.form.ReplaceAllString(text, c.as)
	}
	return text
}

// tell adds a step to the story.
func (j *job) tell(action string, inputs []byte, code int, exported map[string]string) {
	fmt.Fprintf(&j.story, "$ %s %s\n%s--- %d\n", action, j.plain(string(inputs)), j.plain(j.logged()), code)
	for _, set := range []struct {
		what string
		all  map[string]string
	}{{"output", j.outputs}, {"variable", exported}} {
		for _, name := range slices.Sorted(maps.Keys(set.all)) {
			fmt.Fprintf(&j.story, "%s %s=%s\n", set.what, name, j.plain(set.all[name]))
		}
	}
	if j.summary != "" {
		fmt.Fprintf(&j.story, "summary:\n%s", j.plain(j.summary))
	}
	j.story.WriteString("\n")
}

// golden compares the story with a file of testdata, or writes it.
func (j *job) golden(name string) {
	j.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(j, os.MkdirAll("testdata", 0o755))
		require.NoError(j, os.WriteFile(path, []byte(j.story.String()), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(j, err, "go test -update writes it")
	require.Equal(j, string(want), j.story.String())
}
