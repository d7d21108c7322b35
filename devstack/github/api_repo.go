package github

import (
	"cmp"
	"encoding/json"
	"errors"
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
		{"GET", "/pulls", readPulls, true, s.listPulls},
		{"GET", "/pulls/{number}", readPulls, true, s.getPull},
		{"PATCH", "/pulls/{number}", writePulls, false, s.patchPull},
		{"GET", "/pulls/{number}/files", readPulls, true, s.listFiles},
		{"PUT", "/pulls/{number}/merge", writeFiles, false, s.putMerge},
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
	repo, err := s.sceneOf(c.at.repo).repository()
	if err == nil {
		c.at.look(func(_ *world, r *repository) { repo["archived"] = r.Archived })
	}
	show(w, http.StatusOK, repo, err)
}

// listPulls returns the newest first, by default only open ones.
func (s *Server) listPulls(w http.ResponseWriter, r *http.Request, c caller) {
	state := cmp.Or(r.URL.Query().Get("state"), "open")
	sc, all := s.sceneOf(c.at.repo), []object{}
	var err error
	c.at.look(func(world *world, repo *repository) {
		for i := len(repo.Pulls) - 1; i >= 0 && err == nil; i-- {
			pr := world.snapshot(repo, repo.Pulls[i])
			if state != "all" && stateWord(pr.Open) != state || !sc.headIs(pr, r.URL.Query().Get("head")) {
				continue
			}
			var one object
			if one, err = sc.pull(pr, len(repo.conversation(pr.Number))); err == nil {
				all = append(all, one)
			}
		}
	})
	if err != nil {
		fail(w, err, "", "")
		return
	}
	page(w, r, s.base, all, nil)
}

// headIs reports whether a pull request comes from owner:branch; empty: from any.
func (sc scene) headIs(pr PullRequest, head string) bool {
	owner, _ := sc.head(pr).split()
	return head == "" || head == owner+":"+pr.HeadRef
}

func (s *Server) getPull(w http.ResponseWriter, r *http.Request, c caller) {
	s.showPull(w, c, number(r, "number"), scene.pull)
}

func (s *Server) showPull(w http.ResponseWriter, c caller, number int, shape func(scene, PullRequest, int) (object, error)) {
	pr, ok := c.at.PullRequest(number)
	if !ok {
		notFound(w)
		return
	}
	one, err := shape(s.sceneOf(c.at.repo), pr, len(c.at.Comments(number)))
	show(w, http.StatusOK, one, err)
}

// patchBody changes a pull request, or its issue.
type patchBody struct {
	State *string `json:"state"`
	Title *string `json:"title"`
}

func (s *Server) patchPull(w http.ResponseWriter, r *http.Request, c caller) {
	s.patch(w, r, c, "PullRequest", scene.pull)
}

// patch closes, reopens or renames; other changes are not implemented.
func (s *Server) patch(w http.ResponseWriter, r *http.Request, c caller, kind string, shape func(scene, PullRequest, int) (object, error)) {
	var body patchBody
	if !decode(w, r, &body) {
		return
	}
	n := number(r, "number")
	if body.State != nil && *body.State != "open" && *body.State != "closed" {
		invalid(w, kind, "state", "invalid")
		return
	}
	if !s.mayClose(c, n) {
		complain(w, http.StatusForbidden, "Must have admin rights to Repository.")
		return
	}
	var err error
	if body.Title != nil {
		err = c.at.Retitle(n, *body.Title, c.login)
	}
	if body.State != nil && err == nil {
		err = c.at.setOpen(n, *body.State == "open", c.login)
	}
	if err != nil {
		fail(w, err, kind, "state")
		return
	}
	s.showPull(w, c, n, shape)
}

func (s *Server) mayClose(c caller, number int) (may bool) {
	c.at.look(func(_ *world, r *repository) { may = r.mayClose(c, r.pull(number)) })
	return may
}

// may reports whether a caller has at least a role in the repository of the call.
func (c caller) may(role string) (may bool) {
	c.at.look(func(_ *world, r *repository) { may = r.may(c, role) })
	return may
}

// listFiles returns the files that a pull request changes.
func (s *Server) listFiles(w http.ResponseWriter, r *http.Request, c caller) {
	var all []object
	sc := s.sceneOf(c.at.repo)
	c.at.look(func(_ *world, repo *repository) {
		pr := repo.pull(number(r, "number"))
		if pr == nil {
			return
		}
		all = []object{}
		for _, path := range repo.changed(pr) {
			old, was := repo.Commits[pr.BaseSHA][path]
			now, is := repo.Commits[pr.HeadSHA][path]
			all = append(all, sc.file(path, pr.HeadSHA, old, now, was, is))
		}
	})
	if all == nil {
		notFound(w)
		return
	}
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

func (s *Server) putMerge(w http.ResponseWriter, r *http.Request, c caller) {
	n := number(r, "number")
	if !c.may("write") {
		complain(w, http.StatusForbidden, "Must have write access to Repository.")
		return
	}
	err := c.at.Merge(n, c.login)
	if err == errInvalid {
		complain(w, http.StatusMethodNotAllowed, "Pull Request is not mergeable")
		return
	}
	if errors.Is(err, errBlocked) {
		complain(w, http.StatusMethodNotAllowed, strings.ReplaceAll(err.Error(), errBlocked.Error()+": ", ""))
		return
	}
	if err != nil {
		fail(w, err, "PullRequest", "merge")
		return
	}
	pr, _ := c.at.PullRequest(n)
	answer(w, http.StatusOK, object{"sha": pr.MergeSHA, "merged": true, "message": "Pull Request successfully merged"})
}

// postDispatch accepts at most ten top-level fields in the payload, as GitHub does.
func (s *Server) postDispatch(w http.ResponseWriter, r *http.Request, c caller) {
	var body struct {
		Type    string          `json:"event_type"`
		Payload json.RawMessage `json:"client_payload"`
	}
	if !decode(w, r, &body) {
		return
	}
	if !c.may("write") {
		complain(w, http.StatusForbidden, "Must have write access to Repository.")
		return
	}
	if body.Type == "" || len(body.Type) > 100 {
		invalid(w, "RepositoryDispatch", "event_type", "invalid")
		return
	}
	var fields map[string]json.RawMessage
	if len(body.Payload) > 0 && json.Unmarshal(body.Payload, &fields) != nil || len(body.Payload) > 65535 {
		complain(w, http.StatusUnprocessableEntity, "Invalid request.\n\nFor 'properties/client_payload', the value is not an object.")
		return
	}
	if len(fields) > 10 {
		complain(w, http.StatusUnprocessableEntity, "Invalid request.\n\nNo more than 10 properties are allowed; "+strconv.Itoa(len(fields))+" were supplied.")
		return
	}
	if err := c.at.Dispatch(body.Type, body.Payload, c.login); err != nil {
		fail(w, err, "RepositoryDispatch", "event_type")
		return
	}
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
	if role == "" {
		complain(w, http.StatusNotFound, login+" is not a user")
		return
	}
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
