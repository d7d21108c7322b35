package installer

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestThePartsAMatchMustHoldAreRead(t *testing.T) {
	for expression, want := range map[string][]string{
		`(?i)(passw(?:or)?d[\\"']*\s*[:=]).*`:      {"passw"},
		`()\b(?:AKIA|ASIA)[0-9A-Z]{12,}\b`:         {"kia", "sia"},
		`(?i)not authorized to perform: \w+:(A|B)`: {"not authorized to perform: "},
		`(?:abc)?[a-z]*`:                           nil,
		`x*|abc`:                                   nil,
		`(abc)+de`:                                 {"abc"},
	} {
		require.Equal(t, want, mustPattern(expression).needles, expression)
	}
	for _, c := range Classes() {
		for _, p := range c.compiled {
			require.GreaterOrEqual(t, shortestOf(p.needles), 4, "%s: %s would be run on every line", c.Reason, p)
		}
	}
}

func TestTheQuickLookNeverMissesAMatch(t *testing.T) {
	all := slices.Clone(patterns)
	var texts []string
	for _, c := range Classes() {
		all = append(all, c.compiled...)
		texts = append(texts, c.Samples...)
	}
	texts = append(texts, `"auths":{}`, "Password = x", "https://me:secret@host/", "AKIAIOSFODNN7EXAMPLE", "X-Amz-Signature=0", "eyJhbGci.e30.c2ln", "-----BEGIN A-----x-----END A-----")
	rapid.Check(t, func(t *rapid.T) {
		line := strings.Join(rapid.SliceOfN(rapid.SampledFrom(texts), 1, 2).Draw(t, "texts"), " ")
		for _, p := range all {
			if p.MatchString(line) {
				require.True(t, p.mayMatch(strings.ToLower(line)), "%s in %s", p, line)
			}
		}
	})
}
