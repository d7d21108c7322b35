package auth

import (
	"time"
)

// Note is a message that a page shows to one person once: the result of a form. It is stored in a signed cookie, so that neither
// another host of the domain nor another person can make our pages show a text.
type Note struct {
	Page    string `json:"page"` // path of the page that shows it
	Message string `json:"words"`
	Bad     bool   `json:"bad,omitempty"` // nothing was done
}

// SignNote signs a note for a principal, valid for the given time.
func (s *Sessions) SignNote(principal string, n Note, life time.Duration) (string, error) {
	return s.signToken(forNote, principal, n, s.now().Add(life))
}

// ReadNote returns the note that was signed for the principal; ok is false if there is none or it expired.
func (s *Sessions) ReadNote(principal, raw string) (n Note, ok bool) {
	registered, err := s.readToken(forNote, raw, &n)
	return n, err == nil && registered.Subject == principal && n.Message != ""
}
