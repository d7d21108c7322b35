package profiles

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Problem is one thing that is wrong with a catalogue, with what would be accepted, so that a person can fix it without asking.
type Problem struct {
	File   string
	Line   int    // 0: the whole file
	Column int    // in the line, from 1; 0: unknown
	Field  string // dotted path, e.g. "regions.allow[1].zones"; empty: the whole file
	Got    string // the value, or "missing"
	Accept string // what would be accepted
}

// Error returns "file:line: field: value; accepted: what would be accepted".
func (p Problem) Error() string {
	where, field := p.File, p.Field
	if p.Line > 0 {
		where = fmt.Sprintf("%s:%d", where, p.Line)
	}
	if p.Line > 0 && p.Column > 0 {
		where = fmt.Sprintf("%s:%d", where, p.Column)
	}
	if field != "" {
		field += ": "
	}
	return fmt.Sprintf("%s: %s%s; accepted: %s", where, field, p.Got, p.Accept)
}

// Problems is everything that is wrong with a catalogue, one line each, in the order of files and lines.
type Problems []Problem

// Error lists all problems.
func (ps Problems) Error() string {
	lines := make([]string, 0, len(ps))
	for _, p := range ps {
		lines = append(lines, p.Error())
	}
	return strings.Join(lines, "\n")
}

// Sorted returns the problems in the order of files, lines and columns.
func (ps Problems) Sorted() Problems {
	return slices.SortedStableFunc(slices.Values(ps), func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
}
