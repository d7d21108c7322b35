package github

import (
	"errors"
	"slices"
	"strings"
	"time"
)

var (
	errNotFound = errors.New("not found")
	errInvalid  = errors.New("not possible")
)

// Label sets a label as a person. Setting one that is set changes nothing and tells nobody.
func (s *Server) Label(number int, label, as string) error {
	return s.change(func(w *world) ([]Event, error) { return s.label(w, number, label, as) })
}

// Unlabel removes a label as a person.
func (s *Server) Unlabel(number int, label, as string) error {
	return s.change(func(w *world) ([]Event, error) { return s.unlabel(w, number, label, as) })
}

// Close closes a pull request as a person.
func (s *Server) Close(number int, as string) error {
	return s.change(func(w *world) ([]Event, error) { return s.setOpen(w, number, false, as) })
}

// Reopen opens a closed pull request again as a person.
func (s *Server) Reopen(number int, as string) error {
	return s.change(func(w *world) ([]Event, error) { return s.setOpen(w, number, true, as) })
}

// Push gives a pull request a new head, as its author's push does.
func (s *Server) Push(number int, as string) error {
	return s.change(func(w *world) ([]Event, error) {
		pr := w.pull(number)
		if pr == nil {
			return nil, errNotFound
		}
		before, push := pr.HeadSHA, 2
		for commitID(number, push-1) != before {
			push++
		}
		pr.HeadSHA = commitID(number, push)
		s.touch(pr)
		e := w.event("synchronize", as, pr)
		e.Before = before
		return []Event{e}, nil
	})
}

// Comment writes a comment as a person, or as the Bot, and returns its id.
func (s *Server) Comment(number int, body, as string) (int64, error) {
	var id int64
	err := s.change(func(w *world) ([]Event, error) {
		c, events, err := s.comment(w, number, body, as)
		if err == nil {
			id = c.ID
		}
		return events, err
	})
	return id, err
}

// DeleteComment deletes a comment as a person.
func (s *Server) DeleteComment(id int64, as string) error {
	return s.change(func(w *world) ([]Event, error) { return s.uncomment(w, id, as) })
}

// SetPermission gives a login a role: admin, maintain, write, triage, read or none; empty makes it unknown.
func (s *Server) SetPermission(login, role string) error {
	return s.change(func(w *world) ([]Event, error) {
		if role == "" {
			delete(w.Permissions, login)
		} else {
			w.Permissions[login] = role
		}
		return nil, nil
	})
}

// touch moves a pull request's updated_at on. GitHub counts whole seconds, so two events of one second look alike.
func (s *Server) touch(pr *PullRequest) {
	if now := s.now().UTC().Truncate(time.Second); now.After(pr.UpdatedAt) {
		pr.UpdatedAt = now
	}
}

func (w *world) event(action, as string, pr *PullRequest) Event {
	copied := *pr
	copied.Labels = slices.Clone(pr.Labels)
	return Event{Name: "pull_request", Action: action, Sender: as, PR: copied, Comments: len(w.conversation(pr.Number))}
}

func (s *Server) label(w *world, number int, label, as string) ([]Event, error) {
	pr, label := w.pull(number), strings.TrimSpace(label)
	if pr == nil {
		return nil, errNotFound
	}
	if label == "" || len(label) > 50 {
		return nil, errInvalid
	}
	if pr.Has(label) {
		return nil, nil
	}
	known := slices.IndexFunc(w.Labels, func(l string) bool { return strings.EqualFold(l, label) })
	if known < 0 {
		w.Labels = append(w.Labels, label) // GitHub makes a label it does not know
	} else {
		label = w.Labels[known]
	}
	pr.Labels = append(pr.Labels, label)
	s.touch(pr)
	e := w.event("labeled", as, pr)
	e.Label = label
	return []Event{e}, nil
}

func (s *Server) unlabel(w *world, number int, label, as string) ([]Event, error) {
	pr := w.pull(number)
	if pr == nil || !pr.Has(label) {
		return nil, errNotFound
	}
	i := slices.IndexFunc(pr.Labels, func(l string) bool { return strings.EqualFold(l, label) })
	label = pr.Labels[i]
	pr.Labels = slices.Delete(pr.Labels, i, i+1)
	s.touch(pr)
	e := w.event("unlabeled", as, pr)
	e.Label = label
	return []Event{e}, nil
}

func (s *Server) setOpen(w *world, number int, open bool, as string) ([]Event, error) {
	pr := w.pull(number)
	if pr == nil {
		return nil, errNotFound
	}
	if pr.Open == open {
		return nil, nil
	}
	action := "reopened"
	pr.Open, pr.ClosedAt = open, nil
	s.touch(pr)
	if !open {
		action = "closed"
		closed := pr.UpdatedAt
		pr.ClosedAt = &closed
	}
	return []Event{w.event(action, as, pr)}, nil
}

func (s *Server) comment(w *world, number int, body, as string) (*Comment, []Event, error) {
	pr := w.pull(number)
	if pr == nil {
		return nil, nil, errNotFound
	}
	if strings.TrimSpace(body) == "" || len([]rune(body)) > 65536 {
		return nil, nil, errInvalid
	}
	now := s.now().UTC().Truncate(time.Second)
	c := &Comment{ID: w.id(), Number: number, Author: as, Body: body, CreatedAt: now, UpdatedAt: now}
	w.Comments = append(w.Comments, c)
	s.touch(pr)
	return c, []Event{w.commentEvent("created", as, pr, c)}, nil
}

func (s *Server) recomment(w *world, id int64, body, as string) (*Comment, []Event, error) {
	c := w.comment(id)
	if c == nil {
		return nil, nil, errNotFound
	}
	if strings.TrimSpace(body) == "" || len([]rune(body)) > 65536 {
		return nil, nil, errInvalid
	}
	old := c.Body
	c.Body, c.UpdatedAt = body, s.now().UTC().Truncate(time.Second)
	c.Edits++
	e := w.commentEvent("edited", as, w.pull(c.Number), c)
	e.OldBody = old
	return c, []Event{e}, nil
}

func (s *Server) uncomment(w *world, id int64, as string) ([]Event, error) {
	c := w.comment(id)
	if c == nil {
		return nil, errNotFound
	}
	w.Comments = slices.DeleteFunc(w.Comments, func(other *Comment) bool { return other.ID == id })
	return []Event{w.commentEvent("deleted", as, w.pull(c.Number), c)}, nil
}

func (w *world) commentEvent(action, as string, pr *PullRequest, c *Comment) Event {
	e := w.event(action, as, pr)
	e.Name, e.Comment = "issue_comment", *c
	return e
}
