package chatops

import (
	"fmt"
	"time"

	"github.com/ocpctl/ocpctl/internal/duration"
	"github.com/ocpctl/ocpctl/lifecycle"
)

// FromPool says from which pool a cluster was claimed, and how much sooner it was ready than a new one; empty: from none.
func FromPool(c lifecycle.Card) string {
	if c.ClaimedAt.IsZero() {
		return ""
	}
	text := "claimed from " + Code(c.Pool)
	if c.ReadyAt.IsZero() || c.WaitSpared <= c.ReadyAt.Sub(c.ClaimedAt) {
		return text
	}
	took := max(c.ReadyAt.Sub(c.ClaimedAt), time.Second)
	return fmt.Sprintf("%s and ready after %s, where its install had taken %s", text, duration.Format(took), duration.Format(c.WaitSpared))
}
