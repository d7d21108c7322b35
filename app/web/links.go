package web

import (
	"fmt"
	"net/http"
	"path"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/app/credentials"
	"github.com/ocpctl/ocpctl/chatops/messages"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/people"
)

// linkView describes a link before it is used. Showing it does not use it, because mail scanners and browsers prefetch.
type linkView struct {
	Handle    string
	Kind      people.LinkKind
	Cluster   string // its name
	Site      string // where the account is: GitHub or Slack
	Account   string // its name there
	Named     string // the name that confirms the link when somebody types it
	Person    string // what the account's owner is called there; empty: as Account
	Workspace string // in Slack
	Wrong     string // what was typed wrong, or why GitHub confirmed nothing; empty: nothing
	ExpiresAt time.Time
	Address   string // URL to open elsewhere; empty: not possible

	Asked  people.LinkKind // what the account's owner gets of the cluster once it is linked; empty: nothing
	Role   string          // inside the cluster; empty: the most that they may have
	Proof  bool            // the person proves on GitHub that the account is theirs; else the account types a code
	Choose bool            // … and GitHub has to ask which account is meant
	SSO    bool            // consoles sign people in through this server, and have no passwords
	AtOnce bool            // the person comes from that proof, and gets what the link is for without another press
}

type passwordView struct {
	ID, Cluster, User, Password string // no password: the console signs people in through this server
	Console                     string // where the user signs in; empty: it is kubeadmin's password
}

// What is what the account's owner asked for, as people call it.
func (v linkView) What() string { return messages.AccessKind(v.Asked == people.LinkConsole) }

// codeView is a link of an account that waits for the account's own side.
type codeView struct {
	Site, Account string
	Code          string
	How, Warning  string
}

func (p *pages) showLink(w http.ResponseWriter, r *http.Request, who policy.Principal) {
	p.renderLink(w, r, who, http.StatusOK, r.PathValue("link"), "")
}

func (p *pages) renderLink(w http.ResponseWriter, r *http.Request, who policy.Principal, status int, handle, wrong string) {
	l, err := p.Credentials.LinkFor(r.Context(), who, handle)
	if err != nil {
		p.showError(w, r, who, err)
		return
	}
	v := linkView{Handle: handle, Kind: l.Kind, ExpiresAt: l.ExpiresAt, Named: l.Named, Person: l.Person, Wrong: wrong, Asked: l.Asked, Role: l.Role, SSO: p.Consoles != nil, AtOnce: r.FormValue(atOnce) != "" && (l.Kind == people.LinkKubeconfig || l.Kind == people.LinkConsole)}
	v.Site, v.Account = splitAccount(l.Account)
	if v.Site == "Slack" {
		v.Workspace, _, _ = strings.Cut(v.Account, "/")
	}
	if l.Cluster != "" {
		v.Cluster = l.Cluster
		if row, err := p.App.Cluster(r.Context(), who, l.Cluster); err == nil { // a viewer who may not see it is refused when the link is used
			v.Cluster = row.Name
		}
	}
	if l.Kind != people.LinkOfAccount {
		v.Address = p.ownURL(r)
	}
	v.Proof, v.Choose = p.provesOwner(l), status == http.StatusForbidden
	p.renderPage(w, r, who, status, "link", v)
}

// ownURL returns the page's own URL, as the browser knows it.
func (p *pages) ownURL(r *http.Request) string { return p.home(r) + r.URL.Path }

// home returns the address of the server, as the browser knows it.
func (p *pages) home(r *http.Request) string {
	if p.Secure {
		return "https://" + r.Host
	}
	return "http://" + r.Host
}

// splitAccount splits the id of a linked account: github:maya is maya on GitHub.
func splitAccount(id string) (site, name string) {
	site, name, _ = strings.Cut(id, ":")
	if known, ok := map[string]string{"github": "GitHub", "slack": "Slack"}[site]; ok {
		site = known
	}
	return site, name
}

// redeemLink uses a link. What it gives is shown or sent at once, and never again.
func (p *pages) redeemLink(w http.ResponseWriter, r *http.Request, who policy.Principal) {
	if r.PostFormValue("with") == "github" && p.Owners != nil {
		p.beginProof(w, r, who)
		return
	}
	if err := p.Credentials.Means(r.Context(), who, r.PathValue("link"), strings.TrimSpace(r.PostFormValue("account"))); err != nil {
		if app.KindOf(err) == app.Invalid {
			p.renderLink(w, r, who, http.StatusUnprocessableEntity, r.PathValue("link"), err.Error())
			return
		}
		p.showError(w, r, who, err)
		return
	}
	got, err := p.Credentials.Redeem(r.Context(), who, r.PathValue("link"), originOf(r))
	if app.KindOf(err) == app.Busy { // the link still works, and its button is on the page
		p.renderLink(w, r, who, http.StatusServiceUnavailable, r.PathValue("link"), err.Error())
		return
	}
	if err != nil {
		p.showError(w, r, who, err)
		return
	}
	switch got.Kind {
	case people.LinkKubeconfig, people.LinkInstallers:
		sendKubeconfig(w, got.Cluster.Name, got.Kubeconfig.Reveal())
	case people.LinkKubeadmin, people.LinkConsole:
		v := passwordView{ID: got.Cluster.ID, Cluster: got.Cluster.Name, User: got.User, Password: got.Password.Reveal()}
		if got.Kind == people.LinkConsole {
			v.Console = got.Cluster.Outputs.ConsoleURL
		}
		p.renderPage(w, r, who, http.StatusOK, "password", v)
	default:
		site, name := splitAccount(got.Account)
		p.renderPage(w, r, who, http.StatusOK, "code", codeView{
			Site: site, Account: name, Code: got.Code.Reveal(), How: sayTypeLinkCode(site, name, got.Code.Reveal(), got.Asked), Warning: "Type this code yourself from your own account. Never give it to anybody who asks for it.",
		})
	}
}

// kubeconfigLink makes a link and redirects to its page, where it can be used or copied.
func (p *pages) kubeconfigLink(w http.ResponseWriter, r *http.Request, who policy.Principal) {
	id := r.PathValue("id")
	made, err := p.Credentials.AccessLink(r.Context(), who, id, readWanted(r), originOf(r))
	p.followLink(w, r, who, id, made, err)
}

// breakGlassLink does the same after access to one of the installer's credentials was approved.
func (p *pages) breakGlassLink(what string) handler {
	return func(w http.ResponseWriter, r *http.Request, who policy.Principal) {
		id := r.PathValue("id")
		made, err := p.Credentials.BreakGlassLink(r.Context(), who, id, what, originOf(r))
		p.followLink(w, r, who, id, made, err)
	}
}

func (p *pages) followLink(w http.ResponseWriter, r *http.Request, who policy.Principal, id string, made credentials.Link, err error) {
	if err != nil {
		p.answerForm(w, r, who, "/clusters/"+id, "", err)
		return
	}
	// The URL is a secret until it is used; our pages never send it to another site (see guarded).
	http.Redirect(w, r, "/links/"+path.Base(made.URL.Reveal()), http.StatusSeeOther)
}

// breakGlass requests one of the installer's credentials and redirects to the necessary approval.
func (p *pages) breakGlass(w http.ResponseWriter, r *http.Request, who policy.Principal) {
	id := r.PathValue("id")
	a, err := p.Credentials.BreakGlass(r.Context(), who, id, r.PostFormValue("what"), originOf(r))
	if err != nil {
		p.answerForm(w, r, who, "/clusters/"+id, "", err)
		return
	}
	text := "Another platform admin must now approve it. Come back here after that."
	if a.State == clusters.ApprovalApproved {
		text = "It is already approved."
	}
	p.redirectWith(w, r, who, "/approvals/"+a.ID, said{Message: text})
}

// sayTypeLinkCode says on the page how an account confirms its side of a link. site and account say which account it is, and asked what it gets.
func sayTypeLinkCode(site, account, code string, asked people.LinkKind) string {
	how := "send this in Slack"
	if site == "GitHub" {
		how = "write this comment on the pull request"
	}
	text := fmt.Sprintf("Nothing is linked yet. Within ten minutes, %s as %s: /ocp link %s", how, account, code)
	if asked != "" {
		text += fmt.Sprintf(". The answer has the link to your %s.", messages.AccessKind(asked == people.LinkConsole))
	}
	return text
}
