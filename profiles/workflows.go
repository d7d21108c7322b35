package profiles

import (
	"maps"
	"regexp"
	"slices"
	"strings"
)

// openIssuer is an issuer that gives tokens to jobs of anybody: whoever has an account there can have one. An identity that can match
// its tokens has to fix whose they are.
type openIssuer struct {
	platform IssuerPlatform
	problem  string // of an identity that fixes nothing
	accept   string
	claims   []string // that its tokens have, besides those of every token
	// owners are the attributes that fix the owner, with the beginning of a glob that does; nil: a glob without *.
	owners map[string]*regexp.Regexp
}

// gitHubSubject and gitLabSubject are the parts of a glob over subjects that fix the owner, with nothing open before them. An organization
// can choose the claims in its subjects, so that one may be only environment:production; a colon in a value is written %3A there.
// docs.github.com, "OpenID Connect reference", customizing the subject claims.
var (
	gitHubSubject = regexp.MustCompile(`^([^*]*:)?((repo|repository):[^/*:]+/|(repository_owner|repository_owner_id|repository_id|enterprise|enterprise_id):[^*:]+(:|$))`)
	gitLabSubject = regexp.MustCompile(`^project_path:[^/*]+/`)
)

// openIssuers are the known ones.
var openIssuers = []openIssuer{
	{
		platform: IssuerGitHub,
		problem:  "without a repository owner, so that anybody's workflow on GitHub matches",
		accept:   "also repository (acme/*), repository_owner, one of their ids, or sub (repo:acme/…), with the owner's full name",
		// docs.github.com, "OpenID Connect reference". Strangers can call a reusable workflow (job_workflow_ref).
		claims: []string{
			"actor", "actor_id", "base_ref", "check_run_id", "enterprise", "enterprise_id", "environment", "environment_node_id", "event_name", "head_ref",
			"job_workflow_ref", "job_workflow_sha", "ref", "ref_protected", "ref_type", "repository", "repository_id", "repository_owner", "repository_owner_id",
			"repository_visibility", "run_attempt", "run_id", "run_number", "runner_environment", "sha", "workflow", "workflow_ref", "workflow_sha",
		},
		owners: map[string]*regexp.Regexp{
			"repository": regexp.MustCompile(`^[^/*]+/`), "workflow_ref": regexp.MustCompile(`^[^/*]+/`), "sub": gitHubSubject,
			"repository_id": nil, "repository_owner": nil, "repository_owner_id": nil, "enterprise": nil, "enterprise_id": nil,
		},
	},
	{
		platform: IssuerGitLab,
		problem:  "without a project or namespace, so that anybody's job on gitlab.com matches",
		accept:   "also project_path (acme/*), namespace_path, one of their ids, or sub (project_path:acme/…), with the group's full name",
		// https://docs.gitlab.com/ci/secrets/id_token_authentication/#token-payload. A pipeline for a fork's merge request can run in
		// the parent project, which the claims job_project_… name; the others name the fork.
		claims: []string{
			"ci_config_ref_uri", "ci_config_sha", "deployment_tier", "environment", "environment_action", "environment_protected", "groups_direct",
			"job_id", "job_namespace_id", "job_namespace_path", "job_project_id", "job_project_path", "namespace_id", "namespace_path", "pipeline_id", "pipeline_source", "project_id", "project_path",
			"project_visibility", "ref", "ref_path", "ref_protected", "ref_type", "runner_environment", "runner_id", "sha", "user_access_level", "user_email",
			"user_id", "user_identities", "user_login",
		},
		owners: map[string]*regexp.Regexp{
			"project_path": regexp.MustCompile(`^[^/*]+/`), "namespace_path": regexp.MustCompile(`^[^/*]+(/|$)`), "sub": gitLabSubject,
			"project_id": nil, "namespace_id": nil,
		},
	},
}

// strangers returns the open issuer whose tokens anybody could get and match the identity with; nil: there is none. gitHub are further
// issuers of GitHub Actions.
func (i Identity) strangers(gitHub []string) *openIssuer {
	of := PlatformOf(i.Issuer)
	if slices.Contains(gitHub, i.Issuer) {
		of = IssuerGitHub
	}
	if i.Source != SourceOIDC || i.Issuer == "" {
		return nil
	}
	for k := range openIssuers {
		if o := &openIssuers[k]; of == o.platform && o.fits(i) {
			return o
		}
	}
	return nil
}

// pipelineClaim returns an attribute of the identity that only tokens of pipelines have; empty: there is none.
func (i Identity) pipelineClaim() string {
	for _, attribute := range slices.Sorted(maps.Keys(i.Match)) {
		known := func(o openIssuer) bool { return slices.Contains(o.claims, attribute) }
		if strings.HasPrefix(attribute, "kubernetes.io.") || slices.ContainsFunc(openIssuers, known) {
			return attribute
		}
	}
	return ""
}

// fits reports whether a stranger's token could match the identity, because none of its attributes fixes the owner.
func (o *openIssuer) fits(i Identity) bool {
	for attribute, globs := range i.Match {
		if begin, fixes := o.owners[attribute]; fixes && !slices.ContainsFunc(globs, func(glob string) bool { return isOpen(begin, glob) }) {
			return false
		}
	}
	return true
}

// isOpen reports whether a glob leaves the owner open.
func isOpen(begin *regexp.Regexp, glob string) bool {
	if begin == nil {
		return strings.Contains(glob, "*")
	}
	return !begin.MatchString(glob)
}

// gitHubNames are the claims in which globs can have an owner written out, and maybe a repository.
var gitHubNames = map[string]*regexp.Regexp{
	"repository": gitHubName, "workflow_ref": gitHubName, "job_workflow_ref": gitHubName,
	"sub": regexp.MustCompile(`^(?:[^*]*:)?repo(?:sitory)?:([a-z0-9-]+)/(?:([a-z0-9._-]+)(?::|$))?`),
}

var gitHubName = regexp.MustCompile(`^([a-z0-9-]+)/(?:([a-z0-9._-]+)(?:/|$))?`)

// NamesOfJobs lists, in lower case, the accounts and the repositories (owner/name) that identities for jobs of a GitHub name without a *.
func NamesOfJobs(identities []Identity, isIssuer func(issuer string) bool) (accounts, repositories []string) {
	for _, i := range identities {
		if i.Source != SourceOIDC || !isIssuer(i.Issuer) {
			continue
		}
		for _, login := range append(slices.Clone(i.Match["repository_owner"]), i.Match["actor"]...) {
			if !strings.Contains(login, "*") {
				accounts = append(accounts, strings.ToLower(login))
			}
		}
		for claim, names := range gitHubNames {
			for _, glob := range i.Match[claim] {
				if found := names.FindStringSubmatch(strings.ToLower(glob)); found != nil {
					accounts = append(accounts, found[1])
					if found[2] != "" {
						repositories = append(repositories, found[1]+"/"+found[2])
					}
				}
			}
		}
	}
	slices.Sort(accounts)
	slices.Sort(repositories)
	return slices.Compact(accounts), slices.Compact(repositories)
}
