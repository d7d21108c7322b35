package web

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/app/credentials"
	"github.com/ocpctl/ocpctl/app/openid"
	"github.com/ocpctl/ocpctl/chatops/messages"
	"github.com/ocpctl/ocpctl/internal/secret"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store/access"
)

// patience is how long a page waits for a kubeconfig that is being made, so that one click is enough most of the time.
const patience = 10 * time.Second

// accessView is one access in the list of a cluster's page.
type accessView struct {
	access.Row
	Mine      bool
	MayRevoke bool
	MayRetry  bool // ask again for what could not be made
	IsShort   bool // a new one would last longer
	Now       time.Time
}

// IsConsole reports an account of the console.
func (v accessView) IsConsole() bool { return v.Kind == access.Console }

// Valid reports an access that can be used, or will be.
func (v accessView) Valid() bool { return v.State == access.Ready || v.State == access.Asked }

// How says by which right the reader has it.
func (v accessView) How() string {
	if v.Right == access.OwnRight {
		return "role in the team"
	}
	return "share with " + v.Right
}

// accessViews returns who has access to a cluster. Those who may share the cluster may revoke any, and everybody their own.
func (p *pages) accessViews(ctx context.Context, who policy.Principal, id string) ([]accessView, error) {
	row, list, mine, err := p.Credentials.Accesses(ctx, who, id)
	if err != nil {
		return nil, err
	}
	out := make([]accessView, 0, len(list))
	for _, a := range list {
		v := accessView{Row: a, Mine: mine[a.ID], Now: p.Now().UTC()}
		v.MayRetry = v.Mine && v.IsConsole() && v.State == access.Failed
		v.IsShort = v.Mine && v.State == access.Ready && a.ExpiresAt.Sub(v.Now) < min(p.App.UsualAccess(row), row.DestroyAt.Sub(v.Now))/4
		v.MayRevoke = v.Valid() && (v.Mine || who.May(policy.ActShare, row.Team))
		out = append(out, v)
	}
	return out, nil
}

// downloadKubeconfig needs a POST, because every download is audited and browsers prefetch only with GET.
func (p *pages) downloadKubeconfig(w http.ResponseWriter, r *http.Request, who policy.Principal) {
	id := r.PathValue("id")
	given, err := p.Credentials.AwaitAccess(r.Context(), who, id, readWanted(r), originOf(r), patience)
	if err != nil {
		p.showError(w, r, who, err)
		return
	}
	if given.Kubeconfig.Empty() {
		p.redirectWith(w, r, who, "/clusters/"+id, said{Message: messages.AccessBeingMade(given.Cluster, false)})
		return
	}
	sendKubeconfig(w, given.Cluster, given.Kubeconfig.Reveal())
}

// openConsole leads to the console, and shows the password of the reader's account there if it has one.
func (p *pages) openConsole(w http.ResponseWriter, r *http.Request, who policy.Principal) {
	id, want := r.PathValue("id"), readWanted(r)
	want.Console, want.Renew = true, r.PostFormValue("renew") != ""
	given, err := p.Credentials.AwaitAccess(r.Context(), who, id, want, originOf(r), patience)
	switch {
	case err != nil:
		p.answerForm(w, r, who, "/clusters/"+id, "", err)
	case !given.IsMade():
		p.redirectWith(w, r, who, "/clusters/"+id, said{Message: messages.AccessBeingMade(given.Cluster, true)})
	default:
		p.renderPage(w, r, who, http.StatusOK, "password", passwordView{
			ID: id, Cluster: given.Cluster, User: given.Access.Account, Password: given.Password.Reveal(), Console: given.ConsoleURL,
		})
	}
}

// signInToConsole sends a person's browser back to the console from which it came, with a code. Whoever has no access to it yet comes to the
// cluster's page, where they can ask for it.
func (p *pages) signInToConsole(w http.ResponseWriter, r *http.Request, who policy.Principal) {
	if p.Consoles == nil {
		p.showProblem(w, r, who, http.StatusNotFound, "This server does not sign people in to consoles. To get an account with a password, press Open console on the cluster's page.")
		return
	}
	asked, err := openid.ReadRequest(r.URL.Query())
	var to secret.Text
	if err == nil {
		to, err = p.Consoles.Authorize(r.Context(), who, asked, originOf(r))
	}
	switch {
	case app.KindOf(err) == app.Invalid:
		p.showProblem(w, r, who, http.StatusBadRequest, errorText(err))
	case app.KindOf(err) == app.Conflict:
		p.answerForm(w, r, who, "/clusters/"+asked.Cluster, "", err)
	case err != nil:
		p.showError(w, r, who, err)
	default:
		http.Redirect(w, r, to.Reveal(), http.StatusSeeOther)
	}
}

// readWanted reads what a form asks of a kubeconfig or an account of the console.
func readWanted(r *http.Request) credentials.Want {
	return credentials.Want{Role: policy.ClusterRole(r.PostFormValue("role")), Lifetime: r.PostFormValue("lifetime")}
}

func sendKubeconfig(w http.ResponseWriter, cluster, plain string) {
	w.Header().Set("Content-Type", "application/yaml")
	w.Header().Set("Content-Disposition", fmt.Sprintf("attachment; filename=%q", cluster+".kubeconfig"))
	_, _ = io.WriteString(w, plain) // the browser disconnected and will retry
}

// revokeAccess revokes an access.
func (p *pages) revokeAccess(w http.ResponseWriter, r *http.Request, who policy.Principal) {
	id := r.PathValue("id")
	err := p.Credentials.Revoke(r.Context(), who, id, r.PostFormValue("access"), originOf(r))
	p.answerForm(w, r, who, "/clusters/"+id, "The access is revoked. It stops working as soon as a runner has removed its account from the cluster.", err)
}
