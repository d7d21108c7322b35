package profiles

import (
	"regexp"
	"slices"
	"strings"
)

// Source is how somebody proved who they are.
type Source string

// The sources.
const (
	SourceSAML   Source = "saml"
	SourceOIDC   Source = "oidc"
	SourceAWS    Source = "aws"    // signed GetCallerIdentity
	SourceGitHub Source = "github" // the author of an event, with the permission GitHub tells
	SourceSlack  Source = "slack"
)

// Identity maps what somebody proved to seats. Every identity that matches gives its seats; who matches none has none.
type Identity struct {
	Name   string
	Source Source
	Issuer string // of oidc: the issuer's address; empty: any that is trusted

	// Match holds every attribute that must fit, each with the globs of which one must ("*" crosses everything but is never
	// empty). Attributes: of saml and oidc the claims (groups, email, sub, repository, ref, environment …), of aws arn (of
	// the role or user), account, and session; of github login, permission, repository.
	Match map[string][]string

	Role  string   // requester, platform_admin or auditor
	Teams []string // names; "*": every team; "{groups}": what that attribute holds; "{owner}": of github, the team of the repository's entry
}

// everyTeam is the one team name that means all of them. It stands in a catalogue; no claim can say it.
const everyTeam = "*"

// Fits says whether somebody who proved these values is meant. Issuer is that of the token, for oidc.
func (i Identity) Fits(source Source, issuer string, values map[string][]string) bool {
	if i.Source != source || i.Issuer != "" && i.Issuer != issuer || len(i.Match) == 0 {
		return false
	}
	for attribute, globs := range i.Match {
		if !slices.ContainsFunc(values[attribute], func(value string) bool { return FitsAny(globs, value) }) {
			return false
		}
	}
	return true
}

// TeamsOf lists the teams in which somebody with these values has the identity's role, "*" for every team. "{groups}"
// takes every value of the attribute groups, "{groups:dev-}" what follows dev- in those that start so. A value that is no
// team's name gives none, so that no claim can say "*".
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

// teamFrom reads "{attribute}" and "{attribute:prefix}". taken is false for a plain name.
func teamFrom(team string) (attribute, prefix string, taken bool) {
	inside, ok := strings.CutPrefix(team, "{")
	if inside, taken = strings.CutSuffix(inside, "}"); !ok || !taken {
		return "", "", false
	}
	attribute, prefix, _ = strings.Cut(inside, ":")
	return attribute, prefix, attribute != ""
}

var teamForm = regexp.MustCompile(`^[A-Za-z0-9][-A-Za-z0-9_.]{0,62}$`)

// TeamName says whether a team may be called so.
func TeamName(name string) bool { return teamForm.MatchString(name) }
