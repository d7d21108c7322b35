package controller

import (
	"time"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/clusters"
)

// GitHub counts every call, and one busy installation must not use up its limit. So what is shown on GitHub is edited only when
// something changes that a reader would act on. Short phases and the steps within them are on the cluster's page; on GitHub they
// appear with the next edit.

// defaultProgress is how often a check shows the progress of a cluster that is being created or destroyed.
const defaultProgress = 5 * time.Minute

// news is the part of a card whose change is worth an edit for a subscriber of this kind: two cards with equal news are shown alike.
func news(kind string, card lifecycle.Card) lifecycle.Card {
	card.Progress = lifecycle.Progress{}
	card.UpdatedAt = time.Time{}
	switch {
	case card.Status == lifecycle.Creating && card.Phase != lifecycle.Cleaning, soonBegun(card):
		card.Status, card.Phase, card.Why = lifecycle.Creating, lifecycle.Installing, lifecycle.MoveReason{}
	case card.Status == lifecycle.Destroying:
		card.Phase, card.Why, card.Blockers = lifecycle.DestroyingRuns, lifecycle.MoveReason{}, nil
	case card.Phase == lifecycle.PhaseReady, card.Phase == lifecycle.Expiring && (kind != clusters.KindComment || !card.Ends.PRClosed.IsZero()):
		// Only the comment says that the end is near; for a closed pull request it already did so at the closing.
		card.Phase, card.Why = lifecycle.PhaseReady, lifecycle.MoveReason{}
	}
	if kind != clusters.KindComment {
		// A check and a deployment tell when it ends: they follow what people move. An end by the pull request stands in the comment.
		card.Ends, card.DestroyAt, card.HoldWhy = lifecycle.Ends{TTL: card.Ends.TTL, Max: card.Ends.Max, Hold: card.Ends.Hold, Drain: card.Ends.Drain, DrainWhy: card.Ends.DrainWhy}, time.Time{}, ""
	}
	return card
}

// soonBegun reports whether a cluster waits for nothing and will be creating in a moment.
func soonBegun(card lifecycle.Card) bool {
	return card.Status == lifecycle.Pending && card.Phase == lifecycle.Queued && !card.NeedsTurn && !card.NeedsApproval
}

// showBegun returns the card as it is shown: a cluster that waits for nothing is shown as being created, because its beginning is no news.
func showBegun(card lifecycle.Card) lifecycle.Card {
	if soonBegun(card) {
		card.Status, card.Phase, card.Why, card.Progress = lifecycle.Creating, lifecycle.Installing, lifecycle.MoveReason{}, lifecycle.Progress{}
	}
	return card
}

// progressPeriod numbers the periods in which progress is shown once; 0: no progress is shown.
func (c *Controller) progressPeriod(card lifecycle.Card) int64 {
	if card.Status != lifecycle.Creating && card.Status != lifecycle.Destroying {
		return 0
	}
	return int64(card.UpdatedAt.Sub(card.AcceptedAt) / c.Progress)
}
