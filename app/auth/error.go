package auth

import (
	"fmt"
	"time"

	"github.com/ocpctl/ocpctl/internal/duration"
)

// Reason says in one word why a sign-in or token was refused.
type Reason string

// The reasons. Unavailable is the fault of the server or of an issuer; every other is in what was sent.
const (
	Missing       Reason = "missing"
	Malformed     Reason = "malformed"
	UnknownIssuer Reason = "unknown_issuer"
	Expired       Reason = "expired"
	NotYet        Reason = "not_yet"
	WrongAudience Reason = "wrong_audience"
	BadSignature  Reason = "bad_signature"
	Replayed      Reason = "replayed"
	NotBegun      Reason = "not_begun"   // this browser did not begin the sign-in, or too long ago
	NotAllowed    Reason = "not_allowed" // proved, but not on the allow-lists
	Revoked       Reason = "revoked"
	Unavailable   Reason = "unavailable"
	TooOften      Reason = "too_often" // too many failed attempts
)

// Error says why nobody is signed in, and what to do next. It never contains the token.
type Error struct {
	Reason  Reason
	Message string
	Cause   error // for the log; may be nil
}

// Later is the cause of a TooOften: how long to wait before the next attempt.
type Later time.Duration

// Error implements error.
func (l Later) Error() string { return "again in " + duration.Format(time.Duration(l)) }

// Error returns the text for people.
func (e *Error) Error() string { return e.Message }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }

func refuseWith(reason Reason, format string, args ...any) *Error {
	return &Error{Reason: reason, Message: fmt.Sprintf(format, args...)}
}
