package profiles

import (
	"go.yaml.in/yaml/v3"

	"github.com/ocpctl/ocpctl/internal/workhours"
)

// Team is a team that owns clusters: what its tags may say and what it may spend.
type Team struct {
	Name, DisplayName string
	Owner             string   // person or address responsible for the team's clusters if nobody else is named
	CostCenters       []string // allowed; the first is the default
	Environments      []string // allowed; the first is the default
	Weight            int      // share of turns when a quota is full: weight 2 gets twice as many as weight 1
	Budget            Budget   // the zero value: none
	Cohort            string   // the teams that lend each other places of their quotas; empty: it lends and borrows none

	WorkHours workhours.Schedule // when the team works; empty: it did not say
}

// Budget is what a team may spend in a calendar month (UTC) by list prices: what its clusters have cost, plus what the living ones
// will cost until they end.
type Budget struct {
	MonthlyCents int64 // 0: no budget
	WarnPercent  int   // from this part on, a new cluster gets a warning and needs an approval; 1 to 100
	Self         bool  // the requester may give the approval
	Hard         bool  // above the whole budget nothing is accepted; otherwise it needs an approval
}

// The bounds that a team must keep, and the defaults.
const (
	mostWeight         = 100
	mostMonthlyDollars = 10_000_000
	defaultWarnPercent = 80
)

func readTeam(r *reader, body []byte) Team {
	t := Team{Weight: 1}
	doc := r.document(body, "team")
	if doc == nil {
		return t
	}
	r.object(doc, "", teamFields(r, &t)...)
	checkName(r, t.Name)
	if r.lines["displayName"] == 0 {
		t.DisplayName = t.Name
	}
	return t
}

// teamFields describes the fields of a team's file.
func teamFields(r *reader, t *Team) []field {
	return []field{
		text("name", &t.Name, teamText, TeamName),
		optional(text("displayName", &t.DisplayName, "a text", isFilled)),
		text("owner", &t.Owner, tagText, tagValue),
		r.texts("costCenters", &t.CostCenters, tagText, tagValue),
		r.texts("environments", &t.Environments, tagText, tagValue),
		optional(whole("weight", &t.Weight, 1, mostWeight)),
		optional(budget(r, &t.Budget)),
		optional(text("cohort", &t.Cohort, nameAccept, nameForm.MatchString)),
		workHours(r, &t.WorkHours),
		kind("Team"),
	}
}

func budget(r *reader, b *Budget) field {
	var dollars int
	f := r.inner("budget",
		whole("monthlyDollars", &dollars, 1, mostMonthlyDollars),
		optional(whole("warnPercent", &b.WarnPercent, 1, 100)),
		optional(boolean("selfApproval", &b.Self)),
		optional(boolean("hard", &b.Hard)))
	read := f.read
	f.read = func(n *yaml.Node, path string) bool {
		b.WarnPercent = defaultWarnPercent
		ok := read(n, path)
		b.MonthlyCents = int64(dollars) * 100
		return ok
	}
	return f
}

const (
	teamText = "letters, digits, dots, underscores and dashes, at most 63, starting with a letter or digit"
	tagText  = "a valid tag value: 1 to 256 letters, digits, spaces and _ . : / = + - @"
)

// tagValue reports whether s may be the value of one of our own tags.
func tagValue(s string) bool { return TagValueProblem(s) == "" }
