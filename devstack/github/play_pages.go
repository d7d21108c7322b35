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

// frame is what every page shows around its own content.
type frame struct {
	Title  string
	As     string
	Role   string
	People []person
	Back   string
	Said   string
	Repo   string
	Home   string
	Repos  []repoLink
	Bot    string
	Slack  string // URL of the stand-in for Slack
}

// RepoName is the repository's name without its owner.
func (f frame) RepoName() string { _, name := RepoRef{Name: f.Repo}.split(); return name }

type person struct{ Login, Role string }

type repoLink struct {
	Name, Path string
	Here       bool
}

func (s *Server) frame(r *http.Request, title string) frame {
	p := s.placeOf(r)
	f := frame{Title: title, As: actingOrFirst(r), Back: r.URL.Path, Said: r.URL.Query().Get("said"), Home: p.listPath(), Bot: Bot, Slack: s.slack}
	s.look(func(w *world) {
		here, _ := w.repo(p.repo)
		if here == nil {
			here = &repository{Name: p.repo}
		}
		f.Repo, f.Role = here.Name, here.role(f.As)
		for _, login := range people {
			f.People = append(f.People, person{login, here.role(login)})
		}
		for _, other := range w.Repos {
			if !other.Gone && (!other.Private || other.role(f.As) != "") {
				f.Repos = append(f.Repos, repoLink{other.Name, s.In(other.Name).listPath(), other == here})
			}
		}
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
	Path     string
	Shown    []labelView
	Comments int
	Check    *Check
}

// labelView is a label with its colours.
type labelView struct {
	Name        string
	Description string
	Style       template.CSS
}

func (sc scene) labelViews(names []string) []labelView {
	var out []labelView
	for _, name := range names {
		l := sc.label(name)
		out = append(out, labelView{l.Name, l.Description, labelStyle(l.Color)})
	}
	return out
}

func (s *Server) playList(w http.ResponseWriter, r *http.Request) {
	at := s.placeOf(r)
	p := listPage{frame: s.frame(r, "Pull requests")}
	at.look(func(world *world, repo *repository) {
		p.Hook = s.hook.URL
		sc := world.scene(s, repo)
		for _, pr := range repo.Pulls {
			row := listRow{
				PullRequest: world.snapshot(repo, pr), Path: at.pullPath(pr.Number), Shown: sc.labelViews(pr.Labels),
				Comments: len(repo.conversation(pr.Number)),
			}
			if checks := latestChecks(repo.checksOf(pr.HeadSHA)); len(checks) > 0 {
				row.Check = &checks[len(checks)-1]
			}
			p.Rows = append(p.Rows, row)
		}
	})
	slices.Reverse(p.Rows)
	s.render(w, r, http.StatusOK, "list.html", p)
}

type pullPage struct {
	frame
	PR          PullRequest
	Path        string
	Labels      []labelView
	Comments    []Comment
	Checks      []Check
	Runs        []runRow
	Deployments []Deployment // of the branch's heads, newest first
	Deliveries  []deliveries
	Choices     []labelView // labels that are not set
	Hints       []string    // example inputs
	Hook        string
	May         map[string]bool // by the name of the action
}

// hints are example inputs for the comment box; the bot answers everything else with what it understands.
var hints = []string{"/ocp create aws-minimal-test", "/ocp status", "/ocp extend 4h", "/ocp destroy", "/ocp help"}

func (s *Server) pullPage(r *http.Request) (pullPage, bool) {
	at, n := s.placeOf(r), number(r, "number")
	pr, ok := at.PullRequest(n)
	if !ok {
		return pullPage{}, false
	}
	p := pullPage{
		frame: s.frame(r, pr.Title), PR: pr, Path: at.pullPath(n), Comments: at.Comments(n), Checks: latestChecks(at.Checks(n)),
		Hints: hints, May: map[string]bool{},
	}
	p.Back = p.Path
	for name, m := range moves {
		p.May[name] = at.lets(m.role, p.As, n)
	}
	p.May["press"] = at.lets("write", p.As, n)
	var number int64
	at.look(func(world *world, repo *repository) {
		p.Hook, number = s.hook.URL, repo.ID
		sc := world.scene(s, repo)
		p.Labels, p.Runs = sc.labelViews(pr.Labels), s.runsOfPull(at, repo, n)
		for _, l := range repo.Labels {
			if !pr.Has(l.Name) {
				p.Choices = append(p.Choices, sc.labelViews([]string{l.Name})...)
			}
		}
		for _, d := range slices.Backward(repo.Deployments) {
			if pr.pushed(append(repo.Old[:len(repo.Old):len(repo.Old)], repo.Name), d.SHA) {
				p.Deployments = append(p.Deployments, *d)
			}
		}
	})
	p.Deliveries = folded(newest(s.Deliveries(), line{number, n}, 60), 6)
	return p, true
}

// pushed reports whether a commit was once the head of the pull request.
func (p PullRequest) pushed(names []string, sha string) bool {
	for _, repo := range names { // a commit keeps the id from the repository's name at the push
		for n := 1; n <= p.Pushes; n++ {
			if commitID(repo, p.Number, n) == sha {
				return true
			}
		}
	}
	return sha == p.HeadSHA
}

func (s *Server) playPull(w http.ResponseWriter, r *http.Request) { s.playPullAs(w, r, "pull.html") }

// playLive is the part of the page that the script refreshes.
func (s *Server) playLive(w http.ResponseWriter, r *http.Request) { s.playPullAs(w, r, "live") }

func (s *Server) playPullAs(w http.ResponseWriter, r *http.Request, name string) {
	p, ok := s.pullPage(r)
	if !ok {
		s.render(w, r, http.StatusNotFound, "missing.html", s.frame(r, "Not found"))
		return
	}
	s.render(w, r, http.StatusOK, name, p)
}

type deliveriesPage struct {
	frame
	Deliveries []Delivery
	Hook       string
}

func (s *Server) playDeliveries(w http.ResponseWriter, r *http.Request) {
	p := deliveriesPage{frame: s.frame(r, "Webhook deliveries"), Deliveries: newest(s.Deliveries(), line{}, 100)}
	s.look(func(*world) { p.Hook = s.hook.URL })
	s.render(w, r, http.StatusOK, "deliveries.html", p)
}

// newest returns the last deliveries of a pull request, or of all without one, newest first.
func newest(all []Delivery, of line, most int) []Delivery {
	var out []Delivery
	for _, d := range slices.Backward(all) {
		if (of == line{} || of == line{d.Repo, d.Number}) && len(out) < most {
			out = append(out, d)
		}
	}
	return out
}

// deliveries are consecutive deliveries of the same kind, shown as one.
type deliveries struct {
	Delivery // the newest of them
	Times    int
}

// folded combines neighbours of one kind: the bot edits its comment often, and each edit is a webhook.
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
	return template.HTML(fmt.Sprintf(`<time datetime="%s">%s UTC</time>`, t.Format(time.RFC3339), t.Format("2 Jan 15:04:05")))
}

// spaced formats one of GitHub's states for people.
func spaced(state string) string { return strings.ReplaceAll(state, "_", " ") }

func less(n int) int { return n - 1 }

func short(sha string) string { return sha[:min(7, len(sha))] }

func initial(login string) string { return strings.ToUpper(login[:min(1, len(login))]) }

// labelStyle colours a label and selects black or white for its text.
func labelStyle(hex string) template.CSS {
	n, err := strconv.ParseUint(hex, 16, 32)
	if err != nil {
		hex = "ededed"
	}
	light := (299*(n>>16&255)+587*(n>>8&255)+114*(n&255))/1000 > 140
	ink := "#fff"
	if light {
		ink = "#1f2328"
	}
	return template.CSS("background:#" + hex + ";color:" + ink)
}

var emojis = map[string]string{
	"+1": "👍", "-1": "👎", "laugh": "😄", "confused": "😕", "heart": "❤️", "hooray": "🎉", "rocket": "🚀", "eyes": "👀",
}

func emoji(kind string) string { return emojis[kind] }

// appPage is the App for the organisation's owner: its permissions, where it is installed, and the stand-in's controls.
type appPage struct {
	frame
	Manifest  Manifest
	Installed *installation
	Covered   []covered
	Limits    Limits
	Calls     int
	Most      int // content writes in one minute
}

type covered struct {
	Name   string
	Access bool
}

func (s *Server) playApp(w http.ResponseWriter, r *http.Request) {
	p := appPage{frame: s.frame(r, "The App"), Manifest: s.manifest(), Installed: s.installed(), Calls: len(s.Calls()), Most: s.MostContent(60e9)}
	s.look(func(world *world) {
		p.Limits = s.meter.limits
		for _, repo := range world.Repos {
			if !repo.Gone {
				p.Covered = append(p.Covered, covered{repo.Name, repo.Access})
			}
		}
	})
	s.render(w, r, http.StatusOK, "app.html", p)
}

// playAppAct executes what an owner of the organisation may do.
func (s *Server) playAppAct(w http.ResponseWriter, r *http.Request) {
	as, repo := actingOrFirst(r), s.In(r.PostFormValue("repo"))
	var err error
	switch act := r.PathValue("act"); act {
	case "install":
		_, err = s.Install(as)
	case "uninstall":
		err = s.Uninstall(as)
	case "suspend":
		err = s.Suspend(as)
	case "unsuspend":
		err = s.Unsuspend(as)
	case "add", "remove":
		err = repo.SetAccess(act == "add", as)
	case "rename":
		err = repo.Rename(strings.TrimSpace(r.PostFormValue("name")), as)
	case "rename-account":
		err = s.RenameAccount(r.PostFormValue("login"), strings.TrimSpace(r.PostFormValue("name")))
	case "add-account":
		err = s.AddAccount(strings.TrimSpace(r.PostFormValue("name")), r.PostFormValue("bot") != "")
	case "lose":
		s.DropNext(1)
	case "strict":
		s.look(func(*world) { s.meter.limits.Strict = !s.meter.limits.Strict })
	default:
		notFound(w)
		return
	}
	s.back(w, r, "/playground/app", err, as)
}
