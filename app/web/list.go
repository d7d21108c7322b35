package web

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/internal/filter"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/people"
)

const listPath = "/clusters"

type listView struct {
	Rows    []clusters.Row
	Text    string      // of the filter, as typed
	Wrong   []app.Field // what is wrong with it
	All     bool        // also those that are gone
	Tabs    []way
	Choices []choice
	Heads   []head
	Views   []way // that the person saved
	Saved   bool  // the page shows one of them
	Here    string
	Older   string // address of the next page; empty: this is the last
}

// Query is the part of the list's address behind the question mark.
func (v listView) Query() string { return addressQuery(v.Text, v.All) }

// choice is a condition that a list offers to choose.
type choice struct {
	Key, Label string
	Options    []option
}

type option struct {
	Value, Label string
	Chosen       bool
}

// head is the head of a column.
type head struct {
	Label, To string // To: where the list is sorted by it; empty: it cannot be
	Sorted    string // ascending or descending; empty: not by this
	Number    bool
}

// listAddress is the address of a list: everything that it shows is in it.
func listAddress(text string, all bool, cursor string) string {
	q := url.Values{}
	if text != "" {
		q.Set("q", text)
	}
	if all {
		q.Set("show", "all")
	}
	if cursor != "" {
		q.Set("cursor", cursor)
	}
	if len(q) == 0 {
		return listPath
	}
	return listPath + "?" + q.Encode()
}

// listedKeys are the conditions that the list offers to choose.
var listedKeys = []filter.Key{filter.Status, filter.Team, filter.Profile, filter.Ends, filter.Sort}

// listClusters serves the list. Conditions that were chosen instead of typed go into the text of the filter first.
func (p *pages) listClusters(w http.ResponseWriter, r *http.Request, who policy.Principal) {
	text, chosen := r.FormValue("q"), false
	for _, key := range listedKeys {
		if r.Form.Has(string(key)) {
			text, chosen = filter.Set(text, key, r.FormValue(string(key))), true
		}
	}
	if chosen {
		http.Redirect(w, r, listAddress(text, r.FormValue("show") == "all", ""), http.StatusSeeOther)
		return
	}
	p.serveLive(p.readList)(w, r, who)
}

func (p *pages) readList(r *http.Request, who policy.Principal) (content, error) {
	v := listView{Text: r.FormValue("q"), All: r.FormValue("show") == "all"}
	v.Here = listAddress(v.Text, v.All, "")
	q, err := p.App.ReadFilter(r.Context(), who, v.Text)
	var refused *app.Error
	switch {
	case errors.As(err, &refused):
		v.Wrong = refused.Fields
	case err != nil:
		return content{}, err
	default:
		rows, next, err := p.App.List(r.Context(), who, store.Filter{Query: q, Current: !v.All, Cursor: r.FormValue("cursor"), Limit: pageSize})
		if err != nil {
			return content{}, err
		}
		if v.Rows = rows; next != "" {
			v.Older = listAddress(v.Text, v.All, next)
		}
	}
	if err := p.addViews(r, who, &v); err != nil {
		return content{}, err
	}
	v.Heads = listHeads(v)
	v.Choices, err = p.listChoices(who, v.Text)
	return content{name: "list", view: v}, err
}

// addViews adds the views to choose from: those that everybody has, and those that the person saved.
func (p *pages) addViews(r *http.Request, who policy.Principal, v *listView) error {
	for _, one := range []struct {
		label, text string
		all         bool
	}{{"Current", "", false}, {"Mine", "owner:me", false}, {"Ends today", "ends:today", false}, {"Failed", "failed", false}, {"All", "", true}} {
		v.Tabs = append(v.Tabs, wayTo(listAddress(one.text, one.all, ""), one.label, v.Here))
	}
	var err error
	if v.Views, err = p.listSavedViews(r, who, v.Here); err != nil {
		return err
	}
	v.Saved = slices.ContainsFunc(slices.Concat(v.Tabs, v.Views), func(w way) bool { return w.Here })
	return nil
}

// listSavedViews returns the views that the person saved: their favourites, which the list and the start page link.
func (p *pages) listSavedViews(r *http.Request, who policy.Principal, here string) (ways []way, err error) {
	saved, err := p.App.SavedViews(r.Context(), who)
	for _, one := range saved {
		ways = append(ways, wayTo(listPath+"?"+one.Query, one.Name, here))
	}
	return ways, err
}

func wayTo(to, label, here string) way { return way{To: to, Label: label, Here: to == here} }

// listHeads are the heads of the list's columns.
func listHeads(v listView) []head {
	order := filter.Get(v.Text, filter.Sort)
	heads := []head{{Label: "Status"}, {Label: "Name"}, {Label: "Profile"}, {Label: "Pull request or run"}, {Label: "Owner"}, {Label: "Team"}, {Label: "Ends"}, {Label: "Price", Number: true}, {Label: "Next"}}
	for i, by := range map[int]string{1: "name", 4: "owner", 6: "ends", 7: "price"} {
		heads[i].To = listAddress(filter.Set(v.Text, filter.Sort, by), v.All, "")
		if by == order {
			heads[i].Sorted, heads[i].To = "ascending", listAddress(filter.Set(v.Text, filter.Sort, ""), v.All, "")
			if by == "price" {
				heads[i].Sorted = "descending"
			}
		}
	}
	return heads
}

// listChoices returns what can be chosen instead of typed. A team or profile that was typed and is none of the catalogue's stays chosen.
func (p *pages) listChoices(who policy.Principal, text string) ([]choice, error) {
	teams, every := who.Teams(policy.RolesFor(policy.ActSee)...)
	if every {
		state, err := p.Admin.Catalogue(who)
		if err != nil {
			return nil, err
		}
		for _, team := range state.Catalogue.Teams {
			teams = append(teams, team.Name)
		}
	}
	values := map[filter.Key][]string{
		filter.Status: filter.Statuses, filter.Team: teams, filter.Profile: p.App.ProfileNames(), filter.Ends: {"<2h", "<8h", "today", "tomorrow", ">1d"}, filter.Sort: filter.Orders,
	}
	var out []choice
	for _, key := range listedKeys {
		now := filter.Get(text, key)
		c := choice{Key: string(key), Label: map[filter.Key]string{filter.Status: "Status", filter.Team: "Team", filter.Profile: "Profile", filter.Ends: "Ends", filter.Sort: "Order"}[key]}
		if key != filter.Sort {
			c.Options = []option{{Label: "any"}}
		}
		all := values[key]
		if now != "" && !slices.Contains(all, now) {
			all = append(slices.Clone(all), now)
		}
		for _, value := range all {
			c.Options = append(c.Options, option{Value: value, Label: value, Chosen: value == now})
		}
		out = append(out, c)
	}
	return out, nil
}

// saveView keeps what a list shows under a name, and dropView forgets it.
func (p *pages) saveView(w http.ResponseWriter, r *http.Request, who policy.Principal) {
	q, err := url.ParseQuery(r.PostFormValue("query"))
	if err != nil {
		q = url.Values{}
	}
	view := people.View{Name: r.PostFormValue("name"), Query: addressQuery(q.Get("q"), q.Get("show") == "all")}
	err = p.App.SaveView(r.Context(), who, view)
	p.answerForm(w, r, who, listPath+"?"+view.Query, fmt.Sprintf("Saved as %s.", view.Name), err)
}

func (p *pages) dropView(w http.ResponseWriter, r *http.Request, who policy.Principal) {
	name := r.PostFormValue("name")
	err := p.App.DropView(r.Context(), who, name)
	p.answerForm(w, r, who, listPath, fmt.Sprintf("%s is no longer saved.", name), err)
}

// addressQuery is the part of a list's address behind the question mark.
func addressQuery(text string, all bool) string {
	to, err := url.Parse(listAddress(text, all, ""))
	if err != nil {
		return ""
	}
	return to.RawQuery
}
