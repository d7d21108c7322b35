package github

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// pages are the playground's templates, its style and its one script.
//
//go:embed pages
var pages embed.FS

var templates = template.Must(template.New("").Funcs(template.FuncMap{
	"markdown": rendered, "clock": clock, "short": short, "color": labelStyle, "initial": initial, "words": words, "less": less,
}).ParseFS(pages, "pages/*.html"))

// people one can act as.
var people = []string{"maya", "will", "rita"}

const actingCookie = "acting_as"

// acting is the person whose page it is; empty when no page was opened.
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
	mux.HandleFunc("GET /"+Repo+"/pull/{number}", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, pullPath(number(r, "number")), http.StatusSeeOther)
	})
	mux.HandleFunc("GET /playground", s.playList)
	mux.HandleFunc("GET /playground/pulls/{number}", s.playPull)
	mux.HandleFunc("GET /playground/pulls/{number}/live", s.playLive)
	mux.HandleFunc("GET /playground/deliveries", s.playDeliveries)
	mux.HandleFunc("POST /playground/deliveries/{id}/redeliver", s.playRedeliver)
	mux.HandleFunc("POST /playground/as", s.playAs)
	for _, name := range []string{"style.css", "script.js"} {
		mux.HandleFunc("GET /playground/"+name, func(w http.ResponseWriter, r *http.Request) {
			http.ServeFileFS(w, r, pages, "pages/"+name)
		})
	}
	act := func(path string, fn func(*http.Request, int, string) error) {
		mux.HandleFunc("POST /playground/pulls/{number}/"+path, s.playAct(func(r *http.Request, n int, as string) (string, error) {
			return "", fn(r, n, as)
		}))
	}
	act("label", func(r *http.Request, n int, as string) error {
		name := strings.TrimSpace(r.PostFormValue("text"))
		if name == "" {
			name = r.PostFormValue("label")
		}
		return s.asTriager(as, func() error { return s.Label(n, name, as) })
	})
	act("unlabel", func(r *http.Request, n int, as string) error {
		return s.asTriager(as, func() error { return s.Unlabel(n, r.PostFormValue("label"), as) })
	})
	mux.HandleFunc("POST /playground/pulls/{number}/comment", s.playAct(func(r *http.Request, n int, as string) (string, error) {
		id, err := s.Comment(n, strings.ReplaceAll(r.PostFormValue("body"), "\r\n", "\n"), as)
		return "#issuecomment-" + itoa(id), err
	}))
	act("close", func(_ *http.Request, n int, as string) error {
		return s.asCloser(n, as, func() error { return s.Close(n, as) })
	})
	act("reopen", func(_ *http.Request, n int, as string) error {
		return s.asCloser(n, as, func() error { return s.Reopen(n, as) })
	})
	act("push", func(_ *http.Request, n int, as string) error { return s.Push(n, as) })
}

var errMayNot = errors.New("may not")

// asTriager runs fn if GitHub would let the person set labels.
func (s *Server) asTriager(as string, fn func() error) error {
	if !s.may(caller{login: as}) {
		return errMayNot
	}
	return fn()
}

// asCloser runs fn if GitHub would let the person close and reopen the pull request.
func (s *Server) asCloser(n int, as string, fn func() error) error {
	if !s.mayClose(n, caller{login: as}) {
		return errMayNot
	}
	return fn()
}

// playAct does what a form asks for and goes back to the page, to the place that fn names.
func (s *Server) playAct(fn func(*http.Request, int, string) (place string, err error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		n, as, said := number(r, "number"), actingOrFirst(r), ""
		place, err := fn(r, n, as)
		switch {
		case errors.Is(err, errMayNot):
			said = as + " may not do that here: GitHub asks for the triage role, or to be the author."
		case errors.Is(err, errInvalid):
			said = "GitHub would not take that: it is empty or too long."
		case errors.Is(err, errNotFound):
			said = "That is not there any more."
		case err != nil:
			said = "That did not work: " + err.Error()
		}
		target := pullPath(n) + place
		if said != "" {
			target = pullPath(n) + "?said=" + url.QueryEscape(said)
		}
		http.Redirect(w, r, target, http.StatusSeeOther)
	}
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

// backPath lets a form go back to one of our pages only.
func backPath(raw string) string {
	if u, err := url.Parse(raw); err == nil && u.Host == "" && u.Scheme == "" && strings.HasPrefix(u.Path, "/playground") {
		return u.Path
	}
	return "/playground"
}

func pullPath(n int) string { return fmt.Sprintf("/playground/pulls/%d", n) }

// render writes a page, whole or not at all. An unchanged page is answered 304.
func render(w http.ResponseWriter, r *http.Request, status int, name string, data any) {
	var out bytes.Buffer
	if err := templates.ExecuteTemplate(&out, name, data); err != nil {
		http.Error(w, "the page could not be made", http.StatusInternalServerError)
		return
	}
	h := w.Header()
	tag := fmt.Sprintf(`"%x"`, sha256.Sum256(out.Bytes()))
	h.Set("ETag", tag)
	h.Set("Cache-Control", "no-cache")
	h.Set("Content-Security-Policy", "default-src 'self'; style-src 'self' 'unsafe-inline'; frame-ancestors 'none'")
	h.Set("Content-Type", "text/html; charset=utf-8")
	if r.Header.Get("If-None-Match") == tag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	w.WriteHeader(status)
	_, _ = w.Write(out.Bytes()) // the reader went away; nobody to tell
}
