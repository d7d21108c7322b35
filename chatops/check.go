package chatops

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/lifecycle"
)

// The states of a check run, as GitHub spells them.
const (
	queued     = "queued"
	inProgress = "in_progress"
	completed  = "completed"
)

// Check writes the check run of a cluster. Like Comment it depends on the card alone.
func Check(card lifecycle.Card, links Links, _ time.Time) CheckRun {
	f := faceOf(card)
	run := CheckRun{Title: card.Name + " " + f.head}
	run.Status, run.Conclusion = state(card)
	if moving(card) && card.Progress.Percent > 0 {
		run.Title += fmt.Sprintf(", %d %%", min(card.Progress.Percent, 100))
	}
	var b strings.Builder
	for _, part := range []string{f.doing, progress(card), because(card), steps(card), proof(card), failure(card, links), blockers(card, links), facts(card), page(card, links)} {
		if part != "" {
			b.WriteString(strings.TrimRight(part, "\n") + "\n\n")
		}
	}
	run.Summary = fit(strings.TrimRight(b.String(), "\n") + "\n")
	return run
}

// state maps a life to a check run. A cluster that was ready and goes is neutral: ending is not failing, and a pull
// request that requires the check can still be merged.
func state(c lifecycle.Card) (status, conclusion string) {
	switch c.Status {
	case lifecycle.Pending:
		return queued, ""
	case lifecycle.Creating:
		return inProgress, ""
	case lifecycle.Ready:
		if c.Phase == lifecycle.Degraded {
			return completed, "neutral"
		}
		return completed, "success"
	case lifecycle.Failed:
		return completed, "failure"
	}
	switch {
	case c.Status == lifecycle.Destroying && !created(c):
		return inProgress, ""
	case created(c):
		return completed, "neutral"
	case c.FailReason != "" && c.FailReason != string(lifecycle.Stopped) && c.FailReason != string(lifecycle.Cancelled):
		return completed, "failure"
	}
	return completed, "cancelled"
}

// steps lists the phases with those behind us ticked. Those that not every life has are shown only while they last.
func steps(c lifecycle.Card) string {
	all := lifecycle.Phases[c.Status]
	at := slices.Index(all, c.Phase)
	if !moving(c) || c.Phase == lifecycle.Cleaning || at < 0 {
		return ""
	}
	rare := []lifecycle.Phase{lifecycle.Claiming, lifecycle.Cleaning, lifecycle.Stopping}
	var b strings.Builder
	for i, phase := range all {
		switch {
		case i == at:
			fmt.Fprintf(&b, "- [ ] **%s**\n", phase)
		case slices.Contains(rare, phase):
		case i < at:
			fmt.Fprintf(&b, "- [x] %s\n", phase)
		default:
			fmt.Fprintf(&b, "- [ ] %s\n", phase)
		}
	}
	return b.String()
}
