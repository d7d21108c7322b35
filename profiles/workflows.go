package profiles

import (
	"regexp"
	"slices"
	"strings"
)

// gitHubActions issues the tokens of all workflows on GitHub, whoever's they are.
const gitHubActions = "https://token.actions.githubusercontent.com"

// workflowClaims are what that issuer says of each workflow: docs.github.com, "OpenID Connect reference". A reusable workflow
// (job_workflow_ref) can be called by strangers.
var workflowClaims = []string{
	"actor", "actor_id", "aud", "base_ref", "check_run_id", "enterprise", "enterprise_id", "environment", "environment_node_id", "event_name", "head_ref", "iss",
	"job_workflow_ref", "job_workflow_sha", "ref", "ref_protected", "ref_type", "repository", "repository_id", "repository_owner", "repository_owner_id",
	"repository_visibility", "run_attempt", "run_id", "run_number", "runner_environment", "sha", "sub", "workflow", "workflow_ref", "workflow_sha",
}

const ownersAccept = "also repository (acme/*), repository_owner, one of their ids, or sub (repo:acme/…), with the owner's full name"

// ownerBefore is how a glob begins that names an owner.
var ownerBefore = map[string]*regexp.Regexp{
	"repository":   regexp.MustCompile(`^[^/*]+/`),
	"workflow_ref": regexp.MustCompile(`^[^/*]+/`),
	"sub":          regexp.MustCompile(`^(repo:[^/*]+/|[^*]+$)`),
}

// strangersFit says that a workflow of anybody on GitHub could prove what is asked: nothing of it says whose the repository is.
func (i Identity) strangersFit() bool {
	if i.Source != SourceOIDC || i.Issuer != "" && strings.TrimSuffix(i.Issuer, "/") != gitHubActions {
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
			return false // what no workflow's token says, no workflow fits
		}
	}
	return true
}
