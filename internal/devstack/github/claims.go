package github

import "strings"

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
	out := map[string]any{
		"sub": sc.subject(r, j), "repository": sc.repo.Name, "repository_id": itoa(sc.repo.ID), "repository_owner": owner,
		"repository_owner_id": itoa(sc.user(owner)["id"].(int64)), "repository_visibility": visibility(sc.repo.Private),
		"ref": r.Ref, "ref_type": kind, "ref_protected": "false", "sha": r.SHA, "head_ref": head, "base_ref": base,
		"actor": r.Actor, "actor_id": itoa(sc.user(r.Actor)["id"].(int64)), "event_name": r.Event,
		"workflow": r.Workflow, "workflow_ref": workflow, "workflow_sha": r.SHA, "job_workflow_ref": workflow, "job_workflow_sha": r.SHA,
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
