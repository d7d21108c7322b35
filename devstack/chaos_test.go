package devstack_test

import (
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/chaos"
)

// startChaosRun starts a stack for a chaos test; what it prints goes to the test's output.
func startChaosRun(t *testing.T, replicas int) *chaos.Run {
	t.Helper()
	tr, err := chaos.Start(t.Context(), chaos.Config{Dir: t.TempDir(), Bin: programs, Out: t.Output(), Replicas: replicas})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, tr.Stop()) })
	return tr
}

// number reads a variable that bounds a chaos test.
func number(t *testing.T, name string, otherwise int) int {
	t.Helper()
	raw := os.Getenv(name)
	if raw == "" {
		return otherwise
	}
	n, err := strconv.Atoi(raw)
	require.NoError(t, err, name)
	return n
}

// What is let go while GitHub is away, or its limit is used up, converges, and what is not wanted is on its way out before GitHub
// answers again.
func TestClustersConvergeWithoutGitHub(t *testing.T) {
	for _, strike := range []string{"github-away", "github-limited"} {
		t.Run(strike, func(t *testing.T) {
			t.Parallel()
			o := chaos.Options{Cells: number(t, "CELLS", 8), Seed: uint64(number(t, "SEED", 1)), Only: strike, Time: 5 * time.Minute}
			require.NoError(t, chaos.Matrix(t.Context(), startChaosRun(t, 1), o))
		})
	}
}

// A few cells of every strike but those of GitHub, which are above; make chaos does them all.
func TestASampleOfTheCrashMatrixConverges(t *testing.T) {
	t.Parallel()
	o := chaos.Options{Cells: number(t, "CELLS", 16), Seed: uint64(number(t, "SEED", 1)), Only: os.Getenv("CELL"), Time: 5 * time.Minute}
	require.NoError(t, chaos.Matrix(t.Context(), startChaosRun(t, 1), o))
}

// A short form of make takeover and of make soak REPLICAS=2.
func TestTwoServersTakeOverFromEachOtherAndDoNothingTwice(t *testing.T) {
	t.Parallel()
	run := startChaosRun(t, 2)
	require.NoError(t, chaos.Takeover(t.Context(), run, chaos.TakeoverOptions{Rounds: 3, Seed: uint64(number(t, "SEED", 1))}))
	require.NoError(t, chaos.Soak(t.Context(), run, chaos.SoakOptions{Cycles: number(t, "CELLS", 6), Seed: uint64(number(t, "SEED", 1))}))
}
