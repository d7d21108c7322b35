package profiles

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// pastedToken is long enough to be worth something, and must not be told again whole.
const pastedToken = "ghp_0123456789abcdefghijABCDEFGHIJ012345"

func TestARepositoryFileSaysEverythingItCan(t *testing.T) {
	page, err := os.ReadFile("../docs/repository-file.md")
	require.NoError(t, err)
	_, example, found := strings.Cut(string(page), "```yaml\n# "+RepositoryFilePath+"\n")
	require.True(t, found, "the page has the example")
	example, _, _ = strings.Cut(example, "```")
	f, err := LoadRepositoryFile([]byte(example))
	require.NoError(t, err)
	grace := 30 * time.Minute
	require.Equal(t, RepositoryFile{
		Default: "aws-minimal-test", Profiles: []string{"aws-minimal-test", "aws-standard"}, TTL: 8 * time.Hour, Grace: &grace,
		Drafts: DraftsDeny, Forks: ForksApprove, Synchronize: SynchronizeKeep, MergeQueue: MergeQueueReuse, Keep: 48 * time.Hour, Addons: []string{"cert-manager"}, OffHours: new(false),
		Notify: Notify{Mention: []string{MentionReady, MentionFailed, MentionExpiring}, Slack: map[string][]string{"C012AB3CD": {"failed", "expiring"}}},
	}, f)
	for _, f := range f.Profiles {
		_, known := catalogue(t).Get(f)
		require.True(t, known, f)
	}
}

func TestThePageNamesEveryKeyOfARepositoryFile(t *testing.T) {
	page, err := os.ReadFile("../docs/repository-file.md")
	require.NoError(t, err)
	_, err = LoadRepositoryFile([]byte("x: 1\n"))
	var problems Problems
	require.ErrorAs(t, err, &problems)
	for key := range strings.SplitSeq(problems[0].Accept, ", ") {
		require.Contains(t, string(page), "\n| `"+key, key)
	}
}

func TestWhatHoldsNothingSaysNothing(t *testing.T) {
	for _, empty := range []string{"", "\n", "# words alone\n", "---\n", "\ufeff# words\n---\n", "{}", "version: 1"} {
		f, err := LoadRepositoryFile([]byte(empty))
		require.NoError(t, err, empty)
		require.Equal(t, RepositoryFile{}, f, empty)
	}
	f, err := LoadRepositoryFile([]byte("grace: 0s\r\nprofiles:\r\n- aws-*\r\n"))
	require.NoError(t, err)
	require.NotNil(t, f.Grace, "no grace is another thing than none said")
	require.Zero(t, *f.Grace)
	require.Equal(t, []string{"aws-*"}, f.Profiles)
}

func TestEachMistakeOfARepositoryFileIsToldAtItsPlace(t *testing.T) {
	const keys = "version, defaultProfile, profiles, ttl, grace, drafts, forks, synchronize, mergeQueue, keep, addons, offHours, notify"
	for name, c := range map[string]struct{ file, want string }{
		"a key misspelt":             {"\ndefaultProfil: x\n", "2:1: defaultProfil: not supported; accepted: defaultProfile (closest match); one of " + keys},
		"a key that begins alike":    {"default: x\n", "1:1: default: not supported; accepted: defaultProfile (closest match); one of " + keys},
		"a key unlike all":           {"colour: x\n", "1:1: colour: not supported; accepted: " + keys},
		"a key inside, misspelt":     {"notify:\n  mentions: [ready]\n", "2:3: notify.mentions: not supported; accepted: mention (closest match); one of mention, slack"},
		"a key that is no word":      {"? [a, b]\n: c\n", "1:3: a list of 2: not supported; accepted: " + keys},
		"a key that is a token":      {pastedToken + ": x\n", "1:1: \"ghp_0123456789abcdef…\": not supported; accepted: " + keys},
		"a value that is a token":    {"drafts: " + pastedToken + "\n", "1:9: drafts: \"ghp_0123456789abcdef…\"; accepted: one of allow, deny"},
		"a key twice":                {"ttl: 4h\nttl: 5h\n", "2:1: ttl: given twice; accepted: one ttl"},
		"a version to come":          {"version: 2\n", "1:10: version: 2; accepted: 1, the only version"},
		"a lifetime without a unit":  {"ttl: 4\n", "1:6: ttl: 4; accepted: a duration such as 1h or 90m, above 0 and at most 720h"},
		"a lifetime without an end":  {"ttl: never\n", "1:6: ttl: \"never\"; accepted: a duration such as 1h or 90m, above 0 and at most 720h"},
		"a lifetime of nothing":      {"ttl: 0h\n", "1:6: ttl: \"0h\"; accepted: a duration such as 1h or 90m, above 0 and at most 720h"},
		"no lifetime":                {"ttl:\n", "1:5: ttl: empty; accepted: a duration such as 1h or 90m, above 0 and at most 720h"},
		"a grace too long":           {"grace: 25h\n", "1:8: grace: \"25h\"; accepted: a duration such as 30m, from 0s to 24h"},
		"a grace below nothing":      {"grace: -1m\n", "1:8: grace: \"-1m\"; accepted: a duration such as 30m, from 0s to 24h"},
		"a hold too long":            {"keep: 1000h\n", "1:7: keep: \"1000h\"; accepted: a duration such as 1h or 90m, above 0 and at most 720h"},
		"drafts as yes or no":        {"drafts: false\n", "1:9: drafts: false; accepted: one of allow, deny"},
		"forks let in unasked":       {"forks: allow\n", "1:8: forks: \"allow\"; accepted: one of approve, deny"},
		"a push of another meaning":  {"synchronize: redeploy\n", "1:14: synchronize: \"redeploy\"; accepted: one of keep, refresh, recreate"},
		"a queue of another meaning": {"mergeQueue: merge\n", "1:13: mergeQueue: \"merge\"; accepted: one of reuse, cluster"},
		"a profile in capitals":      {"defaultProfile: AWS\n", "1:17: defaultProfile: \"AWS\"; accepted: a profile's name"},
		"a default off the list":     {"profiles: [aws-*]\ndefaultProfile: ibm-standard\n", "2:17: defaultProfile: \"ibm-standard\", which is not among profiles; accepted: a profile that matches one of profiles"},
		"a list that is none":        {"profiles: aws-standard\n", "1:11: profiles: \"aws-standard\"; accepted: a list of at least one: a profile's name, or a glob such as aws-*"},
		"a list of nothing":          {"profiles: []\n", "1:11: profiles: a list of 0; accepted: a list of at least one: a profile's name, or a glob such as aws-*"},
		"a glob of another sort":     {"profiles: [\"aws-?\"]\n", "1:12: profiles[0]: \"aws-?\"; accepted: a profile's name, or a glob such as aws-*"},
		"a glob with too many stars": {"profiles: [a*b*c*d*e*]\n", "1:12: profiles[0]: \"a*b*c*d*e*\"; accepted: a profile's name, or a glob such as aws-*"},
		"a profile twice":            {"profiles: [a, a]\n", "1:15: profiles[1]: \"a\" again; accepted: each once"},
		"a number for a name":        {"addons: [1]\n", "1:10: addons[0]: 1; accepted: an add-on's name, in quotes"},
		"a choice that is none":      {"offHours: nights\n", "1:11: offHours: \"nights\"; accepted: true or false"},
		"a mention of nobody's":      {"notify: {mention: [always]}\n", "1:20: notify.mention[0]: \"always\"; accepted: one of ready, failed, expiring"},
		"a word for notify":          {"notify: ready\n", "1:9: notify: \"ready\"; accepted: a mapping with mention, slack"},
		"a channel by its name":      {"notify: {slack: {payments: [ready]}}\n", "1:18: notify.slack.payments: not a channel's id; accepted: the id of a channel in Slack, such as C012AB3CD; it stands at the end of the channel's details"},
		"an event of nobody's":       {"notify: {slack: {C012AB3CD: [redy]}}\n", "1:30: notify.slack.C012AB3CD[0]: \"redy\"; accepted: one of ready, failed, expiring, blocked, destroyed"},
		"events that are no list":    {"notify: {slack: {C012AB3CD: ready}}\n", "1:29: notify.slack.C012AB3CD: \"ready\"; accepted: a list of at least one: one of ready, failed, expiring, blocked, destroyed"},
		"a list of channels":         {"notify: {slack: [C012AB3CD]}\n", "1:17: notify.slack: a list of 1; accepted: a mapping of at most 10 ids of channels, such as C012AB3CD, to lists of events"},
		"an anchor":                  {"ttl: &long 4h\n", "1:6: an anchor; accepted: only the value"},
		"an alias of nothing":        {"ttl: 4h\nkeep: *long\n", "2: an alias; accepted: the value itself"},
		"a tag":                      {"ttl: !!str 4h\n", "1:6: a tag; accepted: only the value"},
		"a tag of one's own":         {"ttl: !secret x\n", "1:6: a tag; accepted: only the value"},
		"more than one document":     {"ttl: 4h\n---\nttl: 5h\n", "2: more than one document; accepted: one mapping per file"},
		"a list":                     {"- ttl\n", "1:1: a list of 1; accepted: a mapping with " + keys},
		"a word":                     {"hello\n", "1:1: \"hello\"; accepted: a mapping with " + keys},
		"no YAML":                    {"ttl: 4h\n\tdrafts: deny\n", "2: found a tab character that violates indentation; accepted: valid YAML"},
		"too deep":                   {"addons: [[[[[a]]]]]\n", "1:13: nested mappings or lists; accepted: at most 4 deep"},
		"far too deep":               {strings.Repeat("[", 20_000), "1: exceeded max depth of 10000; accepted: valid YAML"},
		"no UTF-8":                   {"ttl: 4h\ndrafts: \xff\n", "2: bytes that are not UTF-8; accepted: UTF-8 text"},
		"UTF-16":                     {"\xff\xfet\x00", "1: bytes that are not UTF-8; accepted: UTF-8 text"},
		"too long":                   {strings.Repeat("#", 64<<10+1), "1: 65537 bytes; accepted: at most 65536"},
	} {
		t.Run(name, func(t *testing.T) {
			f, err := LoadRepositoryFile([]byte(c.file))
			require.EqualError(t, err, RepositoryFilePath+":"+c.want)
			require.Equal(t, RepositoryFile{}, f, "half of a file is none")
		})
	}
}

func TestEveryProblemOfARepositoryFileIsToldAtOnce(t *testing.T) {
	_, err := LoadRepositoryFile([]byte("version: one\nttl: &a 4h\nkeep: *a\n<<: {drafts: deny}\ndraft: deny\nforks: no\nnotify: {mention: [redy, 4]}\n"))
	var problems Problems
	require.ErrorAs(t, err, &problems)
	var places []string
	for _, p := range problems {
		require.NotEmpty(t, p.Accept, p.Got)
		places = append(places, strings.Join(strings.SplitN(p.Error(), ":", 4)[1:3], ":"))
	}
	require.Equal(t, []string{"1:10", "2:6", "3:7", "4:1", "5:1", "6:8", "7:20", "7:26"}, places, "each once, in their order: %v", err)

	_, err = LoadRepositoryFile([]byte(strings.Repeat("x: 1\n", 5000)))
	require.ErrorAs(t, err, &problems)
	require.Len(t, problems, mostFileProblems+1)
	require.Equal(t, "4950 more problems", problems[mostFileProblems].Got)
	_, err = LoadRepositoryFile([]byte("profiles: [" + strings.Repeat("a, ", 60) + "b]\n"))
	require.ErrorContains(t, err, "profiles: a list of 61; accepted: at most 50")
}

// FuzzRepositoryFile: whatever stands in the file, reading it ends in a file or in problems that a person finds in it.
func FuzzRepositoryFile(f *testing.F) {
	for _, seed := range []string{
		"", "version: 1\ndefaultProfile: aws-minimal-test\nprofiles: [aws-*]\nttl: 8h\ngrace: 30m\ndrafts: deny\nforks: approve\nsynchronize: refresh\nmergeQueue: cluster\nkeep: 48h\naddons: [postgres]\noffHours: true\nnotify: {mention: [ready], slack: {C012AB3CD: [ready, blocked]}}\n",
		"ttl: &a 4h\nkeep: *a\n<<: *a\n", "a: *b", "? [a]\n: b\n", "ttl: !!binary aGk=\n", "ttl: 4h\n---\nttl: 5h\n...\n", "%YAML 1.2\n---\nttl: |\n  4h\n", "ttl: \"4\\u0068\"\n",
		"[[[[[[[[", "{{{{", "- - - -", "\t", "\x00", "\xff\xfe", "\ufeffttl: 4h\r\n", "a: 'b", "'''", "#\r\r\r", "x: 1\u0085y: 2\u2028z: 3\n", "&a [*a, *a]\n", pastedToken + ": " + pastedToken,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		file, err := LoadRepositoryFile(raw)
		if err == nil {
			require.LessOrEqual(t, len(file.Profiles)+len(file.Addons), 2*mostFileItems)
			return
		}
		require.Equal(t, RepositoryFile{}, file)
		var problems Problems
		require.ErrorAs(t, err, &problems)
		require.LessOrEqual(t, len(problems), mostFileProblems+1)
		lines := strings.Count(strings.TrimSuffix(string(raw), "\n"), "\n") + 1
		for _, p := range problems {
			require.Equal(t, RepositoryFilePath, p.File)
			require.True(t, p.Line >= 1 && p.Line <= lines, "line %d of %d", p.Line, lines)
			require.GreaterOrEqual(t, p.Column, 0)
			require.NotEmpty(t, p.Got)
			require.NotEmpty(t, p.Accept)
			require.Less(t, len(p.Error()), 1000, "short enough for a line: %s", p.Error())
			require.NotContains(t, p.Error(), "\n")
			require.NotContains(t, p.Error(), pastedToken)
		}
	})
}
