package runner_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/internal/contract"
)

// indexOf returns where a line of the diary begins with a text.
func indexOf(lines []string, prefix string) int {
	return slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, prefix) })
}

func TestTheClustersRolesAreLimitedBeforeItsOperatorsStartAndBeforeAnybodyGetsIn(t *testing.T) {
	w := newWorld(t, contract.KindCreate)
	w.spec.CredentialsMode = "Manual"
	w.cfg.Boundary = "arn:aws:iam::210987654321:policy/boundary" // each account has its own
	require.NoError(t, w.run(t.Context()))
	require.Equal(t, "succeeded", w.result().Outcome, w.result().Message)
	did := w.happened()
	first, install := indexOf(did, "cloud: limit roles"), indexOf(did, "installer: create cluster")
	require.Less(t, first, install, did)
	require.Greater(t, first, indexOf(did, "installer: ccoctl create-all"))
	last := install + indexOf(did[install:], "cloud: limit roles")
	require.Greater(t, last, install, "the installer made the nodes' roles without a boundary")
	require.Regexp(t, `^shop-\w+-0000_50_image-registry\.yaml shop-\w+-0000_50_ingress\.yaml shop-\w{5} with shop\.labs\.example\.com, boundary "arn:aws:iam::123456789012:policy/boundary"$`, w.limits[1])
	require.Len(t, w.limits, 2)
}

func TestAClusterWhoseRolesCannotBeLimitedIsNotMade(t *testing.T) {
	for name, c := range map[string]struct {
		call      int
		installed bool
	}{"before the installer": {1, false}, "after it": {2, true}} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, contract.KindCreate)
			w.unlimited = func(n int) error {
				if n >= c.call {
					return errors.New("AccessDenied: iam:TagRole")
				}
				return nil
			}
			require.NoError(t, w.run(t.Context()))
			got := w.result()
			require.Equal(t, []any{"failed", "RolesNotLimited", true}, []any{got.Outcome, got.Reason, got.Retryable}, got.Message)
			require.Contains(t, got.Message, "AccessDenied: iam:TagRole")
			require.Nil(t, got.Outputs, "nobody gets in")
			require.Equal(t, c.installed, indexOf(w.happened(), "installer: create cluster") >= 0)
		})
	}
}

func TestABadMomentOfTheCloudDoesNotEndAnInstall(t *testing.T) {
	w := newWorld(t, contract.KindCreate)
	w.unlimited = func(n int) error {
		if n == 1 || n == 3 || n == 4 {
			return errors.New("Throttling: Rate exceeded")
		}
		return nil
	}
	require.NoError(t, w.run(t.Context()))
	require.Equal(t, "succeeded", w.result().Outcome, w.result().Message)
	require.Len(t, w.limits, 5, "two before the installer, three after it")
}
