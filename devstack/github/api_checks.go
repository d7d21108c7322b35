package github

import (
	"cmp"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ocpctl/ocpctl/devstack/must"
)

func (s *Server) checkCalls() []endpoint {
	return []endpoint{
		{"POST", "/check-runs", "checks:write", false, s.postCheck},
		{"PATCH", "/check-runs/{id}", "checks:write", false, s.patchCheck},
		{"GET", "/check-runs/{id}/annotations", "checks:read", true, s.listAnnotations},
		{"GET", "/commits/{ref...}", "checks:read|pull_requests:read", true, s.getOfCommit},
	}
}

// checkBody is the body of POST and PATCH for a check run.
type checkBody struct {
	Name       string         `json:"name"`
	HeadSHA    string         `json:"head_sha"`
	ExternalID *string        `json:"external_id"`
	DetailsURL *string        `json:"details_url"`
	Status     string         `json:"status"`
	Conclusion string         `json:"conclusion"`
	Actions    *[]CheckAction `json:"actions"`
	Output     *struct {
		Title       string       `json:"title"`
		Summary     string       `json:"summary"`
		Text        *string      `json:"text"`
		Annotations []Annotation `json:"annotations"`
	} `json:"output"`
}

var (
	statuses    = []string{"queued", "in_progress", "completed"}
	conclusions = []string{"action_required", "cancelled", "failure", "neutral", "skipped", "success", "timed_out"}
	levels      = []string{"notice", "warning", "failure"}
	webAddress  = regexp.MustCompile(`^https?://`)
)

const maxText = 65535 // of a summary, a text and an annotation's message

// wrong returns the field that GitHub would refuse; empty: none. https://docs.github.com/rest/checks/runs#create-a-check-run
func (b checkBody) wrong() string {
	switch {
	case b.Status != "" && !slices.Contains(statuses, b.Status):
		return "status"
	case b.Conclusion != "" && !slices.Contains(conclusions, b.Conclusion):
		return "conclusion"
	case b.Status == "completed" && b.Conclusion == "":
		return "conclusion"
	case b.DetailsURL != nil && !webAddress.MatchString(*b.DetailsURL):
		return "details_url"
	case b.Output != nil && (b.Output.Title == "" || b.Output.Summary == "" || runes(b.Output.Summary) > maxText):
		return "output"
	case b.Output != nil && b.Output.Text != nil && runes(*b.Output.Text) > maxText:
		return "output"
	case b.Output != nil && (len(b.Output.Annotations) > 50 || slices.ContainsFunc(b.Output.Annotations, Annotation.wrong)):
		return "annotations"
	case b.Actions != nil && (len(*b.Actions) > 3 || slices.ContainsFunc(*b.Actions, CheckAction.wrong)):
		return "actions"
	}
	return ""
}

func runes(s string) int { return utf8.RuneCountInString(s) }

func (a Annotation) wrong() bool {
	columns := a.StartColumn != nil || a.EndColumn != nil
	return a.Path == "" || a.Message == "" || runes(a.Message) > maxText || runes(a.Title) > 255 || a.StartLine < 1 ||
		a.EndLine < a.StartLine || !slices.Contains(levels, a.Level) || columns && a.StartLine != a.EndLine
}

func (a CheckAction) wrong() bool {
	bad := func(s string, most int) bool { return s == "" || runes(s) > most }
	return bad(a.Label, 20) || bad(a.Description, 40) || bad(a.Identifier, 20)
}

// apply changes a run. A conclusion completes it, and a completed run never goes back: GitHub changes its text but not its status.
// Annotations are added to the existing ones.
func (b checkBody) apply(c *Check, now time.Time) {
	set(&c.ExternalID, b.ExternalID)
	set(&c.DetailsURL, b.DetailsURL)
	set(&c.Actions, b.Actions)
	c.Name = cmp.Or(b.Name, c.Name)
	if b.Output != nil {
		c.Title, c.Summary = b.Output.Title, b.Output.Summary
		set(&c.Text, b.Output.Text)
		c.Annotations = append(c.Annotations, b.Output.Annotations...)
	}
	if b.Conclusion != "" {
		c.Conclusion, c.Status = b.Conclusion, "completed"
		if c.CompletedAt == nil {
			c.CompletedAt = &now
		}
	} else if b.Status != "" && c.Status != "completed" {
		c.Status = b.Status
	}
}

func set[T any](to *T, from *T) {
	if from != nil {
		*to = *from
	}
}

// endUnlessApp lets only Apps write check runs, as GitHub does.
func endUnlessApp(c caller) {
	endIf(!c.app, http.StatusForbidden, "You must authenticate via a GitHub App.")
}

func (s *Server) postCheck(w http.ResponseWriter, r *http.Request, c caller) {
	var body checkBody
	endUnlessApp(c)
	decodeBody(r, &body)
	field := body.wrong()
	if body.Name == "" {
		field = "name"
	}
	c.at.look(func(_ *world, repo *repository) {
		endIf(repo.Commits[body.HeadSHA] == nil, http.StatusUnprocessableEntity, "No commit found for SHA: "+body.HeadSHA)
	})
	endInvalid(field != "", "CheckRun", field, "invalid")
	now := s.now().UTC().Truncate(time.Second)
	made := &Check{Head: body.HeadSHA, Status: "queued", StartedAt: now}
	body.apply(made, now)
	err := c.at.do(func(world *world, repo *repository) ([]Event, error) {
		made.ID = world.id()
		repo.Checks = append(repo.Checks, made)
		s.fresh(repo.ID, made.ID)
		events := []Event{s.checkEvent(world, repo, "created", c.login, made)}
		if made.Status == "completed" {
			events = append(events, s.checkEvent(world, repo, "completed", c.login, made))
		}
		return append(events, s.advanceQueue(world, repo)...), nil
	})
	endOnError(err, "CheckRun", "")
	s.showCheck(w, http.StatusCreated, c, made.ID)
}

func (s *Server) patchCheck(w http.ResponseWriter, r *http.Request, c caller) {
	var body checkBody
	endUnlessApp(c)
	decodeBody(r, &body)
	field := body.wrong()
	endInvalid(field != "", "CheckRun", field, "invalid")
	err := c.at.do(func(world *world, repo *repository) ([]Event, error) {
		found := repo.check(id(r, "id"))
		must.EndIf(found == nil, errNotFound)
		was := found.Status
		body.apply(found, s.now().UTC().Truncate(time.Second))
		if found.Status != "completed" || was == "completed" {
			return s.advanceQueue(world, repo), nil
		}
		return append([]Event{s.checkEvent(world, repo, "completed", c.login, found)}, s.advanceQueue(world, repo)...), nil
	})
	endOnError(err, "CheckRun", "")
	s.showCheck(w, http.StatusOK, c, id(r, "id"))
}

func (s *Server) showCheck(w http.ResponseWriter, status int, c caller, id int64) {
	var shape object
	c.at.look(func(world *world, repo *repository) {
		if found := repo.check(id); found != nil {
			shape = world.scene(s, repo).check(*found, world.onHead(repo, found.Head))
		}
	})
	endMissing(shape == nil)
	answer(w, status, shape)
}

func (s *Server) listAnnotations(w http.ResponseWriter, r *http.Request, c caller) {
	all := []object{}
	c.at.look(func(world *world, repo *repository) {
		found := repo.check(id(r, "id"))
		endMissing(found == nil)
		for _, a := range found.Annotations {
			all = append(all, world.scene(s, repo).annotation(a, found.Head))
		}
	})
	page(w, r, s.base, all, nil)
}

// getOfCommit is what hangs on a commit: check runs or pull requests.
func (s *Server) getOfCommit(w http.ResponseWriter, r *http.Request, c caller) {
	sha, pulls := strings.CutSuffix(r.PathValue("ref"), "/pulls")
	switch needs := map[bool]string{true: readPulls, false: "checks:read"}[pulls]; {
	case c.app && !c.granted(s.manifest(), needs):
		complain(w, http.StatusForbidden, "Resource not accessible by integration")
	case pulls:
		s.listPullsOf(w, r, c, sha)
	default:
		s.listChecks(w, r, c)
	}
}

// listPullsOf is GET commits/{sha}/pulls for a commit that is not in the default branch: the open pull requests with it.
func (s *Server) listPullsOf(w http.ResponseWriter, r *http.Request, c caller, sha string) {
	page(w, r, s.base, s.showPulls(c, func(pr *PullRequest) bool { return pr.Open && pr.HeadSHA == sha }), nil)
}

// listPulls returns pull requests, the newest first, and by default the open ones.
// https://docs.github.com/rest/pulls/pulls#list-pull-requests
func (s *Server) listPulls(w http.ResponseWriter, r *http.Request, c caller) {
	state, head, base := cmp.Or(r.FormValue("state"), "open"), r.FormValue("head"), r.FormValue("base")
	all := s.showPulls(c, func(pr *PullRequest) bool {
		return (state == "all" || state == stateWord(pr.Open)) && (head == "" || head == pr.HeadOwner+":"+pr.HeadRef) && (base == "" || base == pr.base())
	})
	slices.Reverse(all)
	page(w, r, s.base, all, nil)
}

// showPulls returns the repository's pull requests that are wanted, as the API shows them.
func (s *Server) showPulls(c caller, isWanted func(*PullRequest) bool) []object {
	sc, all := s.sceneOf(c.at.repo), []object{}
	c.at.look(func(world *world, repo *repository) {
		for _, pr := range repo.Pulls {
			if isWanted(pr) {
				all = append(all, sc.pull(world.snapshot(repo, pr), len(repo.conversation(pr.Number))))
			}
		}
	})
	return all
}

// listChecks is GET commits/{ref}/check-runs: the newest first, and only the latest of each name unless all are requested.
func (s *Server) listChecks(w http.ResponseWriter, r *http.Request, c caller) {
	ref, ok := strings.CutSuffix(r.PathValue("ref"), "/check-runs")
	endMissing(!ok)
	q := r.URL.Query()
	seen, all, known := map[string]bool{}, []object{}, false
	c.at.look(func(world *world, repo *repository) {
		sha := repo.resolve(ref)
		known = sha != ""
		prs := world.onHead(repo, sha)
		for _, one := range slices.Backward(repo.checksOf(sha)) {
			if name := q.Get("check_name"); name != "" && name != one.Name ||
				q.Get("status") != "" && q.Get("status") != one.Status ||
				q.Get("app_id") != "" && q.Get("app_id") != itoa(AppID) ||
				q.Get("filter") != "all" && seen[one.Name] {
				continue
			}
			seen[one.Name] = true
			all = append(all, world.scene(s, repo).check(one, prs))
		}
	})
	endIf(!known, http.StatusUnprocessableEntity, "No commit found for SHA: "+ref)
	page(w, r, s.base, all, func(part []object) any {
		return object{"total_count": len(all), "check_runs": part}
	})
}
