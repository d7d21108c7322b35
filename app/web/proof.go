package web

import (
	"crypto/subtle"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/app/auth"
	"github.com/ocpctl/ocpctl/app/credentials"
	"github.com/ocpctl/ocpctl/chatops/github"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/profiles"
	"github.com/ocpctl/ocpctl/store/people"
)

// ProofPath is the page to which GitHub sends back whoever proved there that an account is theirs. The App's registration lists it.
const ProofPath = "/links/github"

const (
	chooseAccount = "choose" // field of a form: GitHub asks which account is meant
	atOnce        = "get"    // parameter of a link's page: the person need not press again
)

// proofCookie binds a proof to the browser that began it: state, verifier and the link's handle.
const proofCookie = "ocpctl_proof"

// provesOwner reports whether the owner of a link's account proves on GitHub that it is theirs.
func (p *pages) provesOwner(l credentials.ForLink) bool {
	return p.Owners != nil && l.Kind == people.LinkOfAccount && strings.HasPrefix(l.Account, string(profiles.SourceGitHub)+":")
}

// beginProof leads to GitHub. It answers with a page that leads on: a form may not lead to another site, which may lead to further ones.
func (p *pages) beginProof(w http.ResponseWriter, r *http.Request, who policy.Principal) {
	handle := r.PathValue("link")
	l, err := p.Credentials.LinkFor(r.Context(), who, handle)
	if err == nil && !p.provesOwner(l) {
		err = app.Fail(app.Invalid, "This link is not for an account on GitHub.")
	}
	var state string
	if err == nil {
		state, err = p.Credentials.BeginProof(r.Context(), who, handle)
	}
	if err != nil {
		p.showError(w, r, who, err)
		return
	}
	verifier := github.NewVerifier()
	p.setProofCookie(w, strings.Join([]string{state, verifier, handle}, " "), int(people.ProofLasts.Seconds()))
	to := p.Owners.URL(state, verifier, l.Named, r.PostFormValue(chooseAccount) != "")
	w.Header().Set("Refresh", "0; url="+to)
	p.renderPage(w, r, who, http.StatusOK, "onward", to)
}

// setProofCookie sets or deletes the cookie. GitHub's page leads here from another site, so its SameSite is Lax.
func (p *pages) setProofCookie(w http.ResponseWriter, value string, maxAge int) {
	http.SetCookie(w, &http.Cookie{
		Name: auth.Named(proofCookie, p.Secure), Value: url.QueryEscape(value), Path: "/", MaxAge: maxAge,
		HttpOnly: true, Secure: p.Secure, SameSite: http.SameSiteLaxMode,
	})
}

// takeProof returns what this browser began, once, if GitHub's answer is to it.
func (p *pages) takeProof(w http.ResponseWriter, r *http.Request) (state, verifier, handle string, ok bool) {
	cookie, err := r.Cookie(auth.Named(proofCookie, p.Secure))
	if err != nil {
		return "", "", "", false
	}
	p.setProofCookie(w, "", -1)
	value, err := url.QueryUnescape(cookie.Value)
	parts := strings.Split(value, " ")
	if err != nil || len(parts) != 3 || subtle.ConstantTimeCompare([]byte(parts[0]), []byte(r.FormValue("state"))) != 1 {
		return "", "", "", false
	}
	return parts[0], parts[1], parts[2], true
}

// finishProof links the account that GitHub confirmed, if it is the link's, and leads to what was asked for.
func (p *pages) finishProof(w http.ResponseWriter, r *http.Request, who policy.Principal) {
	state, verifier, handle, ok := p.takeProof(w, r)
	if !ok || p.Owners == nil {
		p.showProblem(w, r, who, http.StatusBadRequest, "Nothing was linked: this was not started in this browser, or more than ten minutes ago. Open the link again.")
		return
	}
	next, err := p.Credentials.Prove(r.Context(), who, handle, state, func() (int64, string, error) { return p.askOwner(r, verifier) }, app.Origin{Source: policy.SourceWeb})
	switch kind := app.KindOf(err); {
	case kind == app.Denied, kind == app.Conflict, kind == app.Busy:
		p.renderLink(w, r, who, statuses[kind], handle, errorText(err))
	case err != nil:
		p.showError(w, r, who, err)
	case next == "":
		http.Redirect(w, r, "/me", http.StatusSeeOther)
	default:
		http.Redirect(w, r, "/links/"+next+"?"+atOnce+"=1", http.StatusSeeOther)
	}
}

// askOwner returns the number and the login of the account that GitHub confirmed. Its errors are for people.
func (p *pages) askOwner(r *http.Request, verifier string) (number int64, login string, err error) {
	const settings = "Nothing was linked: GitHub refuses this server's own settings. Ask a platform admin: ocpctl-server doctor finds a wrong client id or secret, and the GitHub App needs the callback URL "
	switch code := r.FormValue("error"); code { // RFC 6749, 4.1.2.1
	case "":
	case "access_denied":
		return 0, "", app.Fail(app.Conflict, "Nothing was linked: you did not confirm it on GitHub.")
	default:
		p.Log.ErrorContext(r.Context(), "GitHub confirms no owner of an account", "error", code)
		return 0, "", app.Fail(app.Conflict, settings+p.Owners.Callback()+".")
	}
	number, login, err = p.Owners.Account(r.Context(), r.FormValue("code"), verifier)
	switch {
	case errors.Is(err, github.ErrSpentCode):
		err = app.Fail(app.Conflict, "Nothing was linked: GitHub's confirmation was used before, or is too old. Continue with GitHub again.")
	case errors.Is(err, github.ErrRefused):
		p.Log.ErrorContext(r.Context(), "GitHub confirms no owner of an account", "err", err)
		err = app.Fail(app.Conflict, settings+p.Owners.Callback()+".")
	case err != nil:
		p.Log.WarnContext(r.Context(), "GitHub confirms no owner of an account", "err", err)
		err = app.Fail(app.Busy, "Nothing was linked: GitHub does not answer. Continue with GitHub again in a moment.")
	}
	return number, login, err
}
