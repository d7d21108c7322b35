package github

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"
)

// checkBody is what POST and PATCH of a check run take.
type checkBody struct {
	Name       string  `json:"name"`
	HeadSHA    string  `json:"head_sha"`
	ExternalID *string `json:"external_id"`
	Status     string  `json:"status"`
	Conclusion string  `json:"conclusion"`
	Output     *struct {
		Title   string `json:"title"`
		Summary string `json:"summary"`
	} `json:"output"`
}

var (
	sha         = regexp.MustCompile(`^[0-9a-f]{40}$`)
	statuses    = []string{"queued", "in_progress", "completed"}
	conclusions = []string{"action_required", "cancelled", "failure", "neutral", "skipped", "success", "timed_out"}
)

// wrong names the field GitHub would refuse; empty: none.
func (b checkBody) wrong() string {
	switch {
	case b.Status != "" && !slices.Contains(statuses, b.Status):
		return "status"
	case b.Conclusion != "" && !slices.Contains(conclusions, b.Conclusion):
		return "conclusion"
	case b.Status == "completed" && b.Conclusion == "":
		return "conclusion"
	case b.Output != nil && (b.Output.Title == "" || b.Output.Summary == "" || len([]rune(b.Output.Summary)) > 65535):
		return "output"
	}
	return ""
}

// apply changes a run. A conclusion completes it, and a completed run never goes back: GitHub takes new words for it
// but keeps its status.
func (b checkBody) apply(c *Check, now time.Time) {
	if b.ExternalID != nil {
		c.ExternalID = *b.ExternalID
	}
	if b.Name != "" {
		c.Name = b.Name
	}
	if b.Output != nil {
		c.Title, c.Summary = b.Output.Title, b.Output.Summary
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

// forApps lets only Apps write check runs, as GitHub does.
func forApps(w http.ResponseWriter, c caller) bool {
	if !c.app {
		complain(w, http.StatusForbidden, "You must authenticate via a GitHub App.")
	}
	return c.app
}

func (s *Server) postCheck(w http.ResponseWriter, r *http.Request, c caller) {
	var body checkBody
	if !forApps(w, c) || !decode(w, r, &body) {
		return
	}
	field := body.wrong()
	if body.Name == "" {
		field = "name"
	}
	if !sha.MatchString(body.HeadSHA) {
		complain(w, http.StatusUnprocessableEntity, "No commit found for SHA: "+body.HeadSHA)
		return
	}
	if field != "" {
		invalid(w, "CheckRun", field, "invalid")
		return
	}
	now := s.now().UTC().Truncate(time.Second)
	made := &Check{Head: body.HeadSHA, Status: "queued", StartedAt: now}
	body.apply(made, now)
	err := s.change(func(world *world) ([]Event, error) {
		made.ID = world.id()
		world.Checks = append(world.Checks, made)
		return nil, nil
	})
	if err != nil {
		fail(w, err, "CheckRun", "")
		return
	}
	s.showCheck(w, http.StatusCreated, made.ID)
}

func (s *Server) patchCheck(w http.ResponseWriter, r *http.Request, c caller) {
	var body checkBody
	if !forApps(w, c) || !decode(w, r, &body) {
		return
	}
	if field := body.wrong(); field != "" {
		invalid(w, "CheckRun", field, "invalid")
		return
	}
	err := s.change(func(world *world) ([]Event, error) {
		found := world.check(id(r, "id"))
		if found == nil {
			return nil, errNotFound
		}
		body.apply(found, s.now().UTC().Truncate(time.Second))
		return nil, nil
	})
	if err != nil {
		fail(w, err, "CheckRun", "")
		return
	}
	s.showCheck(w, http.StatusOK, id(r, "id"))
}

func (s *Server) getCheck(w http.ResponseWriter, r *http.Request, _ caller) {
	s.showCheck(w, http.StatusOK, id(r, "id"))
}

func (s *Server) showCheck(w http.ResponseWriter, status int, id int64) {
	var shape object
	s.look(func(world *world) {
		if c := world.check(id); c != nil {
			shape = checkShape(*c, s.base)
		}
	})
	if shape == nil {
		notFound(w)
		return
	}
	answer(w, status, shape)
}

// listChecks is GET commits/{ref}/check-runs: the newest first, and only the latest of each name unless asked for all.
func (s *Server) listChecks(w http.ResponseWriter, r *http.Request, _ caller) {
	ref, ok := strings.CutSuffix(r.PathValue("ref"), "/check-runs")
	if !ok {
		notFound(w)
		return
	}
	q := r.URL.Query()
	seen, all := map[string]bool{}, []object{}
	for _, c := range slices.Backward(s.ChecksOf(s.commit(ref))) {
		if name := q.Get("check_name"); name != "" && name != c.Name ||
			q.Get("status") != "" && q.Get("status") != c.Status ||
			q.Get("app_id") != "" && q.Get("app_id") != itoa(AppID) ||
			q.Get("filter") != "all" && seen[c.Name] {
			continue
		}
		seen[c.Name] = true
		all = append(all, checkShape(c, s.base))
	}
	page(w, r, s.base, all, func(part []object) any {
		return object{"total_count": len(all), "check_runs": part}
	})
}

// commit resolves a branch's name to its head.
func (s *Server) commit(ref string) string {
	s.look(func(w *world) {
		for _, pr := range w.Pulls {
			if strings.TrimPrefix(ref, "heads/") == pr.HeadRef {
				ref = pr.HeadSHA
			}
		}
	})
	return ref
}
