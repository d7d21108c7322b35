package web

import (
	"errors"
	"net/http"

	"github.com/ocpctl/ocpctl/app/auth"
	"github.com/ocpctl/ocpctl/policy"
)

// loginPage has a link to the identity provider; not a form, because a form may not lead to another site.
func (p *pages) loginPage(w http.ResponseWriter, r *http.Request) {
	p.showLogin(w, r, http.StatusOK, auth.Local(r.FormValue("next")), "")
}

// beginSignIn redirects a person to the identity provider.
func (p *pages) beginSignIn(w http.ResponseWriter, r *http.Request) {
	next := auth.Local(r.FormValue("next"))
	if err := p.SignIn.Begin(w, r, next); err != nil {
		p.showSignInError(w, r, next, err)
	}
}

// finishSignIn handles a person's return from the identity provider, and redirects to the page where they began.
func (p *pages) finishSignIn(w http.ResponseWriter, r *http.Request) {
	next, session, err := p.SignIn.Finish(w, r)
	if err != nil {
		p.showSignInError(w, r, "/", err)
		return
	}
	if err := p.Credentials.SignedIn(r.Context(), session.Principal, policy.SourceWeb); err != nil {
		p.Log.ErrorContext(r.Context(), "accounts not brought up to date", "principal", session.Principal.ID, "err", err) // they keep their earlier seats
	}
	p.Log.InfoContext(r.Context(), "signed in", "principal", session.Principal.ID)
	http.Redirect(w, r, next, http.StatusSeeOther)
}

// showSignInError shows on the sign-in page why it failed. The cause is only logged.
func (p *pages) showSignInError(w http.ResponseWriter, r *http.Request, next string, err error) {
	var said *auth.Error
	if !errors.As(err, &said) {
		p.Log.ErrorContext(r.Context(), "sign-in failed", "err", err)
		p.showLogin(w, r, http.StatusInternalServerError, next, "An internal error occurred and was logged. Try again in a moment.")
		return
	}
	p.Log.WarnContext(r.Context(), "sign-in refused", "reason", string(said.Reason), "err", said.Cause)
	status := http.StatusUnauthorized
	if said.Reason == auth.Unavailable {
		status = http.StatusServiceUnavailable
	}
	p.showLogin(w, r, status, next, said.Message)
}

func (p *pages) showLogin(w http.ResponseWriter, r *http.Request, status int, next, text string) {
	v := loginView{Next: next, Demo: p.Demo, Error: text}
	if p.SignIn != nil {
		v.Provider, v.Begin = p.SignIn.Provider, auth.BeginPath
	}
	p.renderPage(w, r, policy.Principal{}, status, "login", v)
}

// signOut ends the session on every replica, but not the one at the identity provider. If it cannot be ended, the browser keeps it, so
// that the person notices and can try again.
func (p *pages) signOut(w http.ResponseWriter, r *http.Request) {
	if err := p.Auth.SignOut(r.Context(), auth.FromCookie(r, p.Secure)); err != nil {
		p.Log.ErrorContext(r.Context(), "session not ended", "err", err)
		p.showProblem(w, r, policy.Principal{}, http.StatusServiceUnavailable, "You could not be signed out. Try again in a moment.")
		return
	}
	auth.ClearCookie(w, p.Secure)
	http.Redirect(w, r, "/login", http.StatusSeeOther)
}
