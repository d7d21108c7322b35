package web

import (
	"bytes"
	"cmp"
	"embed"
	"fmt"
	"html/template"
	"net/http"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/app/createform"
	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/chatops/messages"
	"github.com/ocpctl/ocpctl/internal/duration"
	"github.com/ocpctl/ocpctl/internal/kinds"
	"github.com/ocpctl/ocpctl/internal/price"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/clusters"
)

//go:embed templates
var templates embed.FS

// views are the pages by name, each with the layout around it.
type views map[string]*template.Template

// frame is what every page has around its view.
type frame struct {
	Demo bool
	Site string // of GitHub, for links
	Now  time.Time
	Who  policy.Principal
	Nav  []way
	Said *said // the result of the form that led here; nil: there was none
	View any

	Main template.HTML // what the page shows, once it was rendered
	Has  string        // the parts in it, which a script keeps up to date; empty: it stays as it is
}

type loginView struct {
	Next, Error     string
	Provider, Begin string // name of the identity provider, and the path of the sign-in; empty: there is none
	Demo            bool
}

// listed is a row of a list, with what is around it.
type listed struct {
	Row   clusters.Row
	Frame frame
}

// rowsView is a table of clusters.
type rowsView struct {
	Title string
	Rows  []listed
}

type problemView struct {
	Status  int
	Title   string
	Message string
}

type detailView struct {
	app.Details
	Steps []step

	Can       offers
	Verdict   *policy.Verdict // why it was accepted; nil: not stored
	Ends      []app.End       // every possible end, the earliest first
	Approvals []approvalView  // waiting, or granted to the viewer
	Tests     []lifecycle.RunTests
	Access    []accessView // who has access to it, and whose ended in the last day

	Why, DesiredWhy string   // without what is shown beside them
	LastTry         string   // what failed, while another try follows
	CreateLog       []string // last lines of the create, if another job is the newest
	Bundles         []int    // attempts with a log bundle, the newest first
	GitHubWaits     string   // what of it waits for GitHub; empty: nothing

	Line, ETA                string // position in the queue; expected time of completion
	Whose, Todo, TodoRunbook string // while something is wrong: who has to act, what to do, the runbook
}

// Ended reports that nothing on the page changes any more.
func (v detailView) Ended() bool { return v.Row.Phase == lifecycle.Released }

// parseTemplates parses the templates. nameOf names a principal for people; nil: nobody is linked to a person.
func parseTemplates(nameOf func(string) string, files assetFiles) views {
	own := template.FuncMap{"actor": actorFormatter(nameOf), "told": auditTextWith(nameOf), "asset": files.addressOf}
	out := views{}
	for _, name := range []string{
		"login", "problem", "list", "detail", "runbook", "destroy", "new", "approvals", "approval", "link", "onward", "code", "password", "me", "limits", "policy", "whatif", "propose", "commandline", "devicecode",
		"usage", "reports", "findings", "orphans", "removals", "deliveries", "delivery", "audit",
		"start", "logs", "gallery", "days", "pools", "pool", "brakes",
	} {
		out[name] = template.Must(template.New("layout.html").Funcs(functions).Funcs(own).ParseFS(templates,
			"templates/layout.html", "templates/parts.html", "templates/acts.html", path.Join("templates", name+".html")))
	}
	return out
}

// renderPage renders a complete page before it sends the first byte, so that an error never leaves half a page.
func (p *pages) renderPage(w http.ResponseWriter, r *http.Request, who policy.Principal, status int, name string, view any) {
	p.renderContent(w, r, who, status, content{name: name, view: view, ended: true})
}

func (p *pages) renderContent(w http.ResponseWriter, r *http.Request, who policy.Principal, status int, c content) {
	f := p.newFrame(r, who, c)
	if status == http.StatusOK { // a refusal costs the database nothing
		f.Nav = navigation(who, r.URL.Path, p.badges(r.Context(), who))
	}
	f.Said = p.takeMessage(w, r, who)
	main, parts, err := p.renderParts(c.name, f)
	if f.Main = template.HTML(main); !c.ended { // html/template made it
		f.Has = hashesOf(parts)
	}
	var page bytes.Buffer
	if err == nil {
		err = p.views[c.name].Execute(&page, f)
	}
	if err != nil {
		p.Log.ErrorContext(r.Context(), "page not rendered", "page", r.Pattern, "err", err)
		http.Error(w, http.StatusText(http.StatusInternalServerError), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(page.Bytes()) // the browser disconnected and will retry
}

func (p *pages) newFrame(r *http.Request, who policy.Principal, c content) frame {
	return frame{Demo: p.Demo, Site: p.GitHub, Now: p.Now().UTC(), Who: who, Nav: navigation(who, r.URL.Path, nil), View: c.view}
}

// renderParts renders what a page shows below its header, and the parts of it that are kept up to date; the first is the title.
func (p *pages) renderParts(name string, f frame) (main string, parts []part, err error) {
	var title, marked strings.Builder
	if err := p.views[name].ExecuteTemplate(&title, "title", f); err != nil {
		return "", nil, fmt.Errorf("render the title of %s: %w", name, err)
	}
	if err := p.views[name].ExecuteTemplate(&marked, "main", f); err != nil {
		return "", nil, fmt.Errorf("render %s: %w", name, err)
	}
	main, parts = splitParts(marked.String())
	return main, append([]part{newPart("title", title.String())}, parts...), nil
}

var functions = template.FuncMap{
	"platform": price.PlatformText, "product": kinds.Product,
	"lower": func(s lifecycle.Status) string { return strings.ToLower(string(s)) },
	"plain": func(s any) string { return plainState(fmt.Sprint(s)) },
	"price": func(cents int) string { return price.Dollars(int64(cents)) + "/h" },
	"stamp": formatStamp,
	"clock": func(t time.Time) string { return t.UTC().Format("15:04:05") },
	"iso":   func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
	"away":  formatAway,
	"part":  beginPart, "endpart": endPart,
	"name": formatPullRequest, "runText": chatops.RunText, "signalText": chatops.SignalText, "saved": chatops.Saved, "slept": describeSleep, "unused": chatops.Unused, "nights": chatops.Nights, "inPool": chatops.InPool,
	"moved": describeMove, "did": describeAction,
	"cost":  describeCost,
	"short": shortHash,

	"dollars":   price.Dollars,
	"whyItEnds": messages.WhyItEnds, "sentence": messages.Sentence,
	"tenths": func(n float64) string { return strconv.FormatFloat(n, 'f', 1, 64) },

	"lasted": formatSeconds,
	"cli":    commandLine,

	"percent": formatPercent,
	"share":   func(part, whole int64) string { return formatPercent(int(part), int(whole)) },
	"titled":  titleTable,

	"mayCreate": func(who policy.Principal, team string) bool { return who.May(policy.ActCreate, team) },

	"rowsOf": func(title string, rows []clusters.Row, f frame) rowsView {
		v := rowsView{Title: title}
		for _, row := range rows {
			v.Rows = append(v.Rows, listed{row, f})
		}
		return v
	},

	"beside": func(row clusters.Row, f frame) listed { return listed{row, f} },

	"going": func(r clusters.Row) bool { return r.Desired == lifecycle.Absent },

	"countTests": chatops.CountTests,
	"took":       duration.Format,
	"seconds":    func(n float64) string { return strconv.FormatFloat(n, 'f', 1, 64) + " s" },

	"locked":  createform.Locked,
	"objects": newObjectsView, "hits": newHitsView, "faults": newFaultsView,
	"queries": parseQueries,
	"refused": countRefused, "notAsked": notAsked,
}

// auditTextWith returns a function that says what an event of the timeline records.
func auditTextWith(nameOf func(id string) string) func(store.Event) string {
	return func(e store.Event) string {
		return messages.AuditText(messages.AuditLine{Actor: e.Actor, Name: e.Name, Action: e.Action, Why: e.Why, Reason: e.Reason, Meta: e.Meta, NameOf: nameOf})
	}
}

// actionTexts are the actions of a timeline whose own names say too little.
var actionTexts = map[string]string{"access.minted": "access given", "access.account_removed": "account removed", "access.asked": "access requested"}

// describeAction names an action as people read it.
func describeAction(action string) string { return cmp.Or(actionTexts[action], plainState(action)) }
