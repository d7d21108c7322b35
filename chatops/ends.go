package chatops

import (
	"fmt"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/internal/duration"
	"github.com/ocpctl/ocpctl/lifecycle"
)

// against says what keeps a cluster that ends because of its pull request.
func against(why string) string {
	switch {
	case strings.HasPrefix(why, lifecycle.BecauseClosed):
		return "Reopen it to keep the cluster"
	case strings.HasPrefix(why, lifecycle.BecauseDraft):
		return "Mark it ready for review to keep the cluster"
	}
	return Code("/ocp hold 4h") + " keeps it longer"
}

// end says when it ends and why, and what would keep it.
func end(c lifecycle.Card) string {
	at := ending(c)
	return fmt.Sprintf("**%s** (%s)", day(at), at.UTC().Format(time.RFC3339)) + endWhy(c)
}

// endWhy goes after the end: why it ends then, and what would keep it.
func endWhy(c lifecycle.Card) string {
	at := ending(c)
	switch {
	case at.Equal(c.Ends.Hold) && at.Before(c.Ends.Max):
		return fmt.Sprintf(", held until then: %s. Without the hold, it would end at %s", plain(oneLine(c.HoldWhy)), moment(unheld(c), life(c)))
	case at.Equal(c.Ends.Max) && at.Equal(c.Ends.Hold) && unheld(c).Before(at):
		return fmt.Sprintf(", held until then: %s. That is its profile's maximum. Without the hold, it would end at %s", plain(oneLine(c.HoldWhy)), moment(unheld(c), life(c)))
	case at.Equal(c.Ends.PRClosed):
		return ", because " + plain(c.Ends.Reason()) + ". " + against(c.Ends.Reason())
	case at.Equal(c.Ends.LabelRemoved):
		return fmt.Sprintf(", because its label was removed. Set %s again to keep the cluster", Code(LabelPrefix+c.Profile))
	case at.Equal(c.Ends.RunFinished), at.Equal(c.Ends.Claim):
		return ", because " + plain(c.Ends.Reason())
	case at.Equal(c.Ends.Idle):
		return fmt.Sprintf(", because nobody has used it since %s. Use it, or %s keeps it longer", moment(c.UnusedSince(), life(c)), Code("/ocp hold 4h"))
	case at.Equal(c.Ends.Max):
		return fmt.Sprintf(", %s after it was requested, its profile's maximum", duration.Format(at.Sub(c.AcceptedAt)))
	}
	return fmt.Sprintf(", %s after it was requested. It can be extended to %s", duration.Format(at.Sub(c.AcceptedAt)), moment(c.Ends.Max, life(c)))
}

func ending(c lifecycle.Card) time.Time {
	if at := c.Ends.DestroyAt(); !at.IsZero() {
		return at
	}
	return c.DestroyAt
}

// unheld returns when it would end without its hold.
func unheld(c lifecycle.Card) time.Time {
	ends := c.Ends
	ends.Hold = time.Time{}
	return ends.DestroyAt()
}

// brought reports that something other than its own lifetime makes it end earlier.
func brought(c lifecycle.Card) bool {
	at := ending(c)
	return at.Before(c.Ends.TTL) && at.Before(c.Ends.Max)
}

func life(c lifecycle.Card) time.Duration { return c.Ends.Max.Sub(c.AcceptedAt) }

// replaced reports whether a newer cluster exists in its place, of the same pull request and profile or requested again, which commands and
// buttons refer to instead.
func replaced(c lifecycle.Card) bool { return c.ReplacedBy != "" && !wanted(c) }

// again says how to get a new cluster after the pull request ended the last one.
func again(c lifecycle.Card) string {
	switch why := c.Ends.PRWhy; {
	case why == "" || strings.HasPrefix(why, lifecycle.BecauseClosed):
		return fmt.Sprintf("For a new cluster, reopen the pull request and set the label %s.", Code(LabelPrefix+c.Profile))
	case strings.HasPrefix(why, lifecycle.BecauseMerged):
		return "The pull request was merged. For a new cluster, open another pull request."
	case strings.HasPrefix(why, lifecycle.BecauseDraft):
		return fmt.Sprintf("For a new cluster, mark the pull request as ready for review and set the label %s.", Code(LabelPrefix+c.Profile))
	}
	return fmt.Sprintf("For a new cluster, comment %s.", Code(Prefix+" create "+c.Profile))
}

// extendable reports that a later end is possible and would take effect.
func extendable(c lifecycle.Card) bool {
	return c.Ends.TTL.Before(c.Ends.Max) && ending(c).Before(c.Ends.Max) && !brought(c)
}
