package auth

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"
)

// SAMLConfig configures the sign-in of people.
type SAMLConfig struct {
	Provider string   // for people: "AWS IAM Identity Center"
	Metadata string   // of the identity provider: a URL or a file
	Home     string   // public URL of the pages
	EntityID string   // our entity id at the provider; empty: the URL of our own metadata
	Key      *SAMLKey // signs requests; nil: they are not signed
	Sessions *Sessions
	Verifier *Verifier // computes the seats
	Spend    Spend
	Timeout  time.Duration    // of one call to the provider; zero: 10 s
	Now      func() time.Time // nil: time.Now
}

// SignIn signs people in through SAML 2.0: it sends them to the identity provider and gives them a session for the assertion with
// which they return. Safe for concurrent use.
type SignIn struct {
	Provider string // for people

	us       service
	idp      *provider
	sessions *Sessions
	verifier *Verifier
	spent    Spend
	secure   bool
	now      func() time.Time
}

// NewSignIn returns the sign-in of the pages. It does not contact the identity provider yet.
func NewSignIn(c SAMLConfig) (*SignIn, error) {
	home, err := url.Parse(c.Home)
	if err != nil || home.Host == "" {
		return nil, fmt.Errorf("the address of the pages, %q, is not valid", c.Home)
	}
	if c.Sessions == nil || c.Verifier == nil || c.Spend == nil {
		return nil, errors.New("sessions, a verifier and a store for used assertions are required")
	}
	if c.EntityID == "" {
		c.EntityID = home.JoinPath(MetadataPath).String()
	}
	c.Timeout, c.Now = timeoutOrDefault(c.Timeout), clockOrDefault(c.Now)
	us, err := newService(home, c.EntityID, c.Key)
	return &SignIn{
		Provider: c.Provider, us: us, idp: newProvider(c.Metadata, c.Timeout, c.Now), sessions: c.Sessions,
		verifier: c.Verifier, spent: c.Spend, secure: home.Scheme == "https", now: c.Now,
	}, err
}

// Metadata serves the service provider's metadata.
func (s *SignIn) Metadata(w http.ResponseWriter, _ *http.Request) {
	raw, err := xml.MarshalIndent(s.us.describeService(), "", "  ")
	if err != nil {
		http.Error(w, http.StatusText(http.StatusInternalServerError), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/samlmetadata+xml")
	_, _ = w.Write(raw) // the caller disconnected and will retry
}

// begun is what a browser stores while the person is at the identity provider, signed by us.
type begun struct {
	Request string `json:"req"`
	Relay   string `json:"relay"`
	Next    string `json:"next"`
}

const (
	beginPrefix = "ocpctl_signin_"
	beginLife   = 10 * time.Minute
	mostBegun   = 5 // tabs in which one browser can sign in at once
)

var relayForm = regexp.MustCompile(`^[0-9a-f]{32}$`)

// Begin sends a person to the identity provider; next is the page to return to. Its errors are *Error, and then nothing was written.
func (s *SignIn) Begin(w http.ResponseWriter, r *http.Request, next string) error {
	idp, err := s.idp.getMetadata(r.Context())
	if err != nil {
		return s.silentError(err)
	}
	b := begun{Relay: randomHex(), Next: Local(next)}
	to, id, err := s.us.requestURL(idp, b.Relay)
	if err != nil {
		return err
	}
	b.Request = id
	expires := s.now().Add(beginLife)
	raw, err := s.sessions.signToken(forSignIn, "", b, expires)
	if err != nil {
		return err
	}
	var mine []string
	for _, c := range r.Cookies() {
		if strings.HasPrefix(c.Name, Named(beginPrefix, s.secure)) {
			mine = append(mine, c.Name)
		}
	}
	for len(mine) >= mostBegun { // they must not push the session cookie out of the browser
		s.beginCookie(w, mine[0], "", -1)
		mine = mine[1:]
	}
	s.beginCookie(w, Named(beginPrefix+b.Relay, s.secure), raw, int(beginLife.Seconds()))
	http.Redirect(w, r, to.String(), http.StatusSeeOther)
	return nil
}

// beginCookie stores what was begun. The provider's page posts from another site, so the browser sends the cookie only with
// SameSite=None, which it accepts only over https; over http, in the demo, both are one site.
func (s *SignIn) beginCookie(w http.ResponseWriter, name, value string, maxAge int) {
	site, path := http.SameSiteLaxMode, "/saml/"
	if s.secure {
		site, path = http.SameSiteNoneMode, "/" // which the prefix hostAlone requires
	}
	http.SetCookie(w, &http.Cookie{
		Name: name, Value: value, Path: path, MaxAge: maxAge, HttpOnly: true, Secure: s.secure, SameSite: site,
	})
}

// Finish gives a session to a person who returns with an assertion, and returns the page to show next. Its errors are *Error.
func (s *SignIn) Finish(w http.ResponseWriter, r *http.Request) (next string, session Session, err error) {
	r.Body = http.MaxBytesReader(w, r.Body, 1<<20)
	if err := r.ParseForm(); err != nil {
		return "", Session{}, refuseWith(Malformed, "The identity provider's response is not valid. Sign in again.")
	}
	b, err := s.findBegun(r)
	if err != nil {
		return "", Session{}, err
	}
	s.beginCookie(w, Named(beginPrefix+b.Relay, s.secure), "", -1) // it is used only once, whatever the result
	p, err := s.proveResponse(r.Context(), r.PostForm.Get("SAMLResponse"), b.Request)
	if err != nil {
		return "", Session{}, err
	}
	const text = "This assertion was already used. Sign in again."
	if err := s.spent.spendOnce(r.Context(), hashOf(p.id), p.until, text); err != nil {
		return "", Session{}, err
	}
	life := s.sessions.life
	if !p.ends.IsZero() {
		life = min(life, p.ends.Sub(s.now()))
	}
	if life <= 0 {
		return "", Session{}, refuseWith(Expired, "Your session at the identity provider has ended. Sign in again.")
	}
	raw, expires, err := s.sessions.issueSession(p.claims, life)
	if err != nil {
		return "", Session{}, err
	}
	if !setCookie(w, raw, expires, s.secure) {
		return "", Session{}, refuseWith(NotAllowed, "The identity provider sends too much data for a browser session. Configure it to send only the groups that are assigned to ocpctl.")
	}
	return b.Next, s.verifier.newSession(p.claims, expires), nil
}

// findBegun finds what this browser began under the returned state.
func (s *SignIn) findBegun(r *http.Request) (b begun, err error) {
	relay := r.PostForm.Get("RelayState")
	if !relayForm.MatchString(relay) {
		return b, refuseWith(NotBegun, notBegun)
	}
	cookie, err := r.Cookie(Named(beginPrefix+relay, s.secure))
	if err != nil {
		return b, refuseWith(NotBegun, notBegun)
	}
	if _, err := s.sessions.readToken(forSignIn, cookie.Value, &b); err != nil || b.Relay != relay {
		return b, &Error{NotBegun, notBegun, err}
	}
	b.Next = Local(b.Next)
	return b, nil
}

// proveResponse checks a response. If the signature does not match, it tries again with the provider's newest keys.
func (s *SignIn) proveResponse(ctx context.Context, response, id string) (proven, error) {
	idp, err := s.idp.getMetadata(ctx)
	if err != nil {
		return proven{}, s.silentError(err)
	}
	p, err := s.us.proveResponse(idp, response, id)
	var said *Error
	if !errors.As(err, &said) || said.Reason != BadSignature {
		return p, err
	}
	if newer, again := s.idp.renewMetadata(ctx); again == nil && newer != idp {
		return s.us.proveResponse(newer, response, id)
	}
	return p, err
}

func (s *SignIn) silentError(err error) error {
	return &Error{Unavailable, "The identity provider " + s.Provider + " does not respond. Try again in a minute.", err}
}

// Local keeps a redirect within this server: anything else leads to the first page.
func Local(next string) string {
	u, err := url.Parse(next)
	if err != nil || u.IsAbs() || u.Host != "" || !strings.HasPrefix(next, "/") ||
		strings.HasPrefix(next, "//") || strings.ContainsAny(next, "\\\t\r\n") {
		return "/"
	}
	return next
}

func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}
