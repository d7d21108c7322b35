package chatops

import (
	"fmt"
	"regexp"
	"strings"
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
	for at := range authorLines(body) {
		line := strings.TrimFunc(at.text, blank)
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
		case at.mail && !at.meant: // most likely it was answered, not said
		case at.mail:
			return append(out, Parsed{Line: cut(line, maxCode), Reply: answerBelowMail(line)})
		case len(out) == MaxCommands:
			return append(out, Parsed{Line: cut(line, maxCode), Reply: fmt.Sprintf("A comment may contain up to %d commands; those from %s on were ignored. Send them in another comment.",
				MaxCommands, Code(line))})
		case len(line) > maxLine:
			out = append(out, Parsed{Line: cut(line, maxCode), Reply: tooLong(line)})
		case ours:
			out = append(out, parseLine(strings.ToValidUTF8(line, "\uFFFD"), at.first))
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
			if verb, ok := inComments.findMeant(words[0]); ok {
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
			if e, known := inComments.find(verb); known {
				return fmt.Sprintf("%s is not a command. Did you mean %s?", Code(first), Code(Prefix+" "+string(e.verb)))
			}
		}
	}
	return ""
}

// labelled matches a label that was typed as if it were a command.
var labelled = regexp.MustCompile(`^(?:ocp/[a-z][a-z0-9-]*|ocp-ttl/[0-9]+)$`)

// parseLine reads a comment's line that begins with Prefix. An approval has to be the comment's first line: further down it may be
// a text that somebody answers or quotes, and an approval starts what a stranger wrote.
func parseLine(line string, first bool) Parsed {
	c, reply := inComments.parse(line)
	switch {
	case c == nil:
		return Parsed{Line: line, Reply: reply}
	case c.Verb == VerbApprove && !first:
		return Parsed{Line: line, Reply: fmt.Sprintf("Nothing was approved: %s counts only in the first line of a comment. Write a comment that begins with it.", Code(Prefix+" "+string(VerbApprove)))}
	}
	if c.Verb == VerbHelp {
		c.Topic = c.Ref
	}
	return Parsed{Line: line, Command: &c.Command}
}

// answerBelowMail answers a command below the header of a mail.
func answerBelowMail(line string) string {
	return fmt.Sprintf("%s was ignored, because it is below the header of a mail, where the quoted text begins. "+
		"In a reply by mail, write commands at the top, or write a comment on the pull request's page.", Code(line))
}

func tooLong(line string) string {
	return fmt.Sprintf("This command has %d bytes and may have up to %d, so nothing was done. %s lists the commands.", len(line), maxLine, Code(Prefix+" help"))
}
