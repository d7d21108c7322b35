package github

import (
	"strings"
)

// Open opens a pull request from a branch of the repository as a person and returns its number.
func (s *Server) Open(title, as string) (int, error) {
	var number int
	err := s.change(func(w *world) ([]Event, error) {
		if strings.TrimSpace(title) == "" {
			return nil, errInvalid
		}
		number = firstNumber
		for _, pr := range w.Pulls {
			number = max(number, pr.Number+1)
		}
		now := s.now().UTC()
		pr := &PullRequest{
			Number: number, Title: title, Author: as, HeadOwner: Org, Open: true, Labels: []string{},
			HeadRef: branchName(title), HeadSHA: commitID(number, 1), CreatedAt: now, UpdatedAt: now,
		}
		pr.CreatedAt, pr.UpdatedAt = pr.CreatedAt.Truncate(1e9), pr.UpdatedAt.Truncate(1e9)
		w.Pulls = append(w.Pulls, pr)
		return []Event{w.event("opened", as, pr)}, nil
	})
	return number, err
}
