package rendered

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWhateverGitHubWouldMakeOfACommentIsFound(t *testing.T) {
	for body, want := range map[string]string{
		"hello @maya":        "a mention",
		"(@acme/everyone)":   "a mention",
		"see #12":            "an issue",
		"see acme/shop#12":   "an issue",
		"see gh-12":          "an issue",
		"6dcb09b was pushed": "a commit",
		"acme@6dcb09b5b57875f334f61aebed695e2e4193db5e": "a commit",
		"https://evil.example":                          "a link: https://evil.example",
		"www.evil.example":                              "a link: http://www.evil.example",
		"mail me@evil.example":                          "a link: mailto:me@evil.example",
		"[x](//evil.example)":                           "a link: //evil.example",
		"<https://evil.example>":                        "a link: https://evil.example",
		"![x](https://evil.example/x.png)":              "HTML: <img",
		"<a href=\"https://evil.example\">x</a>":        "a link: https://evil.example",
		"[x]\n\n[x]: https://evil.example":              "a link: https://evil.example",
		"&#64;maya":                                     "a mention",
		"<img src=x>":                                   "HTML: <img",
		"**ht**tps://evil.example":                      "an address",
		"<!-- ocpctl:cluster:1 -->":                     "a hidden mark",
		"CVE-2024-12345":                                "an advisory",
	} {
		found := Calls(body, Own{Links: []string{"https://ocpctl.example/"}, Mentions: []string{"rob"}})
		require.NotEmpty(t, found, body)
		require.Contains(t, join(found), want, body)
	}
}

func join(all []string) (text string) {
	for _, one := range all {
		text += one + "\n"
	}
	return text
}

func TestCodeAndTheBotsOwnAreNotFound(t *testing.T) {
	own := Own{Links: []string{"https://ocpctl.example/"}, Mentions: []string{"rob"}}
	for _, body := range []string{
		"`@maya #12 6dcb09b https://evil.example`", "```text\n@maya www.evil.example\n```", "@rob, see [its page](https://ocpctl.example/clusters/1)",
		"<https://ocpctl.example/x>", "<details>\n<summary>More</summary>\n\ntext\n\n</details>", "| a | b |\n|---|---|\n| `x` | 1 |", "@\u200bmaya #\u200b12",
		"2025-01-01T12:00:00Z costs $0.75", "- [x] installed",
	} {
		require.Empty(t, Calls(body, own), body)
	}
}
