package blocks

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	api "github.com/slack-go/slack"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/chatops/chatopstest"
	"github.com/ocpctl/ocpctl/chatops/slack"
	"github.com/ocpctl/ocpctl/internal/blockkit"
	"github.com/ocpctl/ocpctl/lifecycle"
)

// strange is text that somebody else wrote, up to 300 characters and more.
func strange(t *rapid.T, label string) string {
	evil := rapid.SampledFrom([]string{
		"<!channel>", "<!here|x>", "<@U0EVIL>", "<#C1>", "<!subteam^S1>", "@here", "@Channel", "@everyone", "`", "```", "``` \n", "*", "_", "~", "|", "[x](http://evil.example)",
		"<http://evil.example|x>", "http://evil.example", "&lt;!channel&gt;", "&", ">", "\n", "\n> ", "\u202e", "\x00", "\xff", "🟢", "2025-01-01 12:00 UTC", "<!date^1^{time}|x>", "</details>", "%s", `\`, `"`,
	})
	parts := rapid.SliceOfN(rapid.OneOf(evil, rapid.StringN(0, 60, 200), rapid.StringMatching(`[a-z]{0,300}`)), 0, 12).Draw(t, label)
	return strings.Join(parts, rapid.SampledFrom([]string{"", " "}).Draw(t, "between"))
}

// anyCard is a cluster in any state whose texts others wrote.
func anyCard(t *rapid.T) lifecycle.Card {
	lives := chatopstest.Lives()
	c := lives[rapid.SampledFrom(slices.Sorted(maps.Keys(lives))).Draw(t, "state")]
	for _, text := range []*string{
		&c.Name, &c.Profile, &c.Release, &c.Region, &c.Platform, &c.Owner, &c.Team, &c.Why.Words, &c.Why.Failure, &c.Why.Runner, &c.DesiredWhy.Words, &c.HoldWhy, &c.FailMessage, &c.FailReason, &c.FailNext, &c.FailWhose,
		&c.Progress.Step, &c.Ends.PRWhy.Words,
	} {
		if rapid.Bool().Draw(t, "strange") {
			*text = strange(t, "text")
		}
	}
	if c.Blockers != nil {
		c.Blockers = slices.Repeat([]lifecycle.Blocker{{Name: strange(t, "blocker"), Free: strange(t, "free"), Command: strange(t, "command"), Remark: strange(t, "remark")}}, rapid.IntRange(0, 60).Draw(t, "blockers"))
	}
	if rapid.Bool().Draw(t, "console") {
		c.ConsoleURL = strange(t, "console URL")
	}
	c.Links = slices.Clone(c.Links)
	for i := range c.Links {
		c.Links[i].Title = strange(t, "title")
	}
	return c
}

// allowed is the markup that the product itself writes. The console of a cluster may be anywhere, its apps are below its own domain.
var allowed = regexp.MustCompile(`<https?://[a-z-]+\.apps\.pr41-shop\.labs\.example\.com[/a-z]*>|<http://evil\.example\|Console>|<https://(?:ocp\.example\.com|console-openshift)[^<>|]*\|[^<>|]*>|<https://console-openshift[^<>|]*>|<!date\^[0-9]+\^\{date_short_pretty\} at \{time(?:_secs)?\}\|[-0-9: ]+UTC>`)

var (
	mention = regexp.MustCompile(`<@(?:U0MAYA|U0ROB)>`)
	entity  = regexp.MustCompile(`&(?:amp|lt|gt);`)
)

// harmless checks everything that is shown: nothing that others wrote is markup, and at most so many people are mentioned.
func harmless(t *rapid.T, raw []byte, most int) {
	var v any
	require.NoError(t, json.Unmarshal(raw, &v))
	mentions := 0
	var walk func(v any, key, kind string)
	walk = func(v any, key, kind string) {
		switch v := v.(type) {
		case map[string]any:
			kind, _ := v["type"].(string)
			for _, name := range slices.Sorted(maps.Keys(v)) {
				walk(v[name], name, kind)
			}
		case []any:
			for _, one := range v {
				walk(one, key, kind)
			}
		case string:
			if key != "text" {
				return
			}
			require.NotRegexp(t, calls, v)
			if kind == "mrkdwn" {
				mentions += len(mention.FindAllString(v, -1))
			}
			rest := mention.ReplaceAllString(allowed.ReplaceAllString(v, ""), "")
			require.NotContains(t, rest, "<", v)
			if kind != "plain_text" {
				require.NotContains(t, entity.ReplaceAllString(rest, ""), "&", v)
			}
		}
	}
	walk(v, "", "")
	require.LessOrEqual(t, mentions, most)
}

func check(t *rapid.T, m slack.Message) { checkMost(t, m, 1) }

// checkMost checks a message in which at most so many people are mentioned.
func checkMost(t *rapid.T, m slack.Message, most int) {
	raw := encoded(t, m)
	require.Empty(t, blockkit.Message(raw))
	require.LessOrEqual(t, slack.Length(m.Text), blockkit.GoodText)
	require.LessOrEqual(t, len(mention.FindAllString(m.Text, -1)), most)
	harmless(t, raw, most)
}

func checkView(t *rapid.T, view any) {
	raw := indented(t, view)
	require.Empty(t, blockkit.View(raw))
	harmless(t, raw, 1)
}

func TestAnyClusterIsShownSafely(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := anyCard(t)
		v := ClusterView{Card: c, Links: ui, Asker: strange(t, "asker")}
		if rapid.Bool().Draw(t, "waits") {
			v.Approval = &chatops.Waiting{ID: "apr_1"}
		}
		v.Detail.Approval, v.Detail.Advice = chatops.Plain(strange(t, "approval")), chatops.Plain(strange(t, "advice"))
		check(t, Cluster(v))
		news := []Moment{{At: start, What: strange(t, "what"), Why: strange(t, "news")}}
		check(t, Thread(c, slices.Repeat(news, rapid.IntRange(0, 100).Draw(t, "moments"))))
		check(t, Choose(chatops.Plain(strange(t, "question")), slices.Repeat([]lifecycle.Card{c}, rapid.IntRange(0, 60).Draw(t, "cards")), Press{Verb: chatops.VerbDestroy}))
	})
}

func TestAnyNoticeIsShownSafely(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := NoticeView{
			Event: rapid.SampledFrom(slices.Sorted(maps.Keys(kinds))).Draw(t, "event"), ID: "not_1", Links: ui, Mention: rapid.SampledFrom([]string{"", "U0MAYA", "<!channel>"}).Draw(t, "mention"),
			Facts: Facts{
				End: start.Add(time.Duration(rapid.IntRange(0, 100).Draw(t, "end")) * time.Minute), Longest: time.Duration(rapid.IntRange(0, 100_000).Draw(t, "longest")) * time.Second,
				Before: time.Hour, Approval: "apr_1", Handover: "hov_1", Title: strange(t, "title"), Text: strange(t, "text"), Runbook: strange(t, "runbook"), From: strange(t, "from"),
			},
		}
		if rapid.Bool().Draw(t, "about a cluster") {
			v.Card = anyCard(t)
		}
		if rapid.Bool().Draw(t, "done") {
			v.Facts.Done, v.Facts.DoneBy = strange(t, "what was done"), rapid.SampledFrom([]string{"U0ROB", "<@U0ROB>", ""}).Draw(t, "by")
		}
		check(t, Notice(v))
		other := v
		other.Card, other.Mention = anyCard(t), rapid.SampledFrom([]string{"", "U0ROB"}).Draw(t, "other mention")
		v.More = slices.Repeat([]NoticeView{other}, rapid.IntRange(1, 200).Draw(t, "more"))
		most := 2
		if v.Facts.DoneBy != "" { // each tells who pressed its button
			most += 1 + len(v.More)
		}
		checkMost(t, Notice(v), most)
	})
}

func TestAnyListIsShownSafely(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		row := Listed{Card: anyCard(t), Idle: strange(t, "idle")}
		rows := slices.Repeat([]Listed{row}, rapid.IntRange(0, 200).Draw(t, "rows"))
		check(t, List(ListView{Rows: rows, Filter: strange(t, "filter"), Next: "cursor", Links: ui, Now: start}))
		a := approval()
		a.Cluster, a.By, a.Team, a.Why, a.Head = strange(t, "cluster"), strange(t, "by"), strange(t, "team"), []string{strange(t, "why")}, strange(t, "head")
		approvals := slices.Repeat([]chatops.Waiting{a}, rapid.IntRange(0, 60).Draw(t, "approvals"))
		check(t, Approvals(approvals, true, ui))
		cards := slices.Repeat([]lifecycle.Card{row.Card}, rapid.IntRange(0, 60).Draw(t, "clusters"))
		allowance := Allowance{strange(t, "allowance"), strange(t, "used"), strange(t, "limit"), strange(t, "left")}
		checkView(t, Home(HomeView{
			Name: strange(t, "person"), Linked: rapid.Bool().Draw(t, "linked"), LinkHint: chatops.Plain(strange(t, "hint")), Mine: cards, Team: cards, More: true, Approvals: approvals, Links: ui,
			Allowances: slices.Repeat([]Allowance{allowance}, rapid.IntRange(0, 40).Draw(t, "allowances")),
			Acts:       map[string][]chatops.Verb{"clu_1": {chatops.VerbExtend, chatops.VerbDestroy, chatops.VerbLogs, chatops.VerbKubeconfig, chatops.VerbShare, chatops.VerbRetry}},
		}))
	})
}

func TestAnyFormIsShownSafely(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := FormView{Callback: FormCreate, Title: strange(t, "title"), Submit: strange(t, "submit"), Metadata: "{}"}
		kinds := []FieldKind{FieldText, FieldArea, FieldChoice, FieldChoices, ""}
		for i, kind := range rapid.SliceOfN(rapid.SampledFrom(kinds), 0, 30).Draw(t, "fields") {
			f := Field{Name: string(rune('a' + i)), Label: strange(t, "label"), Hint: strange(t, "hint"), Kind: kind, Value: strange(t, "value"), Live: rapid.Bool().Draw(t, "live")}
			for range rapid.IntRange(0, 3).Draw(t, "options") {
				f.Options = append(f.Options, Option{strange(t, "option"), strange(t, "option's text")})
			}
			if rapid.Bool().Draw(t, "chosen") && len(f.Options) > 0 {
				f.Value = f.Options[0].Value
			}
			if rapid.Bool().Draw(t, "wrong") {
				f.Problems = []string{strange(t, "problem"), strange(t, "problem")}
			}
			v.Fields = append(v.Fields, f)
		}
		v.Fixed = slices.Repeat([]Fact{{strange(t, "fact"), strange(t, "fact's value")}}, rapid.IntRange(0, 30).Draw(t, "facts"))
		v.Preview, v.Problems = []string{chatops.Plain(strange(t, "preview"))}, []string{chatops.Plain(strange(t, "problem"))}
		checkView(t, Form(v))
		checkView(t, Done(v.Title, chatops.Plain(strange(t, "done"))))
	})
}

func TestAnyAnswerIsValid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Repeat(strange(t, "answer")+"\n", rapid.IntRange(0, 200).Draw(t, "times"))
		m := Answer(text)
		require.Empty(t, blockkit.Message(encoded(t, m)))
		require.NotRegexp(t, calls, m.Text)
		require.NotRegexp(t, `<[!@#]`, regexp.MustCompile(`<!date\^`).ReplaceAllString(m.Text, ""))
		for _, b := range m.Blocks {
			if s, ok := b.(*api.SectionBlock); ok {
				require.Zero(t, strings.Count("\n"+s.Text.Text+"\n", "\n```\n")%2, "a code block is whole: %q", s.Text.Text)
			}
		}
		require.Empty(t, blockkit.Message(encoded(t, Help(text))))
	})
}
