package messages

import (
	"strings"
)

// The texts of the form for a cluster in Slack. Slack shows at most 24 characters of a title and of a button.
const (
	CreateFormTitle = "Create a cluster"
)

// WouldBeRefused begins the preview of a request that would be refused.
const WouldBeRefused = "**It would be refused.** See the marked fields."

// FieldHint is a field's hint as a line of its own.
func FieldHint(hint string) string {
	if hint == "" {
		return ""
	}
	return Sentence(hint)
}

// ProblemText says what is wrong with a field and what would be accepted.
func ProblemText(detail string, accept []string) string {
	text := detail
	if !strings.HasSuffix(text, "?") {
		text = strings.TrimSuffix(text, ".") + "."
	}
	if len(accept) > 0 {
		text += " Accepted: " + strings.Join(accept, ", ") + "."
	}
	return text
}

// ShownIn names the channel that shows a cluster; empty: its name is not known.
func ShownIn(channel string) string {
	if channel == "" {
		return "in the channel that you chose"
	}
	return "in #" + channel
}

// SubmissionDone is the answer to a form whose command had nothing else to say.
const SubmissionDone = "Done. ocpctl answers you in a message."
