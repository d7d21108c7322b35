package oc

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"math/big"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/crypto/bcrypt"

	"github.com/ocpctl/ocpctl/devstack/installer/resources"
	"github.com/ocpctl/ocpctl/devstack/must"
	"github.com/ocpctl/ocpctl/devstack/pick"
)

// loginServer stands in for what the routes of every cluster in the stand-in clouds lead to, by the request's host: the OAuth server, the console,
// and of the API what oc login asks. It follows OpenShift's OAuth server: the clients openshift-challenging-client, openshift-cli-client and
// console, a challenge with HTTP Basic, a form, the authorization code with PKCE, and tokens that are objects in the cluster.
type loginServer struct {
	*run
	mu     sync.Mutex
	codes  map[string]grant
	logins map[string]grant // sessions of the OAuth server itself, by cookie
}

// grant is what somebody proved to the OAuth server of a cluster.
type grant struct {
	domain, user, provider      string
	subject, groups             string // of a user whom an OpenID provider signed in
	client, redirect, challenge string
	expires                     time.Time
}

const (
	tokenLasts = 24 * time.Hour // OpenShift's accessTokenMaxAgeSeconds
	grantLasts = 5 * time.Minute

	loginCookie   = "ssn"
	consoleCookie = "openshift-session-token"
)

func (r *run) loginCommand() *cobra.Command {
	return &cobra.Command{Use: "standin-login ADDRESS", Hidden: true, Args: cobra.ExactArgs(1), RunE: func(_ *cobra.Command, args []string) (err error) {
		defer must.Catch(&err)
		key := must.Get(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))
		issued := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().AddDate(1, 0, 0), DNSNames: []string{"*.apps.example.com"}}
		raw := must.Get(x509.CreateCertificate(rand.Reader, issued, issued, key.Public(), key))
		login, own := &loginServer{run: r, codes: map[string]grant{}, logins: map[string]grant{}}, &tls.Certificate{Certificate: [][]byte{raw}, PrivateKey: key}
		server := &http.Server{
			Addr: args[0], Handler: login, ReadHeaderTimeout: time.Minute,
			TLSConfig: &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
				return login.serveCertificate(hello.Context(), hello.ServerName, own)
			}},
		}
		return server.ListenAndServeTLS("", "")
	}}
}

func (s *loginServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock() // one at a time: the clouds' credentials are the process's
	defer s.mu.Unlock()
	host, _, _ := strings.Cut(r.Host, ":")
	for prefix, serve := range map[string]func(http.ResponseWriter, *http.Request, string, *resources.Living){
		"oauth-openshift.apps.": s.serveOAuth, "console-openshift-console.apps.": s.serveConsole, "api.": s.serveAPI,
	} {
		if domain, ok := strings.CutPrefix(host, prefix); ok {
			living, err := s.reach(r.Context(), domain)
			if err != nil {
				http.Error(w, "Application is not available: "+err.Error(), http.StatusServiceUnavailable)
				return
			}
			serve(w, r, domain, living)
			return
		}
	}
	http.NotFound(w, r)
}

func (s *loginServer) serveOAuth(w http.ResponseWriter, r *http.Request, domain string, l *resources.Living) {
	switch {
	case r.URL.Path == "/oauth/authorize":
		s.authorizeClient(w, r, domain, l)
	case strings.HasPrefix(r.URL.Path, callbackPath):
		s.finishSignIn(w, r, domain, l)
	case strings.HasPrefix(r.URL.Path, "/login/"):
		s.signIn(w, r, domain, l)
	case r.URL.Path == "/oauth/token" && r.Method == http.MethodPost:
		token, err := s.exchange(r.Context(), l, domain, r.PostFormValue("code"), r.PostFormValue("client_id"), r.PostFormValue("redirect_uri"), r.PostFormValue("code_verifier"))
		if err != "" {
			writeJSON(w, http.StatusBadRequest, object{"error": "unauthorized_client", "error_description": err})
			return
		}
		writeJSON(w, http.StatusOK, object{"access_token": token, "token_type": "Bearer", "expires_in": int(tokenLasts.Seconds()), "scope": "user:full"})
	default:
		http.NotFound(w, r)
	}
}

// authorizeClient serves the authorize endpoint: the challenging client with HTTP Basic, the others with the form.
func (s *loginServer) authorizeClient(w http.ResponseWriter, r *http.Request, domain string, l *resources.Living) {
	q := r.URL.Query()
	client, redirect := q.Get("client_id"), q.Get("redirect_uri")
	if client == "openshift-challenging-client" {
		user, password, asked := r.BasicAuth()
		provider := ""
		if asked && r.Header.Get("X-Csrf-Token") != "" {
			user, provider = verifyPassword(l, user, password)
		}
		if provider == "" {
			w.Header().Set("WWW-Authenticate", `Basic realm="openshift"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		token, err := s.beginSession(r.Context(), l, grant{user: user, provider: provider})
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		answer := url.Values{"access_token": {token}, "expires_in": {fmt.Sprint(int(tokenLasts.Seconds()))}, "scope": {"user:full"}, "token_type": {"Bearer"}}
		w.Header().Set("Location", "https://oauth-openshift.apps."+domain+"/oauth/token/implicit#"+answer.Encode())
		w.WriteHeader(http.StatusFound)
		return
	}
	if !permits(client, redirect, domain) || q.Get("response_type") != "code" || client == "openshift-cli-client" && q.Get("code_challenge_method") != "S256" {
		writeJSON(w, http.StatusBadRequest, object{"error": "invalid_request", "error_description": "The request is missing a required parameter, includes an invalid parameter value."})
		return
	}
	g := s.loginOf(r, domain, l)
	if g.user == "" {
		s.chooseProvider(w, r, l)
		return
	}
	g.client, g.redirect, g.challenge, g.expires = client, redirect, q.Get("code_challenge"), time.Now().Add(grantLasts)
	code := newSecret()
	s.codes[code] = g
	to, _ := url.Parse(redirect) // see permits
	to.RawQuery = url.Values{"code": {code}, "state": {q.Get("state")}}.Encode()
	http.Redirect(w, r, to.String(), http.StatusFound)
}

// permits reports an address of the client to which codes may be sent.
func permits(client, redirect, domain string) bool {
	to, err := url.Parse(redirect)
	switch {
	case err != nil:
		return false
	case client == "openshift-cli-client":
		return to.Scheme == "http" && (to.Hostname() == "127.0.0.1" || to.Hostname() == "::1")
	}
	return client == "console" && redirect == "https://console-openshift-console.apps."+domain+"/auth/callback"
}

// loginOf returns who signed in to the OAuth server before. A user who was deleted meanwhile is nobody.
func (s *loginServer) loginOf(r *http.Request, domain string, l *resources.Living) grant {
	cookie, err := r.Cookie(loginCookie)
	if err != nil {
		return grant{}
	}
	g := s.logins[cookie.Value]
	if g.provider == kubeAdmin && g.domain == domain && time.Now().Before(g.expires) {
		return g
	}
	for _, p := range providersOf(l) {
		if p.Name == g.provider && g.domain == domain && time.Now().Before(g.expires) && p.hasUser(l, g.user) {
			return g
		}
	}
	return grant{}
}

// hasUser reports that the provider still has a user: a line of its file, or one who signed in and was not deleted.
func (p identityProvider) hasUser(l *resources.Living, user string) bool {
	if p.Type == "OpenID" {
		return slices.ContainsFunc(l.Sessions(), func(s resources.Session) bool { return s.User == user && s.Provider == p.Name })
	}
	return l.Passwords(p.Htpasswd.FileData.Name)[user] != ""
}

var loginPage = template.Must(template.New("login").Parse(`<!doctype html><title>Login - Red Hat OpenShift</title>{{with .Error}}<p role="alert">{{.}}</p>{{end}}
{{if .Providers}}<p>Log in with…</p>{{range .Providers}}<p><a href="/login/{{.}}?then={{$.Then}}">{{.}}</a></p>{{end}}
{{else}}<form method="post"><input type="hidden" name="then" value="{{.Then}}"><label>Username <input name="username" autocomplete="username"></label>
<label>Password <input name="password" type="password" autocomplete="current-password"></label><button>Log in</button></form>{{end}}`))

func (s *loginServer) chooseProvider(w http.ResponseWriter, r *http.Request, l *resources.Living) {
	names := pick.Map(providersOf(l), func(p identityProvider) string { return p.Name })
	_ = loginPage.Execute(w, object{"Providers": append(names, kubeAdmin), "Then": r.URL.RequestURI()})
}

func (s *loginServer) signIn(w http.ResponseWriter, r *http.Request, domain string, l *resources.Living) {
	then := r.FormValue("then")
	for _, p := range providersOf(l) {
		if p.Type == "OpenID" && "/login/"+p.Name == r.URL.Path {
			s.redirectTo(w, r, domain, l, p)
			return
		}
	}
	if r.Method != http.MethodPost {
		_ = loginPage.Execute(w, object{"Then": then})
		return
	}
	user, provider := verifyPassword(l, r.PostFormValue("username"), r.PostFormValue("password"))
	if provider == "" || !strings.HasPrefix(then, "/oauth/authorize?") {
		w.WriteHeader(http.StatusUnauthorized)
		_ = loginPage.Execute(w, object{"Then": then, "Error": "Invalid login or password. Please try again."})
		return
	}
	s.rememberLogin(w, grant{domain: domain, user: user, provider: provider, expires: time.Now().Add(grantLasts)})
	http.Redirect(w, r, then, http.StatusFound)
}

// rememberLogin begins a session of the OAuth server itself.
func (s *loginServer) rememberLogin(w http.ResponseWriter, g grant) {
	id := newSecret()
	s.logins[id] = g
	http.SetCookie(w, &http.Cookie{Name: loginCookie, Value: id, Path: "/", HttpOnly: true, Secure: true, SameSite: http.SameSiteLaxMode})
}

// verifyPassword returns the user with this password and the identity provider that knows them; empty: none does. A user whom another provider has
// is refused (mappingMethod claim).
func verifyPassword(l *resources.Living, user, password string) (name, provider string) {
	if user == "kubeadmin" && bcrypt.CompareHashAndPassword([]byte(l.Kept(kubeadminNote)), []byte(password)) == nil {
		return kubeAdmin, kubeAdmin
	}
	for _, p := range providersOf(l) {
		hash := l.Passwords(p.Htpasswd.FileData.Name)[user]
		if p.Type != "HTPasswd" || hash == "" || bcrypt.CompareHashAndPassword([]byte(hash), []byte(password)) != nil {
			continue
		}
		for _, s := range l.Sessions() {
			if s.User == user && s.Provider != p.Name {
				return "", ""
			}
		}
		return user, p.Name
	}
	return "", ""
}

// beginSession makes a token, and with it the user and the identity.
func (s *loginServer) beginSession(ctx context.Context, l *resources.Living, g grant) (token string, err error) {
	token = "sha256~" + newSecret()
	return token, l.Begin(ctx, resources.Session{User: g.user, Provider: g.provider, Subject: g.subject, Groups: g.groups, Hash: hashToken(token), Expires: time.Now().Add(tokenLasts)})
}

// exchange gives a token for a code, once; refused says why not.
func (s *loginServer) exchange(ctx context.Context, l *resources.Living, domain, code, client, redirect, verifier string) (token, refused string) {
	g, there := s.codes[code]
	delete(s.codes, code)
	sum := sha256.Sum256([]byte(verifier))
	switch {
	case !there || g.domain != domain || g.client != client || g.redirect != redirect || time.Now().After(g.expires):
		return "", "The code is not valid."
	case g.challenge != "" && g.challenge != base64.RawURLEncoding.EncodeToString(sum[:]):
		return "", "The code verifier does not fit."
	}
	token, err := s.beginSession(ctx, l, g)
	if err != nil {
		return "", err.Error()
	}
	return token, ""
}

// serveConsole is the console: who signed in, and what they may do.
func (s *loginServer) serveConsole(w http.ResponseWriter, r *http.Request, domain string, l *resources.Living) {
	callback := "https://console-openshift-console.apps." + domain + "/auth/callback"
	if r.URL.Path == "/auth/callback" {
		token, refused := s.exchange(r.Context(), l, domain, r.URL.Query().Get("code"), "console", callback, "")
		if refused != "" {
			http.Error(w, refused, http.StatusUnauthorized)
			return
		}
		http.SetCookie(w, &http.Cookie{Name: consoleCookie, Value: token, Path: "/", HttpOnly: true, Secure: true, SameSite: http.SameSiteLaxMode})
		http.Redirect(w, r, "/", http.StatusFound)
		return
	}
	if cookie, err := r.Cookie(consoleCookie); err == nil {
		if user := s.userOf(l, cookie.Value); user != "" {
			groups := ""
			for _, s := range l.Sessions() {
				if s.User == user && s.Groups != "" {
					groups = " and the groups " + s.Groups
				}
			}
			fmt.Fprintf(w, "<!doctype html><title>Overview · Red Hat OpenShift</title>%s<p>Signed in as <b>%s</b> with the cluster roles %s%s.</p>",
				banners(l), template.HTMLEscapeString(user), template.HTMLEscapeString(strings.Join(l.RolesOf("", user, ""), ", ")), template.HTMLEscapeString(groups))
			return
		}
	}
	ask := url.Values{"client_id": {"console"}, "redirect_uri": {callback}, "response_type": {"code"}, "scope": {"user:full"}, "state": {newSecret()}}
	http.Redirect(w, r, "https://oauth-openshift.apps."+domain+"/oauth/authorize?"+ask.Encode(), http.StatusFound)
}

// serveAPI is what oc login asks the API.
func (s *loginServer) serveAPI(w http.ResponseWriter, r *http.Request, domain string, l *resources.Living) {
	at := "https://oauth-openshift.apps." + domain
	switch r.URL.Path {
	case "/.well-known/oauth-authorization-server":
		writeJSON(w, http.StatusOK, object{"issuer": at, "authorization_endpoint": at + "/oauth/authorize", "token_endpoint": at + "/oauth/token",
			"response_types_supported": []string{"code", "token"}, "grant_types_supported": []string{"authorization_code", "implicit"}, "code_challenge_methods_supported": []string{"plain", "S256"}})
	case "/apis/user.openshift.io/v1/users/~":
		user := s.userOf(l, strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "))
		if user == "" {
			writeJSON(w, http.StatusUnauthorized, object{"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": "Unauthorized", "reason": "Unauthorized", "code": 401})
			return
		}
		writeJSON(w, http.StatusOK, object{"kind": "User", "apiVersion": "user.openshift.io/v1", "metadata": object{"name": user}})
	default:
		http.NotFound(w, r)
	}
}

// userOf returns whose a token is; empty: nobody's.
func (s *loginServer) userOf(l *resources.Living, token string) string {
	caller := run{}
	if !strings.HasPrefix(token, "sha256~") || caller.authenticateSession(l, token) != nil {
		return ""
	}
	return caller.who.account
}

func newSecret() string {
	raw := make([]byte, 32)
	_, _ = rand.Read(raw) // never fails
	return base64.RawURLEncoding.EncodeToString(raw)
}

func writeJSON(w http.ResponseWriter, status int, document object) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(document) // the client left
}
