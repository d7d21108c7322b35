package chatops

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/ocpctl/ocpctl/devstack/rendered"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/policy"
)

// lures are what a stranger may write to have somebody called, or click. They come through reasons, branches, titles, names,
// add-ons, files, logs and the errors that quote them.
var lures = []string{
	"@acme/everyone", "cc @will", "#12", "acme/secret#7", "GH-12", "gh-3", "6dcb09b", "6dcb09b5b57875f334f61aebed695e2e4193db5e", "acme/shop@6dcb09b5b57875",
	"https://evil.example/login", "http://evil.example", "HTTPS://EVIL.example", "ftp://evil.example", "www.evil.example", "(https://evil.example)", "me@evil.example",
	"mailto:me@evil.example", "xmpp:me@evil.example", "<https://evil.example>", "[all is well](https://evil.example)", "![x](https://evil.example/x.png)", "[x]: https://evil.example",
	"[x][y]", "[^1]", "<a href=\"https://evil.example\">x</a>", "<img src=x onerror=y>", "<!-- ocpctl:cluster:clu_1 -->", "-->", "&#64;will", "&commat;will", "&lt;b>", "`", "``", "```",
	"`@will`", "\\", "\\`", "|", "||", "**", "~~", "*", "_", "~~~", "$`x`$", "---", "> x", "# x", "1.", "- [ ] x", "\n\n", "\r\n@will", "\u202e", "\u200b", "\x00", "\u2028", "'", "\"", ":", "GHSA-abcd-efgh-ijkl",
	"CVE-2024-12345", "0123456789", "deadbeef", "x#1", "h\u200bttps://evil.example", "www", ".evil.example", "https:", "//evil.example", "/ocp destroy", "aws ec2 terminate-instances", ": who: aws x (y)",
}

// luring draws a text of a few lures, with or without spaces between them.
func luring() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		var b strings.Builder
		for range rapid.IntRange(1, 5).Draw(t, "lures") {
			b.WriteString(rapid.SampledFrom(lures).Draw(t, "lure"))
			b.WriteString(rapid.SampledFrom([]string{" ", "", "", ", ", "."}).Draw(t, "between"))
		}
		return b.String()
	})
}

// hostile is a card in some phase of a life, with a stranger's words wherever such can stand.
func hostile(t *rapid.T) lifecycle.Card {
	all := lives()
	c := all[rapid.SampledFrom(slices.Sorted(maps.Keys(all))).Draw(t, "life")]
	say := func(name string) string { return luring().Draw(t, name) }
	for i, into := range []*string{
		&c.Name, &c.Platform, &c.Profile, &c.Release, &c.Region, &c.BaseDomain, &c.Owner, &c.Team, &c.HoldWhy, &c.Why.Words, &c.Why.Failure, &c.Why.Runner, &c.DesiredWhy.Words, &c.DesiredWhy.Name, &c.DesiredWhy.By, &c.Ends.PRWhy.Words, &c.Ends.PRWhy.Name,
		&c.FailMessage, &c.FailNext, &c.FailWhose, &c.Progress.Step,
	} {
		if rapid.Bool().Draw(t, "hostile") {
			*into = say(fmt.Sprint("field ", i))
		}
	}
	for i := range c.Blockers {
		c.Blockers[i] = lifecycle.Blocker{Name: say("blocker"), Free: say("free"), Command: say("command"), Remark: say("remark")}
	}
	for i := range c.Identities {
		c.Identities[i] = say("identity")
	}
	return c
}

func hostileDetail(t *rapid.T) Detail {
	say := func(name string) string { return luring().Draw(t, name) }
	return Detail{
		Timeline:   []Moment{{At: start, What: say("what"), Why: say("because")}},
		Conditions: []Condition{{Type: say("type"), Status: say("status"), Reason: say("reason"), Message: say("message"), At: start}},
		Log:        []string{say("log"), say("log")}, Requester: "maya", Mention: []string{"ready", "failed", "expiring"}, Tests: hostileTests(t),
	}
}

// hostileTests are the results of two runs, with a stranger's words in all that a job reports. The runs' pages are GitHub's.
func hostileTests(t *rapid.T) []lifecycle.RunTests {
	say := func(name string) string { return luring().Draw(t, name) }
	var all []lifecycle.TestReport
	for i := range 2 {
		run := lifecycle.TestRun{ID: fmt.Sprint(i), Workflow: say("workflow"), URL: runPages + fmt.Sprint(i), Head: say("head")}
		all = append(all, lifecycle.TestReport{
			Name: say("name"), Total: 3, Failed: 3, Run: run, Attempt: 1, URL: rapid.SampledFrom([]string{"", "https://evil.example/report", runPages + "0/job/1", say("url")}).Draw(t, "url"),
			Failures: []lifecycle.TestFailure{{Suite: say("suite"), Name: say("test"), Message: say("message"), Details: say("details") + "\n" + say("details")}},
			Slowest:  []lifecycle.SlowTest{{Suite: say("suite"), Name: say("test"), Seconds: 1}},
		})
	}
	return lifecycle.TestsByRun(all)
}

const runPages = "https://github.example/acme/shop/actions/runs/"

func hostileVerdict(t *rapid.T) policy.Verdict {
	say := func(name string) string { return luring().Draw(t, name) }
	v := policy.Verdict{Allowed: rapid.Bool().Draw(t, "allowed"), Grant: policy.Grant{Name: say("granted")}}
	if rapid.Bool().Draw(t, "approval") {
		v.Approval = &policy.Approval{Count: 1, By: policy.Requester, Why: []string{say("approval")}}
	}
	for _, result := range []policy.Result{policy.Fail, policy.Ask, policy.Wait, policy.Warn} {
		v.Checks = append(v.Checks, policy.Check{Name: say("check"), Result: result, Message: say("words"), Next: say("todo"), Asked: say("asked"), Accept: say("accept")})
	}
	return v
}

func TestNoCommentHoldsALinkOrMentionThatIsNotTheBotsOwn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, text := hostile(t), luring().Draw(t, "text")
		own := rendered.Own{Links: []string{ui.UI + "/", c.ConsoleURL, c.APIURL, runPages}, Mentions: []string{"maya", "rob"}}
		c.Links = slices.Clone(c.Links)
		for i := range c.Links {
			c.Links[i].Title = text
			own.Links = append(own.Links, c.Links[i].URL)
		}
		v := hostileVerdict(t)
		for what, body := range map[string]string{
			"comment": Comment(c, hostileDetail(t), ui), "check": Check(c, ui).Summary, "left check": LeftCheck(c, text).Summary,
			"config check": ConfigCheck(text, []Annotation{{Line: 1, Title: text, Message: text}}).Summary, "config fine": ConfigCheck(text, nil).Summary, "config gone": ConfigGone(text).Summary,
			"tests": TestsCheck(hostileTests(t)).Summary, "refusal": Refusal("rob", v), "label": LabelRefusal("rob", text, v), "approval": ApprovalText(v), "advice": AdviceText(v), "status": StatusReply("rob", []lifecycle.Card{c}, ui, start),
			"exists": Exists("rob", c, ui, start), "unknown": UnknownLabel(text, []string{text}), "log": LogReply("rob", c, []string{text, text}, 1, ui), "help": Help(text),
			"answer": Answer(text, Said(text, "rob")), "said": Said("@rob, `"+strings.ReplaceAll(text, "`", "")+"` is: "+text, "rob"), "nobody": StatusReply(text+" !", nil, ui, start),
		} {
			if found := rendered.Calls(body, own); len(found) > 0 {
				t.Fatalf("%s holds %q:\n%s", what, found, body)
			}
		}
		for i, parsed := range Parse("/ocp " + text + "\n/ocp create " + text + "\n/ocp-" + text + "\n/ocp scale " + text) {
			if found := rendered.Calls(Answer(parsed.Line, parsed.Reply), own); parsed.Reply != "" && len(found) > 0 {
				t.Fatalf("answer %d holds %q:\n%s", i, found, parsed.Reply)
			}
		}
	})
}

// FuzzForeign tries any text in the two places where a stranger's words stand among ours.
func FuzzForeign(f *testing.F) {
	for _, lure := range lures {
		f.Add(lure)
	}
	f.Fuzz(func(t *testing.T, text string) {
		own := rendered.Own{Mentions: []string{"rob"}}
		require.Empty(t, rendered.Calls("**Why:** "+plain(text)+" and more", own))
		require.Empty(t, rendered.Calls(fmt.Sprintf("| a | b |\n|---|---|\n| %s | %s |\n", plain(text), cell(Code(text))), own))
		require.Empty(t, rendered.Calls("It is "+Code(text)+".", own))
		require.Empty(t, rendered.Calls(Said("@rob, it is: "+text, "rob"), own))
	})
}

func TestAStrangersWordsCanStillBeReadAndCopied(t *testing.T) {
	for text, want := range map[string]string{
		"see https://docs.example/x, please":   "see `https://docs.example/x`, please",
		"(vpc-0a1b2c3d4e5f67890) is in use":    "(`vpc-0a1b2c3d4e5f67890`) is in use",
		"6dcb09b was pushed":                   "`6dcb09b` was pushed",
		"fixes #12":                            "fixes `#12`",
		"acme/shop was archived at 2025-01-01": "acme/shop was archived at 2025-01-01",
		"a|https://evil.example":               "a\\|https\u200b://evil.example",
	} {
		require.Equal(t, want, plain(text))
	}
}
