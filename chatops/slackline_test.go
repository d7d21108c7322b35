package chatops

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/ocpctl/ocpctl/internal/commands"
)

func of(verb Verb) Command { return Command{Verb: verb} }

func TestWhatIsTypedInSlackIsUnderstood(t *testing.T) {
	for text, want := range map[string]SlackCommand{
		"":                                 {Command: of(VerbHelp)},
		"help me":                          {Command: of(VerbHelp)},
		"help Create":                      {Command: of(VerbHelp), Ref: "create"},
		"create --help":                    {Command: of(VerbHelp), Ref: "create"},
		"/ocp":                             {Command: of(VerbHelp)},
		"Approvals":                        {Command: of(VerbApprovals)},
		"approve apr_01J":                  {Command: of(VerbApprove), Ref: "apr_01J"},
		"approve `shop`, looks good to me": {Command: Command{Verb: VerbApprove, Reason: "looks good to me"}, Ref: "shop"},
		"approve shop -m 'looks good'":     {Command: Command{Verb: VerbApprove, Reason: "looks good"}, Ref: "shop"},
		"refuse  shop\ttoo &lt;big&gt; &amp; long": {Command: Command{Verb: VerbRefuse, Reason: "too <big> & long"}, Ref: "shop"},
		"refuse shop --reason “it’s too big”":      {Command: Command{Verb: VerbRefuse, Reason: "it’s too big"}, Ref: "shop"},
		"refuse shop " + strings.Repeat("x", 500):  {Command: Command{Verb: VerbRefuse, Reason: strings.Repeat("x", 500)}, Ref: "shop"},
		"/ocp approve shop":                        {Command: of(VerbApprove), Ref: "shop"},
		"`status clu_1`":                           {Command: of(VerbStatus), Cluster: "clu_1"},
		"status":                                   {Command: of(VerbStatus)},
		"LINK":                                     {Command: of(VerbLink)},
		"unlink":                                   {Command: of(VerbUnlink)},
		"create":                                   {Command: of(VerbCreate)},
		"create ocp/AWS-standard —ttl 8h -n=demo":                       {Command: Command{Verb: VerbCreate, Profile: "aws-standard", TTL: 8 * time.Hour, Name: "demo"}},
		"create --region us-east-2 --version 4.20.1 --team a --dry-run": {Command: Command{Verb: VerbCreate, Region: "us-east-2", Version: "4.20.1", Team: "a", DryRun: true}},
		"extend 4h":                           {Command: Command{Verb: VerbExtend, TTL: 4 * time.Hour}},
		"extend demo 90m":                     {Command: Command{Verb: VerbExtend, TTL: 90 * time.Minute}, Cluster: "demo"},
		"extend 90m *demo*":                   {Command: Command{Verb: VerbExtend, TTL: 90 * time.Minute}, Cluster: "demo"},
		"destroy demo --reason 'all is seen'": {Command: Command{Verb: VerbDestroy, Reason: "all is seen"}, Cluster: "demo"},
		"kubeconfig demo":                     {Command: of(VerbKubeconfig), Cluster: "demo"},
		"logs demo --lines 9":                 {Command: Command{Verb: VerbLogs, Lines: 9}, Cluster: "demo"},
		"logs":                                {Command: Command{Verb: VerbLogs, Lines: LogLines}},
		"list":                                {Command: of(VerbList)},
		"list --team a --profile AWS-standard --owner <@U2|will>": {Command: of(VerbList), Filter: ListFilter{Team: "a", Profile: "aws-standard", Owner: "U2"}},
		"list --owner @will":                              {Command: of(VerbList), Filter: ListFilter{Owner: "will"}},
		"list --owner maya":                               {Command: of(VerbList), Filter: ListFilter{Owner: "maya"}},
		"scale demo 4":                                    {Command: Command{Verb: VerbScale, Replicas: 4}, Cluster: "demo"},
		"scale --replicas 4":                              {Command: Command{Verb: VerbScale, Replicas: 4}},
		"refresh demo":                                    {Command: of(VerbRefresh), Cluster: "demo"},
		"retry":                                           {Command: of(VerbRetry)},
		"hold demo 2d -m demo":                            {Command: Command{Verb: VerbHold, TTL: 48 * time.Hour, Reason: "demo"}, Cluster: "demo"},
		"unhold demo":                                     {Command: of(VerbUnhold), Cluster: "demo"},
		"explain <http://demo.example.com|demo>":          {Command: of(VerbExplain), Cluster: "demo"},
		"share demo <@U1|maya>":                           {Command: of(VerbShare), Cluster: "demo", Person: "U1"},
		"share <!subteam^S1|@oncall>, demo":               {Command: of(VerbShare), Cluster: "demo", Group: "S1"},
		"share demo --with <@W1>":                         {Command: of(VerbShare), Cluster: "demo", Person: "W1"},
		"share demo --with github:maya":                   {Command: Command{Verb: VerbShare, With: "github:maya"}, Cluster: "demo"},
		"share --team platform":                           {Command: Command{Verb: VerbShare, Team: "platform"}},
		"unshare demo <@U1>":                              {Command: of(VerbUnshare), Cluster: "demo", Person: "U1"},
		"transfer demo <@U1|maya jones> --reason holiday": {Command: Command{Verb: VerbTransfer, Reason: "holiday"}, Cluster: "demo", Person: "U1"},
		"transfer demo --team platform":                   {Command: Command{Verb: VerbTransfer, Team: "platform"}, Cluster: "demo"},
		"notify":                                          {Command: of(VerbNotify)},
		"notify <#C1|clusters>":                           {Command: of(VerbNotify), Channel: "C1"},
		"notify <#C1> ready,Failed, expiring --team a":    {Command: Command{Verb: VerbNotify, Team: "a"}, Channel: "C1", Events: []string{"ready", "failed", "expiring"}},
		"notify ready blocked --repo acme/shop":           {Command: of(VerbNotify), Events: []string{"ready", "blocked"}, Repo: "acme/shop"},
		"notify <#C1|x> --off":                            {Command: of(VerbNotify), Channel: "C1", Off: true},
	} {
		t.Run(text, func(t *testing.T) {
			got, reply := ParseSlack(text)
			require.Empty(t, reply)
			again, _ := ParseSlack(inMarkup(got.Line))
			require.Equal(t, got, again)
			got.Line = ""
			require.Equal(t, want, *got)
		})
	}
}

// inMarkup is a line as Slack sends it.
func inMarkup(line string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(line)
}

func TestWhatIsNotUnderstoodInSlackSaysWhatWouldBe(t *testing.T) {
	for text, want := range map[string][]string{
		"approve":     {"`/ocp approvals` lists them", "`/ocp approve <approval or cluster> [reason]`", "`/ocp help approve`"},
		"refuse":      {"the id of an approval, or the name or id of a cluster"},
		"refuse shop": {"Add a reason", "`/ocp refuse <approval or cluster> <reason>`"},
		"refuse shop " + strings.Repeat("x", 501): {"501 bytes", "up to 500"},
		"refuse shop a --reason b":                {"nexpected argument `a`"},
		"status a b":                              {"nexpected argument `b`"},
		"link me":                                 {"nexpected argument `me`"},
		"link please":                             {"nexpected argument `please`"},
		"link ABCDEF":                             {"nexpected argument `ABCDEF`"},
		"aprove shop":                             {"Did you mean `/ocp approve`?"},
		"lunch":                                   {"Did you mean `launch`? The command for that is `/ocp create`."},
		"xyzzy":                                   {"There are: `create`, `status`"},
		"abandon shop":                            {"`/ocp abandon` is not available in Slack. On the command line it is `ocpctl abandon CLUSTER`."},
		"create --tll 4h":                         {"`--tll` is not an option. Did you mean `--ttl`?"},
		"create --ttl soon":                       {"`soon` is not a lifetime", "90m, 4h, 1h30m, 2d"},
		"create --ttl 1h --ttl 2h":                {"`--ttl` is given twice"},
		"create --owner maya":                     {"It is one of `/ocp list`"},
		"create " + strings.Repeat("x", 2_000):    {"has 2012 bytes and may have up to 2000"},
		"extend demo":                             {"Say how long"},
		"extend demo 0":                           {"`0` adds nothing"},
		"scale demo":                              {"for example `/ocp scale demo 4`"},
		"hold demo 8h -m 'a demo":                 {"The quote that starts at character 22 is not closed"},
		"share demo":                              {"one person, as in `@maya`, one user group, or a team"},
		"share demo <@U1> <@U2|will>":             {"`@will` is one person too many"},
		"share demo <@U1> --team a":               {"Say with whom"},
		"share demo @maya":                        {"`@maya` is nobody whom Slack knows by this name. Type @ and choose"},
		"share demo <!channel>":                   {"`@channel` is not a person or a user group"},
		"transfer demo":                           {"either a person, as in `@maya`, or a team"},
		"transfer demo <!subteam^S1|@oncall>":     {"`@oncall` is a group; a cluster has one owner"},
		"notify #clusters ready":                  {"`#clusters` is no channel that Slack knows"},
		"notify <#C1> redy":                       {"Did you mean `ready`?"},
		"notify clusters":                         {"`clusters` is not an event. The events are: `ready`, `failed`, `expiring`, `blocked`, `destroyed`, `weekly`. A channel begins with #."},
		"notify --team a":                         {"Say what to post"},
		"notify ready --repo shop":                {"it is written owner/name"},
		"notify ready --off=yes":                  {"`--off` takes no value"},
	} {
		t.Run(text, func(t *testing.T) {
			got, reply := ParseSlack(text)
			require.Nil(t, got)
			for _, message := range want {
				require.Contains(t, reply, message)
			}
		})
	}
}

func TestEveryCommandOfTheTableIsInSlacksHelpAndParses(t *testing.T) {
	help := SlackHelp(AllCommands)
	var all strings.Builder
	all.WriteString(help)
	for _, e := range inSlack.rows {
		require.Contains(t, help, Code(e.usage()))
		example := Prefix + " " + e.form.Example
		c, reply := ParseSlack(example)
		require.NotNil(t, c, reply)
		require.Equal(t, e.verb, c.Verb)
		about := SlackHelp(string(e.verb))
		require.Contains(t, about, Code(example))
		for _, o := range e.options {
			require.NotNil(t, o.set, "%s %s", e.verb, o.name)
			require.Contains(t, about, o.usage())
			line := map[Verb]string{VerbHold: "hold 8h", VerbApprove: "approve x", VerbRefuse: "refuse x", VerbTransfer: "transfer <@U1>", VerbNotify: "notify ready"}[e.verb]
			if line == "" || e.verb == VerbTransfer && o.Name == "team" {
				line = string(e.verb)
			}
			if e.verb == VerbShare && o.Name == "role" {
				line += " --team platform"
			}
			c, reply := ParseSlack(line + " " + o.name + " " + o.Example)
			require.NotNil(t, c, reply)
		}
		for _, other := range e.Synonyms {
			verb, ok := inSlack.findMeant(other)
			require.True(t, ok)
			require.Equal(t, string(e.verb), verb, other)
		}
		all.WriteString("\n---\n\n" + about)
	}
	golden(t, "slack-help.md", all.String())
}

func TestACommandOfAnotherPlaceIsAnsweredWithThePlace(t *testing.T) {
	for _, c := range commands.Table {
		_, inSlackToo := inSlack.find(c.Name)
		got, reply := ParseSlack(c.Name + " --help")
		require.Equal(t, inSlackToo, got != nil, c.Name)
		if !inSlackToo {
			require.Contains(t, reply, "is not available in Slack")
		}
	}
	require.Contains(t, Parse("/ocp transfer x")[0].Reply, "`/ocp transfer` is not available on pull requests. In Slack it is `/ocp transfer [cluster] @person | --team <team>`. On the command line it is `ocpctl transfer CLUSTER --team TEAM`.")
}

// typed renders a command as a person might type it in Slack, and Slack sends it.
func typed(t *rapid.T, c SlackCommand) string {
	about, rest := []string{string(c.Verb)}, []string{}
	add := func(words ...string) { rest = append(rest, strings.Join(words, " ")) }
	for _, word := range []string{c.Cluster, c.Ref, c.Profile} {
		if word != "" {
			about = append(about, word)
		}
	}
	options := []struct{ name, value string }{{"name", c.Name}, {"region", c.Region}, {"team", c.Team + c.Filter.Team}, {"with", c.With}, {"reason", c.Reason}, {"repo", c.Repo}, {"owner", c.Filter.Owner}, {"profile", c.Filter.Profile}}
	for _, o := range options {
		if o.value != "" {
			add("--"+o.name, rapid.SampledFrom([]func(string) string{single, double}).Draw(t, "quote")(o.value))
		}
	}
	switch {
	case c.Person != "":
		add("<@" + c.Person + rapid.SampledFrom([]string{"", "|maya", "|maya jones"}).Draw(t, "label") + ">")
	case c.Group != "":
		add("<!subteam^" + c.Group + rapid.SampledFrom([]string{"", "|@oncall"}).Draw(t, "label") + ">")
	}
	if c.Channel != "" {
		add("<#" + c.Channel + rapid.SampledFrom([]string{"", "|clusters"}).Draw(t, "label") + ">")
	}
	if len(c.Events) > 0 {
		add(strings.Join(c.Events, rapid.SampledFrom([]string{",", " ", ", "}).Draw(t, "between")))
	}
	if c.TTL != 0 {
		add(map[bool]string{true: "--ttl ", false: ""}[c.Verb == VerbCreate] + c.TTL.String()[:strings.IndexByte(c.TTL.String(), 'm')+1])
	}
	if c.DryRun {
		add("--dry-run")
	}
	if c.Off {
		add("--off")
	}
	var text []string
	for _, word := range append(about, rapid.Permutation(rest).Draw(t, "order")...) {
		if !strings.HasPrefix(word, "<") {
			word = inMarkup(word)
		}
		text = append(text, word)
	}
	return strings.Join(text, rapid.SampledFrom([]string{" ", "  ", "\t", "\u00a0"}).Draw(t, "blank"))
}

func TestACommandTypedInSlackComesBackWhole(t *testing.T) {
	name := rapid.StringMatching(`[b-m][a-z-]{0,6}[xyz]`)
	text := rapid.StringMatching(`[a-z“”"'\\<>&@#|—é-]([a-z“”"'\\<>&@#|—é -]{0,12}[a-z“”"'\\<>&@#|—é-])?`)
	span := rapid.Map(rapid.IntRange(1, 3000), func(n int) time.Duration { return time.Duration(n) * time.Minute })
	person, group, channel := rapid.StringMatching(`[UW][A-Z0-9]{1,9}`), rapid.StringMatching(`S[A-Z0-9]{1,9}`), rapid.StringMatching(`[CG][A-Z0-9]{1,9}`)
	rapid.Check(t, func(t *rapid.T) {
		c := SlackCommand{Command: of(Verb(rapid.SampledFrom([]string{"create", "destroy", "extend", "hold", "share", "unshare", "transfer", "refuse", "approve", "list", "notify", "status"}).Draw(t, "verb")))}
		maybe := func(g *rapid.Generator[string], what string) string {
			if rapid.Bool().Draw(t, "with "+what) {
				return g.Draw(t, what)
			}
			return ""
		}
		switch c.Verb {
		case VerbCreate:
			c.Profile, c.Name, c.Region, c.Team, c.TTL, c.DryRun = maybe(name, "profile"), maybe(text, "name"), maybe(text, "region"), maybe(text, "team"), span.Draw(t, "ttl"), rapid.Bool().Draw(t, "dry")
		case VerbExtend, VerbHold:
			c.Cluster, c.TTL = maybe(name, "cluster"), span.Draw(t, "span")
		case VerbShare, VerbUnshare:
			c.Cluster = maybe(name, "cluster")
			switch rapid.IntRange(0, 3).Draw(t, "to whom") {
			case 0:
				c.Person = person.Draw(t, "person")
			case 1:
				c.Group = group.Draw(t, "group")
			case 2:
				c.Team = text.Draw(t, "team")
			default:
				c.With = name.Draw(t, "with")
			}
		case VerbTransfer:
			c.Cluster, c.Reason, c.Person = maybe(name, "cluster"), maybe(text, "reason"), person.Draw(t, "person")
		case VerbApprove, VerbRefuse:
			c.Ref, c.Reason = name.Draw(t, "ref"), text.Draw(t, "reason")
		case VerbList:
			c.Filter = ListFilter{Team: maybe(text, "team"), Profile: maybe(name, "profile"), Owner: maybe(name, "owner")}
		case VerbNotify:
			c.Channel, c.Team, c.Off = maybe(channel, "channel"), maybe(text, "team"), rapid.Bool().Draw(t, "off")
			c.Events = rapid.SliceOfNDistinct(rapid.SampledFrom(commands.EventNames), 1, 5, rapid.ID).Draw(t, "events")
		case VerbDestroy:
			c.Cluster, c.Reason = maybe(name, "cluster"), maybe(text, "reason")
		default:
			c.Cluster = maybe(name, "cluster")
		}
		line := typed(t, c)
		got, reply := ParseSlack(line)
		require.NotNil(t, got, "%s: %s", line, reply)
		again, _ := ParseSlack(inMarkup(got.Line))
		require.Equal(t, got, again)
		c.Line = got.Line
		require.Equal(t, c, *got, line)
	})
}

func FuzzSlackCommand(f *testing.F) {
	for _, seed := range []string{
		"", "/ocp", "share demo <@U1|maya> -- x", "notify <#C1|clusters> ready,failed --off", "share <!subteam^S1|@on call> --team “a”", "refuse shop &lt;b&gt; &amp;amp; <https://x|y> <mailto:a@b>",
		"`create —ttl 8h`", "<><@><#><!>|<@U|>", "\xff<\x00@U1>", "approve `a` *b* --reason 'c", "list --owner <@U1>", "transfer <!here> @maya", "/ocp /ocp create", "extend \u200b4h\u2060 demo",
	} {
		f.Add(seed)
	}
	for _, e := range inSlack.rows {
		f.Add(e.form.Example)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, reply := ParseSlack(text)
		require.Equal(t, c == nil, reply != "", "a command or an answer, never both")
		require.Less(t, len(reply), 6000)
		require.True(t, utf8.ValidString(reply))
		if c == nil {
			return
		}
		_, known := inSlack.find(string(c.Verb))
		require.True(t, known)
		require.LessOrEqual(t, len(c.Reason), maxReason)
		require.LessOrEqual(t, len(c.Line), maxLine)
		require.LessOrEqual(t, len(c.Events), len(commands.EventNames))
		switch c.Verb {
		case VerbExtend, VerbHold:
			require.Positive(t, c.TTL)
		case VerbApprove, VerbRefuse:
			require.NotEmpty(t, c.Ref)
		}
		again, reply := ParseSlack(inMarkup(c.Line))
		require.Equal(t, c, again, "its line read again is the same: %s", reply)
	})
}
