package messages

import "github.com/ocpctl/ocpctl/chatops"

// The labels and hints of the small forms behind buttons.
const (
	NothingChanged = "Nothing was changed."
)

// VerbFormTitles returns the title of such a form and the text of its button; Slack allows 24 characters.
func VerbFormTitles(verb chatops.Verb) (title, submit string) {
	switch verb {
	case chatops.VerbRefuse:
		return "Refuse a request", "Refuse"
	case chatops.VerbShare:
		return "Share a cluster", "Share"
	}
	return "Hand over a cluster", "Hand over"
}
