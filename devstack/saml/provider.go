// Package saml is the demo's own SAML identity provider, in the form of AWS IAM Identity Center, with four people and public
// passwords, so that the production code for the sign-in runs as with a real one.
//
// It must never be trusted outside the demo: the passwords are public, and whoever can read its directory can impersonate anybody.
package saml

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/subtle"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/xml"
	"fmt"
	"html/template"
	"io"
	"log/slog"
	"math/big"
	"net/http"
	"net/url"
	"os"
	"sync"
	"time"

	crewjam "github.com/crewjam/saml"
	dsig "github.com/russellhaering/goxmldsig"

	"github.com/ocpctl/ocpctl/devstack/listen"
	"github.com/ocpctl/ocpctl/devstack/must"
	"github.com/ocpctl/ocpctl/devstack/rsakey"
)

// Name is the provider's name on the demo's pages.
const Name = "the demo's identity provider"

// Config says where the provider listens and for which pages it signs people in.
type Config struct {
	Addr string       // empty: a free port on the loopback
	Dir  string       // holds key.pem; empty: a new key each time
	Home string       // URL of the pages
	Log  *slog.Logger // nil: silent
}

// Provider is a running identity provider.
type Provider struct {
	url  string
	home string
	idp  crewjam.IdentityProvider
	stop func() error
}

// Start listens and serves metadata and sign-in until Stop is called or ctx ends. The pages need not be running yet.
func Start(ctx context.Context, cfg Config) (_ *Provider, err error) {
	defer must.Catch(&err)
	key := must.Get(rsakey.LoadFrom(cfg.Dir))
	cert := must.Get(certify(key.PrivateKey))
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	listener := must.Get(listen.On(ctx, cfg.Addr, "the identity provider"))
	p := &Provider{url: "http://" + listener.Addr().String(), home: cfg.Home}
	p.idp = crewjam.IdentityProvider{
		Key: key.PrivateKey, Signer: key, Certificate: cert, SignatureMethod: dsig.RSASHA256SignatureMethod, Logger: slog.NewLogLogger(cfg.Log.Handler(), slog.LevelWarn),
		MetadataURL: p.at("/metadata"), SSOURL: p.at("/sso"), LoginURL: p.at("/sso"),
		ServiceProviderProvider: p, SessionProvider: p, AssertionMaker: assertions{},
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /metadata", p.idp.ServeMetadata)
	mux.HandleFunc("GET /sso", p.idp.ServeSSO)
	mux.HandleFunc("POST /sso", p.idp.ServeSSO)
	serve := listen.Serve(ctx, listener, mux, "the identity provider")
	p.stop = sync.OnceValue(func() error {
		defer key.Release()
		return serve()
	})
	return p, nil
}

// Stop stops the server. Existing sessions stay valid, because the pages issued them.
func (p *Provider) Stop() error { return p.stop() }

// Metadata is the URL of the provider's metadata.
func (p *Provider) Metadata() string { return p.url + "/metadata" }

func (p *Provider) at(path string) url.URL {
	u, err := url.Parse(p.url + path)
	if err != nil {
		panic(err) // it was built from a listener's address
	}
	return *u
}

// GetServiceProvider reads the pages' metadata; it signs people in to nothing else.
func (p *Provider) GetServiceProvider(r *http.Request, id string) (_ *crewjam.EntityDescriptor, err error) {
	defer must.Catch(&err)
	ask := must.Get(http.NewRequestWithContext(r.Context(), http.MethodGet, p.home+"/saml/metadata", nil))
	answer := must.Get(http.DefaultClient.Do(ask))
	defer answer.Body.Close()
	var found crewjam.EntityDescriptor
	must.Do(xml.NewDecoder(io.LimitReader(answer.Body, 1<<20)).Decode(&found))
	must.EndIf(found.EntityID != id, os.ErrNotExist)
	return &found, nil
}

// assertions contain what Identity Center sends about a person with the attribute mappings of docs/identity.md.
type assertions struct{}

// MakeAssertion implements crewjam.AssertionMaker.
func (assertions) MakeAssertion(req *crewjam.IdpAuthnRequest, session *crewjam.Session) error {
	if err := (crewjam.DefaultAssertionMaker{}).MakeAssertion(req, session); err != nil {
		return err
	}
	req.Assertion.AttributeStatements = []crewjam.AttributeStatement{{Attributes: session.CustomAttributes}}
	return nil
}

// Answer signs what the provider would post to the pages for a request, about one of the demo's people. change modifies the assertion
// before it is signed; nil: nothing. So tests can see what the pages do with a correctly signed assertion with wrong content.
func (p *Provider) Answer(ctx context.Context, request *url.URL, login string, change func(*crewjam.IdpAuthnRequest)) (form url.Values, err error) {
	defer must.Catch(&err)
	who, ok := byPassword(login, "demo-"+login)
	must.FailIf(!ok, "nobody is called %s", login)
	r := must.Get(http.NewRequestWithContext(ctx, http.MethodGet, request.String(), nil))
	req, err := crewjam.NewIdpAuthnRequest(&p.idp, r)
	must.Wrap(err, "read the request")
	must.Wrap(req.Validate(), "check the request")
	must.Wrap((assertions{}).MakeAssertion(req, session(who)), "make an assertion")
	if change != nil {
		change(req)
	}
	posted, err := req.PostBinding()
	must.Wrap(err, "sign an assertion")
	return url.Values{"SAMLResponse": {posted.SAMLResponse}, "RelayState": {posted.RelayState}}, nil
}

// certify returns the provider's certificate. It is the same for a key at every start, because the pages remember it: its times are fixed,
// and RSA signs without chance.
func certify(key *rsa.PrivateKey) (*x509.Certificate, error) {
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "ocpctl demo identity provider"},
		NotBefore: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), NotAfter: time.Date(2126, 1, 1, 0, 0, 0, 0, time.UTC),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, fmt.Errorf("make the identity provider's certificate: %w", err)
	}
	return x509.ParseCertificate(der)
}

// Person is one of the demo's people.
type Person struct {
	Login, Name string
	Groups      []string // as Identity Center sends them
}

// People are those who can sign in. The built-in identities use the groups' names.
var People = []Person{
	{"maya", "Maya", []string{"ocpctl-team-platform"}},
	{"rob", "Rob", []string{"ocpctl-team-payments"}},
	{"will", "Will", []string{"ocpctl-admins"}},
	{"ada", "Ada", []string{"ocpctl-auditors"}},
}

// Password returns a person's password, which the demo prints at its start. Like all of the demo's secrets it begins with demo-.
func (p Person) Password() string { return "demo-" + p.Login }

// Email returns a person's email address, which is also their name in assertions.
func (p Person) Email() string { return p.Login + "@acme.example" }

const sessionLife = time.Hour

// GetSession implements crewjam.SessionProvider: it asks for name and password every time, so that a demo's user can switch to
// another person.
func (p *Provider) GetSession(w http.ResponseWriter, r *http.Request, req *crewjam.IdpAuthnRequest) *crewjam.Session {
	if r.Method != http.MethodPost || !r.PostForm.Has("user") {
		p.ask(w, req, "")
		return nil
	}
	who, ok := byPassword(r.PostForm.Get("user"), r.PostForm.Get("password"))
	if !ok {
		p.ask(w, req, "No such name and password.")
		return nil
	}
	return session(who)
}

func byPassword(login, password string) (Person, bool) {
	for _, p := range People {
		if p.Login == login && subtle.ConstantTimeCompare([]byte(p.Password()), []byte(password)) == 1 {
			return p, true
		}
	}
	return Person{}, false
}

func session(who Person) *crewjam.Session {
	now := crewjam.TimeNow()
	text := func(name string, values ...string) crewjam.Attribute {
		a := crewjam.Attribute{Name: name, NameFormat: "urn:oasis:names:tc:SAML:2.0:attrname-format:unspecified"}
		for _, v := range values {
			a.Values = append(a.Values, crewjam.AttributeValue{Type: "xs:string", Value: v})
		}
		return a
	}
	return &crewjam.Session{
		CreateTime: now, ExpireTime: now.Add(sessionLife), Index: who.Login,
		NameID: who.Email(), NameIDFormat: string(crewjam.EmailAddressNameIDFormat),
		CustomAttributes: []crewjam.Attribute{text("email", who.Email()), text("name", who.Name), text("groups", who.Groups...)},
	}
}

var page = template.Must(template.New("sign-in").Parse(`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Demo identity provider</title>
<style>body{font:16px/1.5 system-ui,sans-serif;max-width:26rem;margin:4rem auto;padding:0 1rem}label{display:block;margin:.8rem 0 .2rem}
input,button{font:inherit;padding:.45rem;width:100%;box-sizing:border-box}button{margin-top:1rem}.alert{color:#a30000}</style></head><body>
<h1>Demo identity provider</h1>
<p>It stands in for AWS IAM Identity Center on this machine.</p>
{{with .Said}}<p class="alert" role="alert">{{.}}</p>{{end}}
<form method="post" action="{{.To}}">
<input type="hidden" name="SAMLRequest" value="{{.Request}}"><input type="hidden" name="RelayState" value="{{.Relay}}">
<label for="user">Name</label><input id="user" name="user" autocomplete="username" required autofocus>
<label for="password">Password</label><input id="password" name="password" type="password" autocomplete="current-password" required>
<button>Sign in</button></form>
<h2>Who there is</h2>
<ul>{{range .People}}<li><strong>{{.Login}}</strong>, password <code>{{.Password}}</code>, group {{range .Groups}}{{.}} {{end}}</li>{{end}}</ul>
</body></html>
`))

func (p *Provider) ask(w http.ResponseWriter, req *crewjam.IdpAuthnRequest, said string) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	if said != "" {
		w.WriteHeader(http.StatusUnauthorized)
	}
	sso := p.at("/sso")
	_ = page.Execute(w, map[string]any{ // the browser disconnected and will retry
		"Said": said, "To": sso.String(), "People": People, "Relay": req.RelayState,
		"Request": base64.StdEncoding.EncodeToString(req.RequestBuffer),
	})
}
