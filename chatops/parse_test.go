package chatops

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/policy"
)

func TestCommandsAreUnderstood(t *testing.T) {
	for line, want := range map[string]Command{
		"/ocp":                              {Verb: VerbHelp},
		"/ocp help":                         {Verb: VerbHelp},
		"/ocp help create":                  {Verb: VerbHelp},
		"/OCP Create":                       {Verb: VerbCreate},
		"   /ocp  create\taws-standard":     {Verb: VerbCreate, Profile: "aws-standard"},
		"/ocp create ocp/AWS-Standard":      {Verb: VerbCreate, Profile: "aws-standard"},
		"/ocp create --ttl 8h aws-standard": {Verb: VerbCreate, Profile: "aws-standard", TTL: 8 * time.Hour},
		"/ocp create --TTL=8":               {Verb: VerbCreate, TTL: 8 * time.Hour},
		"/ocp create —ttl 2d –name demo":    {Verb: VerbCreate, TTL: 48 * time.Hour, Name: "demo"},
		"/ocp create --ttl never":           {Verb: VerbCreate, TTL: policy.NoEnd},
		"/ocp create --ttl 0":               {Verb: VerbCreate, TTL: policy.NoEnd},
		"/ocp create --ttl 0h":              {Verb: VerbCreate, TTL: policy.NoEnd},
		"/ocp create --ttl -4h":             {Verb: VerbCreate, TTL: -4 * time.Hour},
		"/ocp create --region us-east-2 --version 4.20.1 --team platform --name x": {Verb: VerbCreate, Region: "us-east-2", Version: "4.20.1", Team: "platform", Name: "x"},
		"/ocp destroy":                   {Verb: VerbDestroy},
		"/ocp destroy aws-standard":      {Verb: VerbDestroy, Profile: "aws-standard"},
		"/ocp extend 4h":                 {Verb: VerbExtend, TTL: 4 * time.Hour},
		"/ocp extend 4":                  {Verb: VerbExtend, TTL: 4 * time.Hour},
		"/ocp extend 1d12h aws-standard": {Verb: VerbExtend, TTL: 36 * time.Hour, Profile: "aws-standard"},
		"/ocp extend aws-standard 90m":   {Verb: VerbExtend, TTL: 90 * time.Minute, Profile: "aws-standard"},
		"/ocp status":                    {Verb: VerbStatus},
		"/ocp list\r":                    {Verb: VerbList},
	} {
		t.Run(line, func(t *testing.T) {
			parsed := Parse(line)
			require.Len(t, parsed, 1)
			require.Empty(t, parsed[0].Reply)
			want.Line = strings.TrimRight(strings.TrimLeft(line, " "), "\r")
			require.Equal(t, &want, parsed[0].Command)
		})
	}
}

func TestWhatIsNotSaidToUsIsIgnored(t *testing.T) {
	for name, body := range map[string]string{
		"nothing":               "",
		"other talk":            "Looks good to me.\nPlease /ocp destroy it later.",
		"a longer word":         "/ocpx create\n/ocpctl create\n/ocp-create",
		"a quote":               "> /ocp destroy\n>/ocp destroy\n > /ocp destroy",
		"a code fence":          "```\n/ocp destroy\n```",
		"a fence with language": "```sh\n/ocp destroy\n```",
		"a tilde fence":         "~~~\n/ocp destroy\n```\n/ocp destroy\n~~~",
		"a longer fence":        "````\n```\n/ocp destroy\n````",
		"a fence never closed":  "```\n/ocp destroy",
		"indented code":         "    /ocp destroy\n\t/ocp destroy",
		"a hidden comment":      "<!--\n/ocp destroy\n-->",
		"a list":                "- /ocp destroy",
	} {
		t.Run(name, func(t *testing.T) { require.Empty(t, Parse(body)) })
	}
	require.Len(t, Parse("```\n/ocp destroy\n```\n/ocp status"), 1, "a closed fence hides nothing behind it")
	require.Len(t, Parse("<!-- hidden -->\n/ocp status\n> quoted\n/ocp help"), 2)
	require.Len(t, Parse("```inline``` code\n/ocp status"), 1, "backticks in the info string open no fence")
}

func TestWhatIsNotUnderstoodIsAnsweredWithWhatWasMeant(t *testing.T) {
	for line, want := range map[string][]string{
		"/ocp crate aws-standard":             {"`/ocp crate` is not a command", "Did you mean `/ocp create`?"},
		"/ocp destory":                        {"Did you mean `/ocp destroy`?"},
		"/ocp kubconfig":                      {"Did you mean `/ocp kubeconfig`?"},
		"/ocp frobnicate":                     {"There are: `create`, `status`", "`/ocp help`"},
		"/ocp kubeconfig":                     {"does nothing here", "`ocpctl kubeconfig CLUSTER -f kubeconfig`", "never posted here"},
		"/ocp create --tll 4h":                {"`--tll` is not an option", "Did you mean `--ttl`?"},
		"/ocp create --colour=blue":           {"`--colour` is not an option", "There are: `--name`"},
		"/ocp create --ttl":                   {"`--ttl` needs a value, for example `--ttl 8h`"},
		"/ocp create --ttl --name x":          {"`--ttl` needs a value"},
		"/ocp create --ttl soon":              {"`soon` is not a lifetime", "4h, 90m, 2d"},
		"/ocp create --ttl 12h1d":             {"`12h1d` is not a lifetime"},
		"/ocp create --ttl 99999999h":         {"is not a lifetime"},
		"/ocp create --ttl 1h --ttl 2h":       {"`--ttl` is given twice"},
		"/ocp create aws-standard please":     {"`please` is one word too many"},
		"/ocp create --tll 4h --ttl soon x y": {"`--tll`", "`soon`", "`y` is one word too many"},
		"/ocp extend":                         {"needs to know how long"},
		"/ocp extend 0":                       {"`0` adds nothing"},
		"/ocp extend -4h":                     {"`-4h` adds nothing"},
		"/ocp extend never":                   {"`never` adds nothing"},
		"/ocp extend 4h --ttl 3":              {"`--ttl` is not an option here"},
		"/ocp list everything":                {"one word too many"},
		"/ocp `create` @maya":                 {"`/ocp 'create'` is not a command"},
	} {
		t.Run(line, func(t *testing.T) {
			parsed := Parse(line)
			require.Len(t, parsed, 1)
			require.Nil(t, parsed[0].Command)
			for _, part := range want {
				require.Contains(t, parsed[0].Reply, part)
			}
		})
	}
}

func TestACommentHoldsFiveCommandsAndSaysSo(t *testing.T) {
	require.Len(t, Parse(strings.Repeat("/ocp status\n", MaxCommands)), MaxCommands)
	parsed := Parse(strings.Repeat("/ocp status\n", 40))
	require.Len(t, parsed, MaxCommands+1)
	require.Contains(t, parsed[MaxCommands].Reply, "at most 5 commands")
}

func TestEveryCommandOfTheTableIsInHelpAndParses(t *testing.T) {
	help := Help("aws-minimal-test", "aws-standard")
	for _, e := range table {
		require.Contains(t, help, string(e.verb))
		require.NotEmpty(t, e.words)
		line := Prefix + " " + string(e.verb)
		if e.span {
			line += " 4h"
		}
		parsed := Parse(line)
		require.Len(t, parsed, 1)
		require.Equal(t, e.away, parsed[0].Command == nil)
	}
	for _, o := range options {
		require.Contains(t, help, o.name)
		parsed := Parse(Prefix + " create " + o.name + " " + o.example)
		require.NotNil(t, parsed[0].Command, parsed[0].Reply)
	}
	golden(t, "help.md", help)
}

func FuzzParse(f *testing.F) {
	f.Add("/ocp create aws-standard --ttl 4h\n```\n/ocp destroy\n```")
	f.Add("/ocp extend 1d12h\r\n> /ocp x\n/ocp @maya `x` --ttl=∞")
	f.Add("<!-- \n/ocp\n--> ~~~\n/ocp create —ttl")
	f.Fuzz(func(t *testing.T, body string) {
		parsed := Parse(body)
		require.LessOrEqual(t, len(parsed), MaxCommands+1)
		for _, p := range parsed {
			require.Equal(t, p.Command == nil, p.Reply != "", "a command or an answer, never both")
			require.Less(t, len(p.Reply), 6000)
			require.Empty(t, Parse(p.Reply), "an answer is never a command")
			if p.Command == nil {
				continue
			}
			if p.Command.Verb == VerbExtend {
				require.Positive(t, p.Command.TTL)
			}
			again := Parse(p.Line)
			require.Len(t, again, 1)
			require.Equal(t, p.Command, again[0].Command)
		}
	})
}
