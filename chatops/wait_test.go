package chatops

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/policy"
)

func TestAWaitingJobIsToldHowItsClusterStands(t *testing.T) {
	var b strings.Builder
	all := lives()
	for _, c := range []struct {
		name  string
		state lifecycle.WaitState
	}{
		{"awaiting-approval", lifecycle.WaitsForApproval}, {"awaiting-turn", lifecycle.WaitsForTurn}, {"awaiting-capacity", lifecycle.WaitsForTurn}, {"installing", lifecycle.WaitsForCluster}, {"cleaning", lifecycle.WaitsForNextTry},
		{"ready", lifecycle.WaitSucceeded}, {"create-failed", lifecycle.WaitFailed}, {"destroyed-never-ready", lifecycle.WaitFailed}, {"destroyed", lifecycle.WaitFailed},
	} {
		card, there := all[c.name]
		require.True(t, there, c.name)
		b.WriteString(string(c.state) + ": " + WaitText(card, c.state, ui) + "\n")
	}
	b.WriteString("\n" + WaitRefusal(policy.Verdict{Checks: []policy.Check{
		{Name: "permission", Result: policy.Fail, Message: "rob has only read permission on acme/shop; to create a cluster, write is needed.", Next: "Ask someone with write permission on acme/shop."},
		{Name: "profile", Result: policy.Fail, Message: "There is no profile <b>aws</b>."},
		{Name: "quota", Result: policy.Pass, Message: "Nothing is full."},
	}}))
	golden(t, "waits.txt", b.String())
	for name, card := range all {
		for _, state := range []lifecycle.WaitState{lifecycle.WaitsForApproval, lifecycle.WaitsForTurn, lifecycle.WaitsForCluster, lifecycle.WaitsForNextTry, lifecycle.WaitSucceeded, lifecycle.WaitFailed} {
			text := WaitText(card, state, ui)
			require.LessOrEqual(t, len([]rune(text)), maxReview, name)
			require.NotContains(t, text, "  ", name)
			require.NotContains(t, text, "..", name)
		}
	}
}
