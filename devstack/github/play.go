package github

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// pages are the playground's templates, its style sheet and its only script.
//
//go:embed pages
var pages embed.FS

var templates = template.Must(template.New("").Funcs(template.FuncMap{
	"markdown": rendered, "clock": clock, "short": short, "initial": initial, "spaced": spaced, "less": less, "emoji": emoji, "face": face, "stateText": stateText,
}).ParseFS(pages, "pages/*.html"))

// people are those as whom one can act.
var people = []string{"maya", "will", "rita", "ada", ForkOwner}

const actingCookie = "acting_as"

// acting returns the person who uses the page; empty if no page was opened.
func acting(r *http.Request) string {
	cookie, err := r.Cookie(actingCookie)
	if err != nil || !slices.Contains(people, cookie.Value) {
		return ""
	}
	return cookie.Value
}

func actingOrFirst(r *http.Request) string {
	if who := acting(r); who != "" {
		return who
	}
	return people[0]
}

func (s *Server) playRoutes(mux *http.ServeMux) {
	home := func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/playground", http.StatusSeeOther) }
	mux.HandleFunc("GET /{$}", home)
	mux.HandleFunc("GET /apps/"+AppSlug, home)
	mux.HandleFunc("GET /playground", s.playList)
	mux.HandleFunc("GET /playground/in/{owner}/{repo}", s.playList)
	mux.HandleFunc("GET /playground/deliveries", s.playDeliveries)
	mux.HandleFunc("POST /playground/deliveries/{id}/redeliver", s.playRedeliver)
	mux.HandleFunc("GET /playground/app", s.playApp)
	mux.HandleFunc("POST /playground/app/{act}", s.playAppAct)
	mux.HandleFunc("POST /playground/as", s.playAs)
	for _, name := range []string{"style.css", "script.js"} {
		mux.HandleFunc("GET /playground/"+name, func(w http.ResponseWriter, r *http.Request) {
			http.ServeFileFS(w, r, pages, "pages/"+name)
		})
	}
	s.runPages(mux)
	for _, at := range []string{"/playground/pulls/{number}", "/playground/in/{owner}/{repo}/pulls/{number}"} {
		mux.HandleFunc("GET "+at, s.playPull)
		mux.HandleFunc("GET "+at+"/live", s.playLive)
		mux.HandleFunc("POST "+at+"/{act}", s.playAct)
	}
}

var (
	pullAddress = regexp.MustCompile(`^/([^/]+/[^/]+)/pull/(\d+)$`)
	runAddress  = regexp.MustCompile(`^/([^/]+/[^/]+)/actions/runs/(\d+)(?:/job/(\d+))?$`)
)

// elsewhere redirects the URLs in GitHub's payloads to the playground's pages; there is nothing else.
func (s *Server) elsewhere(w http.ResponseWriter, r *http.Request) {
	if found := runAddress.FindStringSubmatch(r.URL.Path); found != nil && r.Method == http.MethodGet {
		n, _ := strconv.ParseInt(found[2], 10, 64)
		target := s.In(found[1]).runPath(n)
		if found[3] != "" {
			target += "#job-" + found[3]
		}
		http.Redirect(w, r, target, http.StatusSeeOther)
		return
	}
	found := pullAddress.FindStringSubmatch(r.URL.Path)
	if found == nil || r.Method != http.MethodGet {
		notFound(w)
		return
	}
	n, _ := strconv.Atoi(found[2])
	http.Redirect(w, r, s.In(found[1]).pullPath(n), http.StatusSeeOther)
}

// placeOf returns the page's repository.
func (s *Server) placeOf(r *http.Request) Place {
	if owner, repo := r.PathValue("owner"), r.PathValue("repo"); owner != "" {
		return s.In(owner + "/" + repo)
	}
	return s.Place
}

var errMayNot = errors.New("may not")

// move is the action of a form on a pull request's page.
type move struct {
	role string // what GitHub requires; "close": triage, or to be the author; "author": write, or to be the author; "": nothing
	do   func(p Place, r *http.Request, n int, as string) error
}

var moves = map[string]move{
	"label": {"triage", func(p Place, r *http.Request, n int, as string) error {
		name := strings.TrimSpace(r.PostFormValue("text"))
		if name == "" {
			name = r.PostFormValue("label")
		}
		return p.Label(n, name, as)
	}},
	"unlabel": {"triage", func(p Place, r *http.Request, n int, as string) error {
		return p.Unlabel(n, r.PostFormValue("label"), as)
	}},
	"close":  {"close", func(p Place, _ *http.Request, n int, as string) error { return p.Close(n, as) }},
	"reopen": {"close", func(p Place, _ *http.Request, n int, as string) error { return p.Reopen(n, as) }},
	"push": {"author", func(p Place, r *http.Request, n int, as string) error {
		content := strings.ReplaceAll(r.PostFormValue("content"), "\r\n", "\n") // as browsers send lines
		return p.PushFile(n, r.PostFormValue("path"), content, as)
	}},
	"draft": {"author", func(p Place, _ *http.Request, n int, as string) error { return p.SetDraft(n, true, as) }},
	"ready": {"author", func(p Place, _ *http.Request, n int, as string) error { return p.SetDraft(n, false, as) }},
	"delete": {"write", func(p Place, r *http.Request, _ int, as string) error {
		return p.DeleteComment(formID(r, "comment"), as)
	}},
	"review": {"", func(p Place, r *http.Request, n int, as string) error {
		return p.Review(n, cmp.Or(r.PostFormValue("state"), "commented"), r.PostFormValue("body"), as)
	}},
	"line": {"", func(p Place, r *http.Request, n int, as string) error {
		return p.ReviewLine(n, r.PostFormValue("body"), as)
	}},
	"lock":   {"write", func(p Place, _ *http.Request, n int, _ string) error { return p.Lock(n, true) }},
	"unlock": {"write", func(p Place, _ *http.Request, n int, _ string) error { return p.Lock(n, false) }},
	"merge":  {"write", func(p Place, _ *http.Request, n int, as string) error { return p.Merge(n, as) }},
	"branch": {"author", func(p Place, _ *http.Request, n int, as string) error { return p.DeleteBranch(n, as) }},
	"press": {"", func(p Place, r *http.Request, _ int, as string) error {
		return p.Press(formID(r, "check"), r.PostFormValue("identifier"), as)
	}},
	"rerun": {"", func(p Place, r *http.Request, _ int, as string) error { return p.Rerun(formID(r, "check"), as) }},
}

func formID(r *http.Request, name string) int64 {
	n, _ := strconv.ParseInt(r.PostFormValue(name), 10, 64)
	return n
}

// lets reports whether GitHub would allow a person's action on a pull request.
func (p Place) lets(role, as string, n int) (may bool) {
	p.look(func(_ *world, r *repository) {
		c, pr := caller{login: as}, r.pull(n)
		author := pr != nil && pr.Author == as
		switch role {
		case "":
			may = true
		case "close":
			may = r.may(c, "triage") || author
		case "author":
			may = r.may(c, "write") || author
		default:
			may = r.may(c, role)
		}
	})
	return may
}

// playAct executes a form and returns to the page.
func (s *Server) playAct(w http.ResponseWriter, r *http.Request) {
	p, n, as := s.placeOf(r), number(r, "number"), actingOrFirst(r)
	var err error
	place := ""
	if act := r.PathValue("act"); act == "comment" {
		var id int64
		id, err = p.Comment(n, strings.ReplaceAll(r.PostFormValue("body"), "\r\n", "\n"), as)
		place = "#issuecomment-" + itoa(id)
	} else if todo, ok := moves[act]; !ok {
		notFound(w)
		return
	} else if p.lets(todo.role, as, n) {
		err = todo.do(p, r, n, as)
	} else {
		err = errMayNot
	}
	if err != nil {
		place = ""
	}
	s.back(w, r, p.pullPath(n)+place, err, as)
}

// refused says why GitHub would refuse; empty: it does not.
func refused(err error, as string) string {
	switch {
	case errors.Is(err, errMayNot):
		return as + " may not do that here: GitHub asks for a higher role, or to be the author."
	case errors.Is(err, errInvalid):
		return "GitHub would not take that: it is empty, too long, or does not fit how things stand."
	case errors.Is(err, errNotFound):
		return "That is not there any more."
	case err != nil:
		return "That did not work: " + err.Error()
	}
	return ""
}

func (s *Server) playAs(w http.ResponseWriter, r *http.Request) {
	who := r.PostFormValue("login")
	if slices.Contains(people, who) {
		http.SetCookie(w, &http.Cookie{Name: actingCookie, Value: who, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode})
	}
	http.Redirect(w, r, backPath(r.PostFormValue("back")), http.StatusSeeOther)
}

func (s *Server) playRedeliver(w http.ResponseWriter, r *http.Request) {
	if err := s.Redeliver(id(r, "id")); err != nil {
		notFound(w)
		return
	}
	http.Redirect(w, r, "/playground/deliveries", http.StatusSeeOther)
}

// backPath lets a form return only to one of our pages.
func backPath(raw string) string {
	if u, err := url.Parse(raw); err == nil && u.Host == "" && u.Scheme == "" && strings.HasPrefix(u.Path, "/playground") {
		return u.Path
	}
	return "/playground"
}

// listPath and pullPath are the repository's pages; those of Repo have the short path.
func (p Place) listPath() string {
	if p.repo == Repo {
		return "/playground"
	}
	return "/playground/in/" + p.repo
}

func (p Place) pullPath(n int) string { return fmt.Sprintf("%s/pulls/%d", p.listPath(), n) }

// render writes a complete page or none. An unchanged page gets 304.
func (s *Server) render(w http.ResponseWriter, r *http.Request, status int, name string, data any) {
	var out bytes.Buffer
	if err := templates.ExecuteTemplate(&out, name, data); err != nil {
		http.Error(w, "the page could not be made: "+err.Error(), http.StatusInternalServerError)
		return
	}
	h := w.Header()
	tag := fmt.Sprintf(`"%x"`, sha256.Sum256(out.Bytes()))
	h.Set("ETag", tag)
	h.Set("Cache-Control", "no-cache")
	h.Set("Content-Security-Policy", "default-src 'self'; style-src 'self' 'unsafe-inline'; frame-ancestors "+cmp.Or(s.slack, "'none'"))
	h.Set("Content-Type", "text/html; charset=utf-8")
	if r.Header.Get("If-None-Match") == tag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	w.WriteHeader(status)
	_, _ = w.Write(out.Bytes()) // the reader disconnected
}
