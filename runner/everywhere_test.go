package runner_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/runner/cloud"
)

// One look at every region of an account is enough, and what it finds is removed and looked for again.
func TestEveryRegionIsAskedByTheLastPassAndOnceSomethingWasFoundThere(t *testing.T) {
	for name, c := range map[string]struct {
		found   func(n int, everywhere bool) bool
		asked   []bool // whether each pass asked every region
		removed []bool // and each removal
		reason  string
	}{
		"nothing is left":                  {func(int, bool) bool { return false }, []bool{false, true}, []bool{false}, ""},
		"a copy is found and removed":      {func(n int, everywhere bool) bool { return everywhere && n == 2 }, []bool{false, true, true, true}, []bool{false, true}, ""},
		"a machine is late":                {func(n int, _ bool) bool { return n == 1 }, []bool{false, false, true}, []bool{false, false}, ""},
		"names do not find what is tagged": {func(n int, _ bool) bool { return n <= 2 }, []bool{false, false, false, true}, []bool{false, false, true}, ""},
		"a copy stays":                     {func(_ int, everywhere bool) bool { return everywhere }, []bool{false, true, true, true, true, true}, []bool{false, true, true, true, true}, "LeftoversFound"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newTeardown(t, "shop-00001")
			w.cfg.Timings.UncleanPasses = 5
			var asked, removed []bool
			w.verify = func(n int, t cloud.Target) contract.Pass {
				asked = append(asked, t.Everywhere)
				p := cleanPass(t)
				if c.found(n, t.Everywhere) {
					p.Clean, p.Leftovers = false, []contract.Leftover{{Type: "snapshot", ID: "snap-1", Region: "eu-west-1", Free: "delete it"}}
				}
				return p
			}
			require.NoError(t, w.run(t.Context()))
			for _, target := range w.removed {
				removed = append(removed, target.Everywhere)
			}
			require.Equal(t, c.asked, asked)
			require.Equal(t, c.removed, removed)
			require.Equal(t, c.reason, w.result().Reason)
		})
	}
}
