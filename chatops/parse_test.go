package chatops

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/ocpctl/ocpctl/internal/commands"
	"github.com/ocpctl/ocpctl/policy"
)

func TestCommandsAreUnderstood(t *testing.T) {
	for line, want := range map[string]Command{
		"/ocp":                              {Verb: VerbHelp},
		"/ocp help":                         {Verb: VerbHelp},
		"/ocp help create":                  {Verb: VerbHelp, Topic: "create"},
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
		"/ocp status  \\":                {Verb: VerbStatus},
		"\ufeff/ocp\u00a0extend\u3000 4h\u200b aws-standard":  {Verb: VerbExtend, TTL: 4 * time.Hour, Profile: "aws-standard"},
		"/ocp create --version '4.20.1' \"aws-\"standard":     {Verb: VerbCreate, Version: "4.20.1", Profile: "aws-standard"},
		"/ocp create -t 8h -n=demo -region us-east-2":         {Verb: VerbCreate, TTL: 8 * time.Hour, Name: "demo", Region: "us-east-2"},
		"/ocp create --off-hours aws-standard":                {Verb: VerbCreate, Profile: "aws-standard", OffHours: new(true)},
		"/ocp create aws-standard --off-hours=false":          {Verb: VerbCreate, Profile: "aws-standard", OffHours: new(false)},
		"/ocp create —off-hours=TRUE --dry-run":               {Verb: VerbCreate, OffHours: new(true), DryRun: true},
		"/ocp create --help":                                  {Verb: VerbHelp, Topic: "create"},
		"/ocp -h":                                             {Verb: VerbHelp},
		"/ocp ?":                                              {Verb: VerbHelp},
		"/ocp destroy --reason 'all is seen'":                 {Verb: VerbDestroy, Reason: "all is seen"},
		"/ocp destroy aws-standard -m “it’s done”":            {Verb: VerbDestroy, Profile: "aws-standard", Reason: "it’s done"},
		"/ocp scale 4":                                        {Verb: VerbScale, Replicas: 4},
		"/ocp scale 0 aws-standard":                           {Verb: VerbScale, Profile: "aws-standard"},
		"/ocp scale aws-standard -r 2":                        {Verb: VerbScale, Profile: "aws-standard", Replicas: 2},
		"/ocp hold 8h":                                        {Verb: VerbHold, TTL: 8 * time.Hour},
		`/ocp hold aws-standard 2d --reason="a \"big\" demo"`: {Verb: VerbHold, Profile: "aws-standard", TTL: 48 * time.Hour, Reason: `a "big" demo`},
		"/ocp logs":                                   {Verb: VerbLogs, Lines: LogLines},
		"/ocp logs aws-standard --lines 200":          {Verb: VerbLogs, Profile: "aws-standard", Lines: 200},
		"/ocp kubeconfig":                             {Verb: VerbKubeconfig},
		"/ocp retry aws-standard":                     {Verb: VerbRetry, Profile: "aws-standard"},
		"/ocp share --team platform":                  {Verb: VerbShare, Team: "platform"},
		"/ocp share aws-standard --with github:maya":  {Verb: VerbShare, Profile: "aws-standard", With: "github:maya"},
		"/ocp approve aws-standard":                   {Verb: VerbApprove, Profile: "aws-standard"},
		"/ocp refuse we don't need it - sorry":        {Verb: VerbRefuse, Reason: "we don't need it - sorry"},
		"/ocp refuse aws-standard --reason 'too big'": {Verb: VerbRefuse, Profile: "aws-standard", Reason: "too big"},
		"/ocp refuse -- --force is no reason":         {Verb: VerbRefuse, Reason: "--force is no reason"},
	} {
		t.Run(line, func(t *testing.T) {
			parsed := Parse(line)
			require.Len(t, parsed, 1)
			require.Empty(t, parsed[0].Reply)
			want.Line = strings.TrimFunc(line, blank)
			require.Equal(t, &want, parsed[0].Command)
		})
	}
}

func TestWhatIsNotUnderstoodIsAnsweredWithWhatWasMeant(t *testing.T) {
	for line, want := range map[string][]string{
		"/ocp crate aws-standard":                     {"`/ocp crate` is not a command", "Did you mean `/ocp create`?"},
		"/ocp lunch":                                  {"`/ocp lunch` is not a command. Did you mean `launch`? The command for that is `/ocp create`."},
		"/ocp de":                                     {"Did you mean `/ocp destroy`?"},
		"/ocp destory":                                {"Did you mean `/ocp destroy`?"},
		"/ocp kubconfig":                              {"Did you mean `/ocp kubeconfig`?"},
		"/ocp frobnicate":                             {"There are: `create`, `status`", "`/ocp help`"},
		"/ocp create --tll 4h":                        {"`--tll` is not an option", "Did you mean `--ttl`?"},
		"/ocp create --colour=blue":                   {"`--colour` is not an option", "The options are: `--name`"},
		"/ocp create --ttl":                           {"`--ttl` needs a value, for example `--ttl 8h`"},
		"/ocp create --ttl --name x":                  {"`--ttl` needs a value"},
		"/ocp create --ttl soon":                      {"`soon` is not a lifetime", "90m, 4h, 1h30m, 2d"},
		"/ocp create --ttl 12h1d":                     {"`12h1d` is not a lifetime"},
		"/ocp create --ttl 99999999h":                 {"is not a lifetime"},
		"/ocp create --ttl 1h --ttl 2h":               {"`--ttl` is given twice"},
		"/ocp create --off-hours=nights":              {"`nights` is neither true nor false."},
		"/ocp create --off-hours --off-hours=false":   {"`--off-hours` is given twice"},
		"/ocp create --dry-run=false":                 {"`--dry-run` takes no value"},
		"/ocp create aws-standard please":             {"nexpected argument `please`"},
		"/ocp create --tll 4h --ttl soon x y":         {"`--tll`", "`soon`", "nexpected argument `y`"},
		"/ocp extend":                                 {"Say how long"},
		"/ocp extend 0":                               {"`0` adds nothing"},
		"/ocp extend -4h":                             {"`-4h` adds nothing"},
		"/ocp extend never":                           {"`never` adds nothing"},
		"/ocp extend 4h --ttl 3":                      {"`--ttl` is not an option; `/ocp extend` has none. It is one of `/ocp create`."},
		"/ocp delete":                                 {"Did you mean `/ocp destroy`?"},
		"/ocp deny aws-standard":                      {"Did you mean `/ocp refuse`?"},
		"/ocp create -t":                              {"`--ttl` needs a value"},
		"/ocp create -x 4":                            {"`-x` is not an option"},
		"/ocp create --name \"\"":                     {"`--name` needs a value"},
		"/ocp hold --reason 'a demo":                  {"The quote that starts at character 20 is not closed: `'a demo`"},
		"/ocp hold 8h -m “a demo":                     {"The quote that starts at character 17 is not closed: `“a demo`"},
		"/ocp hold --reason x":                        {"Say how long"},
		"/ocp scale":                                  {"Give the number of workers, for example `/ocp scale 4`"},
		"/ocp scale -1":                               {"`-1` is not a number of workers"},
		"/ocp scale 3 --replicas 4":                   {"given twice"},
		"/ocp logs --lines 201":                       {"`201` is not a number of lines from 1 to 200"},
		"/ocp logs --tail 9":                          {"`--tail` is not an option. The options are: `--lines`"},
		"/ocp share":                                  {"Say with whom: either `--team platform` or `--with github:maya`"},
		"/ocp share --team a --with b":                {"either"},
		"/ocp refuse":                                 {"Add a reason"},
		"/ocp refuse a b --reason c":                  {"nexpected argument `b`"},
		"/ocp refuse " + strings.Repeat("long ", 101): {"504 bytes", "up to 500"},
		"/ocp create " + strings.Repeat("x", 1<<16):   {"has 65548 bytes and may have up to 2000"},
		"/ocpctl create":                              {"In comments the command is `/ocp`", "Did you mean `/ocp create`?"},
		"/ocpctl":                                     {"In comments the command is `/ocp`"},
		"/ocp-create aws-standard":                    {"`/ocp-create` is not a command. Did you mean `/ocp create`?"},
		"/ocp: status":                                {"Did you mean `/ocp status`?"},
		"ocp/aws-standard":                            {"`ocp/aws-standard` is a label", "`/ocp create aws-standard`"},
		"/ocp/aws-standard":                           {"is a label"},
		"ocp-ttl/8":                                   {"`ocp-ttl/8` is a label, not a command, so nothing was done. Add the label to the pull request."},
		"/ocp list everything":                        {"nexpected"},
		"/ocp `create` @maya":                         {"`/ocp 'create'` is not a command"},
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
	require.Contains(t, parsed[MaxCommands].Reply, "up to 5 commands")
}

func TestEveryRowOfTheTableCanBeDone(t *testing.T) {
	for _, c := range commands.Table {
		if c.Permission != "" {
			require.Contains(t, policy.Acts(), policy.Act(c.Permission), c.Name)
		}
	}
	for _, e := range inComments.rows {
		for _, o := range e.options {
			require.NotNil(t, o.set, "%s %s", e.verb, o.name)
		}
	}
	require.Contains(t, Help(), fmt.Sprintf("shows %d by default and at most %d", LogLines, MaxLogLines))
}

func TestEveryCommandOfTheTableIsInHelpAndParses(t *testing.T) {
	help := Help("aws-minimal-test", "aws-standard")
	for _, e := range inComments.rows {
		require.Contains(t, help, Code(e.usage()))
		example := Prefix + " " + e.form.Example
		require.Contains(t, help, Code(example))
		parsed := Parse(example)
		require.Len(t, parsed, 1)
		require.NotNil(t, parsed[0].Command, parsed[0].Reply)
		require.Equal(t, e.verb, parsed[0].Command.Verb)
		for _, o := range e.options {
			require.Contains(t, help, o.usage())
			line := map[Verb]string{VerbScale: "/ocp scale", VerbHold: "/ocp hold 8h", VerbShare: "/ocp share"}[e.verb]
			if line == "" {
				line = Prefix + " " + string(e.verb)
			}
			if e.verb == VerbShare && o.Name == "role" {
				line += " --team platform"
			}
			long := Parse(line + " " + o.name + " " + o.Example)[0]
			require.NotNil(t, long.Command, long.Reply)
			if o.Short != "" {
				short := Parse(line + " -" + o.Short + " " + o.Example)[0]
				require.NotNil(t, short.Command, short.Reply)
				short.Command.Line = long.Command.Line
				require.Equal(t, long.Command, short.Command)
			}
		}
		for _, other := range e.Synonyms {
			verb, ok := inComments.findMeant(other)
			require.True(t, ok)
			require.Equal(t, string(e.verb), verb, other)
			_, taken := inComments.find(other)
			require.False(t, taken, other)
		}
	}
	golden(t, "help.md", help)
}

func TestAnApprovalNamesACommitAndAProfileInAnyOrder(t *testing.T) {
	known := []string{"aws-standard", "deadbeef"}
	for line, want := range map[string][2]string{
		"/ocp approve":                      {"", ""},
		"/ocp approve 6DCB09B":              {"6dcb09b", ""},
		"/ocp approve 6dcb09b aws-standard": {"6dcb09b", "aws-standard"},
		"/ocp approve aws-standard 6dcb09b5b57875f334f61aebed695e2e4193db5e": {"6dcb09b5b57875f334f61aebed695e2e4193db5e", "aws-standard"},
		"/ocp approve 6dcb09":           {"", "6dcb09"}, // too short for a commit
		"/ocp approve deadbeef":         {"", "deadbeef"},
		"/ocp approve abcdef0 deadbeef": {"abcdef0", "deadbeef"},
	} {
		parsed := Parse(line)[0]
		require.NotNil(t, parsed.Command, parsed.Reply)
		c := parsed.Command.For(known)
		require.Equal(t, want, [2]string{c.Commit, c.Profile}, line)
	}
	require.Nil(t, Parse("/ocp approve 6dcb09b aws-standard 6dcb09b")[0].Command)
}

// A wrong code uses up a try, so a word must not be one.
func TestALinksCodeIsToldFromAWord(t *testing.T) {
	require.Equal(t, "AB2CDE", Parse("/ocp link ab2cde")[0].Command.Code)
	for _, word := range []string{"please", "ABCDEF", "github", "abc234567", "AB1CDE", "234"} {
		parsed := Parse("/ocp link " + word)[0]
		require.Nil(t, parsed.Command, word)
		require.Contains(t, parsed.Reply, "/ocp link [code]", word)
	}
}

func TestARefusalsFirstWordIsAProfileOnlyIfThereIsOne(t *testing.T) {
	known := []string{"aws-minimal-test", "aws-standard"}
	c := Parse("/ocp refuse ocp/AWS-standard is too big")[0].Command.For(known)
	require.Equal(t, "aws-standard", c.Profile)
	require.Equal(t, "is too big", c.Reason)
	c = Parse("/ocp refuse aws-standard")[0].Command.For(known)
	require.Equal(t, "aws-standard", c.Profile)
	require.Empty(t, c.Reason)
	c = Parse("/ocp refuse aws-standard -m 'aws-standard is too big'")[0].Command.For(known)
	require.Equal(t, "aws-standard is too big", c.Reason)
	c = Parse("/ocp refuse well-known to be too big")[0].Command.For(known)
	require.Equal(t, "well-known to be too big", c.Reason)
	require.Empty(t, c.Profile)
}

func TestWhatIsQuotedComesBackWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.StringOf(rapid.RuneFrom([]rune("ab' \"\\“”‘’—-=$`/@\u00a0\u200b<>"))), 1, 6).Draw(t, "words")
		for _, quote := range []func(string) string{double, single} {
			quoted := make([]string, len(words))
			for i, w := range words {
				quoted[i] = quote(w)
			}
			got, problem := split(strings.Join(quoted, "\u00a0 "), 0)
			require.Empty(t, problem)
			require.Len(t, got, len(words))
			for i, w := range got {
				require.Equal(t, words[i], w.text)
				require.False(t, w.plain, "what is quoted is no option")
			}
		}
	})
}

func double(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) + `"`
}

// single is how a shell quotes: nothing inside means anything, and a quote of its own is said outside.
func single(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

func FuzzParse(f *testing.F) {
	for _, seed := range fuzzSeeds() {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, body string) {
		parsed := Parse(body)
		require.LessOrEqual(t, len(parsed), MaxCommands+1)
		said := 0
		for _, p := range parsed {
			said += len(p.Line) + len(p.Reply)
			require.Equal(t, p.Command == nil, p.Reply != "", "a command or an answer, never both")
			require.Less(t, len(p.Reply), 6000)
			require.True(t, utf8.ValidString(p.Reply))
			require.Empty(t, Parse(p.Reply), "an answer is never a command")
			require.Empty(t, Parse(Answer(p.Line, p.Reply)), "an answer is never a command")
			if p.Command != nil {
				understood(t, *p.Command)
			}
		}
		require.LessOrEqual(t, said, 65_536)
	})
}

// understood holds what is promised of every command, and that its line read again is the same.
func understood(t *testing.T, c Command) {
	_, known := inComments.find(string(c.Verb))
	require.True(t, known)
	require.LessOrEqual(t, len(c.Reason), maxReason)
	switch c.Verb {
	case VerbExtend, VerbHold:
		require.Positive(t, c.TTL)
	case VerbLogs:
		require.True(t, c.Lines >= 1 && c.Lines <= MaxLogLines)
	case VerbScale:
		require.True(t, c.Replicas >= 0 && c.Replicas <= maxReplicas)
	case VerbRefuse:
		require.NotEmpty(t, c.Reason)
	case VerbShare:
		require.NotEqual(t, c.Team == "", c.With == "")
	}
	again := Parse(c.Line)
	require.Len(t, again, 1)
	require.Equal(t, &c, again[0].Command)
}

func fuzzSeeds() []string {
	seeds := []string{
		"/ocp create aws-standard --ttl 4h\n```\n/ocp destroy\n```", "/ocp extend 1d12h\r\n> /ocp x\n/ocp @maya `x` --ttl=∞",
		"<!-- \n/ocp\n--> ~~~\n/ocp create —ttl", "- ```\n  /ocp destroy\n  ```\n/ocp status", "<details>\n<summary>x</summary>\n\n/ocp destroy\n\n</details>\n\n/ocp list",
		"/ocp hold 8h --reason \"a 'demo' \\\" \\\\\" -m", "/ocp refuse “it’s too big” — don't", "\ufeff/ocp\u00a0scale\u30004", "/ocpctl create\nocp/aws-standard\n/ocp-create",
		"1. a\n2. b\n   /ocp x\n\n  /ocp y", "text `code\n/ocp x\n` more\n/ocp y", "\xff/ocp \xfe", "> a\nlazy\n2. b\n   ```\n/ocp x\n   ```\n/ocp y", "/ocp share --team a\r/ocp share --with 'b",
		"/ocp logs -n 200 -- --lines", "\t- a\n\t/ocp x\n* * *\n  /ocp y", strings.Repeat("> ", 300) + "/ocp x", strings.Repeat("/ocp x\n", 9),
	}
	for _, e := range inComments.rows {
		seeds = append(seeds, Prefix+" "+e.form.Example)
	}
	return seeds
}

func BenchmarkParseACommand(b *testing.B) {
	for b.Loop() {
		Parse("/ocp hold 8h aws-standard --reason \"a demo on Friday\"")
	}
}

func BenchmarkParseAReview(b *testing.B) {
	body := strings.Repeat("Looks good to me, with a `remark` or two.\n\n```go\nfunc main() {}\n```\n\n- one\n- two\n", 40) + "/ocp create --ttl 4h\n"
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		Parse(body)
	}
}

func BenchmarkParseAMegabyte(b *testing.B) {
	for name, unit := range map[string]string{"quotes": "> ", "lines": "/ocp\u200bx y\n", "word": "x", "spans": "`<!--", "lists": "- a\n  ", "folds": "<details>\n"} {
		body := strings.Repeat(unit, (1<<20)/len(unit))
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			for b.Loop() {
				Parse(body)
			}
		})
	}
}
