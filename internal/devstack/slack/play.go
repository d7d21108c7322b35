package slack

import (
	"bytes"
	"embed"
	"html"
	"html/template"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// pages are the page's template, its style sheet and its only script.
//
//go:embed pages
var pages embed.FS

var templates = template.Must(template.New("").Funcs(template.FuncMap{"mrkdwn": mrkdwn}).ParseFS(pages, "pages/*.html"))

// hints are example inputs; the bot answers everything else with what it understands.
var hints = []string{"approvals", "approve NAME", "refuse NAME too big", "status", "link", "help"}

func (s *Server) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /api/{method}", s.serveAPI)
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/playground", http.StatusSeeOther) })
	mux.HandleFunc("GET /playground", func(w http.ResponseWriter, r *http.Request) { s.show(w, r, "slack.html") })
	mux.HandleFunc("GET /playground/live", func(w http.ResponseWriter, r *http.Request) { s.show(w, r, "live") })
	mux.HandleFunc("POST /playground/command", s.typed)
	for _, name := range []string{"style.css", "script.js"} {
		mux.HandleFunc("GET /playground/"+name, func(w http.ResponseWriter, r *http.Request) {
			http.ServeFileFS(w, r, pages, "pages/"+name)
		})
	}
	return mux
}

// place is a channel on the page.
type place struct{ ID, Name string }

var places = []place{{Clusters, "#clusters"}, {Random, "#random, where the bot is not"}}

// at returns who is using the page, and in which channel.
func at(r *http.Request) (Person, string) {
	p, ok := By(r.FormValue("as"))
	if !ok {
		p = People[0]
	}
	channel := r.FormValue("channel")
	if channel != Random {
		channel = Clusters
	}
	return p, channel
}

// typed sends a command and returns to the page.
func (s *Server) typed(w http.ResponseWriter, r *http.Request) {
	p, channel := at(r)
	text := strings.TrimSpace(r.FormValue("text"))
	if rest, ok := strings.CutPrefix(text, "/ocp"); ok {
		text = strings.TrimSpace(rest)
	}
	if _, err := s.Command(r.Context(), p.ID, channel, text); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	http.Redirect(w, r, "/playground?"+url.Values{"as": {p.Login}, "channel": {channel}}.Encode(), http.StatusSeeOther)
}

// line is a message as one person sees it.
type line struct {
	Message
	From, Where string
}

func (s *Server) show(w http.ResponseWriter, r *http.Request, name string) {
	p, channel := at(r)
	data := struct {
		As      Person
		Channel string
		People  []Person
		Places  []place
		Hints   []string
		Lines   []line
	}{As: p, Channel: channel, People: People, Places: places, Hints: hints}
	for _, m := range s.Messages() {
		if m.To != p.ID {
			continue
		}
		l := line{m, "ocpctl", "#" + channelName(m.Channel)}
		if m.Kind == "command" {
			l.From = p.Name
		}
		if m.Kind == "direct" {
			l.Where = "direct message"
		}
		data.Lines = append(data.Lines, l)
	}
	slices.Reverse(data.Lines)
	data.Lines = data.Lines[:min(len(data.Lines), 40)]
	var out bytes.Buffer
	if err := templates.ExecuteTemplate(&out, name, data); err != nil {
		http.Error(w, "the page could not be made", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Security-Policy", "default-src 'self'; frame-ancestors 'none'")
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	_, _ = w.Write(out.Bytes()) // the reader disconnected
}

var markup = regexp.MustCompile("`([^`\n]+)`" + `|<(https?://[^|>\s]+)(?:\|([^>]*))?>|\*([^*\n]+)\*`)

// mrkdwn renders a message as Slack's clients do: bold, code and links are markup, entities are decoded, all else is unchanged.
func mrkdwn(text string) template.HTML {
	plain := func(s string) string { return template.HTMLEscapeString(html.UnescapeString(s)) }
	var b strings.Builder
	for len(text) > 0 {
		found := markup.FindStringSubmatchIndex(text)
		if found == nil {
			break
		}
		group := func(n int) string {
			if found[2*n] < 0 {
				return ""
			}
			return text[found[2*n]:found[2*n+1]]
		}
		b.WriteString(plain(text[:found[0]]))
		switch {
		case group(1) != "":
			b.WriteString("<code>" + plain(group(1)) + "</code>")
		case group(2) != "":
			message := group(3)
			if message == "" {
				message = group(2)
			}
			b.WriteString(`<a href="` + plain(group(2)) + `">` + plain(message) + "</a>")
		default:
			b.WriteString("<strong>" + string(mrkdwn(group(4))) + "</strong>")
		}
		text = text[found[1]:]
	}
	b.WriteString(plain(text))
	return template.HTML(b.String()) //nolint:gosec // every text in it is escaped above
}
