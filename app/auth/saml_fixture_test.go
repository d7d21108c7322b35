package auth_test

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/xml"
	"errors"
	"log"
	"math/big"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/beevik/etree"
	crewjam "github.com/crewjam/saml"
	dsig "github.com/russellhaering/goxmldsig"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app/auth"
	"github.com/ocpctl/ocpctl/profiles"
)

// spent is the memory of a test: what the store is elsewhere.
type spent struct {
	mu   sync.Mutex
	seen map[string]time.Time
	down bool
}

func (s *spent) spend(_ context.Context, hash string, until time.Time) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.down {
		return false, errors.New("the database is away")
	}
	if _, used := s.seen[hash]; used {
		return false, nil
	}
	if s.seen == nil {
		s.seen = map[string]time.Time{}
	}
	s.seen[hash] = until
	return true, nil
}

// identities are the catalogue of these tests; a test may put others in their place.
type identities struct {
	mu   sync.Mutex
	list []profiles.Identity
}

func (i *identities) get() []profiles.Identity {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.list
}

func (i *identities) set(list ...profiles.Identity) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.list = list
}

func newKey(t *testing.T) ed25519.PrivateKey {
	t.Helper()
	_, key, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(t, err)
	return key
}

// attemptKey is a key and a certificate of its own, as identity providers have them.
func attemptKey(t *testing.T) (*rsa.PrivateKey, *x509.Certificate) {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"},
		NotBefore: time.Now().Add(-48 * time.Hour), NotAfter: time.Now().Add(48 * time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	require.NoError(t, err)
	cert, err := x509.ParseCertificate(der)
	require.NoError(t, err)
	return key, cert
}

// pages is the sign-in over real HTTP, an identity provider, and a browser.
type pages struct {
	*testing.T
	*httptest.Server
	idp        crewjam.IdentityProvider
	idpServer  *httptest.Server
	browser    *http.Client
	sessions   *auth.Sessions
	verifier   *auth.Verifier
	spent      *spent
	identities *identities
	asked      int // how often the provider's metadata were read
	down       bool
	last       error // of Finish
}

// newPages starts them; change may bend the configuration.
func newPages(t *testing.T, change func(*auth.SAMLConfig)) *pages {
	p := &pages{T: t, spent: &spent{}, identities: &identities{}}
	p.identities.set(profiles.Identity{
		Name: "teams", Source: profiles.SourceSAML, Match: map[string][]string{"groups": {"ocpctl-team-*"}},
		Role: "requester", Teams: []string{"{groups:ocpctl-team-}"},
	})
	p.startProvider()
	mux := http.NewServeMux()
	p.Server = httptest.NewServer(mux)
	t.Cleanup(p.Server.Close)
	p.sessions = auth.NewSessions(auth.SessionConfig{Key: newKey(t), Audience: p.URL})
	p.verifier = auth.New(auth.Config{Sessions: p.sessions, Identities: p.identities.get})
	cfg := auth.SAMLConfig{
		Provider: "the test's provider", Metadata: p.idpServer.URL + "/metadata", Home: p.URL,
		Sessions: p.sessions, Verifier: p.verifier, Spend: p.spent.spend,
	}
	if change != nil {
		change(&cfg)
	}
	signIn, err := auth.NewSignIn(cfg)
	require.NoError(t, err)
	mux.HandleFunc("GET "+auth.MetadataPath, signIn.Metadata)
	mux.HandleFunc("GET "+auth.BeginPath, func(w http.ResponseWriter, r *http.Request) {
		if p.last = signIn.Begin(w, r, r.FormValue("next")); p.last != nil {
			http.Error(w, p.last.Error(), http.StatusUnauthorized)
		}
	})
	mux.HandleFunc("POST "+auth.FinishPath, func(w http.ResponseWriter, r *http.Request) {
		var next string
		if next, _, p.last = signIn.Finish(w, r); p.last != nil {
			http.Error(w, p.last.Error(), http.StatusUnauthorized)
			return
		}
		http.Redirect(w, r, next, http.StatusSeeOther)
	})
	p.browser = newBrowser(t)
	return p
}

// newBrowser keeps cookies and follows nothing by itself.
func newBrowser(t *testing.T) *http.Client {
	jar, err := cookiejar.New(nil)
	require.NoError(t, err)
	return &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

func (p *pages) startProvider() {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /metadata", func(w http.ResponseWriter, _ *http.Request) {
		p.asked++
		if p.down {
			http.Error(w, "down", http.StatusBadGateway)
			return
		}
		raw, err := xml.Marshal(p.idp.Metadata())
		require.NoError(p, err)
		_, _ = w.Write(raw)
	})
	p.idpServer = httptest.NewServer(mux)
	p.Cleanup(p.idpServer.Close)
	at := func(path string) url.URL {
		u, err := url.Parse(p.idpServer.URL + path)
		require.NoError(p, err)
		return *u
	}
	key, cert := attemptKey(p.T)
	p.idp = crewjam.IdentityProvider{
		Key: key, Signer: key, Certificate: cert, SignatureMethod: dsig.RSASHA256SignatureMethod, Logger: log.Default(),
		MetadataURL: at("/metadata"), SSOURL: at("/sso"), ServiceProviderProvider: p,
	}
}

// GetServiceProvider lets the provider read our metadata as it would be given them.
func (p *pages) GetServiceProvider(*http.Request, string) (*crewjam.EntityDescriptor, error) {
	answer, err := http.Get(p.URL + auth.MetadataPath)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	var us crewjam.EntityDescriptor
	return &us, xml.NewDecoder(answer.Body).Decode(&us)
}

// begin follows the link on the sign-in page and returns where it leads.
func (p *pages) begin(next string) *url.URL {
	p.Helper()
	answer, err := p.browser.Get(p.URL + auth.BeginPath + "?next=" + url.QueryEscape(next))
	require.NoError(p, err)
	answer.Body.Close()
	require.Equal(p, http.StatusSeeOther, answer.StatusCode)
	to, err := answer.Location()
	require.NoError(p, err)
	return to
}

// answered is what a provider's page would post.
type answered struct{ Response, Relay string }

// answer has the provider answer a request about Maya; change may bend the assertion before it is signed.
func (p *pages) answer(to *url.URL, change func(*crewjam.IdpAuthnRequest)) answered {
	p.Helper()
	r := httptest.NewRequest(http.MethodGet, to.String(), nil)
	req, err := crewjam.NewIdpAuthnRequest(&p.idp, r)
	require.NoError(p, err)
	require.NoError(p, req.Validate())
	require.NoError(p, crewjam.DefaultAssertionMaker{}.MakeAssertion(req, &crewjam.Session{
		NameID: "maya@acme.example", NameIDFormat: string(crewjam.EmailAddressNameIDFormat), CreateTime: time.Now(), Index: "1",
	}))
	attribute := func(name string, values ...string) crewjam.Attribute {
		a := crewjam.Attribute{Name: name}
		for _, v := range values {
			a.Values = append(a.Values, crewjam.AttributeValue{Type: "xs:string", Value: v})
		}
		return a
	}
	req.Assertion.AttributeStatements = []crewjam.AttributeStatement{{Attributes: []crewjam.Attribute{
		attribute("groups", "ocpctl-team-platform", "everybody"), attribute("name", "Maya"), attribute("sub", "somebody else"),
	}}}
	if change != nil {
		change(req)
	}
	form, err := req.PostBinding()
	require.NoError(p, err)
	require.Equal(p, p.URL+auth.FinishPath, form.URL)
	return answered{form.SAMLResponse, form.RelayState}
}

// edited changes a response's XML after it was signed.
func edited(t *testing.T, a answered, edit func(root *etree.Element)) answered {
	t.Helper()
	raw, err := base64.StdEncoding.DecodeString(a.Response)
	require.NoError(t, err)
	doc := etree.NewDocument()
	require.NoError(t, doc.ReadFromBytes(raw))
	edit(doc.Root())
	raw, err = doc.WriteToBytes()
	require.NoError(t, err)
	return answered{base64.StdEncoding.EncodeToString(raw), a.Relay}
}

// post is the provider's page, submitted by a browser.
func (p *pages) post(with *http.Client, a answered) *http.Response {
	p.Helper()
	answer, err := with.PostForm(p.URL+auth.FinishPath, url.Values{"SAMLResponse": {a.Response}, "RelayState": {a.Relay}})
	require.NoError(p, err)
	answer.Body.Close()
	return answer
}

// session is what the browser was given.
func (p *pages) session(with *http.Client) (auth.Session, string, error) {
	p.Helper()
	r := httptest.NewRequest(http.MethodGet, p.URL, nil)
	for _, c := range with.Jar.Cookies(r.URL) {
		r.AddCookie(c)
	}
	raw := auth.FromCookie(r, false)
	session, err := p.verifier.Verify(p.Context(), raw)
	return session, raw, err
}

// refused says that nobody was signed in, why, and that nothing was given away.
func (p *pages) refused(a answered, answer *http.Response, reason auth.Reason, text string) {
	p.Helper()
	require.Equal(p, http.StatusUnauthorized, answer.StatusCode, "it was accepted")
	var said *auth.Error
	require.ErrorAs(p, p.last, &said)
	require.Equal(p, reason, said.Reason, "%s (%v)", said.Message, said.Cause)
	require.Contains(p, said.Message, text)
	if a.Response != "" {
		require.NotContains(p, said.Message, a.Response)
	}
	_, raw, _ := p.session(p.browser)
	require.Empty(p, raw, "no session was given")
}

func mustURL(t *testing.T, raw string) *url.URL {
	t.Helper()
	u, err := url.Parse(raw)
	require.NoError(t, err)
	return u
}
