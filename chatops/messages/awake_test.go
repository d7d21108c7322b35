package messages_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/chatops/messages"
	"github.com/ocpctl/ocpctl/lifecycle"
)

func TestWhyAClusterIsAsleepIsSaidByItsCause(t *testing.T) {
	c := lifecycle.Card{Name: "demo"}
	c.PowerBy = lifecycle.ByHours
	require.Equal(t, "demo sleeps outside working hours. ocpctl is waking it for you now. Try again in a few minutes.", messages.WakesForUse(c))
	c.PowerBy = lifecycle.ByIdle
	require.Equal(t, "demo was put to sleep because nobody used it. ocpctl is waking it for you now. Try again in a few minutes.", messages.WakesForUse(c))
}
