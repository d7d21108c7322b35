package profiles

import (
	"fmt"
	"strings"
)

// Problem is one thing wrong with a profile, said so that a person can put it right without asking.
type Problem struct {
	File   string
	Line   int
	Field  string // dotted path, e.g. "regions.allow[1].zones"; empty: the file as a whole
	Got    string // what stands there, or "missing"
	Accept string // what would be accepted
}

// Error is "file:line: field: what stands there; accepted: what would be accepted".
func (p Problem) Error() string {
	field := p.Field
	if field != "" {
		field += ": "
	}
	return fmt.Sprintf("%s:%d: %s%s; accepted: %s", p.File, p.Line, field, p.Got, p.Accept)
}

// Problems is everything wrong with a catalogue at once, a line each, in the order of files and lines.
type Problems []Problem

// Error lists all problems.
func (ps Problems) Error() string {
	lines := make([]string, 0, len(ps))
	for _, p := range ps {
		lines = append(lines, p.Error())
	}
	return strings.Join(lines, "\n")
}
