package chatops

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/lifecycle"
)

func TestAReasonIsBriefOnlyWhereTheFailureIsTold(t *testing.T) {
	var c lifecycle.Card
	c.FailReason, c.FailMessage = "BootstrapFailed", "it never took over"
	c.Status, c.Phase = lifecycle.Destroyed, lifecycle.Released
	c.Why = lifecycle.MoveReason{Cause: lifecycle.Reason{Code: lifecycle.ReasonInstallFailed, Words: c.FailMessage}, Words: "nothing is left"}
	require.Equal(t, "the install failed; nothing is left", Brief(c))
	c.Status, c.Phase = lifecycle.Creating, lifecycle.Cleaning
	c.Why = lifecycle.MoveReason{Words: "attempt 1 failed", Failure: c.FailMessage}
	require.Equal(t, "attempt 1 failed: it never took over", Brief(c))
}
