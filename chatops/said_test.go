package chatops

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAnAnswerCallsNobodyElseAndHoldsNoMarkupOfOthers(t *testing.T) {
	for _, c := range []struct{ said, posted string }{
		{"@rob, `pr41-shop` is ready.", "@rob, `pr41-shop` is ready."},
		{"@rob, see @acme/everyone", "@rob, see @\u200bacme/everyone"},
		{"@rob/everyone and @robert and @rob-x", "@\u200brob/everyone and @\u200brobert and @\u200brob-x"},
		{"it is going (@maya: `@will` broke it)", "it is going (@\u200bmaya: `@will` broke it)"},
		{"<img src=x> <!-- ocpctl:cluster:clu_1 -->", `\<img src=x> \<! -- ocpctl:cluster:clu_1 -->`},
		{"[all is well](https://elsewhere.example)", "\\[all is well](https\u200b://elsewhere.example)"},
		{"&#64;acme/everyone", "\\&#\u200b64;acme/everyone"},
		{"as in #12, gh-12 and 6dcb09b5b578: www.evil.example", "as in #\u200b12, gh\u200b-12 and 6dcb09\u200bb5b578\u200b: www\u200b.evil.example"},
		{"a lone ` lets nothing in: @maya", "a lone \\` lets nothing in: @\u200bmaya"},
		{"\\` @maya \\`", "\\\\` @maya \\`"}, // a backslash of ours comes first, so the backticks are code for GitHub too
		{"``two `@maya` two`` @maya", "``two `@maya` two`` @\u200bmaya"},
		{"```\n@maya\n```", "\\`\\`\\`\n@\u200bmaya\n\\`\\`\\`"},
		{"a\u202eb\x1b[31m", "ab\\[31m"},
		{"Choose another name: --name <name>.", `Choose another name: --name \<name>.`},
	} {
		require.Equal(t, c.posted, Said(c.said, "rob"), c.said)
	}
	require.Equal(t, "@rob_acme, see @\u200brob", Said("@rob_acme, see @rob", "rob_acme"), "an account of an enterprise's own")
	require.NotContains(t, Said("@@@@@rob @", ""), "@rob", "nobody is answered")
	require.LessOrEqual(t, len(Said(strings.Repeat("@<`", 100_000), "rob")), maxBody+100)
}

func TestNoEntityOfOthersBecomesAMention(t *testing.T) {
	// GitHub looks for mentions after the Markdown was rendered, and an entity is the sign it stands for by then.
	for _, text := range []string{"&#64;acme/everyone", "&commat;acme/everyone", "&#x40;acme/everyone"} {
		require.Contains(t, []string{`\` + text, "`" + text + "`"}, plain(text))
	}
}
