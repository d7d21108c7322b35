package actions

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/humanize"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/progress"
	"github.com/ocpctl/ocpctl/internal/duration"
	"github.com/ocpctl/ocpctl/internal/kinds"
	"github.com/ocpctl/ocpctl/internal/price"
)

// escapeMarkdown makes one line of a text for Markdown, in which nothing is markup.
func escapeMarkdown(text string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `\`, `\\`, "|", `\|`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "~", `\~`, "#", `\#`).
		Replace(humanize.Line(text))
}

// formatLink makes a link to an address of the web; of any other, text.
func formatLink(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || strings.ContainsAny(address, " <>()\"'\\`\n\r\t|") {
		return escapeMarkdown(address)
	}
	return "<" + u.String() + ">"
}

// sheet is a table of facts, those without a value left out.
type sheet struct{ b strings.Builder }

func newSheet(title string) *sheet {
	s := &sheet{}
	fmt.Fprintf(&s.b, "### %s\n\n", escapeMarkdown(title))
	return s
}

func (s *sheet) writeFacts(pairs ...string) {
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
		fmt.Fprintf(&sh.b, "%s\n\n", escapeMarkdown(problem))
	}
	made := ""
	if !c.ReadyAt.IsZero() {
		made = "after " + duration.Format(c.ReadyAt.Sub(c.AcceptedAt))
	}
	console, api := "", ""
	if c.APIURL != "" {
		api = formatLink(c.APIURL)
	}
	switch {
	case c.ConsoleURL == "":
	case kinds.Can(c.Provisioner, kinds.Console):
		console = formatLink(s.pageURL(c.ClusterID) + "#console")
	default: // nobody gets an account there
		console = formatLink(c.ConsoleURL)
	}
	sh.writeFacts(
		"Status", escapeMarkdown(progress.Status(c)), "Ready", made, "Saved", humanize.Saved(c), "Page", formatLink(s.pageURL(c.ClusterID)), "Console", console, "API", api,
		"Profile", escapeMarkdown(c.Profile+", "+kinds.Product(c.Provisioner, c.Version)+", "+c.Region),
		"Ends", escapeMarkdown(humanize.Ends(c, now)), "Price", escapeMarkdown(humanize.Costs(c, now)), "Cluster", escapeMarkdown(c.ClusterID),
	)
	return sh.b.String()
}

// wholeSummary shows a cluster that is ready to the job that asked for it.
func (s *step) wholeSummary(c v1.Cluster) string { return s.clusterSummary(c, c.Name+" is ready", "") }

// readySummary says in one line that a cluster is ready: the job that asked for it shows the rest, and many jobs may wait for it.
func (s *step) readySummary(c v1.Cluster) string {
	text := fmt.Sprintf("%s is ready: %s", escapeMarkdown(c.Name), formatLink(s.pageURL(c.ClusterID)))
	if c.ConsoleURL != "" {
		text += ", console: " + formatLink(c.ConsoleURL)
	}
	return text + ", ends " + escapeMarkdown(humanize.Ends(c, s.Now())) + "\n\n"
}

// verdictSummary shows what a dry run found.
func verdictSummary(v v1.Verdict) string {
	s := newSheet(v.Message)
	s.b.WriteString("| check | result | |\n|---|---|---|\n")
	for _, c := range v.Checks {
		fmt.Fprintf(&s.b, "| %s | %s | %s |\n", escapeMarkdown(c.Name), c.Result, escapeMarkdown(strings.TrimSpace(c.Message+" "+c.Next)))
	}
	s.b.WriteString("\n")
	if v.Allowed {
		machines := ""
		if v.Nodes > 0 {
			machines = strconv.Itoa(v.Nodes)
		}
		s.writeFacts("Name", escapeMarkdown(v.Name), "Profile", escapeMarkdown(v.Profile+", "+kinds.Product(v.Provisioner, v.Version)+", "+v.Region), "Machines", machines,
			"Price", fmt.Sprintf("%s an hour, %s until its planned end, by list prices", price.Dollars(int64(v.HourlyCents)), price.Dollars(v.TotalCents)))
	}
	s.b.WriteString("Nothing was created.\n")
	return s.b.String()
}
