package github

import (
	"maps"
	"slices"
)

// PullRequest is how a pull request stands; ok is false when there is none.
func (s *Server) PullRequest(number int) (pr PullRequest, ok bool) {
	s.look(func(w *world) {
		if found := w.pull(number); found != nil {
			pr, ok = *found, true
			pr.Labels = slices.Clone(found.Labels)
		}
	})
	return pr, ok
}

// Comments is a pull request's conversation, oldest first.
func (s *Server) Comments(number int) []Comment {
	var out []Comment
	s.look(func(w *world) {
		for _, c := range w.conversation(number) {
			out = append(out, copyComment(c))
		}
	})
	return out
}

// Checks are the check runs of a pull request's present head, oldest first.
func (s *Server) Checks(number int) []Check {
	var out []Check
	s.look(func(w *world) {
		if pr := w.pull(number); pr != nil {
			out = w.checksOf(pr.HeadSHA)
		}
	})
	return out
}

// ChecksOf are the check runs of a commit, oldest first.
func (s *Server) ChecksOf(sha string) []Check {
	var out []Check
	s.look(func(w *world) { out = w.checksOf(sha) })
	return out
}

func (w *world) checksOf(sha string) []Check {
	var out []Check
	for _, c := range w.Checks {
		if c.Head == sha {
			out = append(out, *c)
		}
	}
	return out
}

func copyComment(c *Comment) Comment {
	out := *c
	out.Reactions = maps.Clone(c.Reactions)
	return out
}
