package github

import (
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// oauth is the user authorization of the App.
// https://docs.github.com/apps/creating-github-apps/authenticating-with-a-github-app/generating-a-user-access-token-for-a-github-app
type oauth struct {
	secret, callback string

	mu     sync.Mutex
	codes  map[string]*code     // by its hash
	tokens map[string]userToken // by its hash
	known  map[int64]bool       // accounts that authorized the App: they are not asked again
}

// code is what a person brings back to the App's page.
type code struct {
	account   int64
	redirect  string
	challenge string // of PKCE; empty: none was sent
	until     time.Time
	used      bool
}

type userToken struct {
	account int64
	until   time.Time
}

const (
	codeLife      = 10 * time.Minute
	userTokenLife = 8 * time.Hour
)

func (s *Server) oauthRoutes(mux *http.ServeMux) {
	mux.HandleFunc("GET /login/oauth/authorize", s.askToAuthorize)
	mux.HandleFunc("POST /login/oauth/authorize", s.authorize)
	mux.HandleFunc("POST /login/oauth/access_token", s.exchangeCode)
	mux.Handle("GET /user", s.withAPIFaults(withHeaders(http.HandlerFunc(s.showUser))))
}

// authorizing is the page that asks a person. It keeps the request in its form.
type authorizing struct {
	frame
	Query   string
	Suggest string // the login that the App suggests
}

// backTo returns where a request leads back to. An unknown client gets no page; a wrong address leads to the registered one, with an error.
func (s *Server) backTo(w http.ResponseWriter, r *http.Request, q url.Values) (to *url.URL, ok bool) {
	to, err := url.Parse(s.oauth.callback)
	if q.Get("client_id") != ClientID || s.oauth.callback == "" || err != nil {
		notFound(w)
		return nil, false
	}
	if redirect := q.Get("redirect_uri"); redirect != "" && redirect != s.oauth.callback {
		sendBack(w, r, to, q, "error", "redirect_uri_mismatch", "error_description", "The redirect_uri MUST match the registered callback URL for this application.")
		return nil, false
	}
	if method := q.Get("code_challenge_method"); (method != "") != (q.Get("code_challenge") != "") || method != "" && method != "S256" {
		sendBack(w, r, to, q, "error", "invalid_request", "error_description", "code_challenge_method must be S256, with a code_challenge.")
		return nil, false
	}
	return to, true
}

// sendBack redirects to the App's page with pairs of parameters and the state that the App gave.
func sendBack(w http.ResponseWriter, r *http.Request, to *url.URL, q url.Values, pairs ...string) {
	back := to.Query()
	for i := 0; i+1 < len(pairs); i += 2 {
		back.Set(pairs[i], pairs[i+1])
	}
	if state := q.Get("state"); state != "" {
		back.Set("state", state)
	}
	target := *to
	target.RawQuery = back.Encode()
	http.Redirect(w, r, target.String(), http.StatusFound)
}

// askToAuthorize asks whoever is signed in, once: later requests lead back at once, unless the App has them choose an account.
func (s *Server) askToAuthorize(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	to, ok := s.backTo(w, r, q)
	if !ok {
		return
	}
	if who := acting(r); who != "" && q.Get("prompt") != "select_account" {
		s.oauth.mu.Lock()
		known := s.oauth.known[s.numberOf(who)]
		s.oauth.mu.Unlock()
		if known {
			sendBack(w, r, to, q, "code", s.newCode(who, q))
			return
		}
	}
	p := authorizing{frame: s.frame(r, "Authorize ocpctl"), Query: r.URL.RawQuery, Suggest: q.Get("login")}
	p.As = cmp.Or(acting(r), p.Suggest, people[0])
	s.render(w, r, http.StatusOK, "authorize.html", p)
}

// authorize is the press of a person on that page.
func (s *Server) authorize(w http.ResponseWriter, r *http.Request) {
	q, err := url.ParseQuery(r.PostFormValue("query"))
	if err != nil {
		notFound(w)
		return
	}
	to, ok := s.backTo(w, r, q)
	switch who := r.PostFormValue("login"); {
	case !ok:
	case r.PostFormValue("cancel") != "":
		sendBack(w, r, to, q, "error", "access_denied", "error_description", "The user has denied your application access.")
	case !slices.Contains(people, who):
		notFound(w)
	default:
		http.SetCookie(w, &http.Cookie{Name: actingCookie, Value: who, Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode})
		sendBack(w, r, to, q, "code", s.newCode(who, q))
	}
}

func (s *Server) numberOf(login string) int64 { return s.sceneOf("").accountOf(login).ID }

func (s *Server) newCode(login string, q url.Values) string {
	made, number := strings.ToLower(rand.Text())[:20], s.numberOf(login)
	s.oauth.mu.Lock()
	defer s.oauth.mu.Unlock()
	s.oauth.known[number] = true
	s.oauth.codes[hashOf(made)] = &code{account: number, redirect: q.Get("redirect_uri"), challenge: q.Get("code_challenge"), until: s.now().Add(codeLife)}
	return made
}

// exchangeCode gives a token for a code. GitHub answers errors with 200, and in the form that the caller accepts.
// https://docs.github.com/apps/oauth-apps/maintaining-oauth-apps/troubleshooting-oauth-app-access-token-request-errors
func (s *Server) exchangeCode(w http.ResponseWriter, r *http.Request) {
	out := url.Values{}
	refuse := func(code, text string) {
		out.Set("error", code)
		out.Set("error_description", text)
		out.Set("error_uri", "https://docs.github.com/apps/oauth-apps/maintaining-oauth-apps/troubleshooting-oauth-app-access-token-request-errors")
	}
	s.oauth.mu.Lock()
	c := s.oauth.codes[hashOf(r.PostFormValue("code"))]
	switch {
	case r.PostFormValue("client_id") != ClientID || r.PostFormValue("client_secret") != s.oauth.secret:
		refuse("incorrect_client_credentials", "The client_id and/or client_secret passed are incorrect.")
	case c == nil || c.used || !s.now().Before(c.until) || !c.fits(r.PostFormValue("code_verifier")):
		refuse("bad_verification_code", "The code passed is incorrect or expired.")
	case r.PostFormValue("redirect_uri") != "" && r.PostFormValue("redirect_uri") != cmp.Or(c.redirect, s.oauth.callback):
		refuse("redirect_uri_mismatch", "The redirect_uri MUST match the registered callback URL for this application.")
	default:
		c.used = true
		token := "ghu_" + rand.Text() + rand.Text()[:10]
		s.oauth.tokens[hashOf(token)] = userToken{c.account, s.now().Add(userTokenLife)}
		for name, value := range map[string]string{"access_token": token, "expires_in": "28800", "refresh_token": "ghr_" + rand.Text() + rand.Text() + rand.Text()[:24],
			"refresh_token_expires_in": "15897600", "scope": "", "token_type": "bearer"} {
			out.Set(name, value)
		}
	}
	s.oauth.mu.Unlock()
	if !strings.Contains(r.Header.Get("Accept"), "json") {
		w.Header().Set("Content-Type", "application/x-www-form-urlencoded; charset=utf-8")
		_, _ = w.Write([]byte(out.Encode())) // the caller disconnected
		return
	}
	body := object{}
	for name := range out {
		body[name] = out.Get(name)
		if n, err := strconv.Atoi(out.Get(name)); err == nil {
			body[name] = n
		}
	}
	answer(w, http.StatusOK, body)
}

// fits checks the verifier of PKCE (RFC 7636, 4.6).
func (c *code) fits(verifier string) bool {
	sum := sha256.Sum256([]byte(verifier))
	return c.challenge == "" || c.challenge == base64.RawURLEncoding.EncodeToString(sum[:])
}

// showUser answers with the account of a user's token. https://docs.github.com/rest/users/users#get-the-authenticated-user
func (s *Server) showUser(w http.ResponseWriter, r *http.Request) {
	raw, ok := bearer(r)
	s.oauth.mu.Lock()
	token, found := s.oauth.tokens[hashOf(raw)]
	s.oauth.mu.Unlock()
	switch {
	case !ok && r.Header.Get("Authorization") == "":
		complain(w, http.StatusUnauthorized, string(noCredentials))
	case !found || !s.now().Before(token.until):
		complain(w, http.StatusUnauthorized, string(badCredentials))
	default:
		s.showAccount(w, s.loginOf(itoa(token.account)))
	}
}
