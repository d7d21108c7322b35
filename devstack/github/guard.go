package github

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// as is an API call by a known caller.
type as func(w http.ResponseWriter, r *http.Request, c caller)

// endpoint is one route of the API below /repos/{owner}/{repo}.
type endpoint struct {
	method, path string
	needs        string // the App's permissions, one of which is needed, as in GitHub's documentation of the call
	public       bool   // anybody may call it for a public repository
	fn           as
}

func (s *Server) route(mux *http.ServeMux, calls []endpoint) {
	for _, one := range calls {
		mux.HandleFunc(one.method+" /repos/{owner}/{repo}"+one.path, s.guarded(one))
	}
	mux.HandleFunc("/repositories/{id}/{rest...}", func(w http.ResponseWriter, r *http.Request) { s.byNumber(mux, w, r) })
	mux.HandleFunc("/repositories/{id}", func(w http.ResponseWriter, r *http.Request) { s.byNumber(mux, w, r) })
}

// guarded checks that the caller may make the call and see the repository.
func (s *Server) guarded(one endpoint) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		c, why := s.caller(r)
		if why != "" && (why != noCredentials || !one.public) {
			complain(w, http.StatusUnauthorized, string(why))
			return
		}
		var found repository
		var moved, there bool
		name := r.PathValue("owner") + "/" + r.PathValue("repo")
		s.look(func(world *world) {
			var known *repository
			if known, moved = world.repo(name); known != nil {
				found, there = *known, true
			}
		})
		switch {
		case !there || found.Private && !c.mayKnow(&found):
			notFound(w)
			return
		case moved:
			s.sendOn(w, r, found.ID)
			return
		}
		c.at = s.In(found.Name)
		if s.stopped(w, r, c, &found, one.needs) {
			return
		}
		if s.notYet(r, found.ID) {
			notFound(w)
			return
		}
		remembered(w, r, func(w http.ResponseWriter) {
			defer catch(w)
			one.fn(w, r, c)
		})
	}
}

// mayKnow reports whether a private repository exists for the caller.
func (c caller) mayKnow(r *repository) bool {
	return c.app && c.sees(r) || !c.app && c.login != "" && r.role(c.login) != ""
}

// stopped answers a call that the caller may not make.
func (s *Server) stopped(w http.ResponseWriter, r *http.Request, c caller, repo *repository, needs string) bool {
	reading := r.Method == http.MethodGet
	switch {
	case c.app && s.suspended():
		complain(w, http.StatusForbidden, "This installation has been suspended")
	case c.app && (!c.sees(repo) && !reading || !c.granted(s.manifest(), needs)):
		complain(w, http.StatusForbidden, "Resource not accessible by integration")
	case repo.Archived && !reading:
		complain(w, http.StatusForbidden, "Repository was archived so is read-only.")
	default:
		return false
	}
	return true
}

func (s *Server) suspended() (yes bool) {
	s.look(func(w *world) { yes = w.Install != nil && w.Install.SuspendedAt != nil })
	return yes
}

func (s *Server) manifest() (m Manifest) {
	s.look(func(*world) { m = s.app })
	return m
}

// sendOn redirects a request for a repository's old name to its number, as GitHub does.
// https://docs.github.com/rest/using-the-rest-api/best-practices-for-using-the-rest-api#follow-redirects
func (s *Server) sendOn(w http.ResponseWriter, r *http.Request, id int64) {
	parts := strings.SplitN(strings.TrimPrefix(r.URL.EscapedPath(), "/repos/"), "/", 3)
	to := s.base + "/repositories/" + itoa(id)
	if len(parts) == 3 {
		to += "/" + parts[2]
	}
	if r.URL.RawQuery != "" {
		to += "?" + r.URL.RawQuery
	}
	status, text := http.StatusMovedPermanently, "Moved Permanently"
	if r.Method != http.MethodGet {
		status, text = http.StatusTemporaryRedirect, "Temporary Redirect"
	}
	w.Header().Set("Location", to)
	answer(w, status, object{"message": text, "url": to, "documentation_url": docs})
}

// byNumber serves a repository's part of the API by the repository's number.
func (s *Server) byNumber(mux *http.ServeMux, w http.ResponseWriter, r *http.Request) {
	var name string
	s.look(func(world *world) {
		if repo := world.repoByID(id(r, "id")); repo != nil {
			name = repo.Name
		}
	})
	rest := strings.TrimPrefix(r.URL.EscapedPath(), "/repositories/"+r.PathValue("id"))
	target, err := url.Parse("/repos/" + name + rest)
	if name == "" || err != nil {
		notFound(w)
		return
	}
	again := r.Clone(r.Context())
	target.RawQuery = r.URL.RawQuery
	again.URL = target
	mux.ServeHTTP(w, again)
}

// remembered adds an ETag to the response of a GET, and returns 304 to callers who have that one.
// https://docs.github.com/rest/using-the-rest-api/best-practices-for-using-the-rest-api#use-conditional-requests-if-appropriate
func remembered(w http.ResponseWriter, r *http.Request, fn func(http.ResponseWriter)) {
	if r.Method != http.MethodGet {
		fn(w)
		return
	}
	kept := &keeper{ResponseWriter: w, status: http.StatusOK}
	fn(kept)
	if kept.status == http.StatusOK {
		tag := fmt.Sprintf(`W/"%x"`, sha256.Sum256(kept.body.Bytes()))
		w.Header().Set("ETag", tag)
		w.Header().Set("Cache-Control", "private, max-age=60, s-maxage=60")
		if sameTag(r.Header.Get("If-None-Match"), tag) {
			w.Header().Del("Content-Type")
			w.WriteHeader(http.StatusNotModified)
			return
		}
	}
	w.WriteHeader(kept.status)
	_, _ = w.Write(kept.body.Bytes()) // the caller disconnected
}

// sameTag compares weakly, as RFC 9110 requires for If-None-Match.
func sameTag(asked, tag string) bool {
	for one := range strings.SplitSeq(asked, ",") {
		if strings.TrimPrefix(strings.TrimSpace(one), "W/") == strings.TrimPrefix(tag, "W/") {
			return true
		}
	}
	return false
}

// keeper buffers a response.
type keeper struct {
	http.ResponseWriter
	status int
	body   bytes.Buffer
}

func (k *keeper) WriteHeader(status int)      { k.status = status }
func (k *keeper) Write(b []byte) (int, error) { return k.body.Write(b) }
