package web

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store"
)

const (
	pageSize = 50
	logLines = 60
)

func (p *pages) list(w http.ResponseWriter, r *http.Request, who policy.Principal) {
	all := r.FormValue("show") == "all"
	rows, older, err := p.Desk.List(r.Context(), who, store.Filter{Live: !all, Cursor: r.FormValue("cursor"), Limit: pageSize})
	if err != nil {
		p.fail(w, r, who, err)
		return
	}
	p.show(w, r, who, http.StatusOK, "list", listView{Rows: rows, All: all, Older: older})
}

func (p *pages) detail(w http.ResponseWriter, r *http.Request, who policy.Principal) {
	found, err := p.Desk.Get(r.Context(), who, r.PathValue("id"), logLines)
	if err != nil {
		p.fail(w, r, who, err)
		return
	}
	v := detailOf(found)
	if create := found.Row.Tags["RequestId"]; create != "" && create != found.Job.ID {
		made, err := p.Desk.Job(r.Context(), who, create, logLines)
		if err != nil {
			p.fail(w, r, who, err)
			return
		}
		v.CreateLog = made.Log
	}
	p.show(w, r, who, http.StatusOK, "detail", v)
}

// detailOf puts what people are told of a cluster beside what is known of it, in the words of its comment.
func detailOf(found app.Details) detailView {
	card := found.Row.Card
	v := detailView{Details: found, Steps: stepsOf(found.Row), Line: chatops.Line(card), ETA: chatops.ETA(card)}
	v.Whose, v.Todo = chatops.Turn(card)
	v.TodoRunbook = chatops.Runbook(card)
	v.Why, v.WishWhy = chatops.Brief(card, card.Why), chatops.Brief(card, card.WishWhy)
	if card.Status == lifecycle.Creating && !strings.Contains(card.Why, card.FailMessage) {
		v.LastTry = card.FailMessage
	}
	for _, text := range card.Blockers {
		var b blocker
		b.Words, b.Command, b.Remark = chatops.Blocker(text)
		v.InTheWay = append(v.InTheWay, b)
	}
	return v
}

// kubeconfig is a POST, because every reading is written down and no browser may read ahead.
func (p *pages) kubeconfig(w http.ResponseWriter, r *http.Request, who policy.Principal) {
	id := r.PathValue("id")
	raw, err := p.Desk.Kubeconfig(r.Context(), who, id, app.Deed{Door: policy.DoorWeb})
	if err != nil {
		p.fail(w, r, who, err)
		return
	}
	w.Header().Set("Content-Type", "application/yaml")
	w.Header().Set("Content-Disposition", fmt.Sprintf("attachment; filename=%q", id+".kubeconfig"))
	_, _ = w.Write(raw) // a browser that went away will ask again
}
