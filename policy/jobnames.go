package policy

import (
	"cmp"
	"slices"
	"strings"

	"github.com/ocpctl/ocpctl/profiles"
)

// NameKind is what a name in a job's token is of.
type NameKind string

// The kinds of names. Accounts and namespaces can own repositories and projects.
const (
	NameOfAccount    NameKind = "account"
	NameOfRepository NameKind = "repository"
	NameOfEnterprise NameKind = "enterprise"
	NameOfNamespace  NameKind = "namespace"
	NameOfProject    NameKind = "project"
	NameOfUser       NameKind = "user"
)

// JobName is a name in a job's token, which can be another's tomorrow, with the number that its platform never gives again.
type JobName struct {
	Kind   NameKind
	Claim  string // that holds the name
	Name   string
	Number string // empty: the token does not tell it
}

// jobNames are the claims with names, and the claims with their numbers, of GitHub Actions and GitLab CI.
// https://docs.github.com/actions/reference/security/oidc
// https://docs.gitlab.com/ci/secrets/id_token_authentication/#token-payload
var jobNames = []struct {
	claim, number string
	kind          NameKind
	whose         bool // it tells whose job it is
}{
	{"repository", "repository_id", NameOfRepository, true},
	{"repository_owner", "repository_owner_id", NameOfAccount, true},
	{"enterprise", "enterprise_id", NameOfEnterprise, true},
	{"actor", "actor_id", NameOfAccount, false},
	{"project_path", "project_id", NameOfProject, true},
	{"namespace_path", "namespace_id", NameOfNamespace, true},
	{"job_project_path", "job_project_id", NameOfProject, true},
	{"job_namespace_path", "job_namespace_id", NameOfNamespace, true},
	{"user_login", "user_id", NameOfUser, false},
}

// withNames are the claims that contain the names of others.
var withNames = []string{
	"sub", "repository", "workflow_ref", "job_workflow_ref", "project_path", "namespace_path", "job_project_path", "job_namespace_path", "ci_config_ref_uri", "groups_direct",
}

// JobNames returns the names in a job's token of which the platform has a number.
func (c Claims) JobNames() []JobName {
	if !c.ofPipeline() {
		return nil
	}
	var names []JobName
	for _, n := range jobNames {
		if name := c.singleValue(n.claim); name != "" {
			names = append(names, JobName{n.kind, n.claim, name, c.singleValue(n.number)})
		}
	}
	return names
}

// JobSite returns the address of the platform on which the names in a job's token are, or its issuer's.
func (c Claims) JobSite() string { return cmp.Or(profiles.GitHubOf(c.Issuer), c.Issuer) }

// WithReused returns the claims of a job in whose token these names were another's before: neither they nor what contains them match an
// identity. If they tell whose job it is, the subject is another one too, with the number if the token tells it, because the same subject was another's.
func (c Claims) WithReused(names []JobName) Claims {
	for _, reused := range names {
		c.Reused = append(c.Reused, reused.Claim)
		for _, claim := range withNames {
			contains := func(value string) bool { return strings.Contains(strings.ToLower(value), strings.ToLower(reused.Name)) }
			if slices.ContainsFunc(c.Values[claim], contains) {
				c.Reused = append(c.Reused, claim)
			}
		}
	}
	slices.Sort(c.Reused)
	c.Reused = slices.Compact(c.Reused)
	if !slices.ContainsFunc(names, func(r JobName) bool { return tellsWhose(r.Claim) }) {
		return c
	}
	another := "reused" // its token tells no number
	for _, n := range jobNames {
		if number := c.singleValue(n.number); n.whose && number != "" {
			another = n.number + ":" + number
			break
		}
	}
	c.Subject = another + ":" + c.Subject
	return c
}

// ReusedNames returns the names that match no identity.
func (c Claims) ReusedNames() []JobName {
	return slices.DeleteFunc(c.JobNames(), func(n JobName) bool { return !slices.Contains(c.Reused, n.Claim) })
}

// tellsWhose reports whether the name in a claim tells whose job it is.
func tellsWhose(claim string) bool {
	for _, n := range jobNames {
		if n.claim == claim {
			return n.whose
		}
	}
	return false
}

// matchableValues returns the values that identities may match.
func (c Claims) matchableValues() map[string][]string {
	if len(c.Reused) == 0 {
		return c.Values
	}
	values := map[string][]string{}
	for claim, value := range c.Values {
		if !slices.Contains(c.Reused, claim) {
			values[claim] = value
		}
	}
	return values
}
