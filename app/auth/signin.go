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

// SAMLConfig says where people sign in.
type SAMLConfig struct {
	Provider string   // for people: "AWS IAM Identity Center"
	Metadata string   // of the identity provider: an address, or a file
	Home     string   // where people reach the pages
	EntityID string   // who we are to the provider; empty: the address of our own metadata
	Key      *SAMLKey // signs requests; nil: they are not signed
	Sessions *Sessions
	Verifier *Verifier // knows the seats of who signed in
	Spend    Spend
	Timeout  time.Duration    // of one question to the provider; zero: 10 s
	Now      func() time.Time // nil: time.Now
}

// SignIn signs people in through SAML 2.0: it sends them to the identity provider and gives them a session for the
// assertion they come back with. Safe for concurrent use.
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

// NewSignIn returns the sign-in of the pages. It asks the identity provider nothing yet.
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
	c.Timeout, c.Now = timeout(c.Timeout), clock(c.Now)
	us, err := newService(home, c.EntityID, c.Key)
	return &SignIn{
		Provider: c.Provider, us: us, idp: newProvider(c.Metadata, c.Timeout, c.Now), sessions: c.Sessions,
		verifier: c.Verifier, spent: c.Spend, secure: home.Scheme == "https", now: c.Now,
	}, err
}

// Metadata answers what the identity provider must know of us.
func (s *SignIn) Metadata(w http.ResponseWriter, _ *http.Request) {
	raw, err := xml.MarshalIndent(s.us.metadata(), "", "  ")
	if err != nil {
		http.Error(w, http.StatusText(http.StatusInternalServerError), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/samlmetadata+xml")
	_, _ = w.Write(raw) // whoever asked will ask again
}

// begun is what a browser keeps while its person is away at the identity provider, signed by us.
type begun struct {
	Request string `json:"req"`
	Relay   string `json:"relay"`
	Next    string `json:"next"`
}

const (
	beginPrefix = "ocpctl_signin_"
	beginLife   = 10 * time.Minute
	mostBegun   = 5 // tabs in which one browser signs in at once
)

var relayForm = regexp.MustCompile(`^[0-9a-f]{32}$`)

// Begin sends a person to the identity provider; next is the page to come back to. Its errors are *Error, and nothing was
// written then.
func (s *SignIn) Begin(w http.ResponseWriter, r *http.Request, next string) error {
	idp, err := s.idp.get(r.Context())
	if err != nil {
		return s.silent(err)
	}
	b := begun{Relay: random(), Next: Local(next)}
	to, id, err := s.us.request(idp, b.Relay)
	if err != nil {
		return err
	}
	b.Request = id
	expires := s.now().Add(beginLife)
	raw, err := s.sessions.sign(forSignIn, "", b, expires)
	if err != nil {
		return err
	}
	var mine []string
	for _, c := range r.Cookies() {
		if strings.HasPrefix(c.Name, Named(beginPrefix, s.secure)) {
			mine = append(mine, c.Name)
		}
	}
	for len(mine) >= mostBegun { // none must push the session out of the browser
		s.beginCookie(w, mine[0], "", -1)
		mine = mine[1:]
	}
	s.beginCookie(w, Named(beginPrefix+b.Relay, s.secure), raw, int(beginLife.Seconds()))
	http.Redirect(w, r, to.String(), http.StatusSeeOther)
	return nil
}

// beginCookie keeps what was begun. The provider's page posts from another site, so a browser sends it only if it is
// SameSite=None, and takes such a one over https alone; on http, in the demo, both are one site.
func (s *SignIn) beginCookie(w http.ResponseWriter, name, value string, maxAge int) {
	site, path := http.SameSiteLaxMode, "/saml/"
	if s.secure {
		site, path = http.SameSiteNoneMode, "/" // which hostAlone asks for
	}
	http.SetCookie(w, &http.Cookie{
		Name: name, Value: value, Path: path, MaxAge: maxAge, HttpOnly: true, Secure: s.secure, SameSite: site,
	})
}

// Finish gives a session to a person who comes back with an assertion, and says to which page. Its errors are *Error.
func (s *SignIn) Finish(w http.ResponseWriter, r *http.Request) (next string, session Session, err error) {
	r.Body = http.MaxBytesReader(w, r.Body, 1<<20)
	if err := r.ParseForm(); err != nil {
		return "", Session{}, refuse(Malformed, "The identity provider's response is not valid. Sign in again.")
	}
	b, err := s.begun(r)
	if err != nil {
		return "", Session{}, err
	}
	s.beginCookie(w, Named(beginPrefix+b.Relay, s.secure), "", -1) // once, whatever comes of it
	p, err := s.prove(r.Context(), r.PostForm.Get("SAMLResponse"), b.Request)
	if err != nil {
		return "", Session{}, err
	}
	const words = "This assertion was already used. Sign in again."
	if err := s.spent.spend(r.Context(), hashOf(p.id), p.until, words); err != nil {
		return "", Session{}, err
	}
	life := s.sessions.life
	if !p.ends.IsZero() {
		life = min(life, p.ends.Sub(s.now()))
	}
	if life <= 0 {
		return "", Session{}, refuse(Expired, "Your session at the identity provider has ended. Sign in again.")
	}
	raw, expires, err := s.sessions.issue(p.claims, life)
	if err != nil {
		return "", Session{}, err
	}
	if !setCookie(w, raw, expires, s.secure) {
		return "", Session{}, refuse(NotAllowed, "The identity provider sends too much data for a browser session. Configure it to send only the groups that are assigned to ocpctl.")
	}
	return b.Next, s.verifier.session(p.claims, expires), nil
}

// begun finds what this browser began under the state that came back.
func (s *SignIn) begun(r *http.Request) (b begun, err error) {
	relay := r.PostForm.Get("RelayState")
	if !relayForm.MatchString(relay) {
		return b, refuse(NotBegun, notBegun)
	}
	cookie, err := r.Cookie(Named(beginPrefix+relay, s.secure))
	if err != nil {
		return b, refuse(NotBegun, notBegun)
	}
	if _, err := s.sessions.read(forSignIn, cookie.Value, &b); err != nil || b.Relay != relay {
		return b, &Error{NotBegun, notBegun, err}
	}
	b.Next = Local(b.Next)
	return b, nil
}

// prove checks a response; a signature that does not fit is checked once more against the provider's newest keys.
func (s *SignIn) prove(ctx context.Context, response, id string) (proven, error) {
	idp, err := s.idp.get(ctx)
	if err != nil {
		return proven{}, s.silent(err)
	}
	p, err := s.us.prove(idp, response, id)
	var said *Error
	if !errors.As(err, &said) || said.Reason != BadSignature {
		return p, err
	}
	if newer, again := s.idp.renewed(ctx); again == nil && newer != idp {
		return s.us.prove(newer, response, id)
	}
	return p, err
}

func (s *SignIn) silent(err error) error {
	return &Error{Unavailable, "The identity provider " + s.Provider + " does not respond. Try again in a minute.", err}
}

// Local keeps a way within this server: anything else is the first page.
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
