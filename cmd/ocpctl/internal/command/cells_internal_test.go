package command

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/internal/kinds"
)

func TestTheWayIntoAConsoleIsOneThatTheKindHas(t *testing.T) {
	c := v1.Cluster{Name: "shop", ConsoleURL: "https://console.shop.example.com"}
	require.Equal(t, "ocpctl open shop", openingCommand(c), "an older server names no kind")
	c.Provisioner = kinds.HyperShift
	require.Equal(t, c.ConsoleURL, openingCommand(c), "nobody gets an account there")
	c.ConsoleURL = ""
	require.Empty(t, openingCommand(c))
}
