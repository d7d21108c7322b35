// Package web is the private door for people: server-rendered pages over what the desk gives.
//
// Everything on a page works without JavaScript; a small script only keeps it fresh. A page never shows a secret: a
// kubeconfig is downloaded through the desk, which writes the reading down first, and passwords stay references.
package web

import (
	"embed"
	"errors"
	"io/fs"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/app/auth"
	"github.com/ocpctl/ocpctl/policy"
)

//go:embed assets
var assets embed.FS

// Config wires the pages.
type Config struct {
	Desk   *app.Desk
	Auth   *auth.Verifier
	SignIn *auth.SignIn     // nil: nobody can sign in to the pages
	Secure bool             // the pages are served over https: the cookie travels nowhere else
	GitHub string           // address of GitHub's API; people look at pull requests beside it. Empty: no links
	Demo   bool             // every page says that GitHub, the cloud and the installer are stand-ins
	Now    func() time.Time // nil: time.Now
	Log    *slog.Logger
}

type pages struct {
	Config
	views    views
	runbooks map[string]runbook
}

// New returns the pages' handler: /, /clusters/{id}, /runbooks/, /login, /saml/ and what they need. Any other path is a 404 page.
func New(c Config) http.Handler {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	p := &pages{Config: c, views: parse(), runbooks: runbooks()}
	static, err := fs.Sub(assets, "assets")
	if err != nil {
		panic(err) // the folder is embedded above
	}
	mux := http.NewServeMux()
	mux.Handle("GET /assets/", http.StripPrefix("/assets/", http.FileServerFS(static)))
	mux.HandleFunc("GET /login", p.loginPage)
	mux.HandleFunc("POST /logout", p.logout)
	if p.SignIn != nil {
		mux.HandleFunc("GET "+auth.MetadataPath, p.SignIn.Metadata)
		mux.HandleFunc("GET "+auth.BeginPath, p.begin)
		mux.HandleFunc("POST "+auth.FinishPath, p.finish)
	}
	mux.HandleFunc("GET /{$}", p.signedIn(p.list))
	mux.HandleFunc("GET /clusters/{id}", p.signedIn(p.detail))
	mux.HandleFunc("POST /clusters/{id}/kubeconfig", p.signedIn(p.kubeconfig))
	mux.HandleFunc("GET /runbooks", p.runbook)
	mux.HandleFunc("GET /runbooks/{$}", p.runbook)
	mux.HandleFunc("GET /runbooks/{page}", p.runbook)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		p.problem(w, r, policy.Principal{}, http.StatusNotFound, "There is no such page.")
	})
	ours := http.NewCrossOriginProtection()
	// The identity provider's page posts here from another site. What it brings counts only where this browser began it.
	ours.AddInsecureBypassPattern("POST " + auth.FinishPath)
	return guarded(ours.Handler(mux))
}

// guarded tells browsers to run and load nothing but ours, and to show us in no frame.
func guarded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; "+
			"connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "same-origin")
		if !strings.HasPrefix(r.URL.Path, "/assets/") {
			h.Set("Cache-Control", "no-store")
		}
		next.ServeHTTP(w, r)
	})
}

// signedIn leads to the sign-in page whoever has no token that holds.
func (p *pages) signedIn(page func(http.ResponseWriter, *http.Request, policy.Principal)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		session, err := p.Auth.Verify(r.Context(), auth.FromCookie(r))
		var said *auth.Error
		switch {
		case err == nil:
			page(w, r, session.Principal)
		case errors.As(err, &said) && said.Reason == auth.Unavailable:
			p.problem(w, r, policy.Principal{}, http.StatusServiceUnavailable, said.Message)
		default:
			http.Redirect(w, r, "/login?next="+url.QueryEscape(r.URL.RequestURI()), http.StatusSeeOther)
		}
	}
}

var statuses = map[app.Kind]int{
	app.Invalid: http.StatusBadRequest, app.Denied: http.StatusForbidden, app.NotFound: http.StatusNotFound,
	app.Conflict: http.StatusConflict, app.Stale: http.StatusConflict, app.Busy: http.StatusServiceUnavailable,
}

// fail shows an error: the desk's in its words, any other without them.
func (p *pages) fail(w http.ResponseWriter, r *http.Request, who policy.Principal, err error) {
	var said *app.Error
	if errors.As(err, &said) {
		p.problem(w, r, who, statuses[said.Kind], said.Message)
		return
	}
	p.Log.Error("page failed", "page", r.Pattern, "err", err) // not the path: a link's ends with a secret
	p.problem(w, r, who, http.StatusInternalServerError, "Something went wrong on our side and was written to the log. Try again in a moment.")
}

func (p *pages) problem(w http.ResponseWriter, r *http.Request, who policy.Principal, status int, words string) {
	p.show(w, r, who, status, "problem", problemView{Status: status, Title: http.StatusText(status), Words: words})
}
