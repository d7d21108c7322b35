// Package exit defines ocpctl's exit codes, on which scripts can rely, and its errors for people. A code never changes its meaning;
// docs/commands.md lists them.
package exit

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// Code is a process's exit code.
type Code int

// The codes.
const (
	OK          Code = 0
	Other       Code = 1   // everything without a code of its own: a server error, a file, a broken hash chain
	Usage       Code = 2   // the command line, or a request that the server cannot parse
	Denied      Code = 3   // not signed in, or not allowed
	NotFound    Code = 4   // it does not exist, or you may not see it
	Conflict    Code = 5   // not possible in its current state, or somebody else was faster
	Refused     Code = 6   // the request was understood and policy refused it
	Approval    Code = 7   // time ran out while it waited for an approval
	Failed      Code = 8   // the cluster cannot reach the goal
	TimedOut    Code = 124 // time ran out
	Interrupted Code = 130 // Ctrl-C, or asked to end
)

// Meanings lists every code with what it means, for the documentation.
func Meanings() []struct {
	Code  Code
	Words string
} {
	return []struct {
		Code  Code
		Words string
	}{
		{OK, "done; of `create` without `--wait`: accepted"},
		{Other, "any other error: for example the server has a problem, a file cannot be written, an audit trail is broken or a catalogue is not valid"},
		{Usage, "the command line is wrong, or the server cannot read the request (400, 413)"},
		{Denied, "not signed in (401), or not allowed (403)"},
		{NotFound, "not found, or you may not see it (404, 410)"},
		{Conflict, "conflict: the state does not allow it, the name is taken, or somebody changed it first (409, 412)"},
		{Refused, "refused by policy (422), in a dry run too, or by a person"},
		{Approval, "the timeout of `--wait` or `wait` passed while the cluster waited for an approval"},
		{Failed, "the cluster failed or is being destroyed while you wait for it to be ready, its teardown is blocked, its workers or add-ons were not changed, or GitHub refused the labels"},
		{TimedOut, "the timeout passed; the operation continues on the server"},
		{Interrupted, "interrupted; the operation continues on the server"},
	}
}

// Error is an error with an exit code. Without an Err everything was printed already.
type Error struct {
	Code Code
	Err  error
}

func (e *Error) Error() string {
	if e.Err == nil {
		return ""
	}
	return e.Err.Error()
}

func (e *Error) Unwrap() error { return e.Err }

// With gives an error its code.
func With(code Code, err error) error { return &Error{code, err} }

// Silent ends with a code and prints nothing more.
func Silent(code Code) error { return &Error{Code: code} }

// CodeOf returns the exit code for an error.
func CodeOf(err error) Code {
	var chosen *Error
	switch {
	case err == nil:
		return OK
	case errors.As(err, &chosen):
		return chosen.Code
	case errors.Is(err, context.Canceled):
		return Interrupted
	}
	return Other
}

// Field is one wrong value, and what would be accepted. Without a name, the detail says what is wrong.
type Field struct {
	Name, Detail string
	Accepted     []string
}

// Problem is an error with everything that is wrong, one line each, and the next step.
type Problem struct {
	Title  string
	Fields []Field
	Next   string
	Short  string // instead of title and fields where they were shown a moment before; empty: they are always shown
}

// Shorten returns an error that leaves out what was shown a moment before.
func Shorten(err error) error {
	var p *Problem
	if errors.As(err, &p) && p.Short != "" {
		return With(CodeOf(err), &Problem{Title: p.Short, Next: p.Next})
	}
	return err
}

// shown is how many accepted values a line lists.
const shown = 16

// Error returns one line for the whole, one for each field, and one for the next step.
func (p *Problem) Error() string {
	var b strings.Builder
	b.WriteString(p.Title)
	for _, f := range p.Fields {
		b.WriteString("\n  ")
		if f.Name != "" {
			b.WriteString(f.Name + ": ")
		}
		b.WriteString(endSentence(f.Detail))
		switch n := len(f.Accepted); {
		case n > shown:
			fmt.Fprintf(&b, " Accepted: %s and %d more.", strings.Join(f.Accepted[:shown], ", "), n-shown)
		case n > 0:
			fmt.Fprintf(&b, " Accepted: %s.", strings.TrimSuffix(strings.Join(f.Accepted, ", "), "."))
		}
	}
	if p.Next != "" {
		b.WriteString("\n" + p.Next)
	}
	return b.String()
}

// Misused returns an error about the command line: one sentence, code Usage.
func Misused(format string, args ...any) error {
	return With(Usage, fmt.Errorf(format, args...))
}

// Wrong returns an error about everything that is wrong with an input, code Usage; nil without fields.
func Wrong(title string, fields []Field) error {
	if len(fields) == 0 {
		return nil
	}
	return With(Usage, &Problem{Title: title, Fields: fields})
}

// endSentence ends a sentence with a full stop.
func endSentence(text string) string {
	if text == "" || strings.ContainsAny(text[len(text)-1:], ".?!") {
		return text
	}
	return text + "."
}
