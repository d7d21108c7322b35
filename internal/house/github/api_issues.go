package github

import (
	"encoding/json"
	"net/http"
	"slices"
	"time"
)

// getUnderIssues is GET issues/{a}/{b}: a conversation, a pull request's labels, or one comment.
func (s *Server) getUnderIssues(w http.ResponseWriter, r *http.Request, _ caller) {
	switch {
	case r.PathValue("a") == "comments":
		s.showComment(w, http.StatusOK, id(r, "b"))
	case r.PathValue("b") == "comments":
		s.listComments(w, r, number(r, "a"))
	case r.PathValue("b") == "labels":
		s.listIssueLabels(w, r, number(r, "a"))
	default:
		notFound(w)
	}
}

// postUnderIssues is POST issues/{a}/{b}: a new comment, or labels.
func (s *Server) postUnderIssues(w http.ResponseWriter, r *http.Request, c caller) {
	switch r.PathValue("b") {
	case "comments":
		s.postComment(w, r, number(r, "a"), c)
	case "labels":
		s.postLabels(w, r, number(r, "a"), c)
	default:
		notFound(w)
	}
}

// listComments answers the oldest first, and only those changed since a time when asked.
func (s *Server) listComments(w http.ResponseWriter, r *http.Request, number int) {
	if _, ok := s.PullRequest(number); !ok {
		notFound(w)
		return
	}
	since, _ := time.Parse(time.RFC3339, r.URL.Query().Get("since"))
	all := []object{}
	for _, c := range s.Comments(number) {
		if c.UpdatedAt.Before(since) {
			continue
		}
		one, err := commentShape(c, s.base)
		if err != nil {
			fail(w, err, "", "")
			return
		}
		all = append(all, one)
	}
	page(w, r, s.base, all, nil)
}

func (s *Server) showComment(w http.ResponseWriter, status int, id int64) {
	var c *Comment
	s.look(func(world *world) {
		if found := world.comment(id); found != nil {
			copied := copyComment(found)
			c = &copied
		}
	})
	if c == nil {
		notFound(w)
		return
	}
	one, err := commentShape(*c, s.base)
	show(w, status, one, err)
}

type bodyOnly struct {
	Body string `json:"body"`
}

func (s *Server) postComment(w http.ResponseWriter, r *http.Request, number int, c caller) {
	var body bodyOnly
	if !decode(w, r, &body) {
		return
	}
	id, err := s.Comment(number, body.Body, c.login)
	if err != nil {
		fail(w, err, "IssueComment", "body")
		return
	}
	s.showComment(w, http.StatusCreated, id)
}

// mayEdit reports whether a caller may change a comment: its author, or who has write.
func (s *Server) mayEdit(id int64, c caller) (may bool) {
	s.look(func(w *world) {
		found := w.comment(id)
		role := w.Permissions[c.login]
		may = found == nil || found.Author == c.login || role == "admin" || role == "maintain" || role == "write"
	})
	return may
}

func (s *Server) patchComment(w http.ResponseWriter, r *http.Request, c caller) {
	var body bodyOnly
	if !decode(w, r, &body) {
		return
	}
	if !s.mayEdit(id(r, "id"), c) {
		complain(w, http.StatusForbidden, "Resource not accessible by integration")
		return
	}
	err := s.change(func(world *world) ([]Event, error) {
		_, events, err := s.recomment(world, id(r, "id"), body.Body, c.login)
		return events, err
	})
	if err != nil {
		fail(w, err, "IssueComment", "body")
		return
	}
	s.showComment(w, http.StatusOK, id(r, "id"))
}

func (s *Server) deleteComment(w http.ResponseWriter, r *http.Request, c caller) {
	if !s.mayEdit(id(r, "id"), c) {
		complain(w, http.StatusForbidden, "Resource not accessible by integration")
		return
	}
	if err := s.DeleteComment(id(r, "id"), c.login); err != nil {
		fail(w, err, "IssueComment", "id")
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

func (s *Server) listLabels(w http.ResponseWriter, r *http.Request, _ caller) {
	var names []string
	s.look(func(world *world) { names = slices.Clone(world.Labels) })
	page(w, r, s.base, labelShapes(names, s.base), nil)
}

func (s *Server) listIssueLabels(w http.ResponseWriter, r *http.Request, number int) {
	pr, ok := s.PullRequest(number)
	if !ok {
		notFound(w)
		return
	}
	page(w, r, s.base, labelShapes(pr.Labels, s.base), nil)
}

// postLabels takes a list, or an object with one, as GitHub does.
func (s *Server) postLabels(w http.ResponseWriter, r *http.Request, number int, c caller) {
	var raw json.RawMessage
	if !decode(w, r, &raw) {
		return
	}
	var names []string
	if json.Unmarshal(raw, &names) != nil {
		var wrapped struct{ Labels []string }
		if json.Unmarshal(raw, &wrapped) != nil {
			complain(w, http.StatusBadRequest, "Problems parsing JSON")
			return
		}
		names = wrapped.Labels
	}
	if !s.may(c) {
		complain(w, http.StatusForbidden, "Must have triage rights to Repository.")
		return
	}
	for _, name := range names {
		if err := s.Label(number, name, c.login); err != nil {
			fail(w, err, "Label", "name")
			return
		}
	}
	s.listIssueLabels(w, r, number)
}

func (s *Server) deleteLabel(w http.ResponseWriter, r *http.Request, c caller) {
	if !s.may(c) {
		complain(w, http.StatusForbidden, "Must have triage rights to Repository.")
		return
	}
	if err := s.Unlabel(number(r, "number"), r.PathValue("name"), c.login); err != nil {
		complain(w, http.StatusNotFound, "Label does not exist")
		return
	}
	s.listIssueLabels(w, r, number(r, "number"))
}

func (s *Server) may(c caller) (may bool) {
	s.look(func(w *world) { may = w.mayTriage(c) })
	return may
}
