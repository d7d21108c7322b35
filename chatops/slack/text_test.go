package slack

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func TestMarkdownBecomesSlacksMarkup(t *testing.T) {
	for given, want := range map[string]string{
		"plain words\n":                               "plain words",
		"**bold** and `code`":                         "*bold* and `code`",
		"### 🟢 `shop` is ready":                       "*🟢 `shop` is ready*",
		"- one\n  - two":                              "• one\n  • two",
		"> quoted `line`":                             "> quoted `line`",
		"[the page](https://ui/x?a=1&b=2)":            "<https://ui/x?a=1&amp;b=2|the page>",
		"at <https://ui/links/x>, once":               "at <https://ui/links/x>, once",
		"`a < b && c > d`":                            "`a &lt; b &amp;&amp; c &gt; d`",
		"a & b <!channel> <@U1>":                      "a &amp; b &lt;!channel&gt; &lt;@U1&gt;",
		`\<!here\> \[x\](http://evil)`:                "&lt;!here&gt; [x](http://evil)",
		`no \*bold\* here`:                            "no \u2060*\u2060bold\u2060*\u2060 here",
		"# **twice**":                                 "*twice*",
		"[a](javascript:alert(1))":                    "[a](javascript:alert(1))",
		"[a|b](https://ui)":                           "<https://ui|a/b>",
		"#hash and 2 * 3":                             "#hash and 2 \u2060*\u2060 3",
		"an @\u200bhere that was meant as words":      "an @\u200bhere that was meant as words",
		"@here, @CHANNEL and `@everyone`":             "@\u200bhere, @\u200bCHANNEL and `@\u200beveryone`",
		"an _italic_ snake_case":                      "an \u2060_\u2060italic\u2060_\u2060 snake_case",
		"until 2025-01-04 12:00 UTC.":                 "until <!date^1735992000^{date_short_pretty} at {time}|2025-01-04 12:00 UTC>.",
		"**2025-01-04 12:00:09 UTC**":                 "*<!date^1735992009^{date_short_pretty} at {time_secs}|2025-01-04 12:00:09 UTC>*",
		"`2025-01-04 12:00 UTC`":                      "`2025-01-04 12:00 UTC`",
		"2025-13-04 12:00 UTC":                        "2025-13-04 12:00 UTC",
		"```sh\ncurl \\*a\\* <x> & **b**\n```\n**c**": "```\ncurl \\*a\\* &lt;x&gt; &amp; **b**\n```\n*c*",
		"````\na\n```\nb\n````\nc":                    "```\na\n'''\nb\n```\nc",
		"```\nnever closed":                           "```\nnever closed\n```",
	} {
		require.Equal(t, want, Text(given), given)
	}
}

func TestALongMessageIsCutAtALinesEnd(t *testing.T) {
	got := Text(strings.Repeat("- **line** `of` words &\n", 1000))
	require.LessOrEqual(t, utf8.RuneCountInString(got), maxText)
	require.True(t, strings.HasSuffix(got, "words &amp;"+cutMark), got[len(got)-100:])
	require.LessOrEqual(t, utf8.RuneCountInString(Text(strings.Repeat("x", 10000))), maxText)
}

func TestACodeBlockThatIsCutIsClosed(t *testing.T) {
	got := Text("Log:\n```\n" + strings.Repeat("a line of the log\n", 1000) + "```")
	require.LessOrEqual(t, Length(got), maxText)
	require.True(t, strings.HasSuffix(got, "a line of the log\n```"+cutMark), got[len(got)-100:])
}

func TestMarkupIsNeverCutInTwo(t *testing.T) {
	for _, c := range []struct {
		given      string
		most       int
		head, rest string
	}{
		{"one two three", 8, "one two", "three"},
		{"one <https://ui|two>", 10, "one", "<https://ui|two>"},
		{"abcdef&amp;gh", 8, "abcdef", "&amp;gh"},
		{"abcdef `code here`", 12, "abcdef", "`code here`"},
		{"🟢🟢🟢", 4, "🟢🟢", "🟢"},
		{"<https://a-long-link>", 8, "‹https:/", "/a-long-link›"},
		{"short", 8, "short", ""},
	} {
		head, rest := Cut(c.given, c.most)
		require.Equal(t, []string{c.head, c.rest}, []string{head, rest}, c.given)
	}
}

func TestATimestampIsMicroseconds(t *testing.T) {
	at, err := parseStamp("1710000000.000100")
	require.NoError(t, err)
	require.EqualValues(t, 1710000000000100, at)
	for _, bad := range []string{"", "1710000000", "x.000100", "1710000000.1", "1710000000.-00001", "0.000100", "99999999999999999.000000"} {
		_, err := parseStamp(bad)
		require.Error(t, err, bad)
	}
}
