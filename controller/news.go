package controller

import (
	"time"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store"
)

// GitHub counts every call, and one busy installation must not use up its limit. So a place is edited for news alone: what a
// reader would act on. Quick phases and the steps within them are on the cluster's page; they come along with the next edit.

// defaultProgress is how often a check tells how far a cluster is that is on its way.
const defaultProgress = 5 * time.Minute

// news is the part of a card whose change is worth an edit at a place of this kind: two cards with the same news are shown alike.
func news(kind string, card lifecycle.Card) lifecycle.Card {
	card.Progress = lifecycle.Progress{}
	card.UpdatedAt = time.Time{}
	switch {
	case card.Status == lifecycle.Creating && card.Phase != lifecycle.Cleaning, soonBegun(card):
		card.Status, card.Phase, card.Why = lifecycle.Creating, lifecycle.Installing, ""
	case card.Status == lifecycle.Destroying:
		card.Phase, card.Why, card.Blockers = lifecycle.DestroyingRuns, "", nil
	case card.Phase == lifecycle.PhaseReady, card.Phase == lifecycle.Expiring && (kind != store.KindComment || !card.Ends.PRClosed.IsZero()):
		// The comment alone tells that the end is near; the end of a closed pull request it told when that was closed.
		card.Phase, card.Why = lifecycle.PhaseReady, ""
	}
	if kind != store.KindComment {
		card.Ends, card.DestroyAt, card.HoldWhy = lifecycle.Ends{}, time.Time{}, ""
	}
	return card
}

// soonBegun reports whether a cluster waits for nothing: it is being created a moment later.
func soonBegun(card lifecycle.Card) bool {
	return card.Status == lifecycle.Pending && card.Phase == lifecycle.Queued && !card.NeedsTurn && !card.NeedsApproval
}

// progressPeriod numbers the spans of time in which a place that tells of progress does so once; 0: it tells of none.
func (c *Controller) progressPeriod(card lifecycle.Card) int64 {
	if card.Status != lifecycle.Creating && card.Status != lifecycle.Destroying {
		return 0
	}
	return int64(card.UpdatedAt.Sub(card.AcceptedAt) / c.Progress)
}
