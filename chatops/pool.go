package chatops

import (
	"fmt"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/internal/duration"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/lifecycle/pool"
)

// poolReasons say why a pool makes fewer clusters than wanted.
var poolReasons = map[pool.Reason]string{
	pool.Paused: "it is paused", pool.Drained: "it is being drained", pool.Closed: "it is outside its hours",
	pool.YieldedToPeople: "people's clusters wait for a runner or for capacity and come first", pool.OverBudget: "the month's money for waiting is spent",
	pool.Failing: "its last installs failed in a row; another is tried by itself", pool.Full: "its maximum is reached", pool.Busy: "as many as allowed are being made",
}

// PoolWhy says why a pool makes fewer clusters than wanted; empty: it makes all. refusal is policy's, if it refuses the next one.
func PoolWhy(why []pool.Reason, refusal string) string {
	var texts []string
	if refusal != "" {
		texts = append(texts, "the next one is refused: "+strings.TrimSuffix(refusal, "."))
	}
	for _, one := range why {
		texts = append(texts, poolReasons[one])
	}
	return strings.Join(texts, "; ")
}

// InPool says in plain text in which pool a cluster waits, or from which it was claimed; empty: it is of none.
func InPool(c lifecycle.Card) string {
	if c.Pooled {
		return "waits in the pool " + c.Pool + " to be claimed"
	}
	return describeClaim(c, "the pool "+c.Pool)
}

// FromPool says from which pool a cluster was claimed, and how much sooner it was ready than a new one; empty: from none.
func FromPool(c lifecycle.Card) string { return describeClaim(c, Code(c.Pool)) }

func describeClaim(c lifecycle.Card, from string) string {
	if c.ClaimedAt.IsZero() {
		return ""
	}
	text := "claimed from " + from
	if c.ReadyAt.IsZero() || c.WaitSpared <= c.ReadyAt.Sub(c.ClaimedAt) {
		return text
	}
	took := max(c.ReadyAt.Sub(c.ClaimedAt), time.Second)
	return fmt.Sprintf("%s and ready after %s, where its install had taken %s", text, duration.Format(took), duration.Format(c.WaitSpared))
}
