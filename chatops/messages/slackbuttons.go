package messages

import "github.com/ocpctl/ocpctl/chatops"

// The labels and hints of the small forms behind buttons.
const (
	ReasonLabel = "Reason"
	ReasonHint  = "The person who asked is told the reason."
	PersonLabel = "Person"
	TeamLabel   = "Team"
	OneOfBoth   = "Choose a person or name a team, one of them."

	ReasonMissing  = "Enter a reason. The person who asked is told it."
	NothingChanged = "Nothing was changed."
)

// AboutCluster says which cluster such a form is about.
func AboutCluster(name string) string { return "Cluster " + chatops.Code(name) }

// PersonHint says what naming a person in such a form means.
func PersonHint(verb chatops.Verb) string {
	if verb == chatops.VerbTransfer {
		return "The cluster is theirs once they accept it."
	}
	return "They see the cluster and its state."
}

// TeamHint says what naming a team in such a form means.
func TeamHint(verb chatops.Verb) string {
	if verb == chatops.VerbTransfer {
		return "One of your teams. The cluster belongs to it at once."
	}
	return "Everybody in the team sees the cluster and its state."
}

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

// Typed is a command for a cluster as somebody would type it in place of such a form.
func Typed(verb chatops.Verb, cluster string) string {
	switch verb {
	case chatops.VerbShare:
		return "share " + cluster + " @somebody"
	case chatops.VerbTransfer:
		return "transfer " + cluster + " @somebody"
	}
	return string(verb) + " " + cluster
}
