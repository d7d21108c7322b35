package chatops

import (
	"fmt"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/policy"
)

// Answer puts the line that is answered, where one was typed, above the answer: of several, each is told from the others.
func Answer(line, words string) string {
	if line == "" {
		return words
	}
	return fit("> " + Code(line) + "\n\n" + words)
}

// Refusal answers a wish that policy refused: every reason at once, each with the next step, and what else it would need.
func Refusal(actor string, v policy.Verdict) string { return refusal(actor, "this", "", v) }

// LabelRefusal answers a label whose wish policy refused: beside the reasons it says what became of the label.
func LabelRefusal(actor, label string, v policy.Verdict) string {
	return refusal(actor, "what the label "+Code(label)+" asks for", "\nThe label was removed. Add it again when this is fixed.\n", v)
}

func refusal(actor, what, after string, v policy.Verdict) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %s cannot be done, and nothing was changed:\n\n", mention(actor), what)
	b.WriteString(reasons(v.Refusals()))
	if asks := v.Asks(); len(asks) > 0 {
		b.WriteString("\nWhen this is fixed, it also needs an approval:\n\n" + reasons(asks))
	}
	if full := v.Full(); len(full) > 0 {
		b.WriteString("\nWhen this is fixed, it has to wait for its turn:\n\n" + reasons(full))
	}
	fmt.Fprintf(&b, "%s\n%s lists the commands.\n", after, Code(Prefix+" help"))
	return fit(b.String())
}

// ApprovalWords is what the comment of an accepted cluster says while it waits for an approval: who has to approve it, by
// when and why, and what comes after that. Markdown; empty where it needs no approval.
func ApprovalWords(v policy.Verdict) string {
	if !v.Allowed || v.Approval == nil {
		return ""
	}
	who := *v.Approval
	who.Why = nil
	words := plain(who.Words()) + " Otherwise it counts as refused.\n\n" + reasons(v.Asks())
	if full := v.Full(); len(full) > 0 {
		words += "\nAfter that it waits for its turn:\n\n" + reasons(full)
	}
	return fitInto(words, maxFrozen)
}

// AdviceWords is what the comment of an accepted cluster says until it is ready: policy's warnings. Markdown; empty: none.
func AdviceWords(v policy.Verdict) string {
	warnings := v.Warnings()
	if !v.Allowed || len(warnings) == 0 {
		return ""
	}
	return fitInto("**Worth knowing:**\n\n"+reasons(warnings), maxFrozen)
}

// maxFrozen is how many bytes are kept of what policy said of an accepted request, for its comment.
const maxFrozen = 16_000

// reasons is a line for each check, in the verdict's own words. What to do is said once where several say the same.
func reasons(checks []policy.Check) string {
	var b strings.Builder
	for i, check := range checks {
		fmt.Fprintf(&b, "- **%s**: %s", plain(check.Name), plain(check.Words))
		last := i+1 == len(checks) || checks[i+1].Name != check.Name || checks[i+1].Next != check.Next
		if check.Next != "" && last {
			fmt.Fprintf(&b, " **Next:** %s", plain(check.Next))
		}
		b.WriteString("\n")
	}
	return b.String()
}

// StatusReply answers status and list. It is posted once, so unlike the comment it may say how long from now.
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

// Exists answers create where the pull request has the profile's cluster already.
func Exists(actor string, card lifecycle.Card, links Links, now time.Time) string {
	return fmt.Sprintf("%s, there is one already, so nothing was created: a pull request has one cluster of each profile. %s extends it, %s destroys it.\n\n%s",
		mention(actor), Code(Prefix+" extend 4h "+card.Profile), Code(Prefix+" destroy "+card.Profile), statusLine(card, links, now))
}

func statusLine(c lifecycle.Card, links Links, now time.Time) string {
	f := faceOf(c)
	line := fmt.Sprintf("- %s %s (%s) %s", f.sign, Code(c.Name), Code(c.Profile), f.head)
	if moving(c) {
		line += fmt.Sprintf(", %d %%", min(max(c.Progress.Percent, 0), 100))
	}
	line += ". " + plain(sentence(c.Why))
	if place := Line(c); place != "" {
		line += " " + place
	}
	if eta := ETA(c); eta != "" && moving(c) {
		line += " " + sentence(eta)
	}
	if c.Status == lifecycle.Ready && c.ConsoleURL != "" {
		line += " Console: " + link(c.ConsoleURL) + "."
	}
	if wanted(c) {
		line += fmt.Sprintf(" Ends %s", moment(ending(c), life(c)))
		if left := ending(c).Sub(now); left > 0 {
			line += ", in " + policy.Span(left.Truncate(rounding(left)))
		}
		line += "."
	}
	switch {
	case !c.ReleasedAt.IsZero() && len(c.Identities) > 0:
		line += fmt.Sprintf(" About %s in all.", policy.Dollars(c.Meter.Spent(c.ReleasedAt)))
	case c.ReleasedAt.IsZero() && c.Status != lifecycle.Pending:
		line += fmt.Sprintf(" About %s so far.", policy.Dollars(c.Meter.Spent(now)))
	}
	if runbook := Runbook(c); runbook != "" && links.UI != "" {
		line += fmt.Sprintf(" [What to do](%s%s).", strings.TrimRight(links.UI, "/"), runbook)
	}
	return line + " " + page(c, links) + "\n"
}

// rounding keeps a span readable: nobody needs seconds of hours.
func rounding(d time.Duration) time.Duration {
	if d >= time.Hour {
		return time.Minute
	}
	return time.Second
}

// UnknownLabel answers a label of ours that names no profile; known are the profiles' names.
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
	if near, ok := Closest(word, known); ok {
		hint = fmt.Sprintf(" Did you mean %s?", Code(LabelPrefix+near))
	}
	return fmt.Sprintf("The label %s names no profile, so nothing was done.%s The profiles are: %s.\n", Code(label), hint, list(labels))
}

// ShortSHA is a commit as people know it.
func ShortSHA(sha string) string {
	if len(sha) > 7 {
		return sha[:7]
	}
	return sha
}
