package chatops

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/ocpctl/ocpctl/internal/commands"
	"github.com/ocpctl/ocpctl/internal/duration"
)

// parse reads a line that begins with Prefix. If it is not understood, c is nil and reply says why and what would be accepted.
func (g grammar) parse(line string) (c *SlackCommand, reply string) {
	words, problem := split(line, len(Prefix))
	if problem != "" {
		return nil, "Nothing was done. " + problem
	}
	if len(words) == 0 {
		return &SlackCommand{Command: Command{Verb: VerbHelp, Line: line}}, ""
	}
	e, known := g.find(words[0].text)
	if !known && words[0].asksForHelp() || known && (e.verb == VerbHelp || slices.ContainsFunc(words[1:], word.asksForHelp)) {
		return &SlackCommand{Command: Command{Verb: VerbHelp, Line: line}, Ref: g.topic(words)}, ""
	}
	if !known {
		return nil, g.unknown(words[0].text)
	}
	r := reading{grammar: g, entry: e, command: SlackCommand{Command: Command{Verb: e.verb, Line: line}}, seen: map[string]bool{}}
	if e.verb == VerbLogs {
		r.command.Lines = LogLines
	}
	r.read(words[1:])
	r.complete()
	if len(r.problems) > 0 {
		return nil, r.notUnderstood()
	}
	return &r.command, ""
}

// topic is the command that help is asked about; empty: about none, or the help of this entry point shows everything.
func (g grammar) topic(words []word) string {
	for _, w := range words[:min(len(words), 2)] {
		if strings.EqualFold(w.text, AllCommands) {
			return AllCommands
		}
		e, known := g.find(w.text)
		if help, _ := g.find(string(VerbHelp)); known && e.verb != VerbHelp && help.form.Takes(commands.Topic) {
			return string(e.verb)
		}
	}
	return ""
}

// asksForHelp reports that the word is --help or a common variant of it.
func (w word) asksForHelp() bool {
	return w.plain && slices.Contains([]string{"--help", "-h", "-help", "?"}, strings.ToLower(dashes(w.text)))
}

// reading is the state while the words of a command are read.
type reading struct {
	grammar
	entry
	command  SlackCommand
	seen     map[string]bool // options that were given; "" stands for the command's own word
	text     []string        // the words of a reason
	problems []string
}

func (r *reading) wrong(format string, args ...any) {
	r.problems = append(r.problems, fmt.Sprintf(format, args...))
}

// read fills the command from the words after its verb, and collects everything that is wrong with them.
func (r *reading) read(words []word) {
	for i := 0; i < len(words); i++ {
		w := words[i]
		if w.plain && w.text == "--" { // nothing after it is an option
			for _, w := range words[i+1:] {
				r.word(w)
			}
			return
		}
		name, value, inline := strings.Cut(dashes(w.text), "=")
		name = strings.ToLower(name)
		if _, known := r.optionNamed(name); !w.isOption() || r.takes == commands.Filter && !known && !strings.HasPrefix(name, "--") {
			r.word(w)
			continue
		}
		if !inline && i+1 < len(words) && !words[i+1].isOption() && !r.isSwitch(name) {
			i++
			value = words[i].text
		}
		r.flag(name, value)
	}
}

// word reads a word that is not an option.
func (r *reading) word(w word) {
	text := w.text
	switch {
	case r.takes == commands.Filter:
		r.command.Filter.Query = strings.TrimSpace(r.command.Filter.Query + " " + w.typed)
	case r.takes == commands.Reason:
		r.text = append(r.text, text)
	case !r.seen[""] && r.takeArgument(text), r.readName(text):
	default:
		r.wrong("Unexpected argument %s.", Code(text))
	}
}

// readName reports whether the word names what the command is about, in the first word that may.
func (r *reading) readName(text string) bool {
	c := &r.command
	var into *string
	switch r.about {
	case commands.Profile:
		text, into = strings.TrimPrefix(strings.ToLower(text), LabelPrefix), &c.Profile
	case commands.Cluster:
		text, into = bare(text), &c.Cluster
	case commands.Request:
		text, into = bare(text), &c.Ref
	case commands.Channel:
		id, problem := channelOf(text)
		if problem != "" {
			r.problems = append(r.problems, problem)
			return true
		}
		text, into = id, &c.Channel
	}
	if into == nil || *into != "" || text == "" {
		return false
	}
	*into = text
	return true
}

// bare removes the marks that people put around a name in running text.
func bare(text string) string { return strings.Trim(text, "`*_~,") }

// takeArgument reports whether the word is the argument that the command takes besides what it is about.
func (r *reading) takeArgument(text string) bool {
	c := &r.command
	switch r.takes {
	case commands.Duration:
		if c.Tonight = r.verb == VerbHold && strings.EqualFold(text, "tonight"); c.Tonight {
			r.seen[""] = true
			return true
		}
		d, ok := parseLifetime(text)
		if ok && d <= 0 {
			r.wrong("%s adds nothing. Give %s.", Code(text), duration.Accepted)
		}
		c.TTL, r.seen[""] = d, ok
		return ok
	case commands.Number:
		if text == "" || !strings.ContainsRune("-+0123456789", rune(text[0])) {
			return false
		}
		r.seen[""] = true
		if problem := setReplicas(r, text); problem != "" {
			r.problems = append(r.problems, problem)
		}
		return true
	case commands.Commit:
		sha := strings.ToLower(text)
		if r.seen[""] = commit.MatchString(sha); r.seen[""] {
			c.Commit = sha
		}
		return r.seen[""]
	case commands.LinkCode:
		if r.seen[""] = isLinkCode(text); r.seen[""] {
			c.Code = strings.ToUpper(text)
		}
		return r.seen[""]
	case commands.Grantee, commands.Receiver:
		return r.at == commands.Slack && r.takesSomebody(text)
	case commands.Events:
		return r.takesEvents(text)
	}
	return false
}

// commit matches a commit id, or enough of its beginning.
var commit = regexp.MustCompile(`^[0-9a-f]{7,40}$`)

// linkCode matches what the page of an account's link shows, and words of the same length.
var linkCode = regexp.MustCompile(`^[A-Za-z2-7]{6}$`)

// isLinkCode reports whether a text has the form of a link's code. Every code has a digit (people.newCode), so that no word is taken for one.
func isLinkCode(text string) bool {
	return linkCode.MatchString(text) && strings.ContainsAny(text, "234567")
}

// complete reports what is missing after all words were read.
func (r *reading) complete() {
	if r.takes == commands.Reason {
		r.reason()
	}
	if len(r.problems) > 0 {
		return
	}
	switch {
	case r.takes == commands.Duration && !r.seen[""]:
		r.wrong("Say how long: %s.", duration.Accepted)
	case r.takes == commands.Number && !r.seen[""] && !r.seen["--replicas"]:
		r.wrong("Give the number of workers, for example %s.", Code(Prefix+" "+r.form.Example))
	case r.takes == commands.Number && r.seen[""] && r.seen["--replicas"]:
		r.wrong("The number of workers is given twice.")
	case r.takes == commands.Grantee || r.takes == commands.Receiver:
		r.oneReceiver()
	case r.takes == commands.Events:
		r.subscription()
	}
	for _, a := range r.form.Arguments {
		if a.Kind == commands.Request && r.command.Ref == "" || a.Kind == commands.Reason && a.Required && r.command.Reason == "" {
			r.wrong("%s", a.Missing)
			return
		}
	}
}

// reason turns words into what the command is about, if it takes that first, and its reason. With --reason, no other word may be left.
func (r *reading) reason() {
	if r.about == commands.Request && len(r.text) > 0 && r.readName(r.text[0]) {
		r.text = r.text[1:]
	}
	if !r.seen["--reason"] {
		if problem := setReason(r, strings.Join(r.text, " ")); problem != "" {
			r.problems = append(r.problems, problem)
		}
		return
	}
	for _, text := range r.text { // a profile is not told from a reason's first word, unless the reason is an option
		if !r.readName(text) {
			r.wrong("Unexpected argument %s.", Code(text))
			return
		}
	}
}

func (r *reading) notUnderstood() string {
	intro := fmt.Sprintf("Nothing was done, because `%s %s` could not be understood.", Prefix, r.verb)
	problems := r.problems
	if len(problems) > MaxCommands {
		problems = append(problems[:MaxCommands:MaxCommands], "And so on.")
	}
	help := Prefix + " help"
	if r.at == commands.Slack {
		help += " " + string(r.verb)
	}
	return fmt.Sprintf("%s\n\n- %s\n\nUsage: %s. For more, see %s.", intro, strings.Join(problems, "\n- "), Code(r.usage()), Code(help))
}
