package chatops

import (
	"fmt"
	"strings"
)

// Help lists the commands: the most important ones first, everything in a fold. Profiles are the names that can be requested, the
// default first.
func Help(profiles ...string) string {
	var b strings.Builder
	b.WriteString("**Commands**, each on a line of its own:\n\n")
	for _, e := range inComments.rows {
		if e.form.Common {
			fmt.Fprintf(&b, "- %s: %s\n", e.form.Summary, Code(e.usage()))
		}
	}
	if len(profiles) > 0 {
		fmt.Fprintf(&b, "\nProfiles: %s. Without a profile, the first one is used.\n", list(profiles))
	}
	fmt.Fprintf(&b, "\nThe label `%s<profile>` does the same as `%s create <profile>`. If you remove it or close the pull request, the cluster ends after a grace period.\n", LabelPrefix, Prefix)
	b.WriteString("\n<details>\n<summary>All commands and options</summary>\n\n")
	for _, e := range inComments.rows {
		fmt.Fprintf(&b, "- %s: %s. For example %s.\n", e.form.Summary, Code(e.usage()), Code(Prefix+" "+e.form.Example))
		for _, o := range e.options {
			fmt.Fprintf(&b, "  - %s: %s\n", o.usage(), o.Plain())
		}
	}
	fmt.Fprintf(&b, "\nA command without a profile means the pull request's only cluster. Quote a value that contains spaces. "+
		"A comment may contain up to %d commands, one on each line. Commands in code, quotes, lists and edited comments are ignored, as is what a reply by mail quotes. "+
		"%s counts only in the first line of a comment.\n", MaxCommands, Code(Prefix+" "+string(VerbApprove)))
	fmt.Fprintf(&b, "\nLabels: `%s8` gives the clusters of this pull request eight hours, `%s` keeps them until their maximum.\n", TTLLabelPrefix, KeepLabel)
	b.WriteString("\n</details>\n")
	return fit(b.String())
}

// HelpAbout says all about one command on a pull request; empty: there is no such command there.
func HelpAbout(verb string) string { return inComments.explain(verb) }

// usage formats the option as it is typed, with its short name.
func (o option) usage() string {
	text := Code(strings.TrimRight(o.name+" "+o.Example, " "))
	if o.Short != "" {
		text += ", " + Code("-"+o.Short)
	}
	return text
}

// list formats words as code, separated by commas.
func list(words []string) string {
	quoted := make([]string, 0, len(words))
	for _, w := range words {
		quoted = append(quoted, Code(w))
	}
	return strings.Join(quoted, ", ")
}
