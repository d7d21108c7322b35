// Package web is the private entry point for people: server-rendered pages over the application service.
//
// Everything works without JavaScript; a small script only keeps pages up to date. Viewing a page changes nothing: every change is a posted
// form, and the page to which it leads shows the result. The only secret that a page shows is a kubeadmin password, behind a link
// that works once; a kubeconfig is downloaded. The service audits both before it returns them.
package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
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
	"github.com/ocpctl/ocpctl/app/commandline"
	"github.com/ocpctl/ocpctl/app/costs"
	"github.com/ocpctl/ocpctl/app/credentials"
	"github.com/ocpctl/ocpctl/app/openid"
	"github.com/ocpctl/ocpctl/chatops/github"
	"github.com/ocpctl/ocpctl/internal/eventstream"
	"github.com/ocpctl/ocpctl/internal/httpbody"
	"github.com/ocpctl/ocpctl/internal/tracing"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store/db"
)

// Config configures the pages.
type Config struct {
	App         *app.Service
	Admin       *admin.Service
	Costs       *costs.Service
	Credentials *credentials.Service
	Auth        *auth.Verifier
	SignIn      *auth.SignIn // nil: nobody can sign in to the pages

	CommandLines *commandline.Service // signs in command lines; nil: none
	Consoles     *openid.Service      // signs readers in to consoles; nil: none
	Owners       *github.Owners       // proves whose an account on GitHub is; nil: the account types a code

	Sessions *auth.Sessions // signs the message that a page shows after a form; nil: there is none

	Secure bool                           // the pages are served over https, and cookies are sent only over https
	GitHub string                         // address of GitHub's pages, e.g. https://github.com; empty: no links
	Pace   func(who string) time.Duration // counts a principal's request and returns how long to wait, 0 if not at all. nil: no limit
	Slack  bool                           // ocpctl answers in Slack
	Demo   bool                           // every page says that GitHub, the cloud and the installer are stand-ins
	Now    func() time.Time               // nil: time.Now
	Log    *slog.Logger

	Timeout time.Duration // of one page; zero: 30 s

	Streams       *eventstream.Places                                       // shared with the API; nil: separate ones
	Stopping      context.Context                                           // done when the server stops, which ends streams; nil: never
	EndedSessions func(ctx context.Context, ids []string) ([]string, error) // which of the sessions were ended; nil: none

	live liveTimes // the zero value: those of the product
}

const pageTime = 30 * time.Second

type pages struct {
	Config
	views    views
	runbooks map[string]runbook
	assets   assetFiles
	sessions openSessions
	renders  chan struct{} // holds one for each page that is being rendered for a stream
}

// New returns the handler of all pages, of the runbooks, of /login and /saml/, and of their assets. Any other path is a 404 page.
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
	if c.Streams == nil {
		c.Streams = &eventstream.Places{}
	}
	if c.live == (liveTimes{}) {
		c.live = usualTimes
	}
	files := readAssets()
	p := &pages{
		Config: c, views: parseTemplates(c.App.NameOf, files), runbooks: renderRunbooks(), assets: files,
		sessions: openSessions{find: c.EndedSessions, every: c.live.check}, renders: make(chan struct{}, mostRenders),
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /assets/{file}", p.serveAsset)
	mux.HandleFunc("GET /assets/{hash}/{file}", p.serveAsset)
	mux.HandleFunc("GET /login", p.loginPage)
	mux.HandleFunc("POST /logout", p.signOut)
	mux.Handle("GET /clusters/{$}", http.RedirectHandler(listPath, http.StatusMovedPermanently)) // for people who shorten a URL
	if p.SignIn != nil {
		mux.HandleFunc("GET "+auth.MetadataPath, p.SignIn.Metadata)
		mux.HandleFunc("GET "+auth.BeginPath, p.beginSignIn)
		mux.HandleFunc("POST "+auth.FinishPath, p.finishSignIn)
	}
	for route, page := range p.privateRoutes() {
		mux.HandleFunc(route, p.requireSignIn(page))
	}
	mux.HandleFunc("GET /runbooks", p.showRunbook)
	mux.HandleFunc("GET /runbooks/{$}", p.showRunbook)
	mux.HandleFunc("GET /runbooks/{page}", p.showRunbook)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		p.showProblem(w, r, policy.Principal{}, http.StatusNotFound, "This page does not exist.")
	})
	ours := http.NewCrossOriginProtection()
	// The identity provider's page posts here from another site. A post counts only if this browser began the sign-in.
	ours.AddInsecureBypassPattern("POST " + auth.FinishPath)
	return withSecurityHeaders(withRequestID(p.inTime(httpbody.Compress(ours.Handler(mux), func(r *http.Request) bool {
		return strings.HasPrefix(r.URL.Path, "/links/") // the only page with a secret that is read with GET
	}))))
}

// withRequestID gives each request an id, which stands in the log lines of everything that it causes and in the response.
func withRequestID(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := db.NewID("req")
		w.Header().Set("X-Request-Id", id)
		ctx, span := tracing.Start(tracing.With(r.Context(), tracing.Cause{Correlation: id}), tracing.Server, r.Method)
		defer span.End()
		r = r.WithContext(ctx)
		next.ServeHTTP(w, r)
		span.Rename(cmp.Or(r.Pattern, r.Method))
	})
}

// inTime limits the time of a page's queries, so that nobody keeps the server or the database busy for longer. A stream limits each of
// its queries.
func (p *pages) inTime(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if isStream(r) {
			next.ServeHTTP(w, r)
			return
		}
		ctx, cancel := context.WithTimeout(r.Context(), p.Timeout)
		defer cancel()
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

// privateRoutes returns the pages and forms that need a sign-in. Every change is a POST.
func (p *pages) privateRoutes() map[string]handler {
	routes := map[string]handler{
		"GET /{$}":                   p.serveLive(p.readStart),
		"POST /setup/hide":           p.hideSetup,
		"GET /clusters":              p.listClusters,
		"POST /views":                p.saveView,
		"POST /views/drop":           p.dropView,
		"GET /clusters/{id}":         p.serveLive(p.readCluster),
		"GET /clusters/{id}/destroy": p.confirmDestroy,

		"GET /clusters/{id}/logs":                   p.showLogs,
		"GET /clusters/{id}/logs/{attempt}":         p.showLog,
		"GET /clusters/{id}/logs/{attempt}/log.txt": p.downloadLog,

		"POST /clusters/{id}/destroy":               p.handleAct(p.destroyCluster),
		"POST /clusters/{id}/extend":                p.handleAct(p.extendCluster),
		"POST /clusters/{id}/hold":                  p.handleAct(p.holdCluster),
		"POST /clusters/{id}/unhold":                p.handleAct(p.unholdCluster),
		"POST /clusters/{id}/scale":                 p.handleAct(p.scaleCluster),
		"POST /clusters/{id}/sleep":                 p.handleAct(p.putToSleep),
		"POST /clusters/{id}/wake":                  p.handleAct(p.wakeCluster),
		"POST /clusters/{id}/share":                 p.handleAct(p.shareCluster),
		"POST /clusters/{id}/unshare":               p.handleAct(p.unshareCluster),
		"POST /clusters/{id}/transfer":              p.handleAct(p.transferCluster),
		"POST /clusters/{id}/retry":                 p.retryCluster,
		"POST /clusters/{id}/abandon":               p.handleAct(p.abandonCluster),
		"POST /clusters/{id}/kubeconfig":            p.downloadKubeconfig,
		"POST /clusters/{id}/kubeconfig-link":       p.kubeconfigLink,
		"POST /clusters/{id}/console":               p.openConsole,
		"POST /clusters/{id}/log-bundle":            p.logBundle,
		"POST /clusters/{id}/revoke":                p.revokeAccess,
		"POST /clusters/{id}/kubeadmin-link":        p.breakGlassLink(credentials.BreakGlassPassword),
		"POST /clusters/{id}/admin-kubeconfig-link": p.breakGlassLink(credentials.BreakGlassKubeconfig),
		"POST /clusters/{id}/break-glass":           p.breakGlass,

		"GET /profiles":                p.showGallery,
		"GET /new":                     p.newClusterForm,
		"POST /new":                    p.submitCreate,
		"GET /approvals":               p.listApprovals,
		"GET /approvals/{id}":          p.showApproval,
		"POST /approvals/{id}/approve": p.castVote(true),
		"POST /approvals/{id}/refuse":  p.castVote(false),
		"GET /links/{link}":            p.showLink,
		"POST /links/{link}":           p.redeemLink,
		"GET " + ProofPath:             p.finishProof,

		"GET /me":                           p.showMe,
		"POST /me/unlink":                   p.unlinkAccount,
		"POST /me/command-lines/end":        p.endCommandLine,
		"GET " + commandline.AuthorizePath:  p.ofPerson(p.confirmCommandLine),
		"POST " + commandline.AuthorizePath: p.ofPerson(p.signInCommandLine),
		"GET " + openid.AuthorizePath:       p.ofPerson(p.signInToConsole),
		"GET " + commandline.DevicePath:     p.ofPerson(p.typeCommandLineCode),
		"POST " + commandline.DevicePath:    p.ofPerson(p.answerCommandLineCode),
	}
	maps.Copy(routes, p.officeRoutes())
	return routes
}

// officeRoutes returns those about more than one cluster: pools, brakes, limits, policy, costs, findings and the audit trail.
func (p *pages) officeRoutes() map[string]handler {
	return map[string]handler{
		"GET " + poolsPath:                  p.showPools,
		"GET " + poolsPath + "/{name}":      p.showPool,
		"POST " + poolsPath + "/{name}":     p.changePool,
		"GET " + brakesPath:                 p.showBrakes,
		"POST " + brakesPath:                p.freeze,
		"POST " + brakesPath + "/{id}/thaw": p.thaw,
		"GET /limits":                       p.showLimits,
		"GET " + policyPath:                 p.showPolicy,
		"POST " + policyPath + "/reload":    p.reloadCatalogue,
		"GET " + whatIfPath:                 p.showWhatIf,
		"GET " + proposePath:                p.showPropose,
		"POST " + proposePath:               p.propose,
		"GET /usage":                        p.showUsage,
		"GET /usage/days":                   p.showDays,
		"GET /usage/chargeback.csv":         p.costFile("chargeback.csv", p.Costs.Chargeback),
		"GET /usage/focus.csv":              p.costFile("focus.csv", p.Costs.Focus),
		"GET /reports":                      p.showReports,
		"GET /findings":                     p.listFindings,
		"GET /orphans/removal":              p.showRemovals,
		"POST /orphans/approve":             p.approveRemovals,
		"POST /orphans/exempt":              p.exemptOrphans,
		"GET /admin/orphans":                p.listOrphans,
		"POST /admin/scans":                 p.scanNow,
		"POST /accounts/{name}/prove":       p.proveAccount,
		"GET /deliveries":                   p.listDeliveries,
		"GET /deliveries/{id}":              p.showDelivery,
		"POST /deliveries/{id}/replay":      p.replayDelivery,
		"GET /audit":                        p.listAudit,
		"POST /audit/verify":                p.verifyAudit,
	}
}

// Routes lists the pages and forms that need a sign-in, as patterns of net/http, so that tests can check the permissions of each.
func Routes() []string { return slices.Sorted(maps.Keys((&pages{}).privateRoutes())) }

// withSecurityHeaders tells browsers to run and load only our own content, and to allow no framing.
func withSecurityHeaders(next http.Handler) http.Handler {
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

// handler serves a signed-in person.
type handler func(http.ResponseWriter, *http.Request, policy.Principal)

type sessionKey struct{}

// sessionOf returns the session of a signed-in person's request.
func sessionOf(r *http.Request) auth.Session {
	session, _ := r.Context().Value(sessionKey{}).(auth.Session)
	return session
}

// requireSignIn redirects to the sign-in page without a valid session, and from there back to the page. A form is not sent again
// automatically, because it may be old.
func (p *pages) requireSignIn(page handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, mostForm)
		session, err := p.Auth.Verify(r.Context(), auth.FromCookie(r, p.Secure))
		var said *auth.Error
		switch {
		case err == nil && p.limitRate(w, r, session.Principal):
		case err == nil && !isStorable(r):
			p.showProblem(w, r, session.Principal, http.StatusBadRequest, "The input contains a NUL or bytes that are not UTF-8. Send plain text.")
		case err == nil:
			p.App.RecordName(r.Context(), session.Principal)
			page(w, r.WithContext(context.WithValue(r.Context(), sessionKey{}, session)), session.Principal)
		case errors.As(err, &said) && said.Reason == auth.Unavailable:
			p.showProblem(w, r, policy.Principal{}, http.StatusServiceUnavailable, said.Message)
		default:
			to := "/login"
			if p.SignIn != nil && r.Method == http.MethodGet && (strings.HasPrefix(r.URL.Path, "/links/") || r.URL.Path == openid.AuthorizePath) {
				to = auth.BeginPath // whoever opens a link or a console came to sign in
			}
			http.Redirect(w, r, to+"?next="+url.QueryEscape(returnPage(r)), http.StatusSeeOther)
		}
	}
}

// limitRate answers a principal with too many requests, counted for the pages and the API together.
func (p *pages) limitRate(w http.ResponseWriter, r *http.Request, who policy.Principal) bool {
	if p.Pace == nil {
		return false
	}
	wait := p.Pace(who.ID)
	if wait <= 0 {
		return false
	}
	seconds := int(math.Ceil(wait.Seconds()))
	w.Header().Set("Retry-After", strconv.Itoa(seconds))
	p.showProblem(w, r, who, http.StatusTooManyRequests, fmt.Sprintf("Too many requests. Wait %d s.", seconds))
	return true
}

// isStorable reports whether URL and form contain only text that the database can store.
func isStorable(r *http.Request) bool {
	_ = r.ParseForm() // what cannot be parsed is missing, and the page says so
	return app.Keepable(r.URL.Path) && len(app.Unkept(r.Form)) == 0
}

// returnPage returns the page to return to; for a form, the page that contains it.
func returnPage(r *http.Request) string {
	if r.Method == http.MethodGet || strings.HasPrefix(r.URL.Path, "/links/") || r.URL.Path == commandline.AuthorizePath || r.URL.Path == commandline.DevicePath {
		return r.URL.RequestURI()
	}
	return path.Dir(r.URL.Path)
}

var statuses = map[app.Kind]int{
	app.Invalid: http.StatusBadRequest, app.Denied: http.StatusForbidden, app.NotFound: http.StatusNotFound,
	app.Conflict: http.StatusConflict, app.Stale: http.StatusConflict, app.Busy: http.StatusServiceUnavailable,
}

// showError shows an error: a service error with its text, any other without.
func (p *pages) showError(w http.ResponseWriter, r *http.Request, who policy.Principal, err error) {
	var said *app.Error
	if errors.As(err, &said) {
		p.showProblem(w, r, who, statuses[said.Kind], said.Message)
		return
	}
	if errors.Is(err, context.DeadlineExceeded) && r.Context().Err() != nil {
		p.Log.WarnContext(r.Context(), "page took too long", "page", r.Pattern, "err", err)
		text := "The request took too long and was canceled. Try again in a moment."
		if r.Method == http.MethodPost {
			text = "The request took too long and was canceled. The change may have been made all the same. Check before you try again."
		}
		p.showProblem(w, r, who, http.StatusServiceUnavailable, text)
		return
	}
	p.Log.ErrorContext(r.Context(), "page failed", "page", r.Pattern, "err", err) // not the path: a link's path ends with a secret
	p.showProblem(w, r, who, http.StatusInternalServerError, "An internal error occurred and was logged. Try again in a moment.")
}

func (p *pages) showProblem(w http.ResponseWriter, r *http.Request, who policy.Principal, status int, text string) {
	p.renderPage(w, r, who, status, "problem", problemView{Status: status, Title: http.StatusText(status), Message: text})
}
