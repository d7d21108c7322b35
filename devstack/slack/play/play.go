// Package play shows the stand-in for Slack as a page on which one can act as each of its people: channels, direct messages with the
// app, threads, App Home, forms, commands and shortcuts.
//
// It must never do what the functions of the stand-in do not: a click on the page is a call of Click. It says that it is a playground.
package play

import (
	"bytes"
	"cmp"
	"embed"
	"html/template"
	"net/http"
	"net/url"
	"slices"

	"github.com/ocpctl/ocpctl/devstack/slack"
)

// pages are the page's templates, its style sheet and its only script.
//
//go:embed pages
var pages embed.FS

var templates = template.Must(template.New("").Funcs(template.FuncMap{"shortcuts": messageShortcuts}).ParseFS(pages, "pages/*.html"))

// messageShortcuts are those in a message's menu.
func messageShortcuts() (list []slack.Shortcut) {
	for _, s := range slack.Shortcuts {
		if s.Message {
			list = append(list, s)
		}
	}
	return list
}

// hints are example inputs; the app answers everything else with what it understands.
var hints = []string{"/ocp help", "/ocp create", "/ocp list", "/ocp status", "/ocp approvals", "/ocp link", "@ocpctl help"}

// The places beside channels.
const (
	home     = "home"     // the App Home
	activity = "activity" // everything that the app sent to this person alone
	direct   = "direct"   // the direct message with the app, in which nobody wrote yet
)

type playground struct{ slack *slack.Server }

// Handler returns the pages under /playground.
func Handler(s *slack.Server) http.Handler {
	p := &playground{s}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /playground", func(w http.ResponseWriter, r *http.Request) { p.show(w, r, "page") })
	if s.Beside() != "" {
		mux.HandleFunc("GET /playground/beside", p.beside)
	}
	mux.HandleFunc("GET /playground/live", func(w http.ResponseWriter, r *http.Request) { p.show(w, r, "live") })
	for name, act := range p.acts() {
		mux.HandleFunc("POST /playground/"+name, func(w http.ResponseWriter, r *http.Request) { p.do(w, r, act) })
	}
	for _, name := range []string{"style.css", "script.js"} {
		mux.HandleFunc("GET /playground/"+name, func(w http.ResponseWriter, r *http.Request) {
			http.ServeFileFS(w, r, pages, "pages/"+name)
		})
	}
	return mux
}

// spot is who uses the page and what they look at. It is in every link and form.
type spot struct {
	As      slack.Person
	Channel string // id, home or activity
	Thread  string // timestamp; empty: none is open
}

// Link is the page for another person, channel or thread.
func (s spot) Link(as, channel, thread string) string {
	q := url.Values{"as": {cmp.Or(as, s.As.Login)}, "channel": {cmp.Or(channel, s.Channel)}}
	if thread != "" {
		q.Set("thread", thread)
	}
	return "/playground?" + q.Encode()
}

// Here is the page as it is.
func (s spot) Here() string { return s.Link("", "", s.Thread) }

// Live is the changing part of the page.
func (s spot) Live() string { return "/playground/live" + s.Here()[len("/playground"):] }

// at reads the spot from a request.
func (p *playground) at(r *http.Request) spot {
	who := slack.People[0]
	for _, other := range p.slack.Members() {
		if as := r.FormValue("as"); (other.Login == as || other.ID == as) && !other.Bot {
			who = other
		}
	}
	at := spot{As: who, Channel: r.FormValue("channel"), Thread: r.FormValue("thread")}
	mine := p.slack.Channels(who.ID)
	known := at.Channel == home || at.Channel == activity || at.Channel == direct || slices.ContainsFunc(mine, func(c slack.Channel) bool { return c.ID == at.Channel })
	if !known {
		at.Channel, at.Thread = activity, ""
		if len(mine) > 0 {
			at.Channel = mine[0].ID
		}
	}
	return at
}

// data is what the templates show.
type data struct {
	spot
	People    []slack.Person
	Channels  []slack.Channel // those of the person, without the direct message
	Direct    string          // id of the direct message with the app; empty: nobody wrote there yet
	Open      slack.Channel   // zero: App Home or activity
	BotIn     bool
	Lines     []line
	Root      *line  // the message whose thread is open
	Replies   []line // in it
	Home      *sheet
	Modal     *sheet
	Hints     []string
	Shortcuts []slack.Shortcut
	Problem   string // why the last action failed
	Beside    string // URL of the pull requests; empty: none are shown
}

func (p *playground) data(r *http.Request) data {
	at := p.at(r)
	d := data{spot: at, Hints: hints, Shortcuts: slack.Shortcuts, Beside: p.slack.Beside(), Problem: r.FormValue("problem")}
	for _, other := range p.slack.Members() {
		if !other.Bot && !other.Deactivated {
			d.People = append(d.People, other)
		}
	}
	for _, c := range p.slack.Channels(at.As.ID) {
		if c.Direct != "" {
			d.Direct = c.ID
		} else {
			d.Channels = append(d.Channels, c)
		}
		if c.ID == at.Channel {
			d.Open, d.BotIn = c, slices.Contains(c.Members, slack.Bot)
		}
	}
	if at.Channel == direct {
		d.Open, d.BotIn = slack.Channel{ID: direct, Direct: at.As.ID}, true
	}
	v := p.viewer(at)
	switch at.Channel {
	case home:
		d.Home = v.sheet(p.slack.Home(at.As.ID))
	case activity:
		d.Lines = v.activity()
	default:
		d.Lines, d.Root, d.Replies = v.conversation(at.Channel, at.Thread)
	}
	d.Modal = v.sheet(p.slack.Modal(at.As.ID))
	return d
}

func (p *playground) show(w http.ResponseWriter, r *http.Request, name string) {
	var out bytes.Buffer
	if err := templates.ExecuteTemplate(&out, name, p.data(r)); err != nil {
		http.Error(w, "the page could not be made: "+err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Security-Policy", "default-src 'self'; img-src 'self' https: http:; frame-ancestors 'self'")
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	_, _ = w.Write(out.Bytes()) // the reader disconnected
}

// beside shows a pull request and Slack in two columns.
func (p *playground) beside(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Security-Policy", "default-src 'self'; frame-src *; frame-ancestors 'none'")
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	if err := templates.ExecuteTemplate(w, "beside", p.slack.Beside()); err != nil {
		http.Error(w, "the page could not be made: "+err.Error(), http.StatusInternalServerError)
	}
}
