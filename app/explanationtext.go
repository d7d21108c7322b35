package app

import (
	"fmt"
	"strings"

	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/chatops/messages"
)

// Markdown says why a cluster is in its state, why it ends, and what can be done, with the commands of Slack and pull requests.
func (e Explanation) Markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "**About `%s`**\n", e.Row.Name)
	part := func(title string, lines []string) {
		if len(lines) > 0 && title != "" {
			fmt.Fprintf(&b, "\n**%s**\n", title)
		}
		for _, line := range lines {
			fmt.Fprintf(&b, "\n- %s", messages.Sentence(line))
		}
		if len(lines) > 0 {
			b.WriteString("\n")
		}
	}
	part("", append([]string{messages.StateReason(e.Row.Card, chatops.Code(e.Row.Name))}, e.Why...))
	var ends, steps []string
	for _, end := range e.Ends {
		ends = append(ends, chatops.Time(end.At)+": "+end.Message)
	}
	for _, step := range e.Next {
		if step.Slack != "" {
			steps = append(steps, step.Text+": "+chatops.Code(chatops.Prefix+" "+step.Slack))
		}
	}
	part("When it ends, the earliest first", ends)
	part("What you can do", steps)
	return b.String()
}
