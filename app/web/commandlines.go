package web

import (
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/app/commandline"
	"github.com/ocpctl/ocpctl/internal/source"
	"github.com/ocpctl/ocpctl/policy"
)

// commandLineView asks a person whether a command line may act as them.
type commandLineView struct {
	Typed   string // the code that the person typed; empty: a browser on the same machine passes one on
	Machine string
	Address string    // where the program asked from; empty: the browser's own machine
	AskedAt time.Time // zero: now
	Until   time.Time
}

// ofPerson serves only people who signed in to the pages.
func (p *pages) ofPerson(page handler) handler {
	return func(w http.ResponseWriter, r *http.Request, who policy.Principal) {
		if err := commandline.CheckPerson(sessionOf(r)); err != nil {
			p.showError(w, r, who, err)
			return
		}
		page(w, r, who)
	}
}

// confirmCommandLine asks whether the program that opened the page may act as the person. Showing the page does nothing.
func (p *pages) confirmCommandLine(w http.ResponseWriter, r *http.Request, who policy.Principal) {
	asked, err := commandline.ReadRequest(r.URL.Query())
	if err != nil {
		p.showProblem(w, r, who, http.StatusBadRequest, errorText(err))
		return
	}
	allowFormTo(w, asked.Redirect)
	p.renderPage(w, r, who, http.StatusOK, "commandline", commandLineView{Machine: asked.Machine, Until: sessionOf(r).Expires})
}

// signInCommandLine sends the browser back to the program, with a code or with the refusal.
func (p *pages) signInCommandLine(w http.ResponseWriter, r *http.Request, who policy.Principal) {
	asked, err := commandline.ReadRequest(r.URL.Query())
	if err != nil {
		p.showProblem(w, r, who, http.StatusBadRequest, errorText(err))
		return
	}
	allowFormTo(w, asked.Redirect)
	if r.PostFormValue("answer") != "yes" {
		http.Redirect(w, r, asked.Refusal(), http.StatusSeeOther)
		return
	}
	to, err := p.CommandLines.Confirm(r.Context(), asked, sessionOf(r), source.Group(p.CommandLines.Proxies.Address(r)))
	if err != nil {
		p.showError(w, r, who, err)
		return
	}
	http.Redirect(w, r, to.Reveal(), http.StatusSeeOther)
}

// allowFormTo lets the page's form lead to the program on the person's machine. Browsers check redirects after a form, too.
func allowFormTo(w http.ResponseWriter, address string) {
	u, err := url.Parse(address)
	if err != nil {
		return
	}
	policy := w.Header().Get("Content-Security-Policy")
	w.Header().Set("Content-Security-Policy", strings.Replace(policy, "form-action 'self'", "form-action 'self' http://"+u.Host, 1))
}

// typeCommandLineCode asks for the code that a command line shows, and then whether that command line may act as the person.
func (p *pages) typeCommandLineCode(w http.ResponseWriter, r *http.Request, who policy.Principal) {
	typed := r.FormValue("code")
	if typed == "" {
		p.renderPage(w, r, who, http.StatusOK, "devicecode", "")
		return
	}
	l, err := p.CommandLines.Waiting(r.Context(), typed)
	if err != nil {
		p.renderDeviceError(w, r, who, err)
		return
	}
	p.renderPage(w, r, who, http.StatusOK, "commandline", commandLineView{
		Typed: typed, Machine: l.Machine, Address: l.Address, AskedAt: l.AskedAt, Until: sessionOf(r).Expires,
	})
}

func (p *pages) renderDeviceError(w http.ResponseWriter, r *http.Request, who policy.Principal, err error) {
	if app.KindOf(err) == app.NotFound {
		p.renderPage(w, r, who, http.StatusUnprocessableEntity, "devicecode", errorText(err))
		return
	}
	p.showError(w, r, who, err)
}

// answerCommandLineCode signs in the command line of a typed code, or refuses it.
func (p *pages) answerCommandLineCode(w http.ResponseWriter, r *http.Request, who policy.Principal) {
	yes := r.PostFormValue("answer") == "yes"
	if err := p.CommandLines.Answer(r.Context(), r.PostFormValue("code"), yes, sessionOf(r)); err != nil {
		p.renderDeviceError(w, r, who, err)
		return
	}
	text := "The command line was not signed in."
	if yes {
		text = "The command line is signed in. Go back to it."
	}
	p.redirectWith(w, r, who, "/me", said{Message: text})
}

// endCommandLine signs one of the person's command lines out.
func (p *pages) endCommandLine(w http.ResponseWriter, r *http.Request, who policy.Principal) {
	err := p.CommandLines.End(r.Context(), r.PostFormValue("id"), sessionOf(r))
	p.answerForm(w, r, who, "/me", "The command line is signed out.", err)
}
