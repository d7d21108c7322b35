package github

import (
	"net/http"
	"strconv"
	"strings"
)

// as is a call of the API by somebody known.
type as func(w http.ResponseWriter, r *http.Request, c caller)

// repoRoutes are the calls made with an installation's token or by a person, and what of a public repository anybody may read.
func (s *Server) repoRoutes(mux *http.ServeMux) {
	known := func(pattern string, fn as) { mux.HandleFunc(pattern, s.known(fn)) }
	in := func(method, path string, fn as) {
		mux.HandleFunc(method+" /repos/{owner}/{repo}"+path, ofRepo(s.known(fn)))
	}
	public := func(path string, fn as) {
		mux.HandleFunc("GET /repos/{owner}/{repo}"+path, ofRepo(s.anybody(fn)))
	}
	known("GET /installation/repositories", s.listRepos)
	known("GET /orgs/"+Org+"/teams/"+Team+"/members", s.listMembers)
	known("GET /orgs/"+Org+"/teams/"+Team+"/memberships/{user}", s.getMembership)
	public("", s.getRepo)
	public("/pulls", s.listPulls)
	public("/pulls/{number}", s.getPull)
	in("PATCH", "/pulls/{number}", s.patchState)
	public("/labels", s.listLabels)
	in("GET", "/collaborators/{user}/permission", s.getPermission)
	public("/issues/{number}", s.getIssue)
	in("PATCH", "/issues/{number}", s.patchState)
	// issues/comments/{id} and issues/{number}/comments look alike to the mux: two handlers tell them apart.
	public("/issues/{a}/{b}", s.getUnderIssues)
	in("POST", "/issues/{a}/{b}", s.postUnderIssues)
	in("PATCH", "/issues/comments/{id}", s.patchComment)
	in("DELETE", "/issues/comments/{id}", s.deleteComment)
	in("DELETE", "/issues/{number}/labels/{name...}", s.deleteLabel)
	public("/issues/comments/{id}/reactions", s.listReactions)
	in("POST", "/issues/comments/{id}/reactions", s.postReaction)
	in("POST", "/check-runs", s.postCheck)
	public("/check-runs/{id}", s.getCheck)
	in("PATCH", "/check-runs/{id}", s.patchCheck)
	public("/commits/{ref...}", s.listChecks)
}

// known lets only known callers through.
func (s *Server) known(fn as) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		c, why := s.caller(r)
		if why != "" {
			complain(w, http.StatusUnauthorized, string(why))
			return
		}
		fn(w, r, c)
	}
}

// anybody lets readers through who do not say who they are, as GitHub does for a public repository. Who says it must be right.
func (s *Server) anybody(fn as) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		c, why := s.caller(r)
		if why != "" && why != noCredentials {
			complain(w, http.StatusUnauthorized, string(why))
			return
		}
		fn(w, r, c)
	}
}

// ofRepo knows one repository; GitHub answers 404 for what one may not see.
func ofRepo(fn http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if !strings.EqualFold(r.PathValue("owner")+"/"+r.PathValue("repo"), Repo) {
			notFound(w)
			return
		}
		fn(w, r)
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

func (s *Server) getRepo(w http.ResponseWriter, _ *http.Request, _ caller) {
	repo, err := repoShape(s.base)
	show(w, http.StatusOK, repo, err)
}

func (s *Server) listRepos(w http.ResponseWriter, r *http.Request, _ caller) {
	repo, err := repoShape(s.base)
	if err != nil {
		fail(w, err, "", "")
		return
	}
	page(w, r, s.base, []object{repo}, func(part []object) any {
		return object{"total_count": 1, "repository_selection": "all", "repositories": part}
	})
}

func (s *Server) listMembers(w http.ResponseWriter, r *http.Request, _ caller) {
	page(w, r, s.base, []object{userShape("maya", s.base)}, nil)
}

func (s *Server) getMembership(w http.ResponseWriter, r *http.Request, _ caller) {
	if r.PathValue("user") != "maya" {
		notFound(w)
		return
	}
	answer(w, http.StatusOK, object{
		"url":  s.base + "/organizations/" + itoa(orgID) + "/team/" + itoa(teamID) + "/memberships/maya",
		"role": "member", "state": "active",
	})
}

// listPulls answers the newest first; open ones unless asked otherwise.
func (s *Server) listPulls(w http.ResponseWriter, r *http.Request, _ caller) {
	state := r.URL.Query().Get("state")
	if state == "" {
		state = "open"
	}
	all := []object{}
	var err error
	s.look(func(world *world) {
		for i := len(world.Pulls) - 1; i >= 0 && err == nil; i-- {
			pr := *world.Pulls[i]
			if state != "all" && stateWord(pr.Open) != state {
				continue
			}
			var one object
			if one, err = pullShape(pr, len(world.conversation(pr.Number)), s.base); err == nil {
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

func (s *Server) getPull(w http.ResponseWriter, r *http.Request, _ caller) {
	s.showPull(w, number(r, "number"), pullShape)
}

func (s *Server) getIssue(w http.ResponseWriter, r *http.Request, _ caller) {
	s.showPull(w, number(r, "number"), issueShape)
}

func (s *Server) showPull(w http.ResponseWriter, number int, shape func(PullRequest, int, string) (object, error)) {
	pr, ok := s.PullRequest(number)
	if !ok {
		notFound(w)
		return
	}
	one, err := shape(pr, len(s.Comments(number)), s.base)
	show(w, http.StatusOK, one, err)
}

// patchState closes or reopens; other changes are not needed here.
func (s *Server) patchState(w http.ResponseWriter, r *http.Request, c caller) {
	var body struct {
		State *string `json:"state"`
	}
	if !decode(w, r, &body) {
		return
	}
	n := number(r, "number")
	if body.State != nil {
		if *body.State != "open" && *body.State != "closed" {
			invalid(w, "Issue", "state", "invalid")
			return
		}
		if !s.mayClose(n, c) {
			complain(w, http.StatusForbidden, "Must have admin rights to Repository.")
			return
		}
		err := s.change(func(world *world) ([]Event, error) { return s.setOpen(world, n, *body.State == "open", c.login) })
		if err != nil {
			fail(w, err, "Issue", "state")
			return
		}
	}
	shape := issueShape
	if strings.Contains(r.URL.Path, "/pulls/") {
		shape = pullShape
	}
	s.showPull(w, n, shape)
}

func (s *Server) mayClose(number int, c caller) (may bool) {
	s.look(func(w *world) {
		pr := w.pull(number)
		may = w.mayTriage(c) || pr != nil && pr.Author == c.login
	})
	return may
}

// getPermission answers as GitHub does: maintain is a kind of write and triage a kind of read, told by role_name.
func (s *Server) getPermission(w http.ResponseWriter, r *http.Request, _ caller) {
	login := r.PathValue("user")
	var role string
	s.look(func(world *world) { role = world.Permissions[login] })
	if role == "" {
		complain(w, http.StatusNotFound, login+" is not a user")
		return
	}
	permission := map[string]string{"maintain": "write", "triage": "read"}[role]
	if permission == "" {
		permission = role
	}
	user := userShape(login, s.base)
	user["permissions"] = permissionFlags(role)
	user["role_name"] = role
	answer(w, http.StatusOK, object{"permission": permission, "role_name": role, "user": user})
}

func permissionFlags(role string) object {
	rank := map[string]int{"read": 1, "triage": 2, "write": 3, "maintain": 4, "admin": 5}[role]
	return object{"pull": rank >= 1, "triage": rank >= 2, "push": rank >= 3, "maintain": rank >= 4, "admin": rank >= 5}
}
