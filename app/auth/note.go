package auth

import (
	"time"
)

// Note is what a page of ours says to one person once: what came of a form. It travels in a cookie of the browser, signed, so
// that neither another host of the domain nor another person can make our pages say anything.
type Note struct {
	Page  string `json:"page"` // the path of the page that says it
	Words string `json:"words"`
	Bad   bool   `json:"bad,omitempty"` // nothing was done
}

// SignNote signs a note for a principal. It holds for so long.
func (s *Sessions) SignNote(principal string, n Note, life time.Duration) (string, error) {
	return s.sign(forNote, principal, n, s.now().Add(life))
}

// ReadNote is the note that we signed for the principal; ok is false where there is none, or not any more.
func (s *Sessions) ReadNote(principal, raw string) (n Note, ok bool) {
	registered, err := s.read(forNote, raw, &n)
	return n, err == nil && registered.Subject == principal && n.Words != ""
}
