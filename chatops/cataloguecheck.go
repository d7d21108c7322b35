package chatops

import (
	"fmt"
	"strings"
)

// CatalogueCheckName is the name of the check run on a pull request that changes the catalogue.
const CatalogueCheckName = "ocpctl/catalogue"

// CatalogueChange is what a pull request would change about the catalogue.
type CatalogueChange struct {
	Problems []Annotation // what is wrong with the files, each at its line; then nothing was replayed
	Replayed bool         // past requests were judged; false: only the files were checked

	Days, Requests                    int  // over how many days, and how many requests
	More                              bool // there are older requests in these days
	Uncounted                         int  // requests for which nothing counts as used
	Roles                             bool // who has which role changes, too, which is not part of a replay
	Refused, Approval, Accepted, Free int  // requests: now refused, need an approval, accepted, need no approval any more
	Groups                            []CatalogueGroup
	Removed                           []string // cloud accounts that it removes, and clusters are still in
}

// CatalogueGroup is the requests for which one check changes the verdict.
type CatalogueGroup struct {
	Change, Check    string
	Requests, People int
	Teams, Profiles  []string
}

// changeTexts say what happens to a request, for people.
var changeTexts = map[string]string{"refused": "now refused", "approval": "now need approval", "accepted": "now accepted", "free": "need no approval any more"}

// mostGroups is how many groups a check run lists.
const mostGroups = 50

// Headline says in one line what changes: "412 requests, 7 now refused, 3 now need approval".
func (c CatalogueChange) Headline() string {
	text := countOf(c.Requests, "request")
	unchanged := true
	for _, one := range []struct {
		n      int
		change string
	}{{c.Refused, "refused"}, {c.Approval, "approval"}, {c.Accepted, "accepted"}, {c.Free, "free"}} {
		if one.n > 0 {
			text += fmt.Sprintf(", %d %s", one.n, changeTexts[one.change])
			unchanged = false
		}
	}
	if unchanged {
		text += ", none changes"
	}
	return text
}

func countOf(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// Run renders the check run: an annotation at the line of each mistake, otherwise what the change would have meant for past requests. A
// replay never fails the check: whether people should be refused is for the reviewers.
func (c CatalogueChange) Run() CheckRun {
	if len(c.Problems) > 0 {
		run := ConfigCheck("The catalogue", c.Problems)
		var b strings.Builder
		b.WriteString("The catalogue is not valid. If this is merged, the server keeps the previous one.\n\n")
		for _, p := range run.Annotations {
			fmt.Fprintf(&b, "- %s: %s\n", Code(fmt.Sprintf("%s:%d", p.Path, p.Line)), plain(strings.TrimPrefix(p.Title+": "+p.Message, ": ")))
		}
		run.Summary = fit(b.String())
		return run
	}
	if !c.Replayed {
		return CheckRun{Title: "The catalogue is valid", Status: completed, Conclusion: "success",
			Summary: "The pull request comes from a fork, so past requests were not replayed. A platform admin can do it: `ocpctl catalog what-if DIR`.\n"}
	}
	run := CheckRun{Title: cut(c.Headline(), maxTitle), Status: completed, Conclusion: "success"}
	if c.Refused+c.Approval > 0 {
		run.Conclusion = "neutral"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "The catalogue is valid. By it, of the requests of the last %d days: **%s**.\n\n", c.Days, c.Headline())
	if len(c.Groups) > 0 {
		b.WriteString("| what | check | requests | people | teams | profiles |\n|---|---|---|---|---|---|\n")
	}
	for i, g := range c.Groups {
		if i == mostGroups {
			fmt.Fprintf(&b, "\n… and %d more checks\n", len(c.Groups)-i)
			break
		}
		fmt.Fprintf(&b, "| %s | %s | %d | %d | %s | %s |\n", changeTexts[g.Change], inCell(g.Check), g.Requests, g.People, inCell(strings.Join(g.Teams, ", ")), inCell(strings.Join(g.Profiles, ", ")))
	}
	b.WriteString("\nCompared with the catalogue that is active now. Each request is judged by what was used when it was made.\n")
	if c.Roles {
		b.WriteString("Identities or people change, too. Their effect is not included: each requester keeps the roles that they had.\n")
	}
	if len(c.Removed) > 0 {
		fmt.Fprintf(&b, "**Clusters are still in cloud accounts that are removed: %s.** Keep these accounts' credentials until they are gone.\n", inCell(strings.Join(c.Removed, ", ")))
	}
	if c.Uncounted > 0 {
		fmt.Fprintf(&b, "For %s, made before usage was recorded, quotas and budgets count as unused.\n", countOf(c.Uncounted, "request"))
	}
	if c.More {
		b.WriteString("Older requests were left out.\n")
	}
	run.Summary = fit(b.String())
	return run
}

// inCell makes a text safe in a cell of a table.
func inCell(text string) string {
	if text == "" {
		return "–"
	}
	return Code(strings.ReplaceAll(oneLine(text), "|", "/"))
}

// CatalogueProposal is a changed document of the catalogue that a person proposes on a page.
type CatalogueProposal struct {
	Path  string `json:"path"` // in the repository
	Was   string `json:"was"`  // the document that the person changed; empty: it is new
	Now   string `json:"now"`
	Title string `json:"title"`
	By    string `json:"by"` // the person's name
}

// Body is the text of the pull request.
func (p CatalogueProposal) Body() string {
	return fmt.Sprintf("Proposed by %s on ocpctl's page *Policy*.\n", plain(p.By))
}
