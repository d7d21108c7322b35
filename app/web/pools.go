package web

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/internal/price"
	"github.com/ocpctl/ocpctl/lifecycle/pool"
	"github.com/ocpctl/ocpctl/policy"
)

const poolsPath = "/pools"

type poolsView struct{ Pools []poolCard }

// poolCard is a pool as a page shows it.
type poolCard struct {
	app.PoolState
	Cards     []app.PooledCluster // that the viewer may see; empty in the list
	MayChange bool
}

// showPools lists the pools.
func (p *pages) showPools(w http.ResponseWriter, r *http.Request, who policy.Principal) {
	list, err := p.App.VisiblePools(r.Context(), who)
	if err != nil {
		p.showError(w, r, who, err)
		return
	}
	var v poolsView
	for _, one := range list {
		v.Pools = append(v.Pools, poolCard{PoolState: one})
	}
	p.renderPage(w, r, who, http.StatusOK, "pools", v)
}

// showPool shows one pool with the forms to change it.
func (p *pages) showPool(w http.ResponseWriter, r *http.Request, who policy.Principal) {
	one, err := p.App.VisiblePool(r.Context(), who, r.PathValue("name"))
	if err != nil {
		p.showError(w, r, who, err)
		return
	}
	p.renderPage(w, r, who, http.StatusOK, "pool", poolCard{one, one.ListClusters(who), who.MayAnywhere(policy.ActPools) && !one.Gone})
}

// poolAnswers say what follows from a change.
var poolAnswers = map[app.PoolAction]string{
	app.PausePool: "The pool is paused. What waits can still be claimed.", app.ResumePool: "The pool works again.",
	app.DrainPool: "The pool is being drained. What waits in it is destroyed.", app.ResizePool: "The pool has another size.",
}

// changePool does what a form on a pool's page asks for.
func (p *pages) changePool(w http.ResponseWriter, r *http.Request, who policy.Principal) {
	name, action := r.PathValue("name"), app.PoolAction(r.PostFormValue("action"))
	var size *int
	if action == app.ResizePool && strings.TrimSpace(r.PostFormValue("size")) != "" {
		n, err := parseNumber(r, "size")
		if err != nil {
			p.answerForm(w, r, who, poolsPath+"/"+name, "", err)
			return
		}
		size = &n
	}
	_, err := p.App.ChangePool(r.Context(), who, name, action, size, originOf(r))
	p.answerForm(w, r, who, poolsPath+"/"+name, poolAnswers[action], err)
}

// Why says why fewer clusters are made than wanted; empty: as many are.
func (c poolCard) Why() string { return chatops.PoolWhy(c.Acts.Why, c.Refusal) }

// Awake, Resting and Ending count what can be claimed at once, what wakes first, and what is given up.
func (c poolCard) Awake() int { return c.Count(pool.Waiting) }

func (c poolCard) Resting() int { return c.Count(pool.Asleep, pool.Changing) }

func (c poolCard) Ending() int { return c.Count(pool.Ending) }

// Spent is what waiting cost this month, of what it may.
func (c poolCard) Spent() string {
	if c.WaitingCents == nil {
		return price.Dollars(c.SpentCents) + ", without a limit"
	}
	return fmt.Sprintf("%s of %s", price.Dollars(c.SpentCents), price.Dollars(int64(*c.WaitingCents)))
}

// Claimants says who may claim.
func (c poolCard) Claimants() string {
	if len(c.Pool.Teams) == 0 {
		return "every team"
	}
	return strings.Join(c.Pool.Teams, ", ")
}

// Pill is the look of the pool's state.
func (c poolCard) Pill() string {
	switch {
	case c.Mode() != app.PoolOpen:
		return "pending"
	case c.WantedSize() > 0 && c.Waiting() == 0:
		return "refused"
	}
	return "done"
}
