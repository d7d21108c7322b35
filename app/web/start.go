package web

import (
	"context"
	"net/http"
	"time"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/app/auth"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store/clusters"
)

const (
	endsSoon  = 8 * time.Hour // clusters that end within it are listed first: in a working day
	shownMine = 10            // of the person's clusters, in the table
)

// setupCookie hides the steps of the set-up for somebody who does not want them.
const setupCookie = "ocpctl_setup"

type startView struct {
	app.Start
	Granted []approvalView // Votes, with what they are about
	Failed  []clusters.Row // the person's installs that failed lately
	Blocked []clusters.Row // … and teardowns that cannot go on
	Ending  []clusters.Row // … and clusters that end soon
	Unused  []clusters.Row // … that sleep, or soon will, because nobody uses them or works
	Steps   []setupStep
	Mine    []clusters.Row // the person's, the first of them
	All     bool           // the person sees every team
	Views   []way          // that the person saved
}

// Todo reports whether anything waits for the person.
func (v startView) Todo() bool {
	return len(v.Granted)+len(v.Asked)+len(v.Failed)+len(v.Blocked)+len(v.Ending)+len(v.Unused)+len(v.Findings) > 0
}

// setupStep is a step of the set-up.
type setupStep struct {
	Name, Text string
	Line       string // to copy
	To, Label  string // where it is done; empty: elsewhere
	Done       bool
}

func (p *pages) readStart(r *http.Request, who policy.Principal) (content, error) {
	start, err := p.App.Start(r.Context(), who)
	if err != nil {
		return content{}, err
	}
	now := p.Now().UTC()
	v := startView{Start: start}
	_, v.All = who.Teams(policy.RolesFor(policy.ActSee)...)
	if v.Granted, err = p.approvalViews(r.Context(), who, start.Votes); err != nil {
		return content{}, err
	}
	if v.Views, err = p.listSavedViews(r, who, ""); err != nil {
		return content{}, err
	}
	for _, row := range start.Mine {
		switch {
		case row.CleanedUp():
			v.Failed = append(v.Failed, row)
		case row.Phase == lifecycle.DestroyBlocked:
			v.Blocked = append(v.Blocked, row)
		case row.Desired == lifecycle.Present && row.DestroyAt.Sub(now) < endsSoon:
			v.Ending = append(v.Ending, row)
		case isUnused(row):
			v.Unused = append(v.Unused, row)
		}
		if !row.CleanedUp() { // which stands above
			v.Mine = append(v.Mine, row)
		}
	}
	if len(v.Mine) > shownMine {
		v.Mine, v.MoreMine = v.Mine[:shownMine], true
	}
	if cookie, err := r.Cookie(auth.Named(setupCookie, p.Secure)); len(who.Seats) > 0 && (err != nil || cookie.Value == "") {
		v.Steps = p.setupSteps(r, who, start)
	}
	return content{name: "start", view: v}, nil
}

// isUnused reports a cluster that sleeps, or soon will, without anybody having asked for it.
func isUnused(row clusters.Row) bool {
	asleep := row.Phase == lifecycle.PhaseAsleep && row.PowerBy != lifecycle.ByPerson
	return asleep || !row.IdleTold.IsZero() && row.CountsIdle() || row.IsRestWarned()
}

// setupSteps returns the steps of the set-up; none if all are done.
func (p *pages) setupSteps(r *http.Request, who policy.Principal, start app.Start) (steps []setupStep) {
	done := start.SetUp
	if p.GitHub != "" {
		steps = append(steps, setupStep{
			Name: "Link your GitHub account", Done: done.GitHub, Line: "/ocp link",
			Text: "Write this as a comment on any pull request. Then labels and comments there count as yours.",
		})
	}
	if p.Slack {
		steps = append(steps, setupStep{
			Name: "Link your Slack account", Done: done.Slack, Line: "/ocp link",
			Text: "Send this in Slack. Then you can use ocpctl there, and messages about your clusters reach you.",
		})
	}
	steps = append(steps, setupStep{
		Name: "Install the command line", Done: done.CommandLine, Line: "go install github.com/ocpctl/ocpctl/cmd/ocpctl@latest && ocpctl login --server " + p.home(r),
		Text: "Run this in a terminal. It needs Go.",
	})
	if who.MayAnywhere(policy.ActCreate) {
		steps = append(steps, setupStep{
			Name: "Create your first cluster", Done: done.Cluster, To: "/profiles", Label: "Choose a profile",
			Text: "You see the price before anything is created.",
		})
	}
	for _, step := range steps {
		if !step.Done {
			return steps
		}
	}
	return nil
}

// hideSetup hides the steps of the set-up in this browser.
func (p *pages) hideSetup(w http.ResponseWriter, r *http.Request, who policy.Principal) {
	http.SetCookie(w, &http.Cookie{
		Name: auth.Named(setupCookie, p.Secure), Value: "hidden", Path: "/", MaxAge: int((365 * 24 * time.Hour).Seconds()),
		HttpOnly: true, Secure: p.Secure, SameSite: http.SameSiteStrictMode,
	})
	p.redirectWith(w, r, who, "/", said{Message: "The steps are hidden in this browser."})
}

// badges are what waits, by the page that shows it. A badge that cannot be counted is left out: the page is shown without it.
func (p *pages) badges(ctx context.Context, who policy.Principal) map[string]badge {
	if who.Role() == "" {
		return nil
	}
	out := map[string]badge{}
	for _, one := range []struct {
		page, text string
		count      func(context.Context, policy.Principal) (int, error)
	}{{"/approvals", "waiting for you", p.App.CountVotes}, {"/findings", "open", p.Admin.CountFindings}, {policyPath, "mistakes in the catalogue", p.Admin.CountMistakes}} {
		n, err := one.count(ctx, who)
		if err != nil {
			p.Log.WarnContext(ctx, "badge not counted", "page", one.page, "err", err)
		}
		if n > 0 {
			out[one.page] = badge{Count: n, Text: one.text}
		}
	}
	return out
}
