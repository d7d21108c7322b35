package web

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"net/http"
	"path"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store"
)

//go:embed templates
var templates embed.FS

// views are the pages by name, each with the layout around it.
type views map[string]*template.Template

type frame struct {
	Demo bool
	Now  time.Time
	Who  policy.Principal
	View any
}

type loginView struct {
	Next, Error string
	Demo        bool
}

type problemView struct {
	Who    policy.Principal
	Status int
	Title  string
	Words  string
}

type listView struct {
	Who   policy.Principal
	Rows  []store.Row
	All   bool
	Older string // cursor of the next page
}

type detailView struct {
	Who policy.Principal
	app.Details
	Steps []step
}

// step is one phase of the way a cluster is on.
type step struct {
	Name  string
	State string // done, now or todo
}

func parse() views {
	out := views{}
	for _, name := range []string{"login", "problem", "list", "detail"} {
		out[name] = template.Must(template.New("layout.html").Funcs(functions).
			ParseFS(templates, "templates/layout.html", path.Join("templates", name+".html")))
	}
	return out
}

// show renders a page whole before the first byte leaves, so that a failure is never half a page.
func (p *pages) show(w http.ResponseWriter, r *http.Request, status int, name string, view any) {
	f := frame{Demo: p.Demo, Now: p.Now().UTC(), View: view}
	switch v := view.(type) {
	case problemView:
		f.Who = v.Who
	case listView:
		f.Who = v.Who
	case detailView:
		f.Who = v.Who
	}
	var page bytes.Buffer
	if err := p.views[name].Execute(&page, f); err != nil {
		p.Log.Error("page not rendered", "path", r.URL.Path, "err", err)
		http.Error(w, http.StatusText(http.StatusInternalServerError), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(page.Bytes()) // a browser that went away will ask again
}

var (
	createSteps = []lifecycle.Phase{
		lifecycle.Queued, lifecycle.Preflight, lifecycle.Rendering, lifecycle.Recording, lifecycle.Installing,
		lifecycle.Configuring, lifecycle.PhaseReady,
	}
	destroySteps = []lifecycle.Phase{
		lifecycle.Stopping, lifecycle.Restoring, lifecycle.DestroyingRuns, lifecycle.Verifying, lifecycle.Released,
	}
)

// stepsOf draws the way a cluster is on, and where on it it stands. A phase off the way (cleaning, failed) draws none.
func stepsOf(row store.Row) []step {
	way := createSteps
	if row.Status == lifecycle.Destroying || row.Status == lifecycle.Destroyed {
		way = destroySteps
	}
	here := row.Phase
	if row.Status == lifecycle.Ready {
		here = lifecycle.PhaseReady
	}
	at := -1
	for i, phase := range way {
		if phase == here {
			at = i
		}
	}
	if at < 0 {
		return nil
	}
	var out []step
	for i, phase := range way {
		state := "todo"
		switch {
		case i < at, i == at && i == len(way)-1:
			state = "done"
		case i == at:
			state = "now"
		}
		out = append(out, step{Name: plain(phase), State: state})
	}
	return out
}

var functions = template.FuncMap{
	"lower": func(s lifecycle.Status) string { return strings.ToLower(string(s)) },
	"plain": func(s any) string { return plain(fmt.Sprint(s)) },
	"price": func(cents int) string { return fmt.Sprintf("$%d.%02d/h", cents/100, cents%100) },
	"stamp": func(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") },
	"iso":   func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
	"away":  away,
	"link":  link,
	"going": func(r store.Row) bool { return r.Wish == lifecycle.Absent },
}

func plain[T ~string](s T) string { return strings.ReplaceAll(string(s), "_", " ") }

// away says how far a time is from now.
func away(now, t time.Time) string {
	d := t.Sub(now).Round(time.Second)
	if d < 0 {
		return span(-d) + " ago"
	}
	return "in " + span(d)
}

func span(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h %d min", int(d.Hours()), int(d.Minutes())%60)
	}
	return fmt.Sprintf("%d days", int(d.Hours()/24))
}

// link is where a pull request lives.
func link(pr *store.PRRef) string {
	if pr == nil {
		return ""
	}
	return fmt.Sprintf("%s#%d", pr.Repo, pr.Number)
}
