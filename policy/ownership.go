package policy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ocpctl/ocpctl/internal/closest"
	"github.com/ocpctl/ocpctl/internal/tagkey"
	"github.com/ocpctl/ocpctl/profiles"
)

// decideOwnership returns who the cluster will belong to: what the request names, otherwise the repository's entry in the server's table,
// otherwise the requester and the team's declaration. team is the zero value if it is not declared or if the requester may not create
// for it.
func decideOwnership(r Request, c profiles.Catalogue) (own Ownership, team profiles.Team) {
	own = Ownership{Team: orDefault(r.Team, r.Ownership.Team), Owner: orDefault(r.Owner, r.Ownership.Owner)}
	if teams, every := r.Principal.Teams(RolesFor(ActCreate)...); own.Team == "" && r.PR == nil && !every && len(teams) == 1 {
		own.Team = teams[0]
	}
	if r.MayFor(own.Team) {
		team, _, _ = c.Team(own.Team)
	}
	own.Owner = orDefault(own.Owner, orDefault(r.Principal.Name, team.Owner))
	elsewhere := r.Ownership.Team != "" && r.Ownership.Team != own.Team
	own.CostCenter = firstListed(r.CostCenter, r.Ownership.CostCenter, team.CostCenters, elsewhere)
	own.Environment = firstListed(r.Environment, r.Ownership.Environment, team.Environments, elsewhere)
	return own, team
}

// TeamOf returns the team that a request's cluster would belong to and whose usage is counted; empty if unknown. No rule changes it.
func TeamOf(r Request, c profiles.Catalogue) string {
	own, _ := decideOwnership(r, c)
	return own.Team
}

// MayFor reports whether the requester may create for a team. Others learn nothing about the team: neither its lists nor its budget
// nor its usage.
func (r Request) MayFor(team string) bool {
	if !r.onGitHub() {
		return r.Principal.May(ActCreate, team)
	}
	return slices.Contains(r.sufficientPermissions(), r.Permission) && (team == r.Ownership.Team || r.Principal.May(ActCreate, team))
}

// firstListed returns the requested value, otherwise the table's, otherwise the first of the team's list. If elsewhere is set, the
// table's value belongs to another team and counts only if it is on the list too.
func firstListed(asked, table string, list []string, elsewhere bool) string {
	switch {
	case asked != "":
		return asked
	case len(list) > 0 && (table == "" || elsewhere && !slices.Contains(list, table)):
		return list[0]
	}
	return table
}

// checkOwnership checks that every required tag will have a value, so that somebody is responsible for every cluster.
func (j judging) checkOwnership() Check {
	r, own := j.r, j.own
	if r.PR != nil && r.Ownership == (Ownership{}) {
		return Check{Name: "ownership", Result: Fail, Asked: r.PR.Repo, Accept: "an entry with team, cost center and environment",
			Message: fmt.Sprintf("%s is not in this control plane's table of repositories and teams, so nobody would answer for the cluster.", r.PR.Repo),
			Next:    fmt.Sprintf("Ask a platform admin to add %s to the table.", r.PR.Repo)}
	}
	_, _, declared := j.terms.Catalogue.Team(own.Team)
	var missing []string
	for _, f := range []struct{ text, tag, value string }{
		{"owner", tagkey.Owner, own.Owner}, {"team", tagkey.Team, own.Team}, {"cost center", tagkey.CostCenter, own.CostCenter}, {"environment", tagkey.Environment, own.Environment},
	} {
		unknown := j.stranger && own.Team != "" && f.value == ""
		follows := own.Team == "" && declared && (f.tag == tagkey.CostCenter || f.tag == tagkey.Environment) // the team's lists supply it
		if !unknown && !follows && profiles.TagValueProblem(f.value) != "" {
			missing = append(missing, f.text)
		}
	}
	check := Check{Name: "ownership", Result: Pass, Asked: nameRequester(r), Message: fmt.Sprintf("Owner %s, team %s, cost center %s, environment %s.",
		own.Owner, own.Team, own.CostCenter, own.Environment)}
	if r.PR != nil {
		check.Asked = r.PR.Repo
	}
	if len(missing) == 0 {
		return check
	}
	check.Result, check.Accept = Fail, "1 to 256 letters, digits, spaces and _ . : / = + - @ each"
	list := strings.Join(missing, ", ")
	check.Message = fmt.Sprintf("Every cluster has an owner, a team, a cost center and an environment; a valid %s is missing.", list)
	check.Next = fmt.Sprintf("Say which %s, or ask a platform admin to declare it for the team.", list)
	if teams := j.listTeams(); own.Team == "" && declared && len(teams) > 0 {
		check.Accept, check.NextSaysAccept = strings.Join(teams, ", "), r.PR == nil
		check.Next = fmt.Sprintf("Name a team: %s. Cost center and environment are the first of its lists where none is named.", check.Accept)
	}
	if r.PR != nil {
		check.Message = fmt.Sprintf("The configuration's entry for %s has no valid %s.", r.PR.Repo, list)
		check.Next = fmt.Sprintf("Ask a platform admin to complete the entry for %s.", r.PR.Repo)
	}
	return check
}

// checkTeam checks that the team exists, if teams are declared, and that the requester may create for it. For requests from GitHub,
// the permission on the repository is enough for the repository's own team.
func (j judging) checkTeam() Check {
	r, team := j.r, j.own.Team
	check := Check{Name: "team", Result: Pass, Asked: r.Team, Message: fmt.Sprintf("Team %s.", team)}
	if team == "" {
		check.Message = "No team is known."
		return check // the ownership check refuses it
	}
	entry := r.PR != nil && team == r.Ownership.Team
	if _, known, declared := j.terms.Catalogue.Team(team); declared && !known && (entry || r.Principal.May(ActCreate, team)) {
		return j.refuseUndeclaredTeam(check)
	}
	if j.r.onGitHub() && team == r.Ownership.Team {
		return check
	}
	if r.Principal.May(ActCreate, team) {
		check.Message = fmt.Sprintf("Team %s, which %s belongs to.", team, nameRequester(r))
		return check
	}
	check.Result, check.Accept = Fail, strings.Join(j.listTeams(), ", ")
	check.Message = fmt.Sprintf("%s is not known to belong to team %q.", nameRequester(r), team)
	check.Next = "Ask someone of that team, or a platform admin for a seat in it."
	if j.r.onGitHub() {
		check.Next = "Leave the team out, or ask someone of that team."
	}
	if check.Accept != "" {
		check.Next, check.NextSaysAccept = fmt.Sprintf("Leave the team out, or choose one of: %s.", check.Accept), true
		if near, ok := closest.Match(team, j.listTeams()); ok {
			check.Next = fmt.Sprintf("Did you mean %s? Leave the team out, or choose one of: %s.", near, check.Accept)
		}
	}
	return check
}

// refuseUndeclaredTeam refuses a team that the catalogue does not know, and suggests the closest one that the requester may create for.
func (j judging) refuseUndeclaredTeam(check Check) Check {
	r, team, teams := j.r, j.own.Team, j.listTeams()
	check.Result, check.Asked, check.Accept = Fail, team, strings.Join(teams, ", ")
	check.Message = fmt.Sprintf("There is no team %q.", team)
	check.Next = "Ask a platform admin to declare it."
	if check.Accept != "" {
		check.Next, check.NextSaysAccept = fmt.Sprintf("Choose one of: %s.", check.Accept), true
		if near, ok := closest.Match(team, teams); ok {
			check.Next = fmt.Sprintf("Did you mean %s? Your teams are: %s.", near, check.Accept)
		}
	}
	if r.PR != nil && team == r.Ownership.Team {
		check.NextSaysAccept = false
		check.Next = fmt.Sprintf("Ask a platform admin to declare it, or to correct the table's entry for %s.", r.PR.Repo)
	}
	return check
}

// listTeams lists the teams that the requester may create for: the repository's first, then the declared ones, if teams are declared.
func (j judging) listTeams() []string {
	all, every := j.r.Principal.Teams(RolesFor(ActCreate)...)
	if every {
		for _, t := range j.terms.Catalogue.Teams {
			all = append(all, t.Name)
		}
	}
	if t := j.r.Ownership.Team; j.r.PR != nil && t != "" {
		all = append([]string{t}, all...)
	}
	var out []string
	for _, name := range all {
		_, known, declared := j.terms.Catalogue.Team(name)
		if !slices.Contains(out, name) && (known || !declared) {
			out = append(out, name)
		}
	}
	return out
}

// checkLists checks the requested accounting values against the team's lists. A value from the repository's entry needs no list.
func (j judging) checkLists() []Check {
	var checks []Check
	for _, f := range []struct {
		name, text, asked string
		list              []string
	}{
		{"cost-center", "Cost center", j.r.CostCenter, j.team.CostCenters},
		{"environment", "Environment", j.r.Environment, j.team.Environments},
	} {
		asked := f.asked
		if asked == "" && j.r.PR == nil {
			asked = map[string]string{"cost-center": j.r.Ownership.CostCenter, "environment": j.r.Ownership.Environment}[f.name]
		}
		if asked == "" || len(f.list) == 0 {
			continue
		}
		check := Check{Name: f.name, Result: Pass, Asked: asked, Accept: strings.Join(f.list, ", "), Message: fmt.Sprintf("%s %s is on the list of team %s.", f.text, asked, j.team.Name)}
		if !slices.Contains(f.list, asked) {
			check.Result, check.Message = Fail, fmt.Sprintf("%s %q is not on the list of team %s.", f.text, asked, j.team.Name)
			check.Next, check.NextSaysAccept = fmt.Sprintf("Choose one of: %s.", check.Accept), true
		}
		checks = append(checks, check)
	}
	return checks
}

func nameRequester(r Request) string {
	return orDefault(r.Principal.Name, orDefault(r.Principal.ID, "The one who asks"))
}
