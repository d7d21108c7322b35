package saml

import (
	"crypto/subtle"
	"encoding/base64"
	"html/template"
	"net/http"
	"time"

	crewjam "github.com/crewjam/saml"
)

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
