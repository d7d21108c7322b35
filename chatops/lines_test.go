package chatops

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"pgregory.net/rapid"
)

func TestWhatIsNotSaidToUsIsIgnored(t *testing.T) {
	for name, body := range map[string]string{
		"nothing":                   "",
		"other talk":                "Looks good to me.\nPlease /ocp destroy it later.",
		"a longer word":             "/ocpx create\n/ocpbot\n/ocp/data/x\n/ocp-data\n/ocpctl-bot x\nocp/aws-standard is a label\nocpctl create",
		"a quote":                   "> /ocp destroy\n>/ocp destroy\n > /ocp destroy",
		"a quote in a quote":        "> > /ocp destroy\n>> /ocp destroy\n> - /ocp destroy",
		"a code fence":              "```\n/ocp destroy\n```",
		"a fence with language":     "```sh\n/ocp destroy\n```",
		"a tilde fence":             "~~~\n/ocp destroy\n```\n/ocp destroy\n~~~",
		"a tilde fence with marks":  "~~~ a`b\n/ocp destroy\n~~~",
		"a longer fence":            "````\n```\n/ocp destroy\n````",
		"a fence never closed":      "```\n/ocp destroy",
		"a fence's end with a word": "```\n/ocp x\n``` sh\n/ocp destroy",
		"a fence's end indented":    "```\n    ```\n\t```\n/ocp destroy",
		"a fence of Windows":        "```\r\n/ocp destroy\r\n```\r\n",
		"a fence of old Macs":       "```\r/ocp destroy\r```\r",
		"a fence in a list":         "- ```\n  /ocp destroy\n  ```",
		"a fence in a numbered one": "1. a\n\n   ```\n   /ocp destroy\n   ```",
		"a fence below a number":    "text\n2. b\n   ```\n/ocp destroy\n   ```",
		"a fence in a fold":         "<details>\n\n```\n</details>\n\n/ocp destroy\n```\n",
		"indented code":             "    /ocp destroy\n\t/ocp destroy\n \t/ocp destroy",
		"a hidden comment":          "<!--\n/ocp destroy\n-->",
		"one with empty lines":      "<!-- a\n\n/ocp destroy\n\n-->",
		"one within a paragraph":    "some <!-- hidden\n/ocp destroy\n--> text",
		"code within a paragraph":   "some ``code\n/ocp destroy\nends`` here",
		"a list":                    "- /ocp destroy\n* /ocp destroy\n1) /ocp destroy",
		"a list's next line":        "- a\n  /ocp destroy\n\n  /ocp destroy",
		"a list with a tab":         "-\ta\n\n    /ocp destroy\n\n\t/ocp destroy",
		"a heading":                 "# /ocp destroy",
		"a fold":                    "<details>\n<summary>how</summary>\n\n/ocp destroy\n\n</details>",
		"a fold in capitals":        "<DETAILS open>\n\n/ocp destroy",
		"folds":                     "<details>\n<details>\n\n</details>\n\n/ocp destroy\n\n</details>",
		"a fold that speaks of it":  "<details>\n\nsee `</details>`\n/ocp destroy\n",
		"preformatted":              "<pre>\n\n/ocp destroy\n</pre>",
		"a quote in HTML":           "<blockquote>\n\n/ocp destroy\n\n</blockquote>",
		"a block of HTML":           "<div>\n/ocp destroy\n</div>",
		"an element alone":          "<b>\n/ocp destroy\n</b>",
		"a declaration":             "<!DOCTYPE\n/ocp destroy\n>\n<?php\n/ocp destroy\n?>\n<![CDATA[\n/ocp destroy\n]]>",
	} {
		t.Run(name, func(t *testing.T) { require.Empty(t, Parse(body)) })
	}
}

func TestWhatIsSaidToUsIsHeard(t *testing.T) {
	for name, body := range map[string]string{
		"behind a fence":                  "```\n/ocp destroy\n```\n/ocp status",
		"behind a quote":                  "> /ocp destroy\n\n/ocp status",
		"right behind a quote":            "> /ocp destroy\n/ocp status",
		"behind a hidden comment":         "<!-- hidden -->\n/ocp status",
		"behind backticks of no fence":    "```inline``` code\n/ocp status",
		"behind a list":                   "- a\n\n/ocp status",
		"right behind a list":             "- a\n/ocp status",
		"behind a fence that a list ends": "- ```\n  /ocp destroy\n\n/ocp status",
		"behind a fold":                   "<details>\n\n/ocp destroy\n\n</details>\n\n/ocp status",
		"behind a word of folds":          "a `<details>` and a `<!--`\n/ocp status",
		"behind an element":               "text<br>\n<b>hi</b> there\n/ocp status",
		"behind an address":               "<https://example.com>\n/ocp status",
		"behind a rule":                   "* * *\n  /ocp status",
		"behind code":                     "    /ocp destroy\n\n/ocp status",
		"with three spaces":               "   /ocp status",
		"in a paragraph":                  "Please\n/ocp status\nthank you",
		"below a heading":                 "# Now <!--\n/ocp status",
		"between CRs":                     "a\r/ocp status\rb",
	} {
		t.Run(name, func(t *testing.T) {
			parsed := Parse(body)
			require.Len(t, parsed, 1)
			require.NotNil(t, parsed[0].Command)
			require.Equal(t, VerbStatus, parsed[0].Command.Verb)
		})
	}
}

// What CommonMark takes for anything else than a paragraph that stands by itself is never read as a command. Lines that lazily go
// on with a list's or a quote's paragraph are let through: their author typed them at the margin.
func TestNothingIsReadThatCommonMarkShowsAsCodeOrHTML(t *testing.T) {
	pieces := []string{
		"/ocp status", "  /ocp status", "   /ocp status", "text", "", "", "```", "````", "~~~", "   ```", "    ```", "> ```", "> text", ">", "- a", "- ", "-", "- ```", "  ```", "1. a", "2. b",
		"   /ocp status", "      text", "\t/ocp status", "    text", "<!--", "-->", "<div>", "</div>", "<b>", "<pre>", "x</pre>", "* * *", "---", "==", "# head", "text <!-- x", "10) x", "-     /ocp status", "-\ttext",
	}
	rapid.Check(t, func(t *rapid.T) {
		body := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 1, 12).Draw(t, "lines"), "\n")
		allowed := atTheMargin(body)
		heard := len(slices.Collect(onlyCommands(body)))
		require.LessOrEqual(t, heard, allowed, "%q", body)
	})
}

func onlyCommands(body string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for line := range authorLines(body) {
			if strings.HasPrefix(line.text, Prefix) && !yield(line.text) {
				return
			}
		}
	}
}

// atTheMargin counts the lines with our word that CommonMark shows as text of a paragraph.
func atTheMargin(body string) (n int) {
	source := []byte(body)
	root := parser.NewParser(parser.WithBlockParsers(parser.DefaultBlockParsers()...)).Parse(text.NewReader(source))
	_ = ast.Walk(root, func(node ast.Node, entering bool) (ast.WalkStatus, error) {
		switch node.Kind() {
		case ast.KindParagraph, ast.KindTextBlock, ast.KindHeading:
			for i := 0; entering && i < node.Lines().Len(); i++ {
				segment := node.Lines().At(i)
				if strings.HasPrefix(strings.TrimLeft(string(segment.Value(source)), " \t"), Prefix) {
					n++
				}
			}
		}
		return ast.WalkContinue, nil
	})
	return n
}
