package chatops

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ocpctl/ocpctl/policy"
)

// entry is one line of the command table, from which parsing, help and all hints are made.
type entry struct {
	verb    Verb
	act     policy.Act // what it takes permission for; empty: nothing
	words   string // what it does
	example string // a complete example line
	also    string // other words that people try, separated by spaces; the answer names the right one
	first   bool   // shown first in the help
	profile bool   // takes a profile as an argument
	takes   takes  // takes another argument, in any order with the profile
	options []option
}

// takes is the argument that a command takes besides a profile; it is required.
type takes string

const (
	nothing  takes = ""
	aSpan    takes = "<duration>"
	aCount   takes = "<number>"
	aReason  takes = "<reason>" // the rest of the line
	aGrantee takes = "--team <team> | --with <principal>"
	aCommit  takes = "[commit]" // optional
)

// option is a flag of a command.
type option struct {
	name    string
	short   string // one letter; empty: there is none
	example string // example value; empty: it takes none
	words   string
	set     func(c *Command, value string) (problem string)
}

var reasonOption = option{"--reason", "m", `"the demo is over"`, "why, for the audit trail and for whoever asks later", setReason}

var table = []entry{
	{verb: VerbCreate, act: policy.ActCreate, first: true, profile: true, example: "/ocp create aws-standard --ttl 8h", also: "new start launch make up provision",
		words: "creates a cluster for this pull request", options: []option{
			{"--name", "n", "demo", "its name: lower-case letters, digits, dashes, at most 21", func(c *Command, v string) string { c.Name = v; return "" }},
			{"--ttl", "t", "8h", "how long it lives: 4h, 90m, 2d, or a number of hours", setTTL},
			{"--region", "r", "us-east-2", "its region, one of the profile's list", func(c *Command, v string) string { c.Region = v; return "" }},
			{"--version", "v", "4.20.3", "its OpenShift version, one of the profile's list", func(c *Command, v string) string { c.Version = v; return "" }},
			{"--team", "", "platform", "the team that it belongs to, if not the repository's", func(c *Command, v string) string { c.Team = v; return "" }},
			{"--dry-run", "", "", "shows what would happen, at what price and when, and creates nothing", func(c *Command, _ string) string { c.DryRun = true; return "" }},
		}},
	{verb: VerbStatus, act: policy.ActSee, first: true, profile: true, example: "/ocp status", also: "show info get describe state",
		words: "shows the clusters of this pull request"},
	{verb: VerbExtend, act: policy.ActExtend, first: true, profile: true, takes: aSpan, example: "/ocp extend 4h", also: "prolong longer renew ttl",
		words: "extends it, up to the profile's maximum"},
	{verb: VerbDestroy, act: policy.ActDestroy, first: true, profile: true, example: "/ocp destroy aws-standard", also: "delete remove rm kill down teardown stop",
		words: "destroys it now, without waiting for its end", options: []option{reasonOption}},
	{verb: VerbKubeconfig, act: policy.ActKubeconfig, profile: true, example: "/ocp kubeconfig", also: "login credentials access config",
		words: "gives you a link to its kubeconfig that works once, after you sign in; nothing secret is posted here"},
	{verb: VerbLogs, act: policy.ActSee, profile: true, example: "/ocp logs --lines 100", also: "log tail output",
		words: "shows the last lines of its log", options: []option{
			{"--lines", "n", "100", fmt.Sprintf("how many lines: 1 to %d, by default %d", MaxLogLines, LogLines), setLines},
		}},
	{verb: VerbList, act: policy.ActSee, example: "/ocp list", also: "ls all clusters",
		words: "shows all clusters of this pull request"},
	{verb: VerbScale, act: policy.ActScale, profile: true, takes: aCount, example: "/ocp scale 4", also: "workers resize",
		words: "changes the number of its workers, within the profile's bounds", options: []option{
			{"--replicas", "r", "4", "the same number", setReplicas},
		}},
	{verb: VerbRefresh, act: policy.ActRefresh, profile: true, example: "/ocp refresh", also: "reapply addons add-ons configure",
		words: "applies its add-ons again"},
	{verb: VerbHold, act: policy.ActHold, profile: true, takes: aSpan, example: `/ocp hold 8h --reason "a demo on Friday"`, also: "keep pin freeze",
		words: "keeps it that long, even if the pull request is closed, up to the profile's maximum", options: []option{reasonOption}},
	{verb: VerbRetry, act: policy.ActRetry, profile: true, example: "/ocp retry", also: "again rerun restart",
		words: "tries a blocked teardown again, or creates a cluster again that failed or is gone"},
	{verb: VerbShare, act: policy.ActShare, profile: true, takes: aGrantee, example: "/ocp share --team platform", also: "grant invite",
		words: "shares it with another team, person or workload", options: []option{
			{"--team", "", "platform", "the team to share it with", func(c *Command, v string) string { c.Team = v; return "" }},
			{"--with", "", "github:maya", "the person or workload to share it with", func(c *Command, v string) string { c.With = v; return "" }},
		}},
	{verb: VerbApprove, act: policy.ActApprove, profile: true, takes: aCommit, example: "/ocp approve 6dcb09b5b578", also: "allow accept agree lgtm yes",
		words: "approves the clusters that wait for approval here, at the named commit or else the one that was shown"},
	{verb: VerbRefuse, act: policy.ActApprove, profile: true, takes: aReason, example: "/ocp refuse it needs no cluster of its own", also: "deny reject decline no",
		words: "refuses the clusters that wait for approval here, with a reason", options: []option{reasonOption}},
	{verb: VerbLink, example: "/ocp link", also: "signin connect account",
		words: "links this account to you, so that you have your own permissions here"},
	{verb: VerbHelp, first: true, example: "/ocp help", also: "? usage commands --help -h",
		words: "this list"},
}

func setTTL(c *Command, value string) (problem string) {
	ttl, ok := lifetime(value)
	if !ok {
		return Code(value) + " is not a lifetime; " + spanWords
	}
	c.TTL = ttl
	return ""
}

func setReason(c *Command, value string) (problem string) {
	if len(value) > maxReason {
		return fmt.Sprintf("The reason has %d bytes; the audit trail keeps up to %d.", len(value), maxReason)
	}
	c.Reason = value
	return ""
}

func setLines(c *Command, value string) (problem string) {
	n, err := strconv.Atoi(value)
	if err != nil || n < 1 || n > MaxLogLines {
		return fmt.Sprintf("%s is not a number of lines from 1 to %d.", Code(value), MaxLogLines)
	}
	c.Lines = n
	return ""
}

func setReplicas(c *Command, value string) (problem string) {
	n, err := strconv.Atoi(value)
	if err != nil || n < 0 || n > maxReplicas {
		return fmt.Sprintf("%s is not a number of workers from 0 to %d.", Code(value), maxReplicas)
	}
	c.Replicas = n
	return ""
}

// Act is what the command takes permission for; empty: nothing.
func (v Verb) Act() policy.Act {
	e, _ := find(string(v))
	return e.act
}

func find(verb string) (entry, bool) {
	i := slices.IndexFunc(table, func(e entry) bool { return string(e.verb) == verb })
	if i < 0 {
		return entry{}, false
	}
	return table[i], true
}

// verbs lists the verbs of the table, in its order.
func verbs() []string {
	all := make([]string, 0, len(table))
	for _, e := range table {
		all = append(all, string(e.verb))
	}
	return all
}

// shortestGuess is the minimum length of an alternative word to be suggested for a misspelt one: almost anything is close to a
// shorter one.
const shortestGuess = 4

// meant finds the command that a word most likely stands for: a command, an alternative word, or a misspelling of either.
func meant(word string) (verb string, ok bool) {
	verb, _, ok = guess(word, verbs())
	return verb, ok
}

// suggestion asks whether a command was meant that may be typed here; empty: none is near.
func suggestion(word string, known []string) string {
	verb, spelt, ok := guess(word, known)
	switch {
	case !ok:
		return ""
	case spelt != "":
		return fmt.Sprintf("Did you mean %s? The command for that is %s.", Code(spelt), Code(Prefix+" "+verb))
	}
	return fmt.Sprintf("Did you mean %s?", Code(Prefix+" "+verb))
}

// guess finds the known command that a word most likely stands for. spelt is the alternative word that was misspelt; empty: the word
// is an alternative itself, or close to the command.
func guess(word string, known []string) (verb, spelt string, ok bool) {
	word = strings.ToLower(word)
	candidates, means := slices.Clone(known), map[string]string{}
	for _, e := range table {
		for _, other := range strings.Fields(e.also) {
			if other == word {
				return string(e.verb), "", true
			}
			if len(other) >= shortestGuess {
				candidates, means[other] = append(candidates, other), string(e.verb)
			}
		}
	}
	near, ok := Closest(word, candidates)
	if !ok { // several begin like this, but maybe only one is a command
		near, ok = Closest(word, known)
	}
	if verb, other := means[near]; other && !slices.Contains(known, near) {
		return verb, near, ok
	}
	return near, "", ok
}

func (e entry) option(name string) (option, bool) {
	i := slices.IndexFunc(e.options, func(o option) bool { return o.name == name || o.short != "" && "-"+o.short == name })
	if i < 0 {
		return option{}, false
	}
	return e.options[i], true
}

func (e entry) optionNames() []string {
	all := make([]string, 0, len(e.options))
	for _, o := range e.options {
		all = append(all, o.name)
	}
	return all
}

// usage formats the command as it is typed.
func (e entry) usage() string {
	parts := []string{Prefix, string(e.verb)}
	behind := e.takes == aReason || e.takes == aGrantee
	if e.takes != nothing && !behind {
		parts = append(parts, string(e.takes))
	}
	if e.profile {
		parts = append(parts, "[profile]")
	}
	switch {
	case behind:
		parts = append(parts, string(e.takes))
	case len(e.options) > 1:
		parts = append(parts, "[options]")
	case len(e.options) == 1 && e.takes != aCount:
		parts = append(parts, "["+e.options[0].name+" …]")
	}
	return strings.Join(parts, " ")
}
