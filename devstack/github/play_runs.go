package github

import (
	"cmp"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/ocpctl/ocpctl/devstack/github/runs"
)

func (s *Server) runPages(mux *http.ServeMux) {
	mux.HandleFunc("GET /playground/logs/{job}", s.playLog)
	for _, at := range []string{"/playground/runs", "/playground/in/{owner}/{repo}/runs"} {
		mux.HandleFunc("GET "+at, s.playRuns("runs.html"))
		mux.HandleFunc("GET "+at+"/live", s.playRuns("live-runs"))
		mux.HandleFunc("POST "+at+"/start/{how}", s.playStart)
		mux.HandleFunc("GET "+at+"/{run}", s.playRun("run.html"))
		mux.HandleFunc("GET "+at+"/{run}/live", s.playRun("live-run"))
		mux.HandleFunc("POST "+at+"/{run}/{act}", s.playRunAct)
	}
}

func (p Place) runsPath() string         { return p.listPath() + "/runs" }
func (p Place) runPath(run int64) string { return p.runsPath() + "/" + itoa(run) }

type runsPage struct {
	frame
	Path      string
	Rows      []runRow
	Open      []PullRequest // that one can push to or put into the merge queue
	Files     []string      // workflows on the default branch
	Workflows []string      // that can be started by hand
	Executes  bool
	Trouble   string
	MayWrite  bool
}

// runRow is a run in a list.
type runRow struct {
	Run
	Path string // of its page
	File string // of its workflow
	Took string
}

const shownRuns = 50

func (s *Server) playRuns(name string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		at := s.placeOf(r)
		p := runsPage{frame: s.frame(r, "Workflow runs"), Path: at.runsPath(), Executes: s.engine != nil, Trouble: s.Trouble()}
		p.MayWrite = at.lets("write", p.As, 0)
		at.look(func(_ *world, repo *repository) {
			for _, run := range slices.Backward(repo.Runs) {
				if len(p.Rows) < shownRuns {
					p.Rows = append(p.Rows, s.runRow(at, run))
				}
			}
			for _, pr := range slices.Backward(repo.Pulls) {
				if pr.Open {
					p.Open = append(p.Open, *pr)
				}
			}
			p.Files, p.Workflows = slices.Sorted(maps.Keys(repo.workflowFiles(repo.Branches[Branch]))), repo.dispatchable()
		})
		s.render(w, r, http.StatusOK, name, p)
	}
}

func (s *Server) runRow(at Place, run *Run) runRow {
	return runRow{run.Copy(), at.runPath(run.ID), run.Path, s.took(run.StartedAt, ended(run))}
}

// runsOfPull returns the runs of a pull request, newest first.
func (s *Server) runsOfPull(at Place, repo *repository, number int) []runRow {
	var out []runRow
	for _, run := range slices.Backward(repo.Runs) {
		if run.Pull == number && len(out) < 10 {
			out = append(out, s.runRow(at, run))
		}
	}
	return out
}

type runPage struct {
	frame
	runRow
	Attempt   int   // that is shown
	Attempts  []int // other ones
	Jobs      []jobView
	Stages    [][]jobView
	Summaries []summary
	Waits     []waitView
	MayWrite  bool
	HasFailed bool
	ListPath  string
}

type summary struct{ Job, Text string }

// waitView is an environment for which the run waits.
type waitView struct {
	Name      string
	Rules     []ruleView
	MayReview bool
}

type ruleView struct {
	Who      string
	State    string
	Comments []string
}

func (s *Server) playRun(name string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		at := s.placeOf(r)
		p := runPage{frame: s.frame(r, "Run"), ListPath: at.runsPath()}
		p.MayWrite = at.lets("write", p.As, 0)
		there := false
		at.look(func(w *world, repo *repository) {
			if run := repo.run(id(r, "run")); run != nil {
				there = true
				p.fill(s, at, repo, run, r.URL.Query().Get("attempt"))
			}
		})
		if !there {
			s.render(w, r, http.StatusNotFound, "missing.html", s.frame(r, "Not found"))
			return
		}
		s.render(w, r, http.StatusOK, name, p)
	}
}

func (p *runPage) fill(s *Server, at Place, repo *repository, run *Run, attempt string) {
	p.runRow, p.Title, p.Attempt = s.runRow(at, run), run.Title, run.Attempt
	if n, err := strconv.Atoi(attempt); err == nil && n > 0 && n < run.Attempt {
		p.Attempt = n
		past := run.Past[n-1]
		p.Run.Status, p.Run.Conclusion, p.Run.Triggering = runs.Completed, past.Conclusion, past.Triggering
		p.Took = s.took(past.StartedAt, &past.UpdatedAt)
	}
	for n := range run.Attempt {
		p.Attempts = append(p.Attempts, n+1)
	}
	for _, j := range run.Latest(p.Attempt) {
		if j.Calls {
			continue
		}
		view := s.jobView(j)
		p.Jobs = append(p.Jobs, view)
		p.HasFailed = p.HasFailed || j.Status == runs.Completed && j.Conclusion != runs.Success && j.Conclusion != runs.Skipped
		text := ""
		for _, step := range j.Steps {
			text += step.Summary
		}
		if text != "" {
			p.Summaries = append(p.Summaries, summary{j.Name, text})
		}
	}
	p.Stages = stages(run, p.Attempt, p.Jobs)
	if p.Attempt == run.Attempt {
		p.Waits = waitViews(repo, run, p.As)
	}
}

// stages puts each job behind those that it needs.
func stages(run *Run, attempt int, views []jobView) [][]jobView {
	depth := map[int64]int{}
	jobs := run.Latest(attempt)
	deepest := 0
	for range jobs { // as often as the longest chain can be
		for _, j := range jobs {
			for _, o := range jobs {
				needs := o.Caller == j.Caller && slices.Contains(j.Needs, o.Key)
				if (needs || o.ID == j.Caller) && depth[j.ID] < depth[o.ID]+1 && !(o.ID == j.Caller && depth[j.ID] >= depth[o.ID]) {
					depth[j.ID] = depth[o.ID] + 1
				}
				if o.Caller == j.ID { // a job that uses a workflow ends with the last one of it
					depth[j.ID] = max(depth[j.ID], depth[o.ID])
				}
			}
			deepest = max(deepest, depth[j.ID])
		}
		if deepest > len(jobs) {
			break
		}
	}
	out := make([][]jobView, deepest+1)
	for _, v := range views {
		out[depth[v.ID]] = append(out[depth[v.ID]], v)
	}
	return slices.DeleteFunc(out, func(stage []jobView) bool { return len(stage) == 0 })
}

func waitViews(repo *repository, run *Run, as string) []waitView {
	var out []waitView
	for _, name := range waitsFor(run) {
		view := waitView{Name: name}
		i := slices.IndexFunc(repo.Environments, func(e *environment) bool { return e.Name == name })
		j := run.Current()[slices.IndexFunc(run.Current(), func(j *Job) bool { return j.Status == runs.Waiting && j.Environment == name })]
		for _, review := range j.Reviews {
			one := ruleView{Who: Bot, State: cmp.Or(review.State, "waits"), Comments: review.Comments}
			for _, rule := range repo.Environments[i].Rules {
				if rule.ID == review.Rule && !rule.app() {
					one.Who = strings.Join(rule.Reviewers, " or ")
					view.MayReview = view.MayReview || slices.Contains(rule.Reviewers, as) && review.State == ""
				}
			}
			view.Rules = append(view.Rules, one)
		}
		out = append(out, view)
	}
	return out
}

// playRunAct executes a form of a run's page and returns to it.
func (s *Server) playRunAct(w http.ResponseWriter, r *http.Request) {
	at, run, as := s.placeOf(r), id(r, "run"), actingOrFirst(r)
	acts := map[string]func() error{
		"cancel": func() error { return at.Runs().Cancel(run, as) },
		"force":  func() error { return at.Runs().ForceCancel(run, as) },
		"rerun":  func() error { return at.Runs().Rerun(run, as) },
		"failed": func() error { return at.Runs().RerunFailed(run, as) },
		"delete": func() error { return at.Runs().Delete(run) },
		"review": func() error {
			return at.Runs().Review(run, r.PostFormValue("environment"), r.PostFormValue("state"), r.PostFormValue("comment"), as)
		},
	}
	act, ok := acts[r.PathValue("act")]
	if !ok {
		notFound(w)
		return
	}
	err := errMayNot
	if at.lets("write", as, 0) || r.PathValue("act") == "review" {
		err = act()
	}
	target := at.runPath(run)
	if r.PathValue("act") == "delete" && err == nil {
		target = at.runsPath()
	}
	s.back(w, r, target, err, as)
}

// back returns to a page, with GitHub's refusal if there was one.
func (s *Server) back(w http.ResponseWriter, r *http.Request, target string, err error, as string) {
	if said := refused(err, as); said != "" {
		target += "?said=" + url.QueryEscape(said)
	}
	http.Redirect(w, r, target, http.StatusSeeOther)
}

// playStart raises an event that starts workflows.
func (s *Server) playStart(w http.ResponseWriter, r *http.Request) {
	at, as := s.placeOf(r), actingOrFirst(r)
	number, _ := strconv.Atoi(r.PostFormValue("pull"))
	ways := map[string]func() error{
		"push":     func() error { return at.Commit("docs/news.md", "Written "+s.moment().String()+"\n") },
		"pull":     func() error { return at.Push(number, as) },
		"schedule": at.Schedule,
		"queue":    func() error { return at.Queue(number, as) },
		"workflow": func() error {
			return at.StartWorkflow(r.PostFormValue("workflow"), Branch, inputsOf(r.PostFormValue("inputs")), as)
		},
		"dispatch": func() error {
			payload := json.RawMessage(strings.TrimSpace(r.PostFormValue("payload")))
			if r.PostFormValue("type") == "" || len(payload) > 0 && !json.Valid(payload) {
				return errInvalid
			}
			return at.Dispatch(r.PostFormValue("type"), payload, as)
		},
		"protect": func() error { return at.Protect(r.PostFormValue("environment"), r.PostFormValue("app") != "") },
	}
	way, ok := ways[r.PathValue("how")]
	if !ok {
		notFound(w)
		return
	}
	err := errMayNot
	if at.lets("write", as, 0) {
		err = way()
	}
	s.back(w, r, at.runsPath(), err, as)
}

// inputsOf reads inputs, one in each line: name=value.
func inputsOf(text string) map[string]any {
	out := map[string]any{}
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), "="); ok {
			out[strings.TrimSpace(name)] = strings.TrimSpace(value)
		}
	}
	return out
}
