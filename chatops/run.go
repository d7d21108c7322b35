package chatops

import (
	"fmt"

	"github.com/ocpctl/ocpctl/lifecycle"
)

// RunText names the pipeline run that a cluster belongs to: "attempt 2 of e2e of acme/shop, slot smoke". Empty: it belongs to none.
func RunText(r lifecycle.Run) string {
	if r.ID == "" {
		return ""
	}
	text := fmt.Sprintf("attempt %d of %s", r.Attempt, r.Name)
	if r.Repo != "" {
		text += " of " + r.Repo
	}
	if r.Slot != "" {
		text += ", slot " + r.Slot
	}
	return text
}

// ofRun says in Markdown which pipeline run a cluster belongs to, and whether its end is noticed.
func ofRun(c lifecycle.Card) string {
	r := c.Run
	if r.ID == "" {
		return ""
	}
	text := "**Run:** " + plain(RunText(r))
	if r.URL != "" {
		text += " – " + link(r.URL)
	}
	if r.Unwatched != "" && isWanted(c) {
		text += ". Its end cannot be noticed, because " + plain(r.Unwatched)
	}
	return text
}
