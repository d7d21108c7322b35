package saml

import (
	"context"
	"fmt"
	"net/http"
	"net/url"

	crewjam "github.com/crewjam/saml"
)

// Answer signs what the provider would post to the pages for a request, about one of the demo's people. change modifies the assertion
// before it is signed; nil: nothing. So tests can see what the pages do with a correctly signed assertion with wrong content.
func (p *Provider) Answer(ctx context.Context, request *url.URL, login string, change func(*crewjam.IdpAuthnRequest)) (form url.Values, err error) {
	who, ok := byPassword(login, "demo-"+login)
	if !ok {
		return nil, fmt.Errorf("nobody is called %s", login)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, request.String(), nil)
	if err != nil {
		return nil, err
	}
	req, err := crewjam.NewIdpAuthnRequest(&p.idp, r)
	if err != nil {
		return nil, fmt.Errorf("read the request: %w", err)
	}
	if err := req.Validate(); err != nil {
		return nil, fmt.Errorf("check the request: %w", err)
	}
	if err := (assertions{}).MakeAssertion(req, session(who)); err != nil {
		return nil, fmt.Errorf("make an assertion: %w", err)
	}
	if change != nil {
		change(req)
	}
	posted, err := req.PostBinding()
	if err != nil {
		return nil, fmt.Errorf("sign an assertion: %w", err)
	}
	return url.Values{"SAMLResponse": {posted.SAMLResponse}, "RelayState": {posted.RelayState}}, nil
}
