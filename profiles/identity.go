package profiles

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Source is how somebody proved their identity.
type Source string

// The sources.
const (
	SourceSAML   Source = "saml"
	SourceOIDC   Source = "oidc"
	SourceAWS    Source = "aws"    // a signed GetCallerIdentity request
	SourceGitHub Source = "github" // the author of an event, with the permission that GitHub reports
	SourceSlack  Source = "slack"
)

// Identity maps what somebody proved to seats. Every matching identity gives its seats; without a match there are none.
type Identity struct {
	Name   string
	Source Source
	Issuer string // for oidc: the issuer's address; empty: any trusted issuer but those of pipelines; see RoleClaim

	// Match holds the attributes that must all match, each with globs (see Fits) of which one must match. Attributes: for saml and oidc
	// the claims (groups, email, sub, repository, ref, environment …); for aws arn (of the role or user), account, organization and
	// session; for github login, permission, repository (owner/name) and team (organization/slug, without globs; see GitHubTeams); for
	// slack user, workspace and channel (their ids), and email (confirmed by Slack, of a domain that the server trusts).
	Match map[string][]string

	Role  string   // requester, platform_admin or auditor
	Teams []string // names; "*": every team; "{groups}", "{groups:dev-}": see TeamsOf; "{owner}": for github, the team of the repository's entry

	Clusters Clusters // for oidc: which clusters a pipeline's token may act on; empty: ClustersOwn
}

// Clusters is which of a team's clusters the token of a pipeline may act on.
type Clusters string

// The values.
const (
	ClustersOwn  Clusters = "own"  // those of its run and its pull request, and those that are shared with it
	ClustersTeam Clusters = "team" // all of the team, as a person with the same role
)

// RoleClaim is the claim with which a token names its holder's role. It counts only in tokens of issuers that the installation has give
// roles: BindRoleClaim.
const RoleClaim = "ocpctl_role"

// BindRoleClaim replaces identities that match RoleClaim and name no issuer by one for each issuer that may give roles.
func BindRoleClaim(identities []Identity, issuers []string) []Identity {
	var out []Identity
	for _, i := range identities {
		if i.Match[RoleClaim] == nil || i.Issuer != "" {
			out = append(out, i)
			continue
		}
		for _, issuer := range issuers {
			i.Issuer = issuer
			out = append(out, i)
		}
	}
	return out
}

// everyTeam is the team name that means all teams. Only a catalogue can use it; a claim cannot.
const everyTeam = "*"

// PullRequestTarget is the event of a workflow that runs with the base branch's rights, and usually on the code of a pull request that
// anybody can open.
const PullRequestTarget = "pull_request_target"

// Fits reports whether the identity matches somebody who proved these values. For oidc, Issuer must match the token's issuer. A workflow
// that pull_request_target triggered is matched only by an identity that names that event without a glob.
func (i Identity) Fits(source Source, issuer string, values map[string][]string) bool {
	if i.Source != source || i.Issuer != "" && i.Issuer != issuer || len(i.Match) == 0 {
		return false
	}
	if source == SourceOIDC && slices.Contains(values["event_name"], PullRequestTarget) && !slices.Contains(i.Match["event_name"], PullRequestTarget) {
		return false
	}
	for attribute, globs := range i.Match {
		if !slices.ContainsFunc(values[attribute], func(value string) bool { return FitsAny(globs, value) }) {
			return false
		}
	}
	return true
}

// TeamsOf lists the teams in which somebody with these values has the identity's role, "*" for every team. "{groups}" takes every
// value of the attribute groups; "{groups:dev-}" takes the rest of those that start with dev-. A value that is not a valid team name
// gives none, so that no claim can yield "*".
func (i Identity) TeamsOf(values map[string][]string) []string {
	var teams []string
	for _, team := range i.Teams {
		attribute, prefix, taken := teamFrom(team)
		if !taken {
			teams = append(teams, team)
			continue
		}
		for _, value := range values[attribute] {
			if name, ok := strings.CutPrefix(value, prefix); ok && TeamName(name) {
				teams = append(teams, name)
			}
		}
	}
	return teams
}

// teamFrom parses "{attribute}" and "{attribute:prefix}". taken is false for a plain name.
func teamFrom(team string) (attribute, prefix string, taken bool) {
	inside, ok := strings.CutPrefix(team, "{")
	if inside, taken = strings.CutSuffix(inside, "}"); !ok || !taken {
		return "", "", false
	}
	attribute, prefix, _ = strings.Cut(inside, ":")
	return attribute, prefix, attribute != ""
}

var teamForm = regexp.MustCompile(`^[A-Za-z0-9][-A-Za-z0-9_.]{0,62}$`)

// TeamName reports whether a team may have this name.
func TeamName(name string) bool { return teamForm.MatchString(name) }

// attributes are those of each source; saml and oidc have none here, because their issuers decide about claims.
var attributes = map[Source][]string{
	SourceSAML: nil, SourceOIDC: nil,
	SourceAWS:    {"arn", "account", "organization", "session"},
	SourceGitHub: {"login", "id", "permission", "repository", "team", "owner"}, // owner: the team of the repository's entry
	SourceSlack:  {"user", "workspace", "channel", "email"},
}

var (
	permissions   = []string{"read", "triage", "write", "maintain", "admin"}
	accountForm   = regexp.MustCompile(`^[0-9]{12}$`)
	githubTeam    = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9-]{0,38}/[a-z0-9][a-z0-9._-]{0,99}$`)
	attributeForm = regexp.MustCompile(`^[A-Za-z0-9_.-]+$`)
)

// identityFields describes the fields of one identity.
func identityFields(r *reader, i *Identity) []field {
	const team = `a team's name, "*" for every team, "{groups}" for the values of the attribute groups, or "{groups:dev-}" for what follows dev- in them`
	return []field{
		text("name", &i.Name, nameAccept, nameForm.MatchString),
		choice("source", (*string)(&i.Source), string(SourceSAML), string(SourceOIDC), string(SourceAWS), string(SourceGitHub), string(SourceSlack)),
		optional(text("issuer", &i.Issuer, "an issuer's https:// address", func(s string) bool {
			return strings.HasPrefix(s, "https://") || strings.HasPrefix(s, "http://")
		})),
		attributesField(r, &i.Match),
		choice("role", &i.Role, "requester", "platform_admin", "auditor"),
		r.texts("teams", &i.Teams, team, func(s string) bool {
			attribute, prefix, taken := teamFrom(s)
			return s == everyTeam || TeamName(s) || taken && attributeForm.MatchString(attribute) && !strings.HasPrefix(prefix, "//")
		}),
		optional(choice("clusters", (*string)(&i.Clusters), string(ClustersOwn), string(ClustersTeam))),
	}
}

func attributesField(r *reader, into *map[string][]string) field {
	accept := "a mapping from one or more attributes to lists of globs"
	return field{name: "match", accept: accept, read: func(n *yaml.Node, path string) bool {
		if n.Kind != yaml.MappingNode || len(n.Content) == 0 {
			return false
		}
		*into = map[string][]string{}
		var fields []field
		for k := 0; k < len(n.Content); k += 2 {
			attribute := n.Content[k].Value
			var globs []string
			f := r.texts(attribute, &globs, globText, glob)
			read := f.read
			f.read = func(n *yaml.Node, path string) bool {
				ok := read(n, path)
				(*into)[attribute] = globs
				return ok
			}
			fields = append(fields, f)
		}
		r.object(n, path, fields...)
		return true
	}}
}

// compareIdentity makes the checks that need more than one field.
func compareIdentity(e entry[Identity]) {
	r, i := e.from, e.value
	if !r.good(e.path("source")) {
		return
	}
	if r.good(e.path("issuer")) && i.Source != SourceOIDC {
		r.failAt(e.path("issuer"), "given for source "+string(i.Source), "none, or source: oidc")
	}
	if r.good(e.path("clusters")) && i.Clusters != "" && i.Source != SourceOIDC {
		r.failAt(e.path("clusters"), "given for source "+string(i.Source), "none, or source: oidc")
	}
	known := attributes[i.Source]
	for _, attribute := range slices.Sorted(maps.Keys(i.Match)) {
		at := join(e.path("match"), attribute)
		if len(known) > 0 && !slices.Contains(known, attribute) {
			r.failAt(at, "not an attribute of source "+string(i.Source), strings.Join(known, ", "))
		}
		for k, value := range i.Match[attribute] {
			if accept := attributeValue(i.Source, attribute, value); accept != "" {
				r.failAt(fmt.Sprintf("%s[%d]", at, k), fmt.Sprintf("%q", value), accept)
			}
		}
	}
	if claim := i.pipelineClaim(); i.Source == SourceOIDC && r.lines[e.path("issuer")] == 0 {
		switch {
		case claim != "" && r.good(e.path("match")):
			r.fail(r.lines[e.path("source")], e.path("issuer"), "missing, and "+claim+" is a claim of pipelines' tokens, whose issuer an identity has to name", "the issuer's address, such as "+gitHubActions)
		case slices.Contains(i.Teams, everyTeam) && i.Match[RoleClaim] == nil:
			r.fail(r.lines[e.path("source")], e.path("issuer"), "missing, and the role is over every team", "the address of the issuer that may give this role, or also match "+RoleClaim)
		}
	}
	_, permitted := i.Match["permission"]
	if _, member := i.Match["team"]; r.good(e.path("match")) && i.Source == SourceGitHub && !permitted && !member {
		r.failAt(e.path("match"), "without permission or team, so that strangers match", "also permission, with one or more of "+strings.Join(permissions, ", ")+"; or team")
	}
	_, session := i.Match["session"]
	if _, role := i.Match["arn"]; r.good(e.path("match")) && i.Source == SourceAWS && session && !role {
		r.failAt(e.path("match"), "session without arn, so that anybody who assumes any role matches, because they choose the session name", "also arn, of a role whose session names you control")
	}
	if open := i.strangers(r.gitHub); open != nil && r.good(e.path("match")) {
		r.failAt(e.path("match"), open.problem, open.accept)
	}
	for k, team := range i.Teams {
		attribute, _, taken := teamFrom(team)
		if at := fmt.Sprintf("%s[%d]", e.path("teams"), k); taken && len(known) > 0 && r.good(at) && !slices.Contains(known, attribute) {
			r.failAt(at, "{"+attribute+"} with source "+string(i.Source), "one of {"+strings.Join(known, "}, {")+"}")
		}
	}
}

// attributeValue returns what would be accepted in place of a value that the attribute can never have; empty: it can have it.
func attributeValue(s Source, attribute, value string) string {
	switch {
	case s == SourceGitHub && attribute == "permission" && !slices.Contains(permissions, value):
		return "one of " + strings.Join(permissions, ", ")
	case s == SourceGitHub && attribute == "id" && !accountNumber.MatchString(value):
		return "the number of an account on GitHub, in quotes"
	case s == SourceGitHub && attribute == "team" && !githubTeam.MatchString(value):
		return "a team's organization and slug without *, such as acme/platform: membership is looked up by this exact name"
	case s == SourceAWS && attribute == "account" && !accountForm.MatchString(value):
		return "an account's twelve digits, in quotes"
	case s == SourceAWS && attribute == "arn" && !strings.HasPrefix(value, "arn:"):
		return "a glob over ARNs, which begin with arn:"
	}
	return ""
}

// GitHubTeams lists the GitHub teams that identities name, each once, as organization/slug. Only their membership has to be queried.
func GitHubTeams(identities []Identity) []string {
	var teams []string
	for _, i := range identities {
		if i.Source == SourceGitHub {
			teams = append(teams, i.Match["team"]...)
		}
	}
	slices.Sort(teams)
	return slices.Compact(teams)
}

// sourceOf reports whether a person's id may begin with s and a colon.
func sourceOf(s string) bool {
	_, known := attributes[Source(s)]
	return known
}
