package policy

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/ocpctl/ocpctl/internal/closest"
)

var nameForm = regexp.MustCompile(`^[a-z]([-a-z0-9]*[a-z0-9])?$`)

func TestNamesAreReadableWhereTheyCan(t *testing.T) {
	for _, c := range []struct {
		repo       string
		number     int
		generation int
		name       string
	}{
		{"acme/shop", 41, 1, "pr41-shop"},
		{"acme/Shop.js_v2", 41, 1, "pr41-shop-js-v2"},
		{"acme/_shop_", 41, 1, "pr41-shop"},
		{"acme/___", 41, 1, "pr41"},
		{"shop", 7, 1, "pr7-shop"},
		{"acme/exactly-twenty-1", 7, 1, "pr7-exactly-twenty-1"},
		{"acme/payment-gateway-service", 7, 1, "pr7-payment-gat-uikni"},
		{"acme/shop", 41, 2, "pr41-shop-g6h3q"},
	} {
		name, fallback := PRName(c.repo, c.number, "aws-minimal-test", c.generation)
		require.Equal(t, c.name, name)
		require.NotEqual(t, name, fallback)
	}
}

func TestNamesAlwaysFitAndNeverMeet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		repo := rapid.StringMatching(`[A-Za-z0-9._-]{1,20}/[A-Za-z0-9._-]{1,60}`).Draw(t, "repo")
		number := rapid.IntRange(1, 9_999_999).Draw(t, "number")
		generation := rapid.IntRange(1, 50).Draw(t, "generation")
		name, fallback := PRName(repo, number, "aws-standard", generation)
		for _, n := range []string{name, fallback} {
			require.Regexp(t, nameForm, n)
			require.LessOrEqual(t, len(n), 21)
			require.NotContains(t, n, "--", "the installer collapses dashes, and the infraID would no longer start with the name")
		}
		require.NotEqual(t, name, fallback)

		again, _ := PRName(strings.ToUpper(repo), number, "aws-standard", generation)
		require.Equal(t, name, again, "GitHub's names know no case")
		later, _ := PRName(repo, number, "aws-standard", generation+1)
		require.NotEqual(t, name, later, "a new desired never waits for an old teardown")
		_, other := PRName(repo, number, "aws-minimal-test", generation)
		require.NotEqual(t, fallback, other, "two profiles of one pull request never share a fallback")
	})
}

func TestClosestFindsWhatWasMeantAndNothingElse(t *testing.T) {
	profiles := []string{"aws-minimal-test", "aws-standard", "ibm-minimal-test", "ibm-standard"}
	for word, want := range map[string]string{
		"aws-minmal-test": "aws-minimal-test", "aws-minimal": "aws-minimal-test", "AWS-Standart": "aws-standard", "ibm-mini": "ibm-minimal-test", "aws_standard": "aws-standard",
		"xyz": "", "": "", "gke": "", "a": "", "aws": "", strings.Repeat("a", 5000): "",
	} {
		got, ok := closest.Match(word, profiles)
		require.Equal(t, want, got, word)
		require.Equal(t, want != "", ok, word)
	}
	got, _ := closest.Match("crate", []string{"destroy", "create", "status"})
	require.Equal(t, "create", got)
	got, _ = closest.Match("stauts", []string{"destroy", "create", "status"})
	require.Equal(t, "status", got)
}

func TestAPersonsNameNamesTheirClusters(t *testing.T) {
	for person, want := range map[string]string{
		"maya": `^maya-[a-z2-7]{5}$`, "Maya Grün": `^maya-gr-n-[a-z2-7]{5}$`, "42": `^c-42-[a-z2-7]{5}$`, "": `^c-[a-z2-7]{5}$`, "王": `^c-[a-z2-7]{5}$`,
		"somebody with a very long name": `^somebody-with-a-[a-z2-7]{5}$`,
	} {
		require.Regexp(t, want, PersonName(person, "slack:T1:1"))
	}
	require.Equal(t, PersonName("maya", "1"), PersonName("maya", "1"), "the request that comes again has the same name")
	require.NotEqual(t, PersonName("maya", "1"), PersonName("maya", "2"))
	rapid.Check(t, func(t *rapid.T) {
		name := PersonName(rapid.String().Draw(t, "person"), rapid.String().Draw(t, "seed"))
		require.Regexp(t, nameForm, name)
		require.LessOrEqual(t, len(name), 21, name)
	})
}
