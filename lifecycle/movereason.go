package lifecycle

import "strings"

// MoveReason is why a cluster's last move was made. What code asks of it stands apart, and String makes the sentence where it is shown. The
// database keeps it as JSON.
type MoveReason struct {
	Code    MoveCode `json:"code,omitempty"`
	Cause   Reason   `json:"cause,omitzero"`    // why the cluster ends, if the move follows from that
	Words   string   `json:"words,omitempty"`   // what happened
	Failure string   `json:"failure,omitempty"` // how the try of a create failed
	Next    string   `json:"next,omitempty"`    // what follows from the failure
	Runner  string   `json:"runner,omitempty"`  // it waits for a free runner: which cap is full
	Brake   Brake    `json:"brake,omitzero"`    // it waits for that
}

// MoveCode says which move it was. Most have none, because no code asks.
type MoveCode string

const (
	MoveAccepted MoveCode = "accepted" // the request was accepted, and nothing has happened since
	MoveExpires  MoveCode = "expires"  // the cluster's end is near: Words say when, and Cause why
)

// waitingForRunner precedes which cap on runners is full.
const waitingForRunner = "waiting for a free runner: "

// IsZero reports that there is no reason.
func (r MoveReason) IsZero() bool { return r == MoveReason{} }

// String returns the reason as a sentence without a capital and a final stop. Words stand in it as they are, so whoever shows it escapes it.
func (r MoveReason) String() string {
	cause, words := r.Cause.String(), r.Words
	switch {
	case r.Code == MoveAccepted:
		words = string(r.Code)
	case r.Code == MoveExpires && cause != "":
		cause, words = "", words+" ("+cause+")"
	case r.Failure != "" && r.Next != "":
		words += " (" + r.Failure + ")"
	default:
		words = addWords(words, r.Failure)
	}
	parts := []string{cause, words, r.Next, "", r.Brake.String()}
	if r.Runner != "" {
		parts[3] = waitingForRunner + r.Runner
	}
	var said []string
	for _, part := range parts {
		if part != "" {
			said = append(said, part)
		}
	}
	return strings.Join(said, "; ")
}

// WithoutFailure is the reason of a move after the last failed try, without how that failed.
func (r MoveReason) WithoutFailure() MoveReason {
	r.Cause = r.Cause.WithoutFailure()
	if r.Next == "" {
		r.Failure = ""
	}
	return r
}
