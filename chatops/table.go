package chatops

import (
	"fmt"
	"slices"
	"strings"
)

// entry is one line of the command table, which drives parsing, help and every hint.
type entry struct {
	verb    Verb
	args    string // what follows the verb, as help shows it
	words   string // what it does, or how that is done elsewhere
	away    bool   // a known word for what is done elsewhere, and not by a comment
	profile bool   // takes a profile as its word
	span    bool   // takes a duration as its word, required
	flags   bool   // takes the options
}

var table = []entry{
	{verb: VerbCreate, args: "[profile]", words: "a cluster for this pull request", profile: true, flags: true},
	{verb: VerbStatus, args: "[profile]", words: "how the clusters of this pull request are", profile: true},
	{verb: VerbList, words: "the same, all of them"},
	{verb: VerbExtend, args: "<duration> [profile]", words: "adds to its end, up to the profile's maximum", profile: true, span: true},
	{verb: VerbDestroy, args: "[profile]", words: "takes it down now, without waiting for its end", profile: true},
	{verb: VerbApprove, args: "[profile]", words: "agrees to what waits for approval here, at the commit it was asked for", profile: true},
	{verb: VerbLink, words: "tells ocpctl who you are there, once: what you may do there you may do here"},
	{verb: VerbHelp, words: "this list"},

	{verb: "logs", away: true, words: "The cluster's page shows its log, and so does `ocpctl logs CLUSTER -f`."},
	{verb: "kubeconfig", away: true, words: "The cluster's page hands it out, and so does `ocpctl kubeconfig CLUSTER -f kubeconfig`; it is never posted here."},
	{verb: "scale", away: true, words: "The cluster's page scales its workers, and so does `ocpctl scale-workers CLUSTER --replicas 3`."},
	{verb: "retry", away: true, words: "The cluster's page brings a teardown's next try forward, and so does `ocpctl retry CLUSTER`. A new cluster needs none of it: `/ocp create`."},
	{verb: "hold", away: true, words: "The cluster's page holds it, and so does `ocpctl hold CLUSTER 8h`; `/ocp extend 4h` moves its end."},
	{verb: "share", away: true, words: "The cluster's page shows it to others, and so does `ocpctl share CLUSTER --team TEAM`."},
}

// option is a flag of create.
type option struct {
	name    string
	example string
	words   string
	set     func(c *Command, value string) (problem string)
}

var options = []option{
	{"--name", "demo", "its name: lower-case letters, digits, dashes, at most 21", func(c *Command, v string) string { c.Name = v; return "" }},
	{"--ttl", "8h", "how long it lives: 4h, 90m, 2d, or a number of hours", setTTL},
	{"--region", "us-east-2", "where it lives, of the profile's list", func(c *Command, v string) string { c.Region = v; return "" }},
	{"--version", "4.20.3", "its OpenShift version, of the profile's list", func(c *Command, v string) string { c.Version = v; return "" }},
	{"--team", "platform", "whose it is, when not the repository's team's", func(c *Command, v string) string { c.Team = v; return "" }},
}

func setTTL(c *Command, value string) (problem string) {
	ttl, ok := lifetime(value)
	if !ok {
		return code(value) + " is not a lifetime; " + spanWords
	}
	c.TTL = ttl
	return ""
}

func find(verb string) (entry, bool) {
	i := slices.IndexFunc(table, func(e entry) bool { return string(e.verb) == verb })
	if i < 0 {
		return entry{}, false
	}
	return table[i], true
}

// verbs lists the table's words, in its order.
func verbs(away bool) []string {
	var all []string
	for _, e := range table {
		if e.away == away {
			all = append(all, string(e.verb))
		}
	}
	return all
}

func flagNames() []string {
	var all []string
	for _, o := range options {
		all = append(all, o.name)
	}
	return all
}

// usage is the command as one would type it.
func (e entry) usage() string {
	line := Prefix + " " + string(e.verb)
	if e.args != "" {
		line += " " + e.args
	}
	if e.flags {
		line += " [options]"
	}
	return line
}

// Help lists what one can type. Profiles are the names one can ask for, the one that is taken unasked first.
func Help(profiles ...string) string {
	var b strings.Builder
	b.WriteString("**What one can type here**, at the start of a line:\n\n")
	for _, e := range table {
		if !e.away {
			fmt.Fprintf(&b, "- `%s`: %s\n", e.usage(), e.words)
		}
	}
	if len(profiles) > 0 {
		fmt.Fprintf(&b, "\nProfiles: %s. The first is taken when none is named.\n", list(profiles))
	}
	b.WriteString("\nOptions of `/ocp create`:\n\n")
	for _, o := range options {
		fmt.Fprintf(&b, "- `%s %s`: %s\n", o.name, o.example, o.words)
	}
	fmt.Fprintf(&b, "\nA label `%s<profile>` does the same as `/ocp create <profile>`. Removing it, or closing the pull request, ends the cluster after a grace.\n", LabelPrefix)
	fmt.Fprintf(&b, "On the cluster's page, or with the command line `ocpctl`: %s.\n", list(verbs(true)))
	return b.String()
}

// list writes words as code, with commas between.
func list(words []string) string {
	quoted := make([]string, 0, len(words))
	for _, w := range words {
		quoted = append(quoted, code(w))
	}
	return strings.Join(quoted, ", ")
}
