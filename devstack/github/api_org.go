package github

import (
	"net/http"
	"slices"
	"strings"

	"github.com/ocpctl/ocpctl/devstack/pick"
)

// orgRoutes are the calls with an installation's token or by a person that concern no single repository.
func (s *Server) orgRoutes(mux *http.ServeMux) {
	known := func(pattern, needs string, fn as) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			c, why := s.caller(r)
			switch {
			case why != "":
				complain(w, http.StatusUnauthorized, string(why))
			case c.app && s.suspended():
				complain(w, http.StatusForbidden, "This installation has been suspended")
			case c.app && !c.granted(s.manifest(), needs):
				complain(w, http.StatusForbidden, "Resource not accessible by integration")
			default:
				remembered(w, r, func(w http.ResponseWriter) {
					defer catch(w)
					fn(w, r, c)
				})
			}
		})
	}
	known("GET /installation/repositories", "metadata:read", s.listRepos)
	known("GET /orgs/{org}/teams/{slug}/memberships/{user}", "members:read", s.getMembership)
	s.accountRoutes(known)
	mux.HandleFunc("GET "+ratePath, s.getRateLimit)
}

func (s *Server) listRepos(w http.ResponseWriter, r *http.Request, c caller) {
	var scenes []scene
	s.look(func(world *world) {
		for _, repo := range world.Repos {
			if !repo.Gone && c.sees(repo) {
				scenes = append(scenes, world.scene(s, repo))
			}
		}
	})
	all := pick.Map(scenes, func(sc scene) object { return sc.repository() })
	page(w, r, s.base, all, func(part []object) any {
		return object{"total_count": len(all), "repository_selection": "selected", "repositories": part}
	})
}

// team returns the members of the team in a path; ok is false if there is none.
func (s *Server) team(r *http.Request) (logins []string, ok bool) {
	if !strings.EqualFold(r.PathValue("org"), Org) {
		return nil, false
	}
	s.look(func(w *world) {
		var in []string
		in, ok = w.Teams[strings.ToLower(r.PathValue("slug"))]
		logins = slices.Clone(in)
	})
	return logins, ok
}

// getMembership returns 404 both for a missing team and for somebody who is not a member.
func (s *Server) getMembership(w http.ResponseWriter, r *http.Request, _ caller) {
	logins, _ := s.team(r)
	i := slices.IndexFunc(logins, func(login string) bool { return strings.EqualFold(login, r.PathValue("user")) })
	endMissing(i < 0)
	answer(w, http.StatusOK, object{
		"url":  s.base + "/organizations/" + itoa(orgID) + "/team/" + itoa(teamID) + "/memberships/" + logins[i],
		"role": "member", "state": "active",
	})
}

// getRateLimit returns the limits' state.
func (s *Server) getRateLimit(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Authorization") != "" {
		if _, why := s.caller(r); why != "" {
			complain(w, http.StatusUnauthorized, string(why))
			return
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	resources := object{}
	for _, name := range []string{"core", "graphql", "search"} {
		h := s.meter.use(name, 0, s.now())
		resources[name] = object{
			"limit": s.meter.limits.PerHour, "used": h.used, "remaining": max(0, s.meter.limits.PerHour-h.used),
			"reset": h.start.Add(s.meter.limits.hour()).Unix(),
		}
	}
	answer(w, http.StatusOK, object{"resources": resources, "rate": resources["core"]})
}
