package profiles

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestAStarStandsForOneCharacterOrMore(t *testing.T) {
	for _, c := range []struct {
		glob, value string
		fits        bool
	}{
		{"shop", "shop", true}, {"shop", "shops", false}, {"shop", "Shop", false}, {"shop", "", false}, {"", "", true},
		{"*", "anything/at all", true}, {"*", "", false},
		{"acme/*", "acme/shop", true}, {"acme/*", "acme/", false}, {"acme/*", "acme-evil/shop", false},
		{"repo:acme/*:pull_request", "repo:acme/shop:pull_request", true}, {"repo:acme/*:pull_request", "repo:acme/shop:ref:refs/heads/main", false},
		{"*-standard", "aws-standard", true}, {"*-standard", "-standard", false}, {"a*a", "aa", false}, {"a*a", "aaa", true},
		{"a*b*c", "abbcc", true}, {"a*b*c", "abc", false}, {"*@acme.example", "maya@acme.example.evil", false},
	} {
		require.Equal(t, c.fits, Fits(c.glob, c.value), "%s over %s", c.glob, c.value)
	}
	require.True(t, FitsAny([]string{"a", "b*"}, "bc"))
	require.False(t, FitsAny(nil, "bc"))
}

func TestAGlobIsARegularExpressionOfOneSort(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		glob, value := rapid.StringMatching(`[ab*]{0,6}`).Draw(t, "glob"), rapid.StringMatching(`[ab]{0,8}`).Draw(t, "value")
		as := regexp.MustCompile("^" + strings.ReplaceAll(glob, "*", ".+") + "$")
		require.Equal(t, as.MatchString(value), Fits(glob, value))
	})
}
