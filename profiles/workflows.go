package profiles

import (
	"regexp"
	"slices"
	"strings"
)

// workflowClaims are the claims that this issuer sets for each workflow: docs.github.com, "OpenID Connect reference". Strangers can
// call a reusable workflow (job_workflow_ref).
var workflowClaims = []string{
	"actor", "actor_id", "aud", "base_ref", "check_run_id", "enterprise", "enterprise_id", "environment", "environment_node_id", "event_name", "head_ref", "iss",
	"job_workflow_ref", "job_workflow_sha", "ref", "ref_protected", "ref_type", "repository", "repository_id", "repository_owner", "repository_owner_id",
	"repository_visibility", "run_attempt", "run_id", "run_number", "runner_environment", "sha", "sub", "workflow", "workflow_ref", "workflow_sha",
}

const ownersAccept = "also repository (acme/*), repository_owner, one of their ids, or sub (repo:acme/…), with the owner's full name"

// ownerBefore matches the beginning of a glob that fixes the owner.
var ownerBefore = map[string]*regexp.Regexp{
	"repository":   regexp.MustCompile(`^[^/*]+/`),
	"workflow_ref": regexp.MustCompile(`^[^/*]+/`),
	"sub":          regexp.MustCompile(`^(repo:[^/*]+/|[^*]+$)`),
}

// strangersFit reports that a workflow of anybody on GitHub could match, because no attribute fixes the repository's owner. gitHub are
// further issuers of GitHub Actions.
func (i Identity) strangersFit(gitHub []string) bool {
	ofGitHub := i.Issuer == "" || PlatformOf(i.Issuer) == IssuerGitHub || slices.Contains(gitHub, i.Issuer)
	if i.Source != SourceOIDC || !ofGitHub {
		return false
	}
	for attribute, globs := range i.Match {
		switch attribute {
		case "repository", "workflow_ref", "sub":
			if !slices.ContainsFunc(globs, func(glob string) bool { return !ownerBefore[attribute].MatchString(glob) }) {
				return false
			}
		case "repository_id", "repository_owner", "repository_owner_id", "enterprise", "enterprise_id":
			if !slices.ContainsFunc(globs, func(glob string) bool { return strings.Contains(glob, "*") }) {
				return false
			}
		}
		if i.Issuer == "" && !slices.Contains(workflowClaims, attribute) {
			return false // no workflow token has this attribute, so none matches
		}
	}
	return true
}
