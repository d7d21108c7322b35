package actions

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/humanize"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/progress"
	"github.com/ocpctl/ocpctl/internal/duration"
	"github.com/ocpctl/ocpctl/internal/price"
)

// plain makes one line of a text for Markdown, in which nothing is markup.
func plain(text string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `\`, `\\`, "|", `\|`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "~", `\~`, "#", `\#`).
		Replace(humanize.Line(text))
}

// link makes a link to an address of the web; of any other, text.
func link(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || strings.ContainsAny(address, " <>()\"'\\`\n\r\t|") {
		return plain(address)
	}
	return "<" + u.String() + ">"
}

// sheet is a table of facts, those without a value left out.
type sheet struct{ b strings.Builder }

func newSheet(title string) *sheet {
	s := &sheet{}
	fmt.Fprintf(&s.b, "### %s\n\n", plain(title))
	return s
}

func (s *sheet) facts(pairs ...string) {
	s.b.WriteString("| | |\n|---|---|\n")
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			fmt.Fprintf(&s.b, "| %s | %s |\n", pairs[i], pairs[i+1])
		}
	}
	s.b.WriteString("\n")
}

// clusterSummary shows a cluster. problem is why the job cannot use it, and what to do.
func (s *step) clusterSummary(c v1.Cluster, title, problem string) string {
	sh, now := newSheet(title), s.Now()
	if problem != "" {
		fmt.Fprintf(&sh.b, "%s\n\n", plain(problem))
	}
	made := ""
	if !c.ReadyAt.IsZero() {
		made = "after " + duration.Format(c.ReadyAt.Sub(c.AcceptedAt))
	}
	console, api := "", ""
	if c.ConsoleURL != "" {
		console, api = link(c.ConsoleURL), link(c.APIURL)
	}
	sh.facts(
		"Status", plain(progress.Status(c)), "Ready", made, "Saved", humanize.Saved(c), "Page", link(s.page(c.ClusterID)), "Console", console, "API", api,
		"OpenShift", plain(c.Version+", "+c.Profile+", "+c.Region),
		"Ends", plain(humanize.Ends(c, now)), "Price", plain(humanize.Costs(c, now)), "Cluster", plain(c.ClusterID),
	)
	return sh.b.String()
}

// verdictSummary shows what a dry run found.
func verdictSummary(v v1.Verdict) string {
	s := newSheet(v.Message)
	s.b.WriteString("| check | result | |\n|---|---|---|\n")
	for _, c := range v.Checks {
		fmt.Fprintf(&s.b, "| %s | %s | %s |\n", plain(c.Name), c.Result, plain(strings.TrimSpace(c.Message+" "+c.Next)))
	}
	s.b.WriteString("\n")
	if v.Allowed {
		s.facts("Name", plain(v.Name), "OpenShift", plain(v.Version+", "+v.Profile+", "+v.Region), "Machines", fmt.Sprint(v.Nodes),
			"Price", fmt.Sprintf("%s an hour, %s until its planned end, by list prices", price.Dollars(int64(v.HourlyCents)), price.Dollars(v.TotalCents)))
	}
	s.b.WriteString("Nothing was created.\n")
	return s.b.String()
}
