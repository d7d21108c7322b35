package chatops

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ocpctl/ocpctl/internal/commands"
	"github.com/ocpctl/ocpctl/policy"
)

// entry is a command as a comment takes it.
type entry struct {
	commands.Command
	verb    Verb
	form    *commands.Form
	takes   commands.Kind // what it takes beside a profile, in any order with it; empty: nothing
	options []option
}

// option is a flag of a command.
type option struct {
	commands.Option
	name string // with its dashes
	set  func(c *Command, value string) (problem string)
}

// table is the command table as comments see it.
var table = entries()

func entries() []entry {
	var all []entry
	for _, c := range commands.At(commands.PullRequest) {
		e := entry{Command: c, verb: Verb(c.Name), form: c.PullRequest}
		for _, a := range e.form.Arguments {
			if a.Kind != commands.Profile {
				e.takes = a.Kind
			}
		}
		for _, o := range c.OptionsAt(commands.PullRequest) {
			e.options = append(e.options, option{Option: o, name: "--" + o.Name, set: setters[o.Name]})
		}
		all = append(all, e)
	}
	return all
}

// setters write the value of an option into the command. problem says what is wrong with the value; empty: nothing.
var setters = map[string]func(c *Command, value string) (problem string){
	"name":     func(c *Command, v string) string { c.Name = v; return "" },
	"ttl":      setTTL,
	"region":   func(c *Command, v string) string { c.Region = v; return "" },
	"version":  func(c *Command, v string) string { c.Version = v; return "" },
	"team":     func(c *Command, v string) string { c.Team = v; return "" },
	"with":     func(c *Command, v string) string { c.With = v; return "" },
	"dry-run":  func(c *Command, _ string) string { c.DryRun = true; return "" },
	"reason":   setReason,
	"lines":    setLines,
	"replicas": setReplicas,
}

func setTTL(c *Command, value string) (problem string) {
	ttl, ok := lifetime(value)
	if !ok {
		return Code(value) + " is not a lifetime; " + spanText
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
	return policy.Act(e.Permission)
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
		for _, other := range e.Synonyms {
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
	i := slices.IndexFunc(e.options, func(o option) bool { return o.name == name || o.Short != "" && "-"+o.Short == name })
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

// usage is the command as one types it.
func (e entry) usage() string { return Prefix + " " + e.Usage(commands.PullRequest) }
