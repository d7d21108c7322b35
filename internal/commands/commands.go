// Package commands is the table of what people can type: in a comment on a pull request, behind the slash command in Slack, and on
// the command line. Parsers, help, completion, hints for misspelled words and the table in docs/commands.md are made from it.
// It holds words alone and knows nothing of clusters.
package commands

import (
	"slices"
	"strings"
)

// Entry is where a command is typed.
type Entry int

// The entry points.
const (
	PullRequest Entry = iota
	Slack
	CLI
)

// Command is one row of the table.
type Command struct {
	Name       string
	Permission string   // the act of package policy that it takes; empty: none
	Synonyms   []string // other words that people try for it; they are answered with the right one
	Options    []Option // with the same name and meaning wherever they are taken

	PullRequest *Form // nil: it does not exist there
	Slack       *Form
	CLI         *Form
}

// Form is a command at one entry point.
type Form struct {
	Name      string // where it is another one than the command's
	Aliases   []string
	Summary   string // what it does, as an imperative without a full stop
	Arguments []Argument
	Options   []string // names of the command's options that are taken here
	Needs     []string // those of them without which it does nothing
	Example   string   // a whole line, for pull requests and Slack
	Common    bool     // one of those that people need first
}

// Argument is a word behind the command's name.
type Argument struct {
	Kind     Kind
	Required bool
	Missing  string // a sentence that asks for a required one
}

// Kind says what an argument is. It is also how usage shows it.
type Kind string

// The kinds of arguments.
const (
	Profile  Kind = "profile"
	Cluster  Kind = "cluster"
	Duration Kind = "duration"
	Number   Kind = "number"
	Commit   Kind = "commit"
	Reason   Kind = "reason" // the rest of the line
	Grantee  Kind = "--team <team> | --with <principal>"
	Receiver Kind = "@person | --team <team>"
	Request  Kind = "approval or cluster" // an approval's id, or its cluster's name or id
	Channel  Kind = "#channel"
	Events   Kind = "ready,failed,expiring,blocked,destroyed,weekly" // some of EventNames, separated by commas or blanks
	Topic    Kind = "command"
	LinkCode Kind = "code"      // that the page of a link shows
	Filter   Kind = "filter..." // the words of a filter, see package filter
)

// EventNames are the events that a channel can subscribe to.
var EventNames = strings.Split(string(Events), ",")

// Option is a flag.
type Option struct {
	Name    string // without dashes
	Short   string // one letter; empty: there is none
	Example string // a value; empty: it takes none
	Summary string // the word in backquotes names the value
}

// Value is the word that names the option's value; empty: it takes none.
func (o Option) Value() string {
	_, after, _ := strings.Cut(o.Summary, "`")
	value, _, _ := strings.Cut(after, "`")
	return value
}

// Plain is the summary without the backquotes.
func (o Option) Plain() string { return strings.ReplaceAll(o.Summary, "`", "") }

// Get returns a command. It panics where there is none: the names are written in the program.
func Get(name string) Command {
	i := slices.IndexFunc(Table, func(c Command) bool { return c.Name == name })
	if i < 0 {
		panic("there is no command " + name)
	}
	return Table[i]
}

// At lists the commands of an entry point, in the table's order.
func At(e Entry) []Command {
	return slices.DeleteFunc(slices.Clone(Table), func(c Command) bool { return c.Form(e) == nil })
}

// Form is the command at an entry point; nil: it does not exist there.
func (c Command) Form(e Entry) *Form { return []*Form{c.PullRequest, c.Slack, c.CLI}[e] }

// Option finds an option by its name.
func (c Command) Option(name string) (Option, bool) {
	i := slices.IndexFunc(c.Options, func(o Option) bool { return o.Name == name })
	if i < 0 {
		return Option{}, false
	}
	return c.Options[i], true
}

// OptionsAt lists the options that are taken at an entry point.
func (c Command) OptionsAt(e Entry) []Option {
	f := c.Form(e)
	return slices.DeleteFunc(slices.Clone(c.Options), func(o Option) bool { return f == nil || !slices.Contains(f.Options, o.Name) })
}

// alone are arguments whose usage shows no options: they are options themselves, or could be given as one.
var alone = []Kind{Grantee, Receiver, Reason, Number}

// Usage is the command as it is typed at an entry point, without the word that begins the line.
func (c Command) Usage(e Entry) string {
	f := c.Form(e)
	parts := []string{c.Name}
	if f.Name != "" {
		parts[0] = f.Name
	}
	for _, a := range f.Arguments {
		parts = append(parts, a.usageIn(e))
	}
	for _, name := range f.Needs {
		o, _ := c.Option(name)
		parts = append(parts, "--"+name, strings.ToUpper(o.Value()))
	}
	taken := c.OptionsAt(e)
	switch {
	case e == CLI || slices.ContainsFunc(f.Arguments, func(a Argument) bool { return slices.Contains(alone, a.Kind) }):
	case len(taken) > 1:
		parts = append(parts, "[options]")
	case len(taken) == 1:
		parts = append(parts, "[--"+taken[0].Name+" …]")
	}
	return strings.Join(parts, " ")
}

func (a Argument) usageIn(e Entry) string {
	word := string(a.Kind)
	switch {
	case a.Kind == Grantee && e == Slack:
		return "@person | @group | --team <team>"
	case a.Kind == Grantee || a.Kind == Receiver:
		return word
	case e == CLI:
		word, _, _ = strings.Cut(strings.ToUpper(word), " ")
		if a.Required {
			return word
		}
		return "[" + word + "]"
	case a.Required:
		return "<" + word + ">"
	}
	return "[" + word + "]"
}

// Takes says whether the form has an argument of a kind.
func (f *Form) Takes(k Kind) bool {
	return slices.ContainsFunc(f.Arguments, func(a Argument) bool { return a.Kind == k })
}
