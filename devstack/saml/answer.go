package saml

import (
	"context"
	"net/http"
	"net/url"

	crewjam "github.com/crewjam/saml"

	"github.com/ocpctl/ocpctl/devstack/must"
)

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
