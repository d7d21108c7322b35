package chatops

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ocpctl/ocpctl/internal/closest"
	"github.com/ocpctl/ocpctl/internal/commands"
	"github.com/ocpctl/ocpctl/policy"
)

// grammar is the command table as one entry point sees it.
type grammar struct {
	at   commands.Entry
	rows []entry
}

// The grammars of what is typed to the server.
var (
	inComments = grammarOf(commands.PullRequest)
	inSlack    = grammarOf(commands.Slack)
)

// entry is a command as an entry point takes it.
type entry struct {
	commands.Command
	verb    Verb
	form    *commands.Form
	about   commands.Kind // what names the thing that the command is about, e.g. a profile; empty: nothing
	takes   commands.Kind // what it takes besides that, in any order with it; empty: nothing
	options []option
	line    string // how it is typed
}

// option is a flag of a command.
type option struct {
	commands.Option
	name string // with its dashes
	set  func(r *reading, value string) (problem string)
}

func grammarOf(at commands.Entry) grammar {
	g := grammar{at: at}
	for _, c := range commands.At(at) {
		e := entry{Command: c, verb: Verb(c.Name), form: c.Form(at), line: Prefix + " " + c.Usage(at)}
		for _, a := range e.form.Arguments {
			switch a.Kind {
			case commands.Profile, commands.Cluster, commands.Request, commands.Channel:
				e.about = a.Kind
			default:
				e.takes = a.Kind
			}
		}
		for _, o := range c.OptionsAt(at) {
			e.options = append(e.options, option{Option: o, name: "--" + o.Name, set: setters[o.Name]})
		}
		g.rows = append(g.rows, e)
	}
	return g
}

// Act is what the command takes permission for; empty: nothing.
func (v Verb) Act() policy.Act {
	c, _ := inTable(string(v))
	return policy.Act(c.Permission)
}

// inTable finds a command, wherever it is typed.
func inTable(name string) (commands.Command, bool) {
	i := slices.IndexFunc(commands.Table, func(c commands.Command) bool { return c.Name == name })
	if i < 0 {
		return commands.Command{}, false
	}
	return commands.Table[i], true
}

func (g grammar) find(verb string) (entry, bool) {
	i := slices.IndexFunc(g.rows, func(e entry) bool { return string(e.verb) == strings.ToLower(verb) })
	if i < 0 {
		return entry{}, false
	}
	return g.rows[i], true
}

// verbs lists the verbs of the entry point, in the table's order.
func (g grammar) verbs() []string {
	all := make([]string, 0, len(g.rows))
	for _, e := range g.rows {
		all = append(all, string(e.verb))
	}
	return all
}

// shortestGuess is the minimum length of an alternative word to be suggested for a misspelt one: almost anything is close to a
// shorter one.
const shortestGuess = 4

// findMeant finds the command that a word most likely stands for: a command, an alternative word, or a misspelling of either.
func (g grammar) findMeant(word string) (verb string, ok bool) {
	verb, _, ok = g.guess(word)
	return verb, ok
}

// unknown answers a word that is no command here: with where it is one, the command that was probably meant, or the list of commands.
func (g grammar) unknown(word string) string {
	if c, known := inTable(strings.ToLower(word)); known {
		return g.elsewhere(c)
	}
	hint := g.suggestion(word)
	if hint == "" {
		hint = "There are: " + list(g.verbs()) + "."
	}
	return fmt.Sprintf("%s is not a command. %s %s lists the commands.", Code(Prefix+" "+word), hint, Code(Prefix+" help"))
}

// elsewhere says where a command is typed that does not exist here.
func (g grammar) elsewhere(c commands.Command) string {
	here := "on pull requests"
	var there []string
	if g.at == commands.Slack {
		here = "in Slack"
	} else if c.Slack != nil {
		there = append(there, "In Slack it is "+Code(Prefix+" "+c.Usage(commands.Slack))+".")
	}
	if c.CLI != nil {
		there = append(there, "On the command line it is "+Code("ocpctl "+c.Usage(commands.CLI))+".")
	}
	return fmt.Sprintf("%s is not available %s. %s", Code(Prefix+" "+c.Name), here, strings.Join(there, " "))
}

// suggestion asks whether a command was meant that may be typed here; empty: none is near.
func (g grammar) suggestion(word string) string {
	verb, spelt, ok := g.guess(word)
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
func (g grammar) guess(word string) (verb, spelt string, ok bool) {
	word = strings.ToLower(word)
	known := g.verbs()
	candidates, means := slices.Clone(known), map[string]string{}
	for _, e := range g.rows {
		for _, other := range e.Synonyms {
			if other == word {
				return string(e.verb), "", true
			}
			if len(other) >= shortestGuess {
				candidates, means[other] = append(candidates, other), string(e.verb)
			}
		}
	}
	near, ok := closest.Match(word, candidates)
	if !ok { // several begin like this, but maybe only one is a command
		near, ok = closest.Match(word, known)
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
func (e entry) usage() string { return e.line }
