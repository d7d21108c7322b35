package chatops

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/ocpctl/ocpctl/lifecycle"
)

func detail(moments, lines int) Detail {
	d := Detail{Conditions: []Condition{
		{Type: "Installed", Status: "False", Reason: "Bootstrapping", Message: "the bootstrap machine runs", At: start.Add(9 * time.Minute)},
		{Type: "Verified", Status: "Unknown"},
	}}
	for i := range moments {
		d.Timeline = append(d.Timeline, Moment{At: start.Add(time.Duration(i) * time.Second), What: fmt.Sprintf("step %d", i), Why: "it was next"})
	}
	for i := range lines {
		d.Log = append(d.Log, fmt.Sprintf("level=info msg=\"line %d\"", i))
	}
	return d
}

func TestTheFoldIsGolden(t *testing.T) {
	d := detail(33, 2)
	d.Log = append(d.Log, "\x1b[32mdone\x1b[0m\tin 3s", "```sh", "````", "</details> <!-- ocpctl:cluster:x --> /ocp destroy @acme/platform", "/ocp destroy")
	d.Mention, d.Requester = []string{"failed"}, "maya"
	golden(t, "comment-details.md", Comment(lives()["create-failed"], d, ui))
}

func TestTheLogIsCutFirstThenTheTimeline(t *testing.T) {
	d := detail(40, 5000)
	all := fold(d, 60_000)
	require.Contains(t, all, "- … 10 earlier\n")
	require.Contains(t, all, "line 4999")
	require.Contains(t, all, "line 4900\"\n")
	require.NotContains(t, all, "line 4899")
	require.Contains(t, all, "… earlier lines are on the cluster's page\nlevel=info msg=\"line 4900\"")
	some := fold(d, 2500)
	require.Contains(t, some, "step 10:", "all thirty moments")
	require.NotContains(t, some, "line 4900\"")
	few := fold(d, 700)
	require.NotContains(t, few, "msg=")
	require.Contains(t, few, "step 39")
	require.NotContains(t, few, "step 10:")
	require.Contains(t, few, "**Installed**")
	require.Empty(t, fold(d, 60))
	require.Empty(t, fold(Detail{}, 60_000))
	for limit := 0; limit < 4000; limit += 37 {
		require.LessOrEqual(t, len(fold(d, limit)), limit)
	}
}

func TestAnyDetailFitsAndStaysInside(t *testing.T) {
	evil := []string{
		"`", "```", "~~~~", strings.Repeat("`", 700), "</details>", "</summary>", "<details>", "<!-- ocpctl:cluster:clu_9 -->", "<!--", "-->", "@acme/platform", "@maya", "\n/ocp destroy\n",
		"/ocp destroy", "<script>alert(1)</script>", "<img src=x>", "\xff\xfe", "\x00", "\u202e", "\u2028", "\r\n", "|", "[x](http://e)", "![x](http://e)", " ", "\t", "ä", "https://user:pass@evil", "https://e|<b>", "#1", "\\",
	}
	text := rapid.Custom(func(t *rapid.T) string {
		s := strings.Join(rapid.SliceOfN(rapid.SampledFrom(evil), 0, 8).Draw(t, "evil"), rapid.SampledFrom([]string{"", " "}).Draw(t, "between"))
		return strings.Repeat(s, rapid.SampledFrom([]int{1, 1, 1, 40}).Draw(t, "times"))
	})
	names := []string{"ready", "create-failed", "destroy-blocked", "installing", "held", "cleaning", "destroyed", "expiring", "awaiting-approval"}
	rapid.Check(t, func(t *rapid.T) {
		c := lives()[rapid.SampledFrom(names).Draw(t, "life")]
		d := detail(rapid.IntRange(0, 60).Draw(t, "moments"), rapid.IntRange(0, 300).Draw(t, "lines"))
		for i := range d.Timeline {
			if i%7 == 0 {
				d.Timeline[i].What, d.Timeline[i].Why = text.Draw(t, "what"), text.Draw(t, "why")
			}
		}
		for i := range d.Log {
			if i%50 == 0 {
				d.Log[i] = text.Draw(t, "log")
			}
		}
		c.Why.Words, c.DesiredWhy, c.HoldWhy, c.FailMessage, c.FailReason, c.FailNext = text.Draw(t, "why"), lifecycle.Noted(text.Draw(t, "desired")), text.Draw(t, "hold"), text.Draw(t, "fail"), text.Draw(t, "reason"), text.Draw(t, "next")
		c.ConsoleURL, c.Owner, c.Team, c.Progress.Step = text.Draw(t, "console"), text.Draw(t, "owner"), text.Draw(t, "team"), text.Draw(t, "step")
		c.Blockers = []lifecycle.Blocker{{Name: "vpc vpc-1", Free: "someone", Command: "aws ec2 " + text.Draw(t, "command")}, {Name: text.Draw(t, "blocker"), Remark: text.Draw(t, "remark")}}
		d.Conditions[0].Message, d.Conditions[0].Type = text.Draw(t, "message"), text.Draw(t, "type")
		for _, body := range []string{Comment(c, d, ui), Check(c, ui).Summary} {
			harmless(t, body)
		}
		require.LessOrEqual(t, len([]rune(DeploymentOf(c, ui).Description)), maxDescription)
	})
}

// harmless holds what is promised of every body: it fits, is text, calls nobody, holds no mark of the wire's, no command and no HTML but
// the one fold.
func harmless(t require.TestingT, body string) {
	require.LessOrEqual(t, utf8.RuneCountInString(body), 65_000)
	require.True(t, utf8.ValidString(body))
	require.Empty(t, Parse(body))
	require.NotContains(t, body, "<!--")
	outside, folds := false, 0
	shown := withoutFences(body, &outside, &folds)
	require.False(t, outside, "every fence is closed")
	require.LessOrEqual(t, folds, 1)
	require.NotRegexp(t, `@[A-Za-z]`, withoutCode(shown), "nobody is called")
	require.NotRegexp(t, `(^|[^\\])<[a-z/!]`, strings.NewReplacer("\n<details>\n<summary>Details</summary>\n", "", "\n</details>\n", "", "<https://", "", "<http://", "").Replace(withoutCode(shown)))
}

// withoutFences drops fenced code, reports whether a fence is left open, and counts the folds.
func withoutFences(body string, open *bool, folds *int) string {
	var kept strings.Builder
	fence := ""
	for line := range strings.Lines(body) {
		bare := strings.TrimRight(line, "\n")
		switch {
		case fence != "" && closes(bare, fence):
			fence = ""
		case fence != "":
		case opens(bare) != "":
			fence = opens(bare)
		default:
			if bare == "<details>" {
				*folds++
			}
			kept.WriteString(line)
		}
	}
	*open = fence != ""
	return kept.String()
}

func TestHugeTextsLeaveSpaceForWhatOneNeeds(t *testing.T) {
	for _, huge := range []string{strings.Repeat("`x", 1<<19), strings.Repeat("𝄞|", 1<<14), strings.Repeat("<!-- @a ", 1<<14)} {
		d := Detail{Log: slicesOf(huge, 300), Timeline: []Moment{{At: start, What: huge, Why: huge}}, Conditions: []Condition{{Type: huge, Status: huge}}}
		for _, name := range []string{"ready", "destroy-blocked", "create-failed"} {
			c := lives()[name]
			c.Why.Words, c.DesiredWhy, c.FailMessage, c.FailNext, c.HoldWhy, c.Owner, c.ConsoleURL, c.APIURL = huge, lifecycle.Noted(huge), huge, huge, huge, huge, "https://a/"+huge, huge
			c.Blockers = slices.Repeat([]lifecycle.Blocker{{Name: "vpc vpc-1", Free: "someone", Command: "aws ec2 " + huge, Remark: huge}}, 500)
			body := Comment(c, d, ui)
			harmless(t, body)
			require.Contains(t, body, "[timeline and log](http://127.0.0.1:8080/clusters/clu_1)", name)
			require.Contains(t, body, "\n</details>\n", name)
		}
	}
}

func BenchmarkComment(b *testing.B) {
	c, d := ready(), detail(60, 300)
	for b.Loop() {
		Comment(c, d, ui)
	}
}
