package app

import (
	"slices"
	"strings"

	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/profiles"
)

// maxApprovers is how many people and teams an approval calls at most.
const maxApprovers = 5

// approversOnGitHub lists the logins and teams (organization/slug) of GitHub that the catalogue names and whose approval would
// count for what was granted; nil where it needs none. Somebody who approves by another identity alone, or by their permission
// on a repository, is named by nobody and is not in it.
func approversOnGitHub(w ClusterRequest, v policy.Verdict) []string {
	if v.Approval == nil {
		return nil
	}
	var out []string
	roles := voters(string(v.Approval.By))
	for _, id := range w.catalogue.Catalogue.Identities {
		if id.Source != profiles.SourceGitHub || !slices.Contains(roles, policy.Role(id.Role)) {
			continue
		}
		for _, who := range append(slices.Clone(id.Match["login"]), id.Match["team"]...) {
			own := strings.EqualFold("github:"+who, w.Request.Principal.ID) || strings.EqualFold(who, w.Actor)
			if own && !v.Approval.Self || strings.ContainsAny(who, "*?[") || !approves(id, who, w.PR.Repo, v.Grant.Ownership.Team) {
				continue
			}
			out = append(out, who)
		}
	}
	slices.Sort(out)
	out = slices.Compact(out)
	return out[:min(len(out), maxApprovers)]
}

// approves says whether the identity gives somebody of this login, or in this team of GitHub, its role in a team. Which
// permission they have on the repository is taken for granted: only GitHub knows, and the vote itself asks.
func approves(id profiles.Identity, who, repo, team string) bool {
	values := map[string][]string{"login": {who}, "team": {who}, "repository": {repo}, "permission": id.Match["permission"]}
	if len(id.Match["login"]) > 0 && len(id.Match["team"]) > 0 {
		return false // both have to fit, and who is in the team is not known here
	}
	teams := id.TeamsOf(values)
	return id.Fits(profiles.SourceGitHub, "", values) && (slices.Contains(teams, team) || slices.Contains(teams, policy.EveryTeam))
}
