package chatops

import (
	"fmt"
	"slices"
	"strings"
)

// MaxCommands is how many commands of one comment are done.
const MaxCommands = 5

// Parse finds the commands of a comment. Nothing of ours gives none. After MaxCommands one more answer says that the
// rest was left out.
func Parse(body string) []Parsed {
	var out []Parsed
	for _, line := range spoken(body) {
		words := strings.Fields(line)
		if len(words) == 0 || !strings.EqualFold(words[0], Prefix) {
			continue
		}
		if len(out) == MaxCommands {
			return append(out, Parsed{Line: line, Reply: fmt.Sprintf("A comment holds at most %d commands; from %s on they were left out. Send the rest in another comment.",
				MaxCommands, code(line))})
		}
		out = append(out, parseLine(line, words[1:]))
	}
	return out
}

func parseLine(line string, words []string) Parsed {
	if len(words) == 0 {
		return Parsed{Line: line, Command: &Command{Verb: VerbHelp, Line: line}}
	}
	verb := strings.ToLower(words[0])
	e, known := find(verb)
	switch {
	case !known:
		return Parsed{Line: line, Reply: unknownVerb(words[0])}
	case e.away:
		return Parsed{Line: line, Reply: fmt.Sprintf("`%s %s` does nothing here. %s", Prefix, e.verb, e.words)}
	case e.verb == VerbHelp:
		return Parsed{Line: line, Command: &Command{Verb: VerbHelp, Line: line}}
	}
	c := Command{Verb: e.verb, Line: line}
	if problems := e.read(&c, words[1:]); len(problems) > 0 {
		return Parsed{Line: line, Reply: notUnderstood(e, problems)}
	}
	return Parsed{Line: line, Command: &c}
}

// read fills the command from the words behind its verb and returns everything that is wrong with them.
func (e entry) read(c *Command, words []string) (problems []string) {
	seen := map[string]bool{}
	for i := 0; i < len(words); i++ {
		word := dashes(words[i])
		if !strings.HasPrefix(word, "--") {
			problems = append(problems, e.word(c, word)...)
			continue
		}
		name, value, inline := strings.Cut(word, "=")
		name = strings.ToLower(name)
		if !inline && i+1 < len(words) && !strings.HasPrefix(dashes(words[i+1]), "--") {
			i++
			value = words[i]
		}
		if problem := e.option(c, name, value, seen); problem != "" {
			problems = append(problems, problem)
		}
	}
	if e.span && c.TTL == 0 && len(problems) == 0 {
		problems = append(problems, "It needs to know how long: "+spanWords)
	}
	return problems
}

// word reads a word that is no option: a duration where one is expected, else a profile.
func (e entry) word(c *Command, word string) (problems []string) {
	if e.span && c.TTL == 0 {
		if d, ok := lifetime(word); ok {
			if d <= 0 {
				return []string{code(word) + " adds nothing; " + spanWords}
			}
			c.TTL = d
			return nil
		}
	}
	if !e.profile || c.Profile != "" {
		return []string{code(word) + " is one word too many."}
	}
	c.Profile = strings.TrimPrefix(strings.ToLower(word), LabelPrefix)
	return nil
}

func (e entry) option(c *Command, name, value string, seen map[string]bool) (problem string) {
	i := slices.IndexFunc(options, func(o option) bool { return o.name == name })
	if !e.flags {
		return code(name) + " is not an option here; only `/ocp create` has options."
	}
	if i < 0 {
		if near, ok := Closest(name, flagNames()); ok {
			return fmt.Sprintf("%s is not an option. Did you mean %s?", code(name), code(near))
		}
		return fmt.Sprintf("%s is not an option. There are: %s.", code(name), list(flagNames()))
	}
	if seen[name] {
		return code(name) + " is given twice."
	}
	seen[name] = true
	if value == "" {
		return fmt.Sprintf("%s needs a value, for example %s.", code(name), code(name+" "+options[i].example))
	}
	return options[i].set(c, value)
}

// dashes undoes what phones and word processors make of two dashes.
func dashes(word string) string {
	for _, long := range []string{"—", "–"} {
		if rest, found := strings.CutPrefix(word, long); found {
			return "--" + strings.TrimLeft(rest, "-—–")
		}
	}
	return word
}

func unknownVerb(word string) string {
	hint := "There are: " + list(verbs(false)) + "."
	if near, ok := Closest(word, append(verbs(false), verbs(true)...)); ok {
		hint = fmt.Sprintf("Did you mean %s?", code(Prefix+" "+near))
	}
	return fmt.Sprintf("%s is not a command. %s %s tells what one can type.", code(Prefix+" "+word), hint, code(Prefix+" help"))
}

func notUnderstood(e entry, problems []string) string {
	intro := fmt.Sprintf("`%s %s` was not understood, so nothing was done.", Prefix, e.verb)
	if len(problems) > MaxCommands {
		problems = append(problems[:MaxCommands:MaxCommands], "And so on.")
	}
	return fmt.Sprintf("%s\n\n- %s\n\nThe form is %s; %s tells more.", intro, strings.Join(problems, "\n- "), code(e.usage()), code(Prefix+" help"))
}
