package names_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/internal/names"
)

func TestOnlyAddressesBelowTheClustersAppsDomainAreLinks(t *testing.T) {
	s := names.Scope{Name: "shop", BaseDomain: "labs.example.com"}
	const host = "https://web-shop.apps.shop.labs.example.com"
	for _, good := range []string{host, "http://web.apps.shop.labs.example.com", host + "/", host + "/login/v1.2/%20x", "https://a.b.apps.shop.labs.example.com/x"} {
		require.NoError(t, s.CheckAppURL(good), good)
	}
	for _, bad := range []string{
		"", "javascript:alert(1)", "ftp://web.apps.shop.labs.example.com", "https://apps.shop.labs.example.com", "https://webapps.shop.labs.example.com", "https://evil.example.com/.apps.shop.labs.example.com",
		"https://web.apps.shop.labs.example.com.evil.com", "https://api.shop.labs.example.com", "https://maya@web.apps.shop.labs.example.com", host + ":8443", host + "?next=x", host + "#x", host + "/a b",
		host + "/(x)", host + "/<b>", host + "/\"", host + "/`", host + "\\@evil.com", host + "/\n", "https://web.apps.SHOP.labs.example.com", "//web.apps.shop.labs.example.com", "https://-.apps.shop.labs.example.com",
		host + "/" + strings.Repeat("a", 300), "https://wéb.apps.shop.labs.example.com",
	} {
		require.Error(t, s.CheckAppURL(bad), bad)
	}
}

func TestATitleIsOneShortVisibleLine(t *testing.T) {
	for raw, want := range map[string]string{
		"  The shop\n\tfront  ": "The shop front", "a\u202eb\u200bc\x00d\u2028e": "abcd e", "": "", "\u2066": "", "Kasse für Jürgen": "Kasse für Jürgen",
		strings.Repeat("ä", 99): strings.Repeat("ä", 59) + "…", "a\xffb": "ab",
	} {
		require.Equal(t, want, names.LinkTitle(raw), "%q", raw)
	}
}
