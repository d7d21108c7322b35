package devstack_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/attack"
)

// The short form of make attack: attacks of every kind of attacker on a demo of their own.
func TestTheShortFormOfMakeAttackIsHeld(t *testing.T) {
	t.Parallel()
	require.NoError(t, attack.Run(t.Context(), attack.Config{Dir: t.TempDir(), Bin: programs, Out: t.Output(), Short: true}))
}
