package chatops

import (
	"fmt"
	"time"

	"github.com/ocpctl/ocpctl/internal/duration"
	"github.com/ocpctl/ocpctl/lifecycle"
)

// against says what keeps a cluster that ends because of its pull request.
func against(why lifecycle.Reason) string {
	switch why.Code {
	case lifecycle.ReasonPRClosed:
		return "Reopen it to keep the cluster"
	case lifecycle.ReasonPRDraft:
		return "Mark it ready for review to keep the cluster"
	}
	return Code("/ocp hold 4h") + " keeps it longer"
}

// end says when it ends and why, and what would keep it.
func end(c lifecycle.Card) string {
	at := c.End()
	return fmt.Sprintf("**%s** (%s)", day(at), at.UTC().Format(time.RFC3339)) + endWhy(c)
}

// endWhy goes after the end: why it ends then, and what would keep it.
func endWhy(c lifecycle.Card) string {
	at := c.End()
	switch why := c.Ends.Reason(); {
	case why.Code == lifecycle.ReasonDrain:
		return ", because " + plain(why.String()) + ". Extensions and holds do not change that. To keep it, ask " + plain(why.By) + " to end the drain"
	case at.Equal(c.Ends.Hold) && at.Before(c.Ends.Max):
		return fmt.Sprintf(", held until then: %s. Without the hold, it would end at %s", plain(oneLine(c.HoldWhy)), moment(unheld(c), life(c)))
	case at.Equal(c.Ends.Max) && at.Equal(c.Ends.Hold) && unheld(c).Before(at):
		return fmt.Sprintf(", held until then: %s. That is its profile's maximum. Without the hold, it would end at %s", plain(oneLine(c.HoldWhy)), moment(unheld(c), life(c)))
	case at.Equal(c.Ends.PRClosed):
		return ", because " + plain(c.Ends.Reason().String()) + ". " + against(c.Ends.Reason())
	case at.Equal(c.Ends.LabelRemoved):
		return fmt.Sprintf(", because its label was removed. Set %s again to keep the cluster", Code(LabelPrefix+c.Profile))
	case at.Equal(c.Ends.RunFinished), at.Equal(c.Ends.Claim):
		return ", because " + plain(c.Ends.Reason().String())
	case at.Equal(c.Ends.Idle):
		return fmt.Sprintf(", because nobody has used it since %s. Use it, or %s keeps it longer", moment(c.UnusedSince(), life(c)), Code("/ocp hold 4h"))
	case at.Equal(c.Ends.Max):
		return fmt.Sprintf(", %s after it was requested, its profile's maximum", duration.Format(at.Sub(c.AcceptedAt)))
	}
	return fmt.Sprintf(", %s after it was requested. It can be extended to %s", duration.Format(at.Sub(c.AcceptedAt)), moment(c.Ends.Latest(), life(c)))
}

// unheld returns when it would end without its hold.
func unheld(c lifecycle.Card) time.Time {
	ends := c.Ends
	ends.Hold = time.Time{}
	return ends.DestroyAt()
}

func life(c lifecycle.Card) time.Duration { return c.Ends.Max.Sub(c.AcceptedAt) }

// again says how to get a new cluster after the pull request ended the last one.
func again(c lifecycle.Card) string {
	switch c.Ends.WhyClosed().Code {
	case lifecycle.ReasonPRClosed:
		return fmt.Sprintf("For a new cluster, reopen the pull request and set the label %s.", Code(LabelPrefix+c.Profile))
	case lifecycle.ReasonPRMerged:
		return "The pull request was merged. For a new cluster, open another pull request."
	case lifecycle.ReasonPRDraft:
		return fmt.Sprintf("For a new cluster, mark the pull request as ready for review and set the label %s.", Code(LabelPrefix+c.Profile))
	}
	return fmt.Sprintf("For a new cluster, comment %s.", Code(Prefix+" create "+c.Profile))
}
