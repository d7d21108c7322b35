package auth

import (
	"fmt"
	"time"
)

// Reason says in one word why somebody was not let in.
type Reason string

// The reasons. Unavailable is ours or the other side's fault, every other lies in what was sent.
const (
	Missing       Reason = "missing"
	Malformed     Reason = "malformed"
	UnknownIssuer Reason = "unknown_issuer"
	Expired       Reason = "expired"
	NotYet        Reason = "not_yet"
	WrongAudience Reason = "wrong_audience"
	BadSignature  Reason = "bad_signature"
	Replayed      Reason = "replayed"
	NotBegun      Reason = "not_begun"   // a sign-in that this browser did not begin, or too long ago
	NotAllowed    Reason = "not_allowed" // proved, and not on our lists
	Revoked       Reason = "revoked"
	Unavailable   Reason = "unavailable"
	TooOften      Reason = "too_often" // too many attempts failed
)

// Error is why nobody is signed in, in words with the next step. It never holds the token.
type Error struct {
	Reason  Reason
	Message string
	Cause   error // for the log; may be nil
}

// Later is the cause of a TooOften: how long until the next attempt has a chance.
type Later time.Duration

// Error implements error.
func (l Later) Error() string { return "again in " + time.Duration(l).String() }

// Error implements error with the words for people.
func (e *Error) Error() string { return e.Message }

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Cause }

func refuse(reason Reason, format string, args ...any) *Error {
	return &Error{Reason: reason, Message: fmt.Sprintf(format, args...)}
}
