package chatops

import (
	"fmt"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/internal/closest"
	"github.com/ocpctl/ocpctl/internal/duration"
	"github.com/ocpctl/ocpctl/internal/price"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/policy"
)

// Answer puts the typed line, if there is one, above its answer, so that several answers can be told apart.
func Answer(line, text string) string {
	if line == "" {
		return text
	}
	return fit("> You wrote " + Code(line) + "\n\n" + text)
}

// Refusal answers a request that policy refused: every reason, each with the next step, and what else it would need.
func Refusal(actor string, v policy.Verdict) string {
	return refusal(mention(actor)+", this", "", v)
}

// RefusalInSlack is Refusal for the one person who reads it.
func RefusalInSlack(v policy.Verdict) string { return refusal("This", "", v) }

// LabelRefusal answers a label whose request policy refused: besides the reasons it says what happened to the label.
func LabelRefusal(actor, label string, v policy.Verdict) string {
	return refusal(mention(actor)+", what the label "+Code(label)+" asks for", "\nThe label was removed. Add it again when this is fixed.\n", v)
}

func refusal(what, after string, v policy.Verdict) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s cannot be done, and nothing was changed:\n\n", what)
	b.WriteString(reasons(v.Refusals()))
	if asks := v.Asks(); len(asks) > 0 {
		b.WriteString("\nWhen this is fixed, it also needs an approval:\n\n" + reasons(asks))
	}
	if full := v.Full(); len(full) > 0 {
		b.WriteString("\nWhen this is fixed, it has to wait:\n\n" + reasons(full))
	}
	for _, smaller := range v.Smaller() {
		fmt.Fprintf(&b, "\nWhat you can have now: %s %s\n", plain(smaller.Message), plain(smaller.Next))
	}
	fmt.Fprintf(&b, "%s\n%s lists the commands.\n", after, Code(Prefix+" help"))
	return fit(b.String())
}

// ApprovalText is the text in an accepted cluster's comment while it waits for an approval: who has to approve it, by when and why,
// and what happens after that. Markdown; empty if it needs no approval.
func ApprovalText(v policy.Verdict) string {
	if !v.Allowed || v.Approval == nil {
		return ""
	}
	who := *v.Approval
	who.Why = nil
	text := plain(who.Text()) + " Otherwise the request is dropped.\n\n" + reasons(v.Asks())
	if len(v.Full()) > 0 { // not what is full now: that changes while the approval is awaited
		text += "\nAfter that it may have to wait in the queue.\n"
	}
	return fitInto(text, maxFrozen)
}

// AdviceText is the text in an accepted cluster's comment until it is ready: policy's warnings. Markdown; empty: none.
func AdviceText(v policy.Verdict) string {
	warnings := v.Warnings()
	if !v.Allowed || len(warnings) == 0 {
		return ""
	}
	return fitInto("**Worth knowing:**\n\n"+reasons(warnings), maxFrozen)
}

// maxFrozen is how many bytes of policy's texts about an accepted request are stored for its comment.
const maxFrozen = 16_000

// reasons lists one line for each check, in the verdict's own words. A next step that several share is given once.
func reasons(checks []policy.Check) string {
	var b strings.Builder
	for i, check := range checks {
		fmt.Fprintf(&b, "- **%s**: %s", plain(check.Name), plain(check.Message))
		last := i+1 == len(checks) || checks[i+1].Name != check.Name || checks[i+1].Next != check.Next
		if check.Next != "" && last {
			fmt.Fprintf(&b, " **Next:** %s", plain(check.Next))
		}
		b.WriteString("\n")
	}
	return b.String()
}

// StatusReply answers status and list. It is posted once, so unlike the comment it may contain relative times.
func StatusReply(actor string, cards []lifecycle.Card, links Links, now time.Time) string {
	if len(cards) == 0 {
		return fmt.Sprintf("%s, this pull request has no cluster. %s creates one.\n", mention(actor), Code(Prefix+" create"))
	}
	var b strings.Builder
	how := "here is the cluster"
	if len(cards) > 1 {
		how = fmt.Sprintf("here are the %d clusters", len(cards))
	}
	fmt.Fprintf(&b, "%s, %s, as of %s:\n\n", mention(actor), how, now.UTC().Format("2006-01-02 15:04:05 UTC"))
	for _, card := range cards {
		b.WriteString(statusLine(card, links, now))
	}
	return fit(b.String())
}

// Exists answers create if the pull request already has the profile's cluster.
func Exists(actor string, card lifecycle.Card, links Links, now time.Time) string {
	return fmt.Sprintf("%s, there is one already, so nothing was created: a pull request has one cluster of each profile. %s extends it, %s destroys it.\n\n%s",
		mention(actor), Code(Prefix+" extend 4h "+card.Profile), Code(Prefix+" destroy "+card.Profile), statusLine(card, links, now))
}

func statusLine(c lifecycle.Card, links Links, now time.Time) string {
	f := faceWithPhase(c)
	line := fmt.Sprintf("- %s %s (%s) %s", f.sign, Code(c.Name), Code(c.Profile), f.head)
	if moving(c) {
		line += fmt.Sprintf(", %d %%", min(max(c.Progress.Percent, 0), 100))
	}
	line += ". " + plain(sentence(c.Why.String()))
	if place := Line(c); place != "" {
		line += " " + place
	}
	if eta := ETA(c); eta != "" && moving(c) {
		line += " " + sentence(eta)
	}
	if page := consolePage(c, links); page != "" {
		line += fmt.Sprintf(" [Open the console](%s).", page)
	}
	if isWanted(c) {
		line += fmt.Sprintf(" Ends %s", moment(c.End(), life(c)))
		if left := c.End().Sub(now); left > 0 {
			line += ", in " + duration.Format(left)
		}
		line += "."
	}
	if nights := Nights(c); nights != "" {
		line += " " + sentence(nights)
	}
	switch {
	case !c.ReleasedAt.IsZero() && len(c.Identities) > 0:
		line += fmt.Sprintf(" About %s in all.", price.Dollars(c.Meter.Spent(c.ReleasedAt)))
	case c.ReleasedAt.IsZero() && c.Status != lifecycle.Pending:
		line += fmt.Sprintf(" About %s so far.", price.Dollars(c.Meter.Spent(now)))
	}
	if runbook := Runbook(c); runbook != "" && links.UI != "" {
		line += fmt.Sprintf(" [What to do](%s%s).", strings.TrimRight(links.UI, "/"), runbook)
	}
	return line + " " + page(c, links) + "\n"
}

// UnknownLabel answers a label with our prefix that names no profile; known are the profiles' names.
func UnknownLabel(label string, known []string) string {
	word := label
	if len(word) >= len(LabelPrefix) && strings.EqualFold(word[:len(LabelPrefix)], LabelPrefix) {
		word = word[len(LabelPrefix):]
	}
	labels := make([]string, 0, len(known))
	for _, name := range known {
		labels = append(labels, LabelPrefix+name)
	}
	hint := ""
	if near, ok := closest.Match(word, known); ok {
		hint = fmt.Sprintf(" Did you mean %s?", Code(LabelPrefix+near))
	}
	return fmt.Sprintf("The label %s names no profile, so nothing was done.%s The profiles are: %s.\n", Code(label), hint, list(labels))
}

// ShortSHA abbreviates a commit id as GitHub does.
func ShortSHA(sha string) string {
	if len(sha) > 7 {
		return sha[:7]
	}
	return sha
}
