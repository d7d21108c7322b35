package app

import (
	"errors"
	"fmt"
)

// Kind sorts what a caller can do about an error.
type Kind string

// The kinds. Each door maps them once: HTTP status, chat words, exit code.
const (
	Invalid  Kind = "invalid"
	Denied   Kind = "denied"
	NotFound Kind = "not_found"
	Conflict Kind = "conflict"
	Stale    Kind = "stale" // it is no longer as the caller saw it
	Busy     Kind = "busy"
)

// Error is an answer people may see: what is wrong and the next step. Any other error stays inside.
type Error struct {
	Kind    Kind
	Message string
	Fields  []Field // every invalid field at once; only with Invalid
}

// Field is one invalid input and what would be accepted.
type Field struct {
	Name   string
	Detail string
	Accept []string

	more int // of the last one: how many are not listed
}

// Error implements error with the words for people.
func (e *Error) Error() string { return e.Message }

// KindOf tells the kind of an error of the service; empty for anything internal.
func KindOf(err error) Kind {
	var e *Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return ""
}

func Fail(kind Kind, format string, args ...any) *Error {
	return &Error{Kind: kind, Message: fmt.Sprintf(format, args...)}
}
