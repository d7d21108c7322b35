package web

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"strings"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/chatops/messages"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store/access"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/people"
)

// act does what a form on a cluster's page requests, and returns a text about the result.
type act func(r *http.Request, who policy.Principal, id string, origin app.Origin) (words string, err error)

// handleAct makes a form's handler of it. If the form contains the mark of what its page showed, nothing is done to a cluster that somebody
// else changed since.
func (p *pages) handleAct(do act) handler {
	return func(w http.ResponseWriter, r *http.Request, who policy.Principal) {
		id := r.PathValue("id")
		var text string
		err := p.asSeen(r, who, id, func(version int64) (err error) {
			origin := originOf(r)
			origin.Version = version
			text, err = do(r, who, id, origin)
			return err
		})
		p.answerForm(w, r, who, "/clusters/"+id, text, err)
	}
}

// sights limits how often a form is retried while the controller changes the cluster.
const sights = 5

// asSeen changes a cluster as a page showed it. The page contains a mark of everything that people decide by. The row's version
// cannot be the mark, because it also changes with every step of an install; but it guards the time between this check and the
// change.
func (p *pages) asSeen(r *http.Request, who policy.Principal, id string, do func(version int64) error) error {
	mark := r.PostFormValue("seen")
	if mark == "" {
		return do(0)
	}
	for try := 1; ; try++ {
		row, err := p.App.Cluster(r.Context(), who, id)
		if err != nil {
			return err
		}
		shares, err := p.App.Shares(r.Context(), who, id)
		if err != nil {
			return err
		}
		if markOfState(row, shares) != mark {
			return &app.Error{Kind: app.Stale, Message: fmt.Sprintf(
				"Somebody changed %s after you opened the page, so nothing was done. Check the current state below and try again.", row.Name)}
		}
		if err = do(row.Version); app.KindOf(err) != app.Stale || try == sights {
			return err
		}
	}
}

// markOfState computes the mark of everything about a cluster that people change and decide by.
func markOfState(row clusters.Row, shares []people.Share) string {
	wanted := -1
	if row.WorkersWanted != nil {
		wanted = *row.WorkersWanted
	}
	h := sha256.New()
	e := row.Ends
	fmt.Fprintf(h, "%s %q %q %t %t %d %t", row.Desired, row.Owner, row.Team, row.NeedsApproval, row.Abandoned, wanted, row.SleepWanted)
	for _, at := range []int64{
		e.TTL.UnixMicro(), e.Max.UnixMicro(), e.PRClosed.UnixMicro(), e.LabelRemoved.UnixMicro(), e.RunFinished.UnixMicro(),
		e.Claim.UnixMicro(), e.Hold.UnixMicro(), e.Drain.UnixMicro(),
	} {
		fmt.Fprintf(h, " %d", at)
	}
	for _, s := range shares {
		fmt.Fprintf(h, " %q %q %s %s", s.Kind, s.Grantee, s.Access, s.Role)
	}
	return hex.EncodeToString(h.Sum(nil)[:12])
}

func (p *pages) extendCluster(r *http.Request, who policy.Principal, id string, origin app.Origin) (string, error) {
	by, err := length(r)
	if err != nil {
		return "", err
	}
	change, err := p.App.Extend(r.Context(), who, id, app.Span{For: by}, origin)
	return change.Message, err
}

func (p *pages) holdCluster(r *http.Request, who policy.Principal, id string, origin app.Origin) (string, error) {
	if r.PostFormValue("tonight") != "" {
		change, err := p.App.KeepAwake(r.Context(), who, id, origin)
		return change.Message, err
	}
	until, err := length(r)
	if err != nil {
		return "", err
	}
	change, err := p.App.Hold(r.Context(), who, id, app.Span{For: until}, origin)
	return change.Message, err
}

func (p *pages) unholdCluster(r *http.Request, who policy.Principal, id string, origin app.Origin) (string, error) {
	change, err := p.App.ReleaseHold(r.Context(), who, id, origin)
	return change.Message, err
}

func (p *pages) scaleCluster(r *http.Request, who policy.Principal, id string, origin app.Origin) (string, error) {
	replicas, err := parseNumber(r, "replicas")
	if err != nil {
		return "", err
	}
	row, job, err := p.App.Scale(r.Context(), who, id, replicas, origin)
	if err == nil && job == "" {
		return fmt.Sprintf("%s already has %s; nothing was changed.", row.Name, countWorkers(replicas)), nil
	}
	return fmt.Sprintf("%s is being scaled to %s (job %s).", row.Name, countWorkers(replicas), job), err
}

func (p *pages) putToSleep(r *http.Request, who policy.Principal, id string, origin app.Origin) (string, error) {
	var span app.Span
	if strings.TrimSpace(r.PostFormValue("for")) != "" {
		var err error
		if span.For, err = length(r); err != nil {
			return "", err
		}
	}
	row, job, err := p.App.Sleep(r.Context(), who, id, span, origin)
	if err != nil {
		return "", err
	}
	return messages.FallingAsleep(row.Card, job), nil
}

func (p *pages) wakeCluster(r *http.Request, who policy.Principal, id string, origin app.Origin) (string, error) {
	row, job, err := p.App.Wake(r.Context(), who, id, origin)
	if err != nil {
		return "", err
	}
	return messages.WakingUp(row.Card, job), nil
}

func countWorkers(n int) string {
	if n == 1 {
		return "one worker"
	}
	return fmt.Sprintf("%d workers", n)
}

func (p *pages) shareCluster(r *http.Request, who policy.Principal, id string, origin app.Origin) (string, error) {
	s := people.Share{Kind: r.PostFormValue("kind"), Grantee: r.PostFormValue("with"), Access: people.AccessSee}
	if role := r.PostFormValue("access"); role != string(people.AccessSee) {
		s.Access, s.Role = people.AccessUse, access.Role(role)
	}
	_, err := p.App.Share(r.Context(), who, id, s, origin)
	return fmt.Sprintf("The cluster is now shared with %s, who may %s it%s.", p.granteeName(s.Kind, s.Grantee), s.Access, asRole(s.Role)), err
}

func asRole(role access.Role) string {
	if role == "" {
		return ""
	}
	return " as " + string(role)
}

func (p *pages) unshareCluster(r *http.Request, who policy.Principal, id string, origin app.Origin) (string, error) {
	kind, with := r.PostFormValue("kind"), r.PostFormValue("with")
	_, err := p.App.Unshare(r.Context(), who, id, kind, with, origin)
	return fmt.Sprintf("The cluster is no longer shared with %s.", p.granteeName(kind, with)), err
}

// granteeName is what those are called with whom a cluster is shared.
func (p *pages) granteeName(kind, with string) string {
	if kind == app.ShareTeam {
		return "team " + with
	}
	return p.App.NameOf(with)
}

func (p *pages) transferCluster(r *http.Request, who policy.Principal, id string, origin app.Origin) (string, error) {
	change, err := p.App.Transfer(r.Context(), who, id, r.PostFormValue("team"), r.PostFormValue("owner"), origin)
	return change.Message, err
}

func (p *pages) destroyCluster(r *http.Request, who policy.Principal, id string, origin app.Origin) (string, error) {
	row, job, err := p.App.Destroy(r.Context(), who, id, origin)
	if err == nil && row.Phase == lifecycle.Released {
		return messages.GoneSince(row.Card), nil
	}
	return fmt.Sprintf("%s is being destroyed (job %s). This page shows when nothing is left.", row.Name, job), err
}

// retryCluster has the next try of a teardown start, or requests the cluster again and leads to the new one.
func (p *pages) retryCluster(w http.ResponseWriter, r *http.Request, who policy.Principal) {
	id := r.PathValue("id")
	row, again, err := p.App.Retry(r.Context(), who, id, originOf(r))
	if again {
		p.answerForm(w, r, who, "/clusters/"+row.ID, fmt.Sprintf("%s was requested again. This is the new cluster.", row.Name), err)
		return
	}
	p.answerForm(w, r, who, "/clusters/"+id, fmt.Sprintf("The next teardown attempt of %s starts now.", row.Name), err)
}

func (p *pages) abandonCluster(r *http.Request, who policy.Principal, id string, origin app.Origin) (string, error) {
	row, err := p.App.Abandon(r.Context(), who, id, origin)
	return fmt.Sprintf("No more alerts are sent for %s. It keeps its name, quota and cost, and attempts continue, until a count finds nothing left.", row.Name), err
}

// confirmDestroy asks for confirmation before a cluster is destroyed.
func (p *pages) confirmDestroy(w http.ResponseWriter, r *http.Request, who policy.Principal) {
	id := r.PathValue("id")
	row, err := p.App.Cluster(r.Context(), who, id)
	if err != nil {
		p.showError(w, r, who, err)
		return
	}
	shares, err := p.App.Shares(r.Context(), who, id)
	switch {
	case err != nil:
		p.showError(w, r, who, err)
	case !who.May(policy.ActDestroy, row.Team):
		p.showProblem(w, r, who, http.StatusForbidden, fmt.Sprintf("%s belongs to team %s. Ask a member of that team or a platform admin to destroy it.", row.Name, row.Team))
	case row.Desired != lifecycle.Present:
		p.redirectWith(w, r, who, "/clusters/"+row.ID, said{Message: row.Name + " is already being destroyed: " + row.DesiredWhy.String(), Bad: true})
	default:
		p.renderPage(w, r, who, http.StatusOK, "destroy", destroyView{Row: row, Seen: markOfState(row, shares)})
	}
}

type destroyView struct {
	Row  clusters.Row
	Seen string
}
