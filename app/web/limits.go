package web

import (
	"context"
	"math"
	"net/http"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/app/admin"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/profiles"
)

type limitsView struct {
	Quotas    []quotaView
	Budgets   []budgetView
	Profiles  []profiles.Profile
	Rooms     []app.RoomState
	Accounts  []app.AccountState
	MayCreate bool
	Cohorts   bool // some line has a cohort
}

// quotaView is one limit of a quota with its use.
type quotaView struct {
	Name, Of, What            string
	Used, Most, High, Waiting int

	Cohort *policy.CohortUse // nil: none
}

type budgetView struct {
	Team                               string
	Spent, Promised, Sum, Budget, Warn int64
	Hard                               bool
}

// showLimits shows what one may request, and how much of it is used.
func (p *pages) showLimits(w http.ResponseWriter, r *http.Request, who policy.Principal) {
	v, err := p.limitsOf(r.Context(), who)
	if err != nil {
		p.showError(w, r, who, err)
		return
	}
	p.renderPage(w, r, who, http.StatusOK, "limits", v)
}

func (p *pages) limitsOf(ctx context.Context, who policy.Principal) (limitsView, error) {
	v := limitsView{MayCreate: who.MayAnywhere(policy.ActCreate)}
	quotas, err := p.Admin.Quotas(ctx, who)
	if err != nil {
		return v, err
	}
	for _, q := range quotas {
		v.Quotas = append(v.Quotas, quotaLines(q)...)
		v.Cohorts = v.Cohorts || q.Cohort != nil
	}
	teams, err := p.Admin.Teams(ctx, who)
	if err != nil {
		return v, err
	}
	for _, t := range teams {
		b := t.Budget
		v.Budgets = append(v.Budgets, budgetView{
			Team: t.Name, Spent: t.Spent, Promised: t.Committed, Sum: t.Spent + t.Committed, Budget: b.MonthlyCents,
			Warn: b.MonthlyCents * int64(b.WarnPercent) / 100, Hard: b.Hard,
		})
	}
	if v.Profiles, _, err = p.Admin.Profiles(who); err != nil {
		return v, err
	}
	if v.Accounts, err = p.App.VisibleAccounts(ctx, who); err != nil {
		return v, err
	}
	v.Rooms, err = p.App.VisibleRooms(ctx, who)
	return v, err
}

// proveAccount has a cloud account proven again.
func (p *pages) proveAccount(w http.ResponseWriter, r *http.Request, who policy.Principal) {
	_, err := p.App.ProveAccount(r.Context(), who, r.PathValue("name"), originOf(r))
	p.answerForm(w, r, who, "/limits", "A runner is checking whether clusters can be created in this account. The result appears here.", err)
}

// quotaLines returns one quota's limits, one line each.
func quotaLines(q admin.QuotaState) (out []quotaView) {
	of := map[profiles.Scope]string{profiles.ScopePerson: "you", profiles.ScopeTeam: "team " + q.Key, profiles.ScopeEverywhere: "everybody"}[q.Scope]
	for _, b := range []struct {
		what       string
		used, most int
		waiting    int
		cohort     *policy.CohortUse
	}{
		{"clusters at once", q.Used.Live, q.MostLive(), q.Used.Waiting, q.Cohort},
		{"clusters being created", q.Used.Creating, q.Creating, q.Used.Waiting, nil}, // waiting clusters count for both limits, so that nobody overtakes them
		{"node hours this month", int(math.Ceil(q.Used.NodeHours)), q.NodeHours, 0, nil},
	} {
		if b.most > 0 {
			out = append(out, quotaView{Name: q.Name, Of: of, What: b.what, Used: b.used, Most: b.most, High: b.most * 8 / 10, Waiting: b.waiting, Cohort: b.cohort})
		}
	}
	return out
}
