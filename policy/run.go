package policy

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/profiles"
)

// Run is the execution of a pipeline whose token somebody sent, as the token's claims describe it.
type Run struct {
	Platform lifecycle.Platform
	Issuer   string // of the token
	Scope    string // GitHub: the repository's id; Tekton: the namespace; GitLab: the project's id
	Key      string // GitHub: the run's id; Tekton: see lifecycle.PipelineRunKey; GitLab: the pipeline's id
	Attempt  int    // 1 for the first

	Repo  string // owner/name; empty: of no repository
	Name  string // of the workflow or the PipelineRun; GitLab: of the pipeline, made of its id
	URL   string // empty: it has no page
	Event string // what triggered it
	Ref   string
	Head  string // SHA
	Pull  int    // the pull request whose merge commit it runs on; 0: none
	Actor string
	Job   string // check_run_id; empty: the token does not name its job
}

// PipelineRun names the run of a service account's token, which does not name it itself.
type PipelineRun struct{ Kind, Name, UID string }

// KindPipelineRun is the kind of a PipelineRun that is known.
const KindPipelineRun = "PipelineRun"

// Reuse says which existing cluster a run wants instead of a new one.
type Reuse string

// The kinds of reuse.
const (
	ReuseNone        Reuse = "none"
	ReuseRun         Reuse = "run"          // the one that the run has in the same slot
	ReusePullRequest Reuse = "pull-request" // the one that the run's pull request has of the same profile
)

var (
	numberForm = regexp.MustCompile(`^[1-9][0-9]{0,18}$`)
	mergeRef   = regexp.MustCompile(`^refs/pull/([1-9][0-9]{0,9})/merge$`)
	uidForm    = regexp.MustCompile(`^[A-Za-z0-9-]{1,64}$`)
	// projectForm matches the path of a project with its groups. It becomes a part of an address.
	projectForm = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]*(/[A-Za-z0-9_][A-Za-z0-9_.-]*)+$`)
	kubeName    = regexp.MustCompile(`^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$`)
)

// RunOf returns the run whose token proved the claims. ok is false if they are not those of a run. server is the address of the
// GitHub that the App belongs to, for issuers whose address does not show theirs. A PipelineRun is named by the request, in the
// namespace that the token proves.
func RunOf(c Claims, named PipelineRun, server string) (run Run, ok bool) {
	if c.Source != profiles.SourceOIDC {
		return Run{}, false
	}
	switch {
	case c.Platform == profiles.IssuerGitHub:
		return workflowRun(c, server)
	case c.Platform == profiles.IssuerKubernetes || c.Platform == "" && c.Namespace() != "":
		return pipelineRun(c, named)
	case c.Platform == profiles.IssuerGitLab:
		return readGitLabRun(c)
	}
	return Run{}, false
}

// workflowRun reads the claims of a job of GitHub Actions.
// https://docs.github.com/actions/reference/security/oidc
func workflowRun(c Claims, server string) (Run, bool) {
	scope, key := c.singleValue("repository_id"), c.singleValue("run_id")
	attempt, err := strconv.Atoi(c.singleValue("run_attempt"))
	if !numberForm.MatchString(scope) || !numberForm.MatchString(key) || err != nil || attempt < 1 || attempt > 1<<30 {
		return Run{}, false
	}
	r := Run{
		Platform: lifecycle.GitHub, Issuer: c.Issuer, Scope: scope, Key: key, Attempt: attempt, Repo: c.singleValue("repository"), Name: c.singleValue("workflow"),
		Event: c.singleValue("event_name"), Ref: c.singleValue("ref"), Head: c.singleValue("sha"), Actor: c.singleValue("actor"),
	}
	if job := c.singleValue("check_run_id"); numberForm.MatchString(job) {
		r.Job = job
	}
	if of := mergeRef.FindStringSubmatch(r.Ref); of != nil && r.Event == "pull_request" {
		r.Pull, _ = strconv.Atoi(of[1]) // ten digits
	}
	if at := c.GitHub(server); at != "" && r.Repo != "" {
		r.URL = at + "/" + r.Repo + "/actions/runs/" + key
	}
	return r, true
}

// GitHub returns the address of the GitHub whose workflow proved the claims; server is that of the App, which counts for issuers
// whose address does not show theirs.
func (c Claims) GitHub(server string) string {
	if at := profiles.GitHubOf(c.Issuer); at != "" {
		return at
	}
	return strings.TrimSuffix(server, "/")
}

// claimNamespace is the claim of Kubernetes' service accounts with their namespace.
const claimNamespace = "kubernetes.io.namespace"

// Namespace returns the namespace of a Kubernetes service account's claims; empty: they are of somebody else.
func (c Claims) Namespace() string { return c.singleValue(claimNamespace) }

func pipelineRun(c Claims, named PipelineRun) (Run, bool) {
	namespace := c.Namespace()
	if namespace == "" || named.Kind != KindPipelineRun || !uidForm.MatchString(named.UID) || !kubeName.MatchString(named.Name) {
		return Run{}, false
	}
	return Run{
		Platform: lifecycle.Tekton, Issuer: c.Issuer, Scope: namespace, Key: lifecycle.PipelineRunKey(named.Name, named.UID), Attempt: 1, Name: named.Name,
		Actor: c.singleValue("kubernetes.io.serviceaccount.name"),
	}, true
}

// readGitLabRun reads the claims of a job of GitLab CI. Its job is left out: nobody asks GitLab when it ends.
// https://docs.gitlab.com/ci/secrets/id_token_authentication/#token-payload
func readGitLabRun(c Claims) (Run, bool) {
	project, key, path := c.singleValue("project_id"), c.singleValue("pipeline_id"), c.singleValue("project_path")
	if !numberForm.MatchString(project) || !numberForm.MatchString(key) || !projectForm.MatchString(path) {
		return Run{}, false
	}
	return Run{
		Platform: lifecycle.GitLab, Issuer: c.Issuer, Scope: project, Key: key, Attempt: 1, Repo: path, Name: "pipeline " + key,
		URL: strings.TrimSuffix(c.Issuer, "/") + "/" + path + "/-/pipelines/" + key, Event: c.singleValue("pipeline_source"), Ref: c.singleValue("ref_path"), Head: c.singleValue("sha"),
		Actor: c.singleValue("user_login"),
	}, true
}

// singleValue returns the value of a claim that has exactly one.
func (c Claims) singleValue(name string) string {
	if values := c.Values[name]; len(values) == 1 {
		return values[0]
	}
	return ""
}

// UntrustedEvent reports whether the claims are those of a workflow that pull_request_target triggered; see profiles.Identity.Fits.
func (c Claims) UntrustedEvent() bool {
	return c.Source == profiles.SourceOIDC && slices.Contains(c.Values["event_name"], profiles.PullRequestTarget)
}
