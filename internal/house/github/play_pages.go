package github

import (
	"fmt"
	"html/template"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// frame is what every page shows around its own part.
type frame struct {
	Title  string
	As     string
	Role   string
	People []person
	Back   string
	Said   string
	Repo   string
	Bot    string
}

type person struct{ Login, Role string }

func (s *Server) frame(r *http.Request, title string) frame {
	f := frame{Title: title, As: actingOrFirst(r), Back: r.URL.Path, Said: r.URL.Query().Get("said"), Repo: Repo, Bot: Bot}
	s.look(func(w *world) {
		for _, login := range people {
			f.People = append(f.People, person{login, w.Permissions[login]})
		}
		f.Role = w.Permissions[f.As]
	})
	return f
}

type listPage struct {
	frame
	Rows []listRow
	Hook string
}

type listRow struct {
	PullRequest
	Comments int
	Check    *Check
}

func (s *Server) playList(w http.ResponseWriter, r *http.Request) {
	p := listPage{frame: s.frame(r, "Pull requests")}
	s.look(func(world *world) {
		p.Hook = s.hook.URL
		for _, pr := range world.Pulls {
			row := listRow{PullRequest: *pr, Comments: len(world.conversation(pr.Number))}
			row.Labels = slices.Clone(pr.Labels)
			if checks := latestChecks(world.checksOf(pr.HeadSHA)); len(checks) > 0 {
				row.Check = &checks[len(checks)-1]
			}
			p.Rows = append(p.Rows, row)
		}
	})
	slices.Reverse(p.Rows)
	render(w, r, http.StatusOK, "list.html", p)
}

type pullPage struct {
	frame
	PR         PullRequest
	Comments   []Comment
	Checks     []Check
	Deliveries []deliveries
	MayLabel   bool
	MayClose   bool
	Choices    []string // labels that are not set
	Hints      []string // lines one can type
	Hook       string
}

// hints are lines for the comment box; the bot answers everything else with what it understands.
var hints = []string{"/ocp create aws-minimal-test", "/ocp status", "/ocp extend 4h", "/ocp destroy", "/ocp help"}

func (s *Server) pullPage(r *http.Request) (pullPage, bool) {
	n := number(r, "number")
	pr, ok := s.PullRequest(n)
	if !ok {
		return pullPage{}, false
	}
	p := pullPage{
		frame: s.frame(r, pr.Title), PR: pr, Comments: s.Comments(n), Checks: latestChecks(s.Checks(n)),
		Deliveries: folded(newest(s.Deliveries(), n, 60), 6), Hints: hints,
	}
	p.Back = pullPath(n)
	as := caller{login: p.As}
	p.MayLabel, p.MayClose = s.may(as), s.mayClose(n, as)
	s.look(func(world *world) {
		p.Hook = s.hook.URL
		for _, l := range world.Labels {
			if !pr.Has(l) {
				p.Choices = append(p.Choices, l)
			}
		}
	})
	return p, true
}

func (s *Server) playPull(w http.ResponseWriter, r *http.Request) { s.playPullAs(w, r, "pull.html") }

// playLive is the part of the page that changes by itself; the script asks for it again and again.
func (s *Server) playLive(w http.ResponseWriter, r *http.Request) { s.playPullAs(w, r, "live") }

func (s *Server) playPullAs(w http.ResponseWriter, r *http.Request, name string) {
	p, ok := s.pullPage(r)
	if !ok {
		render(w, r, http.StatusNotFound, "missing.html", s.frame(r, "Not found"))
		return
	}
	render(w, r, http.StatusOK, name, p)
}

type deliveriesPage struct {
	frame
	Deliveries []Delivery
	Hook       string
}

func (s *Server) playDeliveries(w http.ResponseWriter, r *http.Request) {
	p := deliveriesPage{frame: s.frame(r, "Webhook deliveries"), Deliveries: newest(s.Deliveries(), 0, 100)}
	s.look(func(*world) { p.Hook = s.hook.URL })
	render(w, r, http.StatusOK, "deliveries.html", p)
}

// newest picks the last deliveries of a pull request, or of all with 0, newest first.
func newest(all []Delivery, number, most int) []Delivery {
	var out []Delivery
	for _, d := range slices.Backward(all) {
		if (number == 0 || d.Number == number) && len(out) < most {
			out = append(out, d)
		}
	}
	return out
}

// deliveries are some in a row that tell of the same, shown as one.
type deliveries struct {
	Delivery // the newest of them
	Times    int
}

// folded puts neighbours of one kind together: the bot edits its comment often, and each edit is a webhook.
func folded(newest []Delivery, most int) []deliveries {
	var out []deliveries
	for _, d := range newest {
		if last := len(out) - 1; last >= 0 && out[last].Event == d.Event && out[last].Action == d.Action && out[last].State == d.State {
			out[last].Times++
			continue
		}
		if len(out) == most {
			break
		}
		out = append(out, deliveries{Delivery: d, Times: 1})
	}
	return out
}

// latestChecks keeps the newest run of each key, as GitHub shows them.
func latestChecks(all []Check) []Check {
	var out []Check
	for i, c := range all {
		later := slices.ContainsFunc(all[i+1:], func(o Check) bool { return o.Name == c.Name && o.ExternalID == c.ExternalID })
		if !later {
			out = append(out, c)
		}
	}
	return out
}

func clock(t time.Time) template.HTML {
	t = t.UTC()
	return template.HTML(fmt.Sprintf(`<time datetime="%s">%s UTC</time>`, t.Format(time.RFC3339), t.Format("2 Jan 15:04:05"))) //nolint:gosec // digits only
}

// words writes one of GitHub's states as people do.
func words(state string) string { return strings.ReplaceAll(state, "_", " ") }

func less(n int) int { return n - 1 }

func short(sha string) string { return sha[:min(7, len(sha))] }

func initial(login string) string { return strings.ToUpper(login[:min(1, len(login))]) }

// labelStyle colours a label and picks black or white for its text.
func labelStyle(name string) template.CSS {
	hex, _ := labelColor(name)
	n, _ := strconv.ParseUint(hex, 16, 32)
	light := (299*(n>>16&255)+587*(n>>8&255)+114*(n&255))/1000 > 140
	ink := "#fff"
	if light {
		ink = "#1f2328"
	}
	return template.CSS("background:#" + hex + ";color:" + ink)
}
