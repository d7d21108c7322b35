package app

import (
	"errors"
	"time"
)

// Kind classifies errors by what a caller can do about them.
type Kind string

// The kinds. Each entry point maps them once: HTTP status, chat message, exit code.
const (
	Invalid  Kind = "invalid"
	Denied   Kind = "denied"
	NotFound Kind = "not_found"
	Conflict Kind = "conflict"
	Stale    Kind = "stale" // the cluster changed since the caller saw it
	Busy     Kind = "busy"
)

// Error is an answer for people: what is wrong and the next step. Any other error is internal and not shown.
type Error struct {
	Kind    Kind
	Message string
	Fields  []Field // every invalid field at once; only with Invalid

	Later time.Duration // when to try again; only with Busy; zero: in a few seconds
}

// Field is one invalid input and what would be accepted.
type Field struct {
	Name   string
	Detail string
	Accept []string
	Told   bool // the error's message says the detail

	more int // of the last one: how many are not listed
}

// Error implements error. It returns the message for people.
func (e *Error) Error() string { return e.Message }

// KindOf returns the kind of a service error; empty: it is an internal error.
func KindOf(err error) Kind {
	var e *Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return ""
}

// Fail returns an Error of the kind with a message for people, which chatops words.
func Fail(kind Kind, message string) *Error {
	return &Error{Kind: kind, Message: message}
}
