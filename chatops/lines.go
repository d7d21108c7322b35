package chatops

import "strings"

// spoken returns the lines of a comment that its author says themselves: code fences, quoted lines, indented code and
// hidden HTML comments are left out, because nobody reads those as a command.
func spoken(body string) []string {
	var out []string
	var fence string
	hidden := false
	for line := range strings.Lines(body) {
		line = strings.TrimRight(line, "\r\n")
		text := strings.TrimLeft(line, " ")
		indent := len(line) - len(text)
		switch {
		case hidden:
			hidden = !strings.Contains(line, "-->")
		case fence != "":
			if indent < 4 && closes(text, fence) {
				fence = ""
			}
		case indent >= 4 || strings.HasPrefix(text, "\t") || strings.HasPrefix(text, ">"):
		case opens(text) != "":
			fence = opens(text)
		default:
			hidden = leavesHidden(text)
			out = append(out, text)
		}
	}
	return out
}

// opens returns the run of marks that opens a code fence, empty when the line opens none.
func opens(line string) string {
	for _, mark := range []string{"`", "~"} {
		rest := strings.TrimLeft(line, mark)
		run := line[:len(line)-len(rest)]
		if len(run) >= 3 && (mark == "~" || !strings.Contains(rest, "`")) {
			return run
		}
	}
	return ""
}

// closes says whether the line closes a fence: the same mark, at least as long, and nothing behind.
func closes(line, fence string) bool {
	line = strings.TrimRight(line, " \t")
	return len(line) >= len(fence) && strings.Trim(line, fence[:1]) == ""
}

// leavesHidden says whether an HTML comment is still open at the end of the line.
func leavesHidden(line string) bool {
	open := strings.LastIndex(line, "<!--")
	return open >= 0 && !strings.Contains(line[open:], "-->")
}
