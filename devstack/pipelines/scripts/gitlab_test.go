package scripts_test

import (
	"bytes"
	"encoding/pem"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/profiles"
)

const component = "../../../workflows/gitlab"

// inputs are what a component can be given.
type inputs struct {
	Spec struct {
		Inputs map[string]struct {
			Default     *string `yaml:"default"`
			Description string  `yaml:"description"`
			Regex       string  `yaml:"regex"`
		} `yaml:"inputs"`
	} `yaml:"spec"`
}

// glJob is a job of GitLab CI, as far as the component has them.
type glJob struct {
	Extends string `yaml:"extends"`
	Stage   string `yaml:"stage"`
	When    string `yaml:"when"`
	Timeout string `yaml:"timeout"`
	Image   struct {
		Name       string   `yaml:"name"`
		Entrypoint []string `yaml:"entrypoint"`
	} `yaml:"image"`
	IDTokens map[string]struct {
		Aud string `yaml:"aud"`
	} `yaml:"id_tokens"`
	Variables map[string]string `yaml:"variables"`
	Needs     []struct {
		Job       string `yaml:"job"`
		Artifacts bool   `yaml:"artifacts"`
	} `yaml:"needs"`
	BeforeScript []string `yaml:"before_script"`
	Script       []string `yaml:"script"`
	AfterScript  []string `yaml:"after_script"`
	Artifacts    struct {
		When    string            `yaml:"when"`
		Reports map[string]string `yaml:"reports"`
	} `yaml:"artifacts"`
}

// gitLab is a pipeline with the component, whose jobs run as processes. It knows as much of GitLab CI as the component uses: inputs,
// extends, variables, id_tokens and dotenv reports.
type gitLab struct {
	*office
	pipeline string
	dir      string // of the project
	path     string
	temp     string // for files of jobs
	jobs     map[string]glJob
	dotenv   map[string]string // what reports of the jobs before left

	// variables are those of the project, a group or the pipeline, which take precedence over a job's.
	// https://docs.gitlab.com/ci/variables/#cicd-variable-precedence
	variables map[string]string
}

// inGitLab is an office with a pipeline of the project 20.
func inGitLab(t *testing.T) *gitLab {
	t.Helper()
	o := newOffice(t, profiles.IssuerGitLab, `{project_id: ["20"]}`)
	g := &gitLab{office: o, temp: t.TempDir(), path: o.image("ls", "mkdir", "rm"), jobs: map[string]glJob{}, dotenv: map[string]string{}}
	o.program(g.path, "oc", `test -s "$KUBECONFIG" && echo "oc $*"`)
	g.begin("574", map[string]string{"server": o.url})
	return g
}

// begin starts another pipeline, with inputs for the component.
func (g *gitLab) begin(pipeline string, given map[string]string) {
	g.Helper()
	g.pipeline, g.dir = pipeline, g.TempDir()
	clear(g.dotenv)
	given = maps.Clone(given)
	given["ca-file"] = filepath.Join(g.dir, "..", "ca.crt")
	require.NoError(g, os.WriteFile(given["ca-file"], g.ca, 0o600))
	raw, err := os.ReadFile(filepath.Join(component, "templates", "cluster.yml"))
	require.NoError(g, err)
	header, body, found := bytes.Cut(raw, []byte("\n---\n"))
	require.True(g, found)
	var in inputs
	strict(g.T, header, &in)
	text := string(body)
	for name, input := range in.Spec.Inputs {
		value, is := given[name]
		if !is {
			require.NotNil(g, input.Default, "the input %s is required", name)
			value = *input.Default
		}
		require.Regexp(g, input.Regex, value, name)
		text = strings.ReplaceAll(text, "$[[ inputs."+name+" ]]", value)
	}
	require.NotContains(g, text, "$[[", "an input is not declared")
	strict(g.T, []byte(text), &g.jobs)
}

// strict decodes a document. A key that is not known is an error.
func strict(t *testing.T, raw []byte, into any) {
	t.Helper()
	decoder := yaml.NewDecoder(bytes.NewReader(raw))
	decoder.KnownFields(true)
	require.NoError(t, decoder.Decode(into))
	require.ErrorIs(t, decoder.Decode(new(any)), io.EOF)
}

// extended is a job with what it extends.
func (g *gitLab) extended(job glJob) glJob {
	g.Helper()
	if job.Extends == "" {
		return job
	}
	base, known := g.jobs[job.Extends]
	require.True(g, known, job.Extends)
	base = g.extended(base)
	variables := map[string]string{}
	maps.Copy(variables, base.Variables)
	maps.Copy(variables, job.Variables)
	job.Variables, job.IDTokens = variables, base.IDTokens
	if job.BeforeScript == nil {
		job.BeforeScript = base.BeforeScript
	}
	if job.AfterScript == nil {
		job.AfterScript = base.AfterScript
	}
	return job
}

// run runs a job, and returns its log.
func (g *gitLab) run(job glJob, id string) (string, error) {
	g.Helper()
	job = g.extended(job)
	env := map[string]string{
		"PATH": g.path, "HOME": g.dir, "TMPDIR": g.temp, "CI": "true", "CI_JOB_ID": id, "CI_PIPELINE_URL": g.issuer.URL() + "/acme/web/shop/-/pipelines/" + g.pipeline,
	}
	maps.Copy(env, job.Variables)
	maps.Copy(env, g.dotenv)
	maps.Copy(env, g.variables)
	for name, token := range job.IDTokens {
		var err error
		env[name], err = g.token(token.Aud, "project_path:acme/web/shop:ref_type:branch:ref:main", map[string]any{
			"namespace_id": "72", "namespace_path": "acme/web", "project_id": "20", "project_path": "acme/web/shop", "user_login": "maya", "pipeline_id": g.pipeline,
			"pipeline_source": "push", "job_id": id, "ref": "main", "ref_type": "branch", "ref_path": "refs/heads/main", "sha": "714a629c0b401fdce83e847fc9589983fc6f46bc",
		})
		require.NoError(g, err)
	}
	out, failed := g.shell(append(slices.Clone(job.BeforeScript), job.Script...), env)
	after, err := g.shell(job.AfterScript, env)
	require.NoError(g, err, string(after))
	if file := job.Artifacts.Reports["dotenv"]; file != "" && (failed == nil || job.Artifacts.When == "always") {
		raw, err := os.ReadFile(filepath.Join(g.dir, file))
		require.NoError(g, err, string(out))
		for line := range strings.Lines(string(raw)) {
			name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
			g.dotenv[name] = value
		}
	}
	g.holdsNoSecret(string(out))
	return string(out), failed
}

// shell runs lines of a job in a shell of their own.
func (g *gitLab) shell(lines []string, env map[string]string) ([]byte, error) {
	cmd := exec.CommandContext(g.Context(), "/bin/sh", "-c", "set -e\n"+strings.Join(lines, "\n")) // the component's script
	cmd.Dir = g.dir
	for name, value := range env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	return cmd.CombinedOutput()
}

func TestAGitLabPipelineGetsAClusterAndReleasesIt(t *testing.T) {
	g := inGitLab(t)
	var sample struct {
		Include []struct {
			Component string            `yaml:"component"`
			Inputs    map[string]string `yaml:"inputs"`
		} `yaml:"include"`
		E2E glJob `yaml:"e2e"`
	}
	raw, err := os.ReadFile(filepath.Join(component, "sample.gitlab-ci.yml"))
	require.NoError(t, err)
	strict(t, raw, &sample)
	given := sample.Include[0].Inputs
	given["server"] = g.url
	g.begin("574", given)

	log, err := g.run(g.jobs["ocpctl-cluster"], "302")
	require.NoError(t, err, log)
	row := g.only()
	require.Equal(t, []string{"ci-302", given["profile"], row.ID}, []string{row.Name, row.Profile, g.dotenv["OCPCTL_CLUSTER_ID"]})
	require.Equal(t, lifecycle.GitLab, row.Run.Platform)
	require.Equal(t, "pipelines of GitLab are not watched", row.Run.Unwatched)

	log, err = g.run(g.jobs["ocpctl-cluster"], "303")
	require.NoError(t, err, log)
	require.Equal(t, row.ID, g.only().ID, "a retry of the job gets the same cluster")

	log, err = g.run(sample.E2E, "304")
	require.NoError(t, err, log)
	require.Contains(t, log, "oc get nodes")
	files, err := os.ReadDir(g.dir)
	require.NoError(t, err)
	require.Len(t, files, 1, "the kubeconfig is not among the files that become artifacts")
	sample.E2E.Script = []string{`ls -l "$KUBECONFIG"`, "exit 3"}
	log, err = g.run(sample.E2E, "306")
	require.ErrorContains(t, err, "exit status 3")
	require.Contains(t, log, "-rw------- ")
	left, err := os.ReadDir(g.temp)
	require.NoError(t, err)
	require.Empty(t, left, "no kubeconfig stays on the machine, even if the job fails")

	g.begin("575", given)
	log, err = g.run(g.jobs["ocpctl-cluster"], "310")
	require.NoError(t, err, log)
	g.begin("574", given)
	release := g.jobs["ocpctl-release"]
	require.Equal(t, []string{"always", ".post"}, []string{release.When, release.Stage})
	log, err = g.run(release, "305")
	require.NoError(t, err, log)
	for _, c := range g.clusters() {
		require.Equal(t, c.ID == row.ID, c.Desired == lifecycle.Absent, "%s: another pipeline keeps its own", c.Name)
	}
}

func TestAVariableOfGitLabDoesNotRedirectAToken(t *testing.T) {
	g := inGitLab(t)
	var asked, sent []string
	hostile := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.Path)
		if token := r.Header.Get("Authorization"); token != "" {
			sent = append(sent, token)
		}
		w.WriteHeader(http.StatusNotFound)
	}))
	t.Cleanup(hostile.Close)
	ca, contexts := filepath.Join(g.temp, "..", "hostile.crt"), filepath.Join(g.temp, "..", "contexts.yaml")
	require.NoError(t, os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: hostile.Certificate().Raw}), 0o600))
	require.NoError(t, os.WriteFile(contexts, []byte("current: here\ncontexts:\n  here: {server: '"+hostile.URL+"', auth: token-command, tokenCommand: 'echo $OCPCTL_TOKEN', audience: '"+g.url+"'}\n"), 0o600))
	g.variables = map[string]string{
		"OCPCTL_SERVER": hostile.URL, "OCPCTL_CONTEXT": "here", "OCPCTL_CONFIG": contexts, "OCPCTL_CA_FILE": ca, "OCPCTL_AUTH": "github", "SSL_CERT_FILE": ca, "SSL_CERT_DIR": filepath.Dir(ca),
	}
	log, err := g.run(g.jobs["ocpctl-cluster"], "302")
	require.NoError(t, err, log)
	log, err = g.run(glJob{Extends: ".ocpctl-kubeconfig", Script: []string{"ocpctl whoami", "oc get nodes"}}, "303")
	require.NoError(t, err, log)
	log, err = g.run(g.jobs["ocpctl-release"], "304")
	require.NoError(t, err, log)
	require.Equal(t, lifecycle.Absent, g.only().Desired)
	require.Empty(t, asked)

	delete(g.variables, "OCPCTL_CONTEXT")
	delete(g.variables, "OCPCTL_CONFIG")
	log, err = g.run(glJob{Extends: ".ocpctl", BeforeScript: []string{"true"}, Script: []string{"ocpctl whoami"}}, "305")
	require.ErrorContains(t, err, "exit status 3", "ocpctl itself sends no token to a server that it is not for")
	require.Contains(t, log, "the token is for "+g.url)
	require.Empty(t, sent)
}

func TestAGitLabJobShowsWhyItsClusterFailed(t *testing.T) {
	g := inGitLab(t)
	g.becomes = failed
	g.begin("574", map[string]string{"server": g.url, "version": "4.20.1", "region": "us-east-2", "team": "platform", "ttl": "3h"})
	log, err := g.run(g.jobs["ocpctl-cluster"], "302")
	require.Error(t, err)
	require.Contains(t, log, "the VPC limit is reached")
	row := g.only()
	require.Equal(t, []string{"4.20.1", "us-east-2", row.ID}, []string{row.Release, row.Region, g.dotenv["OCPCTL_CLUSTER_ID"]})
	log, err = g.run(g.jobs["ocpctl-release"], "303")
	require.NoError(t, err, log)
}

func TestAGitLabReleaseThatCannotAskTheServerFails(t *testing.T) {
	g := inGitLab(t)
	log, err := g.run(g.jobs["ocpctl-cluster"], "302")
	require.NoError(t, err, log)
	g.begin("574", map[string]string{"server": "https://127.0.0.1:1"})
	log, err = g.run(g.jobs["ocpctl-release"], "303")
	require.Error(t, err, log)
	require.Equal(t, lifecycle.Present, g.only().Desired)
}

func TestAGitLabReleaseDestroysEveryClusterThatItCan(t *testing.T) {
	for name, c := range map[string]struct {
		code int
		says string
	}{
		"one cannot be destroyed": {http.StatusForbidden, "exit status"},
		"one is gone":             {http.StatusNotFound, ""},
	} {
		t.Run(name, func(t *testing.T) {
			g := inGitLab(t)
			job := g.jobs["ocpctl-cluster"]
			for _, id := range []string{"301", "302"} {
				log, err := g.run(job, id)
				require.NoError(t, err, log)
				job.Script = []string{strings.Replace(job.Script[0], "--reuse run", "--slot another", 1)}
			}
			first := ""
			g.refuses = func(r *http.Request) int {
				if !strings.HasSuffix(r.URL.Path, "/destroy") {
					return 0
				}
				if first == "" {
					first = r.URL.Path
				}
				if r.URL.Path == first {
					return c.code
				}
				return 0
			}
			log, err := g.run(g.jobs["ocpctl-release"], "303")
			if c.says == "" {
				require.NoError(t, err, log)
				require.Contains(t, log, "There is no cluster ci-30")
			} else {
				require.ErrorContains(t, err, c.says)
			}
			var kept int
			for _, row := range g.clusters() {
				if row.Desired == lifecycle.Present {
					kept++
				}
			}
			require.Equal(t, 1, kept, log)
		})
	}
}

func TestAProfileOfAGitLabPipelineIsNeverAFlag(t *testing.T) {
	g := inGitLab(t)
	g.begin("574", map[string]string{"server": g.url, "profile": "--help"})
	log, err := g.run(glJob{Extends: "ocpctl-cluster", Script: g.jobs["ocpctl-cluster"].Script}, "302")
	require.Error(t, err, log)
	require.Contains(t, log, "--help")
	require.NotContains(t, log, "Usage")
	g.dotenv["OCPCTL_CLUSTER_ID"] = "--help"
	log, err = g.run(glJob{Extends: ".ocpctl-kubeconfig"}, "303")
	require.ErrorContains(t, err, "exit status 4", log)
}

func TestTheGitLabJobMayTakeLongerThanItsWait(t *testing.T) {
	g := inGitLab(t)
	require.Equal(t, "3 hours", g.jobs["ocpctl-cluster"].Timeout, "a token of GitLab expires with its job")
	require.Equal(t, "2h", g.jobs["ocpctl-cluster"].Variables["OCPCTL_TIMEOUT"])
}
