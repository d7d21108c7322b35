package github

import (
	"net/http"
	"slices"
	"time"

	"github.com/ocpctl/ocpctl/devstack/must"
)

// issueCalls only concern pull requests: there are no issues here. GitHub restricts an App with issues permission but without
// pull_requests permission to issues: https://docs.github.com/rest/authentication/permissions-required-for-github-apps
func (s *Server) issueCalls() []endpoint {
	return []endpoint{
		// The mux cannot distinguish issues/comments/{id} and issues/{number}/comments; two handlers do.
		{"GET", "/issues/{a}/{b}", readPulls, true, s.getUnderIssues},
		{"POST", "/issues/{a}/{b}", writePulls, false, s.postUnderIssues},
		{"PATCH", "/issues/comments/{id}", writePulls, false, s.patchComment},
		{"POST", "/issues/comments/{id}/reactions", writePulls, false, s.postReaction},
	}
}

// getUnderIssues is GET issues/{a}/{b}: a conversation, a pull request's labels, or one comment.
func (s *Server) getUnderIssues(w http.ResponseWriter, r *http.Request, c caller) {
	switch {
	case r.PathValue("a") == "comments":
		s.showComment(w, http.StatusOK, c, id(r, "b"))
	case r.PathValue("b") == "comments":
		s.listComments(w, r, c, number(r, "a"))
	case r.PathValue("b") == "labels":
		s.listIssueLabels(w, r, c, number(r, "a"))
	default:
		notFound(w)
	}
}

// postUnderIssues is POST issues/{a}/{b}: a new comment, or labels.
func (s *Server) postUnderIssues(w http.ResponseWriter, r *http.Request, c caller) {
	switch r.PathValue("b") {
	case "comments":
		s.postComment(w, r, c, number(r, "a"))
	case "labels":
		s.postIssueLabels(w, r, c, number(r, "a"))
	default:
		notFound(w)
	}
}

// listComments returns the oldest first, or only those changed since a given time.
func (s *Server) listComments(w http.ResponseWriter, r *http.Request, c caller, number int) {
	_, ok := c.at.PullRequest(number)
	endMissing(!ok)
	since, _ := time.Parse(time.RFC3339, r.URL.Query().Get("since"))
	sc, all := s.sceneOf(c.at.repo), []object{}
	for _, one := range c.at.Comments(number) {
		if !one.UpdatedAt.Before(since) {
			all = append(all, sc.comment(one))
		}
	}
	page(w, r, s.base, all, nil)
}

// find returns a copy of a comment; nil: it does not exist.
func (p Place) find(id int64) (c *Comment) {
	p.look(func(_ *world, r *repository) {
		if found := r.comment(id); found != nil {
			copied := copyComment(found)
			c = &copied
		}
	})
	return c
}

func (s *Server) showComment(w http.ResponseWriter, status int, c caller, id int64) {
	found := c.at.find(id)
	endMissing(found == nil)
	answer(w, status, s.sceneOf(c.at.repo).comment(*found))
}

type bodyOnly struct {
	Body string `json:"body"`
}

func (s *Server) postComment(w http.ResponseWriter, r *http.Request, c caller, number int) {
	var body bodyOnly
	decodeBody(r, &body)
	pr, _ := c.at.PullRequest(number)
	endIf(pr.Locked && (c.app || !c.may("write")), http.StatusForbidden, "Unable to create comment because issue is locked.")
	id, err := c.at.Comment(number, body.Body, c.login)
	endOnError(err, "IssueComment", "body")
	s.showComment(w, http.StatusCreated, c, id)
}

// endUnlessEditor lets only its author and people with write permission change a comment.
func endUnlessEditor(c caller, id int64) {
	found := c.at.find(id)
	foreign := found != nil && found.Author != c.login
	endIf(foreign && c.app, http.StatusForbidden, "Resource not accessible by integration")
	endIf(foreign && !c.may("write"), http.StatusForbidden, "Must have admin rights to Repository.")
}

func (s *Server) patchComment(w http.ResponseWriter, r *http.Request, c caller) {
	var body bodyOnly
	decodeBody(r, &body)
	endUnlessEditor(c, id(r, "id"))
	endOnError(c.at.EditComment(id(r, "id"), body.Body, c.login), "IssueComment", "body")
	s.showComment(w, http.StatusOK, c, id(r, "id"))
}

func (sc scene) reaction(c Comment, kind, login string) object {
	return object{
		"id": c.ID*10 + int64(slices.Index(reactionKinds, kind)), "node_id": nodeID("REA", c.ID), "content": kind,
		"user": sc.user(login), "created_at": stamp(c.UpdatedAt),
	}
}

// postReaction returns 201 for a new reaction and 200 for an existing one.
func (s *Server) postReaction(w http.ResponseWriter, r *http.Request, c caller) {
	var body struct{ Content string }
	decodeBody(r, &body)
	endInvalid(!slices.Contains(reactionKinds, body.Content), "Reaction", "content", "invalid")
	status := http.StatusCreated
	err := c.at.do(func(_ *world, repo *repository) ([]Event, error) {
		found := repo.comment(id(r, "id"))
		must.EndIf(found == nil, errNotFound)
		if slices.Contains(found.Reactions[body.Content], c.login) {
			status = http.StatusOK
			return nil, nil
		}
		if found.Reactions == nil {
			found.Reactions = map[string][]string{}
		}
		found.Reactions[body.Content] = append(found.Reactions[body.Content], c.login)
		return nil, nil
	})
	endOnError(err, "Reaction", "content")
	answer(w, status, s.sceneOf(c.at.repo).reaction(*c.at.find(id(r, "id")), body.Content, c.login))
}
