package chatops

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/ocpctl/ocpctl/internal/commands"
)

const (
	// MaxCommands is how many commands of one comment are executed.
	MaxCommands = 5

	maxLine     = 2_000 // bytes of a command
	maxReason   = 500   // bytes of a reason that the audit trail stores
	maxReplicas = 10_000
)

// Parse finds the commands of a comment. ocpctl's own texts contain none. After MaxCommands, one more answer says that the rest was
// left out. It takes time proportional to the comment's length, and its result is bounded.
func Parse(body string) []Parsed {
	var out []Parsed
	for line := range spoken(body) {
		line = strings.TrimFunc(line, blank)
		first, rest := line, ""
		if end := strings.IndexFunc(line, blank); end >= 0 {
			first, rest = line[:end], line[end:]
		}
		ours := strings.EqualFold(first, Prefix)
		near := ""
		if !ours {
			near = nearly(first, rest)
		}
		switch {
		case !ours && near == "":
		case len(out) == MaxCommands:
			return append(out, Parsed{Line: cut(line, maxCode), Reply: fmt.Sprintf("A comment may contain up to %d commands; those from %s on were ignored. Send them in another comment.",
				MaxCommands, Code(line))})
		case len(line) > maxLine:
			out = append(out, Parsed{Line: cut(line, maxCode), Reply: fmt.Sprintf("This command has %d bytes and may have up to %d, so nothing was done. %s lists the commands.",
				len(line), maxLine, Code(Prefix+" help"))})
		case ours:
			out = append(out, parseLine(strings.ToValidUTF8(line, "\uFFFD")))
		default:
			out = append(out, Parsed{Line: line, Reply: near})
		}
	}
	return out
}

// nearly answers a line that was meant for ocpctl but is not a command; empty: it was not meant for ocpctl.
func nearly(first, rest string) string {
	if len(first) > maxCode {
		return ""
	}
	low := strings.ToLower(first)
	if low == "/ocpctl" {
		hint := ""
		if words := strings.FieldsFunc(rest[:min(len(rest), maxLine)], blank); len(words) > 0 {
			if verb, ok := meant(words[0]); ok {
				hint = fmt.Sprintf(" Did you mean %s?", Code(Prefix+" "+verb))
			}
		}
		return fmt.Sprintf("In comments the command is %s; %s is its name on the command line.%s %s lists the commands.", Code(Prefix), Code("ocpctl"), hint, Code(Prefix+" help"))
	}
	if label := strings.TrimPrefix(low, "/"); rest == "" && labelled.MatchString(label) {
		how := fmt.Sprintf("Add the label to the pull request, or comment %s.", Code(Prefix+" create "+strings.TrimPrefix(label, LabelPrefix)))
		if label == KeepLabel || strings.HasPrefix(label, TTLLabelPrefix) {
			how = "Add the label to the pull request."
		}
		return fmt.Sprintf("%s is a label, not a command, so nothing was done. %s", Code(label), how)
	}
	for _, between := range []string{"-", ":", "_", ".", ","} {
		if verb, cut := strings.CutPrefix(low, Prefix+between); cut {
			if verb == "" {
				verb = strings.ToLower(strings.TrimFunc(rest, blank))
				verb, _, _ = strings.Cut(verb, " ")
			}
			if e, known := find(verb); known {
				return fmt.Sprintf("%s is not a command. Did you mean %s?", Code(first), Code(Prefix+" "+string(e.verb)))
			}
		}
	}
	return ""
}

// labelled matches a label that was typed as if it were a command.
var labelled = regexp.MustCompile(`^(?:ocp/[a-z][a-z0-9-]*|ocp-ttl/[0-9]+)$`)

// parseLine parses a line that begins with Prefix.
func parseLine(line string) Parsed {
	words, problem := split(line, len(Prefix))
	if problem != "" {
		return Parsed{Line: line, Reply: "Nothing was done. " + problem}
	}
	if len(words) == 0 {
		return Parsed{Line: line, Command: &Command{Verb: VerbHelp, Line: line}}
	}
	e, known := find(strings.ToLower(words[0].text))
	if !known && words[0].asksForHelp() || known && (e.verb == VerbHelp || slices.ContainsFunc(words[1:], word.asksForHelp)) {
		return Parsed{Line: line, Command: &Command{Verb: VerbHelp, Line: line}}
	}
	if !known {
		return Parsed{Line: line, Reply: unknownVerb(words[0].text)}
	}
	r := reading{entry: e, command: Command{Verb: e.verb, Line: line}, seen: map[string]bool{}}
	if e.verb == VerbLogs {
		r.command.Lines = LogLines
	}
	r.read(words[1:])
	r.complete()
	if len(r.problems) > 0 {
		return Parsed{Line: line, Reply: notUnderstood(e, r.problems)}
	}
	return Parsed{Line: line, Command: &r.command}
}

// asksForHelp reports that the word is --help or a common variant of it.
func (w word) asksForHelp() bool {
	return w.plain && slices.Contains([]string{"--help", "-h", "-help", "?"}, strings.ToLower(dashes(w.text)))
}

// reading is the state while the words of a command are read.
type reading struct {
	entry
	command  Command
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
				r.word(w.text)
			}
			return
		}
		if !w.isOption() {
			r.word(w.text)
			continue
		}
		name, value, inline := strings.Cut(dashes(w.text), "=")
		name = strings.ToLower(name)
		if !inline && i+1 < len(words) && !words[i+1].isOption() && !r.isSwitch(name) {
			i++
			value = words[i].text
		}
		r.flag(name, value)
	}
}

// isOption reports that the word is an option: dashes followed by a letter. A negative number is not an option.
func (w word) isOption() bool {
	name := strings.TrimLeft(dashes(w.text), "-")
	return w.plain && name != "" && len(name) < len(dashes(w.text)) && unicode.IsLetter([]rune(name)[0])
}

// word reads a word that is not an option.
func (r *reading) word(text string) {
	if r.takes == commands.Reason {
		r.text = append(r.text, text)
		return
	}
	if !r.seen[""] && r.taken(text) {
		return
	}
	if !r.form.Takes(commands.Profile) || r.command.Profile != "" || text == "" {
		r.wrong("Unexpected argument %s.", Code(text))
		return
	}
	r.command.Profile = strings.TrimPrefix(strings.ToLower(text), LabelPrefix)
}

// taken reports whether the word is the argument that the command takes besides a profile.
func (r *reading) taken(text string) bool {
	switch r.takes {
	case commands.Duration:
		d, ok := lifetime(text)
		if ok && d <= 0 {
			r.wrong("%s adds nothing; %s", Code(text), spanText)
		}
		r.command.TTL, r.seen[""] = d, ok
		return ok
	case commands.Number:
		if text == "" || !strings.ContainsRune("-+0123456789", rune(text[0])) {
			return false
		}
		r.seen[""] = true
		if problem := setReplicas(&r.command, text); problem != "" {
			r.problems = append(r.problems, problem)
		}
		return true
	case commands.Commit:
		sha := strings.ToLower(text)
		if r.seen[""] = commit.MatchString(sha); r.seen[""] {
			r.command.Commit = sha
		}
		return r.seen[""]
	}
	return false
}

// commit matches a commit id, or enough of its beginning.
var commit = regexp.MustCompile(`^[0-9a-f]{7,40}$`)

// named returns the option with that name.
func (r *reading) named(name string) (option, bool) {
	o, known := r.option(name)
	if !known && strings.HasPrefix(name, "-") && !strings.HasPrefix(name, "--") && len(name) > 2 {
		o, known = r.option("-" + name) // -ttl for --ttl
	}
	return o, known
}

// isSwitch reports that the option takes no value.
func (r *reading) isSwitch(name string) bool {
	o, known := r.named(name)
	return known && o.Example == ""
}

// flag reads an option with its value.
func (r *reading) flag(name, value string) {
	o, known := r.named(name)
	switch {
	case !known:
		r.problems = append(r.problems, r.noOption(name))
	case r.seen[o.name]:
		r.wrong("%s is given twice.", Code(o.name))
	case o.Example == "" && value != "":
		r.wrong("%s takes no value, so Unexpected argument %s.", Code(o.name), Code(value))
	case value == "" && o.Example != "":
		r.wrong("%s needs a value, for example %s.", Code(o.name), Code(o.name+" "+o.Example))
	default:
		if problem := o.set(&r.command, value); problem != "" {
			r.problems = append(r.problems, problem)
		}
	}
	r.seen[o.name] = r.seen[o.name] || known
}

// noOption answers an unknown option: with the one that was probably meant, the command it belongs to, or the list of options.
func (e entry) noOption(name string) string {
	if near, ok := Closest(name, e.optionNames()); ok {
		return fmt.Sprintf("%s is not an option. Did you mean %s?", Code(name), Code(near))
	}
	whose := fmt.Sprintf("%s is not an option; %s has none.", Code(name), Code(Prefix+" "+string(e.verb)))
	if len(e.options) > 0 {
		whose = fmt.Sprintf("%s is not an option. The options are: %s.", Code(name), list(e.optionNames()))
	}
	for _, other := range table {
		if _, has := other.option(name); has && strings.HasPrefix(name, "--") {
			return fmt.Sprintf("%s It is one of %s.", whose, Code(Prefix+" "+string(other.verb)))
		}
	}
	return whose
}

// complete reports what is missing after all words were read.
func (r *reading) complete() {
	c := &r.command
	if r.takes == commands.Reason {
		r.reason()
	}
	if len(r.problems) > 0 {
		return
	}
	switch {
	case r.takes == commands.Duration && !r.seen[""]:
		r.wrong("Say how long: %s", spanText)
	case r.takes == commands.Number && !r.seen[""] && !r.seen["--replicas"]:
		r.wrong("Give the number of workers, for example %s.", Code(Prefix+" "+r.form.Example))
	case r.takes == commands.Number && r.seen[""] && r.seen["--replicas"]:
		r.wrong("The number of workers is given twice.")
	case r.takes == commands.Reason && c.Reason == "":
		r.wrong("Add a reason: the person who asked is told.")
	case r.takes == commands.Grantee && (c.Team == "") == (c.With == ""):
		r.wrong("Say with whom: either %s or %s.", Code("--team platform"), Code("--with github:maya"))
	}
}

// reason turns the words of a refusal into its reason. With --reason, the one word that may be left is the profile.
func (r *reading) reason() {
	c := &r.command
	if !r.seen["--reason"] {
		if problem := setReason(c, strings.Join(r.text, " ")); problem != "" {
			r.problems = append(r.problems, problem)
		}
		return
	}
	for i, text := range r.text {
		if i > 0 || text == "" {
			r.wrong("Unexpected argument %s.", Code(text))
			return
		}
		c.Profile = strings.TrimPrefix(strings.ToLower(text), LabelPrefix)
	}
}

// dashes restores two dashes from what phones and word processors turn them into.
func dashes(text string) string {
	for _, long := range []string{"—", "–"} {
		rest, found := strings.CutPrefix(text, long)
		rest = strings.TrimLeft(rest, "-—–")
		if found && rest != "" && unicode.IsLetter([]rune(rest)[0]) {
			return "--" + rest
		}
	}
	return text
}

func unknownVerb(word string) string {
	hint := "There are: " + list(verbs()) + "."
	if near := suggestion(word, verbs()); near != "" {
		hint = near
	}
	return fmt.Sprintf("%s is not a command. %s %s lists the commands.", Code(Prefix+" "+word), hint, Code(Prefix+" help"))
}

func notUnderstood(e entry, problems []string) string {
	intro := fmt.Sprintf("Nothing was done, because `%s %s` could not be understood.", Prefix, e.verb)
	if len(problems) > MaxCommands {
		problems = append(problems[:MaxCommands:MaxCommands], "And so on.")
	}
	return fmt.Sprintf("%s\n\n- %s\n\nUsage: %s. For more, see %s.", intro, strings.Join(problems, "\n- "), Code(e.usage()), Code(Prefix+" help"))
}
