package chatops

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/ocpctl/ocpctl/internal/closest"
)

// isOption reports that the word is an option: dashes followed by a letter. A negative number is not an option.
func (w word) isOption() bool {
	name := strings.TrimLeft(dashes(w.text), "-")
	return w.plain && name != "" && len(name) < len(dashes(w.text)) && unicode.IsLetter([]rune(name)[0])
}

// optionNamed returns the option with that name.
func (r *reading) optionNamed(name string) (option, bool) {
	o, known := r.option(name)
	if !known && strings.HasPrefix(name, "-") && !strings.HasPrefix(name, "--") && len(name) > 2 {
		o, known = r.option("-" + name) // -ttl for --ttl
	}
	return o, known
}

// isSwitch reports that the option takes no value from the next word.
func (r *reading) isSwitch(name string) bool {
	o, known := r.optionNamed(name)
	return known && o.Example == ""
}

// canBeFalse reports that a switch can also be turned off, as in --off-hours=false.
func (o option) canBeFalse() bool { return o.Name == "off-hours" }

// flag reads an option with its value.
func (r *reading) flag(name, value string) {
	o, known := r.optionNamed(name)
	switch {
	case !known:
		r.problems = append(r.problems, r.noOption(name))
	case r.seen[o.name]:
		r.wrong("%s is given twice.", Code(o.name))
	case o.Example == "" && value != "" && !o.canBeFalse():
		r.wrong("%s takes no value, so Unexpected argument %s.", Code(o.name), Code(value))
	case value == "" && o.Example != "":
		r.wrong("%s needs a value, for example %s.", Code(o.name), Code(o.name+" "+o.Example))
	default:
		if problem := o.set(r, value); problem != "" {
			r.problems = append(r.problems, problem)
		}
	}
	r.seen[o.name] = r.seen[o.name] || known
}

// noOption answers an unknown option: with the one that was probably meant, the command it belongs to, or the list of options.
func (r *reading) noOption(name string) string {
	if near, ok := closest.Match(name, r.optionNames()); ok {
		return fmt.Sprintf("%s is not an option. Did you mean %s?", Code(name), Code(near))
	}
	whose := fmt.Sprintf("%s is not an option; %s has none.", Code(name), Code(Prefix+" "+string(r.verb)))
	if len(r.options) > 0 {
		whose = fmt.Sprintf("%s is not an option. The options are: %s.", Code(name), list(r.optionNames()))
	}
	for _, other := range r.rows {
		if _, has := other.option(name); has && strings.HasPrefix(name, "--") {
			return fmt.Sprintf("%s It is one of %s.", whose, Code(Prefix+" "+string(other.verb)))
		}
	}
	return whose
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
