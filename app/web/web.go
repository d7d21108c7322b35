// Package web is the private door for people: server-rendered pages over what the service gives.
//
// Everything on a page works without JavaScript; a small script only keeps it fresh. Looking at a page changes nothing: every
// change is a form that is posted and answered on the page it leads to. A page shows one secret alone, a kubeadmin password
// behind a link that works once; a kubeconfig is downloaded. Both go through the service, which writes the reading down first.
package web

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"math"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/app/admin"
	"github.com/ocpctl/ocpctl/app/auth"
	"github.com/ocpctl/ocpctl/app/credentials"
	"github.com/ocpctl/ocpctl/policy"
)

//go:embed assets
var assets embed.FS

// Config wires the pages.
type Config struct {
	App         *app.Service
	Admin       *admin.Service
	Credentials *credentials.Service
	Auth        *auth.Verifier
	SignIn      *auth.SignIn // nil: nobody can sign in to the pages

	Sessions *auth.Sessions // signs what a page says after a form; nil: it says nothing

	Secure bool                           // the pages are served over https: the cookie travels nowhere else
	GitHub string                         // address of GitHub's API; people look at pull requests beside it. Empty: no links
	Pace   func(who string) time.Duration // counts a request of a principal's; above zero: how long to wait. nil: nobody waits
	Demo   bool                           // every page says that GitHub, the cloud and the installer are stand-ins
	Now    func() time.Time               // nil: time.Now
	Log    *slog.Logger

	Timeout time.Duration // of one page; zero: 30 s
}

const pageTime = 30 * time.Second

type pages struct {
	Config
	views    views
	runbooks map[string]runbook
}

// New returns the handler of all pages, of the runbooks, of /login and /saml/, and of what they need. Any other path is a 404 page.
func New(c Config) http.Handler {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Timeout == 0 {
		c.Timeout = pageTime
	}
	p := &pages{Config: c, views: parse(c.App.NameOf), runbooks: runbooks()}
	static, err := fs.Sub(assets, "assets")
	if err != nil {
		panic(err) // the folder is embedded above
	}
	mux := http.NewServeMux()
	mux.Handle("GET /assets/", http.StripPrefix("/assets/", http.FileServerFS(static)))
	mux.HandleFunc("GET /login", p.loginPage)
	mux.HandleFunc("POST /logout", p.logout)
	mux.Handle("GET /clusters", http.RedirectHandler("/", http.StatusMovedPermanently)) // what one gets by shortening an address
	mux.Handle("GET /clusters/{$}", http.RedirectHandler("/", http.StatusMovedPermanently))
	if p.SignIn != nil {
		mux.HandleFunc("GET "+auth.MetadataPath, p.SignIn.Metadata)
		mux.HandleFunc("GET "+auth.BeginPath, p.begin)
		mux.HandleFunc("POST "+auth.FinishPath, p.finish)
	}
	for route, page := range p.private() {
		mux.HandleFunc(route, p.signedIn(page))
	}
	mux.HandleFunc("GET /runbooks", p.runbook)
	mux.HandleFunc("GET /runbooks/{$}", p.runbook)
	mux.HandleFunc("GET /runbooks/{page}", p.runbook)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		p.problem(w, r, policy.Principal{}, http.StatusNotFound, "This page does not exist.")
	})
	ours := http.NewCrossOriginProtection()
	// The identity provider's page posts here from another site. What it brings counts only where this browser began it.
	ours.AddInsecureBypassPattern("POST " + auth.FinishPath)
	return guarded(p.inTime(ours.Handler(mux)))
}

// inTime ends what a page asks for when the page's time is over, so that nobody keeps the server or the database busy for longer.
func (p *pages) inTime(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), p.Timeout)
		defer cancel()
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

// private are the pages and forms for those who signed in. What changes anything is a POST.
func (p *pages) private() map[string]handler {
	return map[string]handler{
		"GET /{$}":                   p.list,
		"GET /clusters/{id}":         p.detail,
		"GET /clusters/{id}/destroy": p.confirm,

		"POST /clusters/{id}/destroy":         p.act(p.destroy),
		"POST /clusters/{id}/extend":          p.act(p.extend),
		"POST /clusters/{id}/hold":            p.act(p.hold),
		"POST /clusters/{id}/unhold":          p.act(p.unhold),
		"POST /clusters/{id}/scale":           p.act(p.scale),
		"POST /clusters/{id}/share":           p.act(p.share),
		"POST /clusters/{id}/unshare":         p.act(p.unshare),
		"POST /clusters/{id}/transfer":        p.act(p.transfer),
		"POST /clusters/{id}/retry":           p.act(p.retry),
		"POST /clusters/{id}/abandon":         p.act(p.abandon),
		"POST /clusters/{id}/kubeconfig":      p.kubeconfig,
		"POST /clusters/{id}/kubeconfig-link": p.kubeconfigLink,
		"POST /clusters/{id}/log-bundle":      p.logBundle,
		"POST /clusters/{id}/kubeadmin-link":  p.kubeadminLink,
		"POST /clusters/{id}/break-glass":     p.breakGlass,

		"GET /new":                     p.new,
		"POST /new":                    p.create,
		"GET /approvals":               p.approvals,
		"GET /approvals/{id}":          p.approval,
		"POST /approvals/{id}/approve": p.vote(true),
		"POST /approvals/{id}/refuse":  p.vote(false),
		"GET /links/{link}":            p.link,
		"POST /links/{link}":           p.redeem,

		"GET /me":                      p.me,
		"POST /me/unlink":              p.unlink,
		"GET /limits":                  p.limits,
		"POST /limits/reload":          p.reload,
		"GET /usage":                   p.usage,
		"GET /findings":                p.findings,
		"GET /deliveries":              p.deliveries,
		"GET /deliveries/{id}":         p.delivery,
		"POST /deliveries/{id}/replay": p.replay,
		"GET /audit":                   p.audit,
		"POST /audit/verify":           p.verify,
	}
}

// Routes lists the pages and forms for those who signed in, as patterns of net/http, so that each can be held against who may.
func Routes() []string { return slices.Sorted(maps.Keys((&pages{}).private())) }

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

// handler answers somebody who signed in.
type handler func(http.ResponseWriter, *http.Request, policy.Principal)

// signedIn leads to the sign-in page whoever has no token that holds, and from there to the page again. A form is not sent
// again by itself: nobody knows how old it is.
func (p *pages) signedIn(page handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, mostForm)
		session, err := p.Auth.Verify(r.Context(), auth.FromCookie(r, p.Secure))
		var said *auth.Error
		switch {
		case err == nil && p.wait(w, r, session.Principal):
		case err == nil && !legible(r):
			p.problem(w, r, session.Principal, http.StatusBadRequest, "The input contains a NUL or bytes that are not UTF-8. Send plain text.")
		case err == nil:
			page(w, r, session.Principal)
		case errors.As(err, &said) && said.Reason == auth.Unavailable:
			p.problem(w, r, policy.Principal{}, http.StatusServiceUnavailable, said.Message)
		default:
			http.Redirect(w, r, "/login?next="+url.QueryEscape(back(r)), http.StatusSeeOther)
		}
	}
}

// wait answers who asks too often, at the pages and the API together.
func (p *pages) wait(w http.ResponseWriter, r *http.Request, who policy.Principal) bool {
	if p.Pace == nil {
		return false
	}
	wait := p.Pace(who.ID)
	if wait <= 0 {
		return false
	}
	seconds := int(math.Ceil(wait.Seconds()))
	w.Header().Set("Retry-After", strconv.Itoa(seconds))
	p.problem(w, r, who, http.StatusTooManyRequests, fmt.Sprintf("Too many requests. Wait %d s.", seconds))
	return true
}

// legible says that the address and the form hold nothing but text, which is all that any row can.
func legible(r *http.Request) bool {
	_ = r.ParseForm() // what cannot be read is missing, and the page says so
	return app.Keepable(r.URL.Path) && len(app.Unkept(r.Form)) == 0
}

// back is the page to come back to: of a form the one it stands on.
func back(r *http.Request) string {
	if r.Method == http.MethodGet || strings.HasPrefix(r.URL.Path, "/links/") {
		return r.URL.RequestURI()
	}
	return path.Dir(r.URL.Path)
}

var statuses = map[app.Kind]int{
	app.Invalid: http.StatusBadRequest, app.Denied: http.StatusForbidden, app.NotFound: http.StatusNotFound,
	app.Conflict: http.StatusConflict, app.Stale: http.StatusConflict, app.Busy: http.StatusServiceUnavailable,
}

// fail shows an error: the service's in its words, any other without them.
func (p *pages) fail(w http.ResponseWriter, r *http.Request, who policy.Principal, err error) {
	var said *app.Error
	if errors.As(err, &said) {
		p.problem(w, r, who, statuses[said.Kind], said.Message)
		return
	}
	if errors.Is(err, context.DeadlineExceeded) && r.Context().Err() != nil {
		p.Log.Warn("page took too long", "page", r.Pattern, "err", err)
		p.problem(w, r, who, http.StatusServiceUnavailable, "The request took too long and was canceled. Try again in a moment.")
		return
	}
	p.Log.Error("page failed", "page", r.Pattern, "err", err) // not the path: a link's ends with a secret
	p.problem(w, r, who, http.StatusInternalServerError, "An internal error occurred and was logged. Try again in a moment.")
}

func (p *pages) problem(w http.ResponseWriter, r *http.Request, who policy.Principal, status int, words string) {
	p.show(w, r, who, status, "problem", problemView{Status: status, Title: http.StatusText(status), Words: words})
}
