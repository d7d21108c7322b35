package chatops

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ocpctl/ocpctl/internal/kinds"
	"github.com/ocpctl/ocpctl/internal/price"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/policy"
)

// Comment renders the comment of a cluster, which is edited in place through the cluster's life. The text depends only on the
// arguments, never on the time. It always fits GitHub's limit.
func Comment(card lifecycle.Card, detail Detail, links Links) string {
	f := faceOf(card)
	parts := []string{
		fmt.Sprintf("### %s %s %s", f.sign, Code(card.Name), f.head), call(card, detail),
		f.doing, follow(card), describeApproval(card, detail), describeAwaited(card), because(card), restWarning(card), advice(card, detail), access(card, links), Saved(card), untold(card), testsIn(detail.Tests), proof(card), failure(card, links), blockers(card, links), facts(card), typing(card), page(card, links),
	}
	text := fit(paragraphs(parts))
	return text + fold(detail, maxBody-len(text))
}

// follow says where the progress of a cluster is shown: the comment is edited only when something changes that a reader would act on.
func follow(c lifecycle.Card) string {
	if !moving(c) || c.Phase == lifecycle.Cleaning {
		return ""
	}
	if eta := ETA(c); eta != "" {
		return sentence(eta) + " The check shows its progress."
	}
	return "The check shows its progress."
}

// paragraphs puts an empty line between the non-empty parts.
func paragraphs(parts []string) string {
	var b strings.Builder
	for _, part := range parts {
		if part != "" {
			b.WriteString(strings.TrimRight(part, "\n") + "\n\n")
		}
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

// call mentions people, so that GitHub notifies them: the possible approvers while the cluster waits for an approval, and later the
// requester, if the repository's file asks for it. Nobody else is ever mentioned.
func call(c lifecycle.Card, d Detail) string {
	if waitsForApproval(c) {
		return callApprovers(d.Approvers)
	}
	when, text := "", ""
	switch {
	case c.Status == lifecycle.Ready && c.Phase == lifecycle.Expiring && isWanted(c):
		when, text = "expiring", "your cluster ends soon."
	case c.Status == lifecycle.Ready && isWanted(c) && !isAsleep(c) && !c.AwaitsPreparing():
		when, text = "ready", "your cluster is ready."
	case c.Status == lifecycle.Failed && c.NeverReady():
		when, text = "failed", "your cluster could not be created."
	case c.Status == lifecycle.Failed:
		when, text = "failed", "your cluster cannot be destroyed yet."
	}
	if when == "" || !login.MatchString(d.Requester) || !slices.Contains(d.Mention, when) {
		return ""
	}
	return "@" + d.Requester + ", " + text
}

// waitsForApproval reports that the cluster begins only after an approval.
func waitsForApproval(c lifecycle.Card) bool {
	return c.Phase == lifecycle.AwaitingApproval && isWanted(c)
}

func callApprovers(approvers []string) string {
	var names []string
	for _, who := range approvers {
		if login.MatchString(who) || teamOf.MatchString(who) {
			names = append(names, "@"+who)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return strings.Join(names, ", ") + ": your approval is needed."
}

// describeApproval says who has to approve the cluster, by when and why.
func describeApproval(c lifecycle.Card, d Detail) string {
	if !waitsForApproval(c) {
		return ""
	}
	return d.Approval
}

// advice shows policy's warnings, as long as they may still change a decision.
func advice(c lifecycle.Card, d Detail) string {
	if !isWanted(c) || wasReady(c) {
		return ""
	}
	return d.Advice
}

// describeAwaited says whose approval is needed, and how to give it.
func describeAwaited(c lifecycle.Card) string {
	if !waitsForApproval(c) {
		return ""
	}
	return fmt.Sprintf("**Needs approval** by someone who may approve for team %s, or by a platform admin. To approve the newest commit shown here, comment %s; to refuse, %s. "+
		"The check's *Approve* button approves its commit. After another push, approve again.",
		plain(c.Team), Code(Prefix+" approve"), Code(Prefix+" refuse <reason>"))
}

// because gives the reason of the last move and, while it is destroyed or after that, why it had to end.
func because(c lifecycle.Card) string {
	var lines []string
	if !c.Why.IsZero() && c.Why.Code != lifecycle.MoveAccepted { // a waiting cluster's own text says what it waits for
		lines = append(lines, "**Reason:** "+plain(sentence(Brief(c))))
	}
	if !isWanted(c) && !c.DesiredWhy.IsZero() && !c.NeverReady() && c.Why.Cause != c.DesiredWhy {
		lines = append(lines, "**Why it ends:** "+plain(sentence(c.DesiredWhy.String())))
	}
	if c.Phase == lifecycle.Cleaning && c.FailMessage != "" && c.Why.Failure != c.FailMessage {
		lines = append(lines, "**Last attempt:** "+plain(sentence(c.FailMessage)))
	}
	return strings.Join(lines, "\n\n")
}

// access says how to get in. Credentials are handed out only over the authenticated API; the comment only says how.
func access(c lifecycle.Card, links Links) string {
	if c.Status != lifecycle.Ready || !isWanted(c) || isAsleep(c) || c.AwaitsPreparing() {
		return ""
	}
	var b strings.Builder
	b.WriteString(apps(c))
	if page := consolePage(c, links); page != "" {
		fmt.Fprintf(&b, "- Console: [open it](%s) with an account of your own, or comment %s\n", page, Code(Prefix+" console"))
	}
	if c.APIURL != "" {
		fmt.Fprintf(&b, "- API: %s\n", link(c.APIURL))
	}
	if links.UI != "" {
		fmt.Fprintf(&b, "\nTo get a kubeconfig of your own, comment %s, use [its page](%s), or run %s.\n", Code(Prefix+" kubeconfig"), address(c, links), Code("ocpctl kubeconfig "+c.Name+" -f kubeconfig"))
	}
	return b.String()
}

// apps lists what runs in the cluster and is to be shown. The address stands beside the title: a user of the cluster chose both.
func apps(c lifecycle.Card) string {
	var b strings.Builder
	for _, l := range c.LinksNow() {
		fmt.Fprintf(&b, "- %s: %s\n", cmp.Or(plain(l.Title), "App"), link(l.URL))
	}
	return b.String()
}

// proof says what DESTROYED is based on: a count, never an exit code.
func proof(c lifecycle.Card) string {
	if c.Status != lifecycle.Destroyed || len(c.Identities) == 0 {
		return ""
	}
	return fmt.Sprintf("**Proof:** two independent counts after the teardown found nothing of it in the cloud (cloud IDs: %s).", list(c.Identities[:min(len(c.Identities), 5)]))
}

// failure says why it was never ready, whose problem it is and what to do.
func failure(c lifecycle.Card, links Links) string {
	if !c.NeverReady() {
		return ""
	}
	what := Code(c.FailReason)
	if c.FailMessage != "" {
		what = fmt.Sprintf("%s (%s)", plain(sentence(c.FailMessage)), what)
	}
	return fmt.Sprintf("**What went wrong:** %s\n\n%s", what, turn(c, links))
}

// turn says whose problem it is, what to do, and which page has more.
func turn(c lifecycle.Card, links Links) string {
	whose, next := Turn(c)
	command := Prefix + " create " + c.Profile
	text := fmt.Sprintf("**Who can fix it:** %s.\n\n**Next:** %s", plain(whose), strings.ReplaceAll(plain(next), plain(command), Code(command)))
	if page := Runbook(c); page != "" && links.UI != "" {
		text += fmt.Sprintf(" [The runbook](%s%s) explains how.", strings.TrimRight(links.UI, "/"), page)
	}
	return text + logBundle(c, next, links)
}

// logBundle says how to get the log bundle, if next says to read it, and until when that works.
func logBundle(c lifecycle.Card, next string, links Links) string {
	if !strings.Contains(next, "log bundle") {
		return ""
	}
	command := Code("ocpctl logs " + c.ID + " --bundle")
	if links.UI == "" {
		return fmt.Sprintf("\n\n**Log bundle:** %s downloads it, for at least 30 days after the cluster is destroyed.", command)
	}
	return fmt.Sprintf("\n\n**Log bundle:** [download it from the cluster's page](%s#log-bundle), or with %s, for at least 30 days after the cluster is destroyed.", address(c, links), command)
}

// blockers lists what still blocks the teardown, and who can remove it.
func blockers(c lifecycle.Card, links Links) string {
	stuck := c.Phase == lifecycle.DestroyBlocked || c.Phase == lifecycle.Abandoned
	if c.Status == lifecycle.Destroyed || len(c.Blockers) == 0 && !stuck {
		return ""
	}
	const most, limit = 20, 20_000
	var b strings.Builder
	if len(c.Blockers) > 0 {
		b.WriteString("**Still there at the last count:**\n\n")
	}
	for i, one := range c.Blockers {
		if i == most || b.Len() > limit {
			fmt.Fprintf(&b, "- and %d more\n", len(c.Blockers)-i)
			break
		}
		b.WriteString("- " + blocker(one) + "\n")
	}
	if stuck {
		b.WriteString("\n" + turn(c, links))
	}
	return strings.TrimLeft(b.String(), "\n")
}

// maxCommand is how many bytes of a removal command are shown.
const maxCommand = 1_500

// blocker shows the removal command in a form that can be copied.
func blocker(b lifecycle.Blocker) string {
	out := plain(b.Title())
	switch {
	case len(b.Command) > maxCommand:
		out += ": the command is on the cluster's page" // a truncated command is useless
	case b.Command != "":
		out += ": `" + strings.ReplaceAll(breakMarkers(oneLine(b.Command)), "`", "'") + "`"
	}
	if b.Remark != "" {
		out += " (" + plain(b.Remark) + ")"
	}
	return out
}

// MadeOf says what the cluster is: its release of OpenShift, or the word of its kind.
func MadeOf(c lifecycle.Card) (head, text string) {
	if kinds.Can(c.Provisioner, kinds.OwnAPI) {
		return "OpenShift", kinds.Release(c.Provisioner, c.Release)
	}
	return "Kind", c.Provisioner
}

// placeRow adds the place, and the base domain of a cluster that has DNS names of its own.
func placeRow(c lifecycle.Card) [2]string {
	head, text := MadeOf(c)
	text = fmt.Sprintf("%s on %s in %s", plain(text), plain(price.PlatformText(c.Platform)), plain(c.Region))
	if kinds.Can(c.Provisioner, kinds.OwnAPI) {
		text += ", under " + Code(c.BaseDomain)
	}
	return [2]string{head, text}
}

// facts is the table with the cluster's properties, cost and end.
func facts(c lifecycle.Card) string {
	rows := [][2]string{
		{"Profile", Code(c.Profile)},
		placeRow(c),
		{"Owner", fmt.Sprintf("%s, team %s", plain(c.Owner), plain(c.Team))},
		{"Price", costs(c)},
	}
	if from := FromPool(c); from != "" {
		rows = append(rows, [2]string{"Pool", from})
	}
	if count := crew(c); count != "" {
		rows = append(rows, [2]string{"Workers", count})
	}
	if nights := Nights(c); nights != "" {
		rows = append(rows, [2]string{"Off-hours", nights})
	}
	if c.Status == lifecycle.Destroyed {
		rows = append(rows, [2]string{"Lived", fmt.Sprintf("%s to %s", moment(c.AcceptedAt, life(c)), moment(c.ReleasedAt, life(c)))})
	} else if isWanted(c) {
		rows = append(rows, [2]string{"Ends", end(c)})
	}
	var b strings.Builder
	b.WriteString("| | |\n|---|---|\n")
	for _, row := range rows {
		fmt.Fprintf(&b, "| %s | %s |\n", row[0], cell(row[1]))
	}
	return b.String()
}

// cell keeps text inside a table cell, where a bar ends even code. A bar that is escaped already stays as it is.
func cell(text string) string {
	return strings.ReplaceAll(strings.ReplaceAll(text, `\|`, "|"), "|", `\|`)
}

// crew says how many workers a ready cluster has, if that differs from its profile or is about to change.
func crew(c lifecycle.Card) string {
	if c.Status != lifecycle.Ready || c.Workers == nil && c.WorkersWanted == nil {
		return ""
	}
	there := c.Workers
	if there == nil {
		there = c.WorkersBase
	}
	var parts []string
	if there != nil {
		parts = append(parts, fmt.Sprintf("%d", *there))
	}
	if c.WorkersBase != nil && there != nil && *there != *c.WorkersBase {
		parts = append(parts, fmt.Sprintf("its profile has %d", *c.WorkersBase))
	}
	if c.WorkersWanted != nil {
		parts = append(parts, fmt.Sprintf("%d asked for", *c.WorkersWanted))
	}
	return strings.Join(parts, "; ")
}

// typedForms are the commands of verbs, as a comment offers them.
var typedForms = map[policy.Verb]string{
	policy.VerbApprove: "approve", policy.VerbRefuse: "refuse <reason>", policy.VerbKubeconfig: "kubeconfig", policy.VerbConsole: "console", policy.VerbWake: "wake", policy.VerbExtend: "extend 4h",
	policy.VerbSleep: "sleep", policy.VerbTonight: "hold tonight", policy.VerbRetry: "retry", policy.VerbRecreate: "retry", policy.VerbLogs: "logs", policy.VerbDestroy: "destroy",
}

// typing lists the commands that make sense now.
func typing(c lifecycle.Card) string {
	if c.WasReplaced() {
		return Code(c.ReplacedBy) + " replaces it and has its own comment."
	}
	stuck := canNow(c, policy.VerbRetry)
	if !isWanted(c) && !c.Ends.PRClosed.IsZero() && !stuck {
		return again(c)
	}
	var commands []string
	for _, verb := range policy.Possible(actionsOn(c)) {
		if command := typedForms[verb]; command != "" && (verb != policy.VerbTonight || c.IsRestWarned()) {
			commands = append(commands, command)
		}
	}
	if c.Status != lifecycle.Ready && c.Status != lifecycle.Destroyed {
		commands = append(commands, "status")
	}
	if !isWanted(c) && !stuck && !canNow(c, policy.VerbRecreate) {
		commands = append(commands, "create "+c.Profile) // a new cluster does not wait for the old one's teardown
	}
	commands = append(commands, "help")
	for i, command := range commands {
		commands[i] = Prefix + " " + command
	}
	return "You can type: " + list(commands)
}

func page(c lifecycle.Card, links Links) string {
	if links.UI == "" {
		return fmt.Sprintf("Cluster %s", Code(c.ID))
	}
	return fmt.Sprintf("Cluster %s: [timeline and log](%s)", Code(c.ID), address(c, links))
}

// address is the URL of the cluster's page; empty: there are no pages.
// consolePage is where a reader opens the console with an account of their own; empty: nobody can now. Whatever leads many readers to the console leads
// here: what they may do there depends on who they are.
func consolePage(c lifecycle.Card, links Links) string {
	if links.UI == "" || c.ConsoleURL == "" || c.AwaitsPreparing() || !canNow(c, policy.VerbConsole) {
		return ""
	}
	return address(c, links) + "#console"
}

func address(c lifecycle.Card, links Links) string {
	if links.UI == "" {
		return ""
	}
	return strings.TrimRight(links.UI, "/") + "/clusters/" + c.ID
}
