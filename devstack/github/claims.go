package github

import (
	"cmp"
	"crypto/rand"
	"net/http"
	"regexp"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/devstack/github/runs"
	"github.com/ocpctl/ocpctl/devstack/oidc"
)

// Claims returns the claims that GitHub's issuer puts into the token of a job, without iss, aud, iat, nbf, exp and jti.
// https://docs.github.com/actions/reference/security/oidc
func (r Runs) Claims(job int64) (out map[string]any, err error) {
	err = errNotFound
	r.at.look(func(w *world, repo *repository) {
		if run, j := repo.jobByID(job); j != nil {
			out, err = w.scene(r.at.s, repo).claims(*run, *j), nil
		}
	})
	return out, err
}

func (sc scene) claims(r Run, j Job) map[string]any {
	owner, _ := sc.repo.split()
	head, base := "", ""
	if r.Pull != 0 && r.Event != "merge_group" {
		head, base = r.HeadBranch, Branch
	}
	kind := "branch"
	switch {
	case strings.HasPrefix(r.Ref, "refs/tags/"):
		kind = "tag"
	}
	workflow := sc.repo.Name + "/" + r.Path + "@" + r.Ref
	jobWorkflow := sc.jobWorkflow(r, j)
	out := map[string]any{
		"sub": sc.subject(r, j), "repository": sc.repo.Name, "repository_id": itoa(sc.repo.ID), "repository_owner": owner,
		"repository_owner_id": itoa(sc.user(owner)["id"].(int64)), "repository_visibility": visibility(sc.repo.Private),
		"ref": r.Ref, "ref_type": kind, "ref_protected": "false", "sha": r.SHA, "head_ref": head, "base_ref": base,
		"actor": r.Actor, "actor_id": itoa(sc.user(r.Actor)["id"].(int64)), "event_name": r.Event,
		"workflow": r.Workflow, "workflow_ref": workflow, "workflow_sha": r.SHA, "job_workflow_ref": jobWorkflow, "job_workflow_sha": r.SHA,
		"run_id": itoa(r.ID), "run_number": itoa(int64(r.Number)), "run_attempt": itoa(int64(j.Attempt)), "check_run_id": itoa(j.ID),
		"runner_environment": "github-hosted",
	}
	if r.Ref == "refs/heads/"+Branch {
		out["ref_protected"] = "true"
	}
	if j.Environment != "" {
		out["environment"] = j.Environment
	}
	return out
}

// jobWorkflow is the workflow file that has the job: the run's own, or a reusable one.
func (sc scene) jobWorkflow(r Run, j Job) string {
	path, ref, elsewhere := strings.Cut(cmp.Or(j.Workflow, r.Path), "@")
	if !elsewhere {
		return sc.repo.Name + "/" + path + "@" + r.Ref
	}
	switch {
	case strings.HasPrefix(ref, "refs/"), commitSHA.MatchString(ref):
	case version.MatchString(ref):
		ref = "refs/tags/" + ref
	default:
		ref = "refs/heads/" + ref
	}
	return path + "@" + ref
}

var (
	commitSHA = regexp.MustCompile(`^[0-9a-f]{40}$`)
	version   = regexp.MustCompile(`^v[0-9]`)
)

// subject is GitHub's default format. An environment's name comes first, then that it is a pull request, then the ref.
func (sc scene) subject(r Run, j Job) string {
	about := "ref:" + r.Ref
	switch {
	case j.Environment != "":
		about = "environment:" + strings.NewReplacer(":", "%3A").Replace(j.Environment)
	case r.Event == "pull_request":
		about = "pull_request"
	}
	return "repo:" + sc.repo.Name + ":" + about
}

// environment are the variables of a run that its jobs and its expressions see.
func (sc scene) environment(r Run) map[string]string {
	owner, _ := sc.repo.split()
	claims := sc.claims(r, Job{Attempt: r.Attempt})
	out := map[string]string{
		"GITHUB_SERVER_URL": strings.TrimSuffix(sc.web(), "/"), "GITHUB_API_URL": strings.TrimSuffix(sc.api(), "/"),
		"GITHUB_GRAPHQL_URL": sc.api() + "graphql", "GITHUB_REPOSITORY": sc.repo.Name, "GITHUB_REPOSITORY_OWNER": owner,
		"GITHUB_REF_NAME":         strings.TrimPrefix(shortRef(r.Ref), "refs/pull/"),
		"GITHUB_TRIGGERING_ACTOR": r.Triggering, "SHA_REF": r.SHA, "GITHUB_RETENTION_DAYS": "90",
	}
	for name, claim := range map[string]string{
		"GITHUB_REPOSITORY_ID": "repository_id", "GITHUB_REPOSITORY_OWNER_ID": "repository_owner_id", "GITHUB_SHA": "sha", "GITHUB_REF": "ref",
		"GITHUB_REF_TYPE": "ref_type", "GITHUB_REF_PROTECTED": "ref_protected", "GITHUB_HEAD_REF": "head_ref", "GITHUB_BASE_REF": "base_ref",
		"GITHUB_RUN_ID": "run_id", "GITHUB_RUN_NUMBER": "run_number", "GITHUB_RUN_ATTEMPT": "run_attempt", "GITHUB_WORKFLOW": "workflow",
		"GITHUB_WORKFLOW_REF": "workflow_ref", "GITHUB_WORKFLOW_SHA": "workflow_sha", "GITHUB_ACTOR_ID": "actor_id",
	} {
		out[name] = claims[claim].(string)
	}
	return out
}

// issuerPath is where the issuer of jobs' tokens is, as on GitHub Enterprise Server.
const issuerPath = "/_services/token"

// idTokenPath is where a job asks for its tokens.
const idTokenPath = "/_actions/idtoken/"

// idTokenLife is how long a token is valid, as on GitHub.
const idTokenLife = 5 * time.Minute

// mayIdentify reports whether a job may ask for tokens: with permissions: id-token: write, and not for a fork's pull request. A
// pull_request_target may, because it runs what the base has.
func mayIdentify(run Run, j Job) bool {
	return j.IDToken && (run.HeadOwner == "" || run.Event != "pull_request")
}

// idTokenAccess makes the environment with which a job that runs asks for its tokens.
func (s *Server) idTokenAccess(job int64) (env map[string]string, token string) {
	token = rand.Text() + rand.Text()
	s.idTokens.Store(job, hashOf(token))
	return map[string]string{
		"ACTIONS_ID_TOKEN_REQUEST_URL":   s.base + idTokenPath + itoa(job) + "?api-version=2.0",
		"ACTIONS_ID_TOKEN_REQUEST_TOKEN": token,
	}, token
}

func (s *Server) forgetIDToken(job int64) { s.idTokens.Delete(job) }

// getIDToken answers a job with its token, for an audience that it chooses.
// https://docs.github.com/actions/reference/security/oidc
func (s *Server) getIDToken(w http.ResponseWriter, r *http.Request) {
	raw, _ := bearer(r)
	job := id(r, "job")
	if known, ok := s.idTokens.Load(job); !ok || known != hashOf(raw) {
		complain(w, http.StatusUnauthorized, string(badCredentials))
		return
	}
	token, err := s.IDToken(job, r.URL.Query().Get("audience"))
	if err != nil {
		fail(w, err, "IDToken", "job")
		return
	}
	answer(w, http.StatusOK, object{"count": len(token), "value": token})
}

// IDToken signs the token of a job that is in progress. An empty audience is GitHub's own: the URL of the repository's owner.
func (s *Server) IDToken(job int64, audience string) (string, error) {
	var claims map[string]any
	s.look(func(w *world) {
		for _, repo := range w.Repos {
			if run, j := repo.jobByID(job); j != nil && j.Status == runs.InProgress {
				sc := w.scene(s, repo)
				claims = sc.claims(*run, *j)
				audience = cmp.Or(audience, sc.web()+repo.owner())
			}
		}
	})
	if claims == nil {
		return "", errNotFound
	}
	now := s.moment()
	subject := claims["sub"].(string)
	delete(claims, "sub")
	claims["jti"], claims["nbf"] = strings.ToLower(GUID()), now.Add(-10*time.Minute).Unix()
	return s.issuer.Token(oidc.Claims{
		Subject: subject, Audience: []string{audience}, IssuedAt: oidc.Time(now), Expiry: oidc.Time(now.Add(idTokenLife)), More: claims,
	})
}
