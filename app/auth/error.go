package auth

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Reason says in one word why a token was not accepted.
type Reason string

// The reasons. Unavailable is ours or the issuer's fault, every other the token's.
const (
	Missing       Reason = "missing"
	Malformed     Reason = "malformed"
	UnknownIssuer Reason = "unknown_issuer"
	Expired       Reason = "expired"
	NotYet        Reason = "not_yet"
	WrongAudience Reason = "wrong_audience"
	BadSignature  Reason = "bad_signature"
	Unavailable   Reason = "unavailable"
)

// Error is why nobody is signed in, in words with the next step. It never holds the token.
type Error struct {
	Reason  Reason
	Message string
	Cause   error // for the log; may be nil
}

// Error implements error with the words for people.
func (e *Error) Error() string { return e.Message }

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Cause }

func refuse(reason Reason, format string, args ...any) *Error {
	return &Error{Reason: reason, Message: fmt.Sprintf(format, args...)}
}

func (v *Verifier) accepted() string {
	if len(v.issuers) == 0 {
		return "none, because none is configured"
	}
	return strings.Join(slices.Sorted(maps.Keys(v.issuers)), ", ")
}
