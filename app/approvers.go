package app

import (
	"slices"
	"strings"

	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/profiles"
)

// maxApprovers is how many people and teams an approval mentions at most.
const maxApprovers = 5

// approversOnGitHub returns the GitHub logins, accounts (github:id/number) and teams (organization/slug) that the catalogue names and whose
// approval would count; nil: no approval is needed. It leaves out those who may approve only by another identity or by their permission on a
// repository.
func approversOnGitHub(r ClusterRequest, v policy.Verdict) []string {
	if v.Approval == nil {
		return nil
	}
	var out []string
	roles := votingRoles(string(v.Approval.By))
	for _, id := range r.catalogue.Catalogue.Identities {
		if id.Source != profiles.SourceGitHub || !slices.Contains(roles, policy.Role(id.Role)) {
			continue
		}
		for _, attribute := range []string{"login", "id", "team"} {
			for _, who := range id.Match[attribute] {
				if isOwn(r, attribute, who) && !v.Approval.Self || strings.ContainsAny(who, "*?[") || !givesApproval(id, attribute, who, r.PR.Repo, v.Grant.Ownership.Team) {
					continue
				}
				if attribute == "id" {
					who = string(profiles.SourceGitHub) + ":id/" + who
				}
				out = append(out, who)
			}
		}
	}
	slices.Sort(out)
	out = slices.Compact(out)
	return out[:min(len(out), maxApprovers)]
}

// isOwn reports whether an identity's login or number is of the account that makes the request. Logins that it had before count, too, and
// the one that it took over from another does not.
func isOwn(r ClusterRequest, attribute, who string) bool {
	said := r.Request.Principal.Said
	return said != nil && attribute != "team" && slices.ContainsFunc(said.Values[attribute], func(value string) bool { return strings.EqualFold(value, who) })
}

// givesApproval reports whether the identity gives this login, account or GitHub team its role in a team. It assumes the repository
// permission: only GitHub knows it, and the vote itself checks it.
func givesApproval(id profiles.Identity, attribute, who, repo, team string) bool {
	values := map[string][]string{attribute: {who}, "repository": {repo}, "permission": id.Match["permission"]}
	teams := id.TeamsOf(values)
	// If a login and a team have to match, this is false: the team's members are not known here.
	return id.Fits(profiles.SourceGitHub, "", values) && (slices.Contains(teams, team) || slices.Contains(teams, policy.EveryTeam))
}
