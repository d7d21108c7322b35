package chatops

import (
	"strings"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/policy"
)

// maxReview is how many characters the App says about an environment at once.
const maxReview = 2000

// WaitText tells the people who look at a waiting job how the cluster stands that it waits for. Markdown.
func WaitText(card lifecycle.Card, state lifecycle.WaitState, links Links) string {
	var text string
	switch state {
	case lifecycle.WaitsForApproval:
		text = plain(card.Name) + " needs an approval before it is created."
		if !card.ApproveBy.IsZero() {
			text += " If nobody approves it by " + moment(card.ApproveBy, life(card)) + ", the request is dropped."
		}
	case lifecycle.WaitsForTurn:
		text = plain(card.Name) + " waits for its turn. " + Line(card)
	case lifecycle.WaitsForNextTry:
		text = "An attempt to create " + plain(card.Name) + " failed."
		if why := plain(cut(oneLine(sentence(card.FailMessage)), maxPlain)); why != "" {
			text = strings.TrimSuffix(text, ".") + ": " + why
		}
		text += " What it left is being removed, and another attempt may follow."
	case lifecycle.WaitsForWaking:
		text = plain(card.Name) + " " + faceOf(card).head + ". " + faceOf(card).doing
	case lifecycle.WaitSucceeded:
		text = plain(card.Name) + " is ready until " + moment(card.End(), life(card)) + "."
		if saved := Saved(card); saved != "" {
			text += " " + saved
		}
	case lifecycle.WaitFailed:
		text = plain(card.Name) + " will not be ready: " + plain(signalReason(card, lifecycle.SignalFailed))
		if !card.ReadyAt.IsZero() {
			text = plain(card.Name) + " cannot be used any more: " + plain(cut(oneLine(sentence(card.DesiredWhy.String())), maxPlain))
		}
	default:
		text = plain(card.Name) + " is being created."
		if eta := card.Progress.ETA; !eta.IsZero() {
			text += " It is expected to be ready at about " + moment(eta, life(card)) + "."
		}
	}
	if page := address(card, links); page != "" {
		text = strings.TrimSpace(text) + " Its page: " + page
	}
	return cut(strings.TrimSpace(text), maxReview)
}

// WaitRefusal tells them why policy gives the job no cluster. Markdown.
func WaitRefusal(v policy.Verdict) string {
	return cut("There is no cluster for this environment, and nothing was changed.\n\n"+reasons(v.Refusals()), maxReview)
}
