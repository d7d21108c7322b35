package app

import (
	"slices"
	"strings"

	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/profiles"
)

// maxApprovers is how many people and teams an approval mentions at most.
const maxApprovers = 5

// approversOnGitHub returns the GitHub logins and teams (organization/slug) that the catalogue names and whose approval would
// count; nil: no approval is needed. It leaves out those who may approve only by another identity or by their permission on a
// repository.
func approversOnGitHub(r ClusterRequest, v policy.Verdict) []string {
	if v.Approval == nil {
		return nil
	}
	var out []string
	roles := voters(string(v.Approval.By))
	for _, id := range r.catalogue.Catalogue.Identities {
		if id.Source != profiles.SourceGitHub || !slices.Contains(roles, policy.Role(id.Role)) {
			continue
		}
		for _, who := range append(slices.Clone(id.Match["login"]), id.Match["team"]...) {
			own := strings.EqualFold("github:"+who, r.Request.Principal.ID) || strings.EqualFold(who, r.Actor)
			if own && !v.Approval.Self || strings.ContainsAny(who, "*?[") || !approves(id, who, r.PR.Repo, v.Grant.Ownership.Team) {
				continue
			}
			out = append(out, who)
		}
	}
	slices.Sort(out)
	out = slices.Compact(out)
	return out[:min(len(out), maxApprovers)]
}

// approves reports whether the identity gives this login, or this GitHub team, its role in a team. It assumes the repository
// permission: only GitHub knows it, and the vote itself checks it.
func approves(id profiles.Identity, who, repo, team string) bool {
	values := map[string][]string{"login": {who}, "team": {who}, "repository": {repo}, "permission": id.Match["permission"]}
	if len(id.Match["login"]) > 0 && len(id.Match["team"]) > 0 {
		return false // both have to match, and the team's members are not known here
	}
	teams := id.TeamsOf(values)
	return id.Fits(profiles.SourceGitHub, "", values) && (slices.Contains(teams, team) || slices.Contains(teams, policy.EveryTeam))
}
