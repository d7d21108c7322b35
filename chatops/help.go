package chatops

import (
	"fmt"
	"strings"
)

// Help tells what one can type: what one needs first, and everything in a fold. Profiles are the names one can ask for, the
// one that is taken unasked first.
func Help(profiles ...string) string {
	var b strings.Builder
	b.WriteString("**What one can type here**, at the start of a line:\n\n")
	for _, e := range table {
		if e.first {
			fmt.Fprintf(&b, "- %s: %s\n", Code(e.usage()), e.words)
		}
	}
	if len(profiles) > 0 {
		fmt.Fprintf(&b, "\nProfiles: %s. The first is taken when none is named.\n", list(profiles))
	}
	fmt.Fprintf(&b, "\nA label `%s<profile>` does the same as `%s create <profile>`. Removing it, or closing the pull request, ends the cluster after a grace.\n", LabelPrefix, Prefix)
	b.WriteString("\n<details>\n<summary>Everything one can type</summary>\n\n")
	for _, e := range table {
		fmt.Fprintf(&b, "- %s: %s. For example %s.\n", Code(e.usage()), e.words, Code(e.example))
		for _, o := range e.options {
			fmt.Fprintf(&b, "  - %s: %s\n", o.usage(), o.words)
		}
	}
	fmt.Fprintf(&b, "\nOf a command without a profile the pull request's only cluster is meant. A word with spaces is quoted, as in a shell. "+
		"A comment holds at most %d commands, a line each; code, quotes, lists and edited comments are not read.\n", MaxCommands)
	fmt.Fprintf(&b, "\nLabels: `%s8` gives this pull request's clusters eight hours, `%s` holds them until the maximum.\n", TTLLabelPrefix, KeepLabel)
	b.WriteString("\n</details>\n")
	return fit(b.String())
}

// usage is the option as one would type it, with its short name.
func (o option) usage() string {
	words := Code(strings.TrimRight(o.name+" "+o.example, " "))
	if o.short != "" {
		words += ", " + Code("-"+o.short)
	}
	return words
}

// list writes words as code, with commas between.
func list(words []string) string {
	quoted := make([]string, 0, len(words))
	for _, w := range words {
		quoted = append(quoted, Code(w))
	}
	return strings.Join(quoted, ", ")
}
