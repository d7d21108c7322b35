package github

import (
	"cmp"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
)

// The App's permissions for a call, from GitHub's documentation of the call ("Permissions required for GitHub Apps"). GitHub answers
// some reading calls for public repositories without them; here they are always required, as for private ones.
const (
	readAny    = "metadata:read"
	readPulls  = "pull_requests:read"
	readIssues = "issues:read|pull_requests:read" // for the repository's labels
	writePulls = "pull_requests:write"
	readFiles  = "contents:read"
	writeFiles = "contents:write"
)

func (s *Server) repoCalls() []endpoint {
	return []endpoint{
		{"GET", "", readAny, true, s.getRepo},
		{"GET", "/collaborators/{user}/permission", readAny, false, s.getPermission},
		{"GET", "/pulls/{number}", readPulls, true, s.getPull},
		{"GET", "/pulls/{number}/files", readPulls, true, s.listFiles},
		{"POST", "/dispatches", writeFiles, false, s.postDispatch},
	}
}

func number(r *http.Request, name string) int {
	n, _ := strconv.Atoi(r.PathValue(name))
	return n
}

func id(r *http.Request, name string) int64 {
	n, _ := strconv.ParseInt(r.PathValue(name), 10, 64)
	return n
}

func (s *Server) getRepo(w http.ResponseWriter, _ *http.Request, c caller) {
	repo := s.sceneOf(c.at.repo).repository()
	c.at.look(func(_ *world, r *repository) { repo["archived"] = r.Archived })
	answer(w, http.StatusOK, repo)
}

func (s *Server) getPull(w http.ResponseWriter, r *http.Request, c caller) {
	n := number(r, "number")
	pr, ok := c.at.PullRequest(n)
	endMissing(!ok)
	answer(w, http.StatusOK, s.sceneOf(c.at.repo).pull(pr, len(c.at.Comments(n))))
}

// may reports whether a caller has at least a role in the repository of the call.
func (c caller) may(role string) (may bool) {
	c.at.look(func(_ *world, r *repository) { may = r.may(c, role) })
	return may
}

// listFiles returns the files that a pull request changes.
func (s *Server) listFiles(w http.ResponseWriter, r *http.Request, c caller) {
	sc, all := s.sceneOf(c.at.repo), []object{}
	c.at.look(func(_ *world, repo *repository) {
		pr := repo.pull(number(r, "number"))
		endMissing(pr == nil)
		for _, path := range repo.changed(pr) {
			old, was := repo.Commits[pr.BaseSHA][path]
			now, is := repo.Commits[pr.HeadSHA][path]
			all = append(all, sc.file(path, pr.HeadSHA, old, now, was, is))
		}
	})
	page(w, r, s.base, all, nil)
}

func (sc scene) file(path, head, old, now string, was, is bool) object {
	status := "modified"
	switch {
	case !was:
		status = "added"
	case !is:
		status = "removed"
	}
	plus, minus := strings.Count(now, "\n"), strings.Count(old, "\n")
	return object{
		"sha": blobID(now), "filename": path, "status": status, "additions": plus, "deletions": minus, "changes": plus + minus,
		"blob_url": sc.web() + sc.repo.Name + "/blob/" + head + "/" + path, "raw_url": sc.web() + sc.repo.Name + "/raw/" + head + "/" + path,
		"contents_url": sc.repoAPI() + "/contents/" + path + "?ref=" + head,
	}
}

// postDispatch accepts at most ten top-level fields in the payload, as GitHub does.
func (s *Server) postDispatch(w http.ResponseWriter, r *http.Request, c caller) {
	var body struct {
		Type    string          `json:"event_type"`
		Payload json.RawMessage `json:"client_payload"`
	}
	decodeBody(r, &body)
	endIf(!c.may("write"), http.StatusForbidden, "Must have write access to Repository.")
	endInvalid(body.Type == "" || len(body.Type) > 100, "RepositoryDispatch", "event_type", "invalid")
	var fields map[string]json.RawMessage
	endIf(len(body.Payload) > 0 && json.Unmarshal(body.Payload, &fields) != nil || len(body.Payload) > 65535, http.StatusUnprocessableEntity, "Invalid request.\n\nFor 'properties/client_payload', the value is not an object.")
	endIf(len(fields) > 10, http.StatusUnprocessableEntity, "Invalid request.\n\nNo more than 10 properties are allowed; "+strconv.Itoa(len(fields))+" were supplied.")
	endOnError(c.at.Dispatch(body.Type, body.Payload, c.login), "RepositoryDispatch", "event_type")
	w.WriteHeader(http.StatusNoContent)
}

// getPermission answers as GitHub does: maintain counts as write and triage as read; role_name has the role itself.
func (s *Server) getPermission(w http.ResponseWriter, r *http.Request, c caller) {
	login := r.PathValue("user")
	var role string
	c.at.look(func(world *world, repo *repository) {
		role = repo.Permissions[login]
		if role == "" && world.known(login) {
			role = cmp.Or(repo.role(login), "none")
		}
	})
	endIf(role == "", http.StatusNotFound, login+" is not a user")
	permission := cmp.Or(map[string]string{"maintain": "write", "triage": "read"}[role], role)
	user := s.sceneOf(c.at.repo).user(login)
	user["permissions"] = permissionFlags(role)
	user["role_name"] = role
	answer(w, http.StatusOK, object{"permission": permission, "role_name": role, "user": user})
}

func permissionFlags(role string) object {
	flags := object{}
	for i, name := range []string{"pull", "triage", "push", "maintain", "admin"} {
		flags[name] = ranks[role] > i
	}
	return flags
}
