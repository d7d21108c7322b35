package api

import (
	"cmp"
	"net/http"
	"regexp"
	"strings"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store/runs"
)

// clusterRun converts the run of a cluster for the API; zero: it belongs to none.
func clusterRun(r lifecycle.Run) v1.ClusterRun {
	if r.ID == "" {
		return v1.ClusterRun{}
	}
	return v1.ClusterRun{
		ID: r.ID, Platform: v1.ClusterRunPlatform(r.Platform), Key: r.Key, Repo: r.Repo, Name: r.Name, URL: r.URL, Attempt: r.Attempt, Slot: r.Slot,
		Lifetime: v1.ClusterRunLifetime(r.Lifetime), State: v1.ClusterRunState(r.State), Conclusion: r.Conclusion, Watched: r.Unwatched == "", Unwatched: r.Unwatched,
	}
}

// clusterSignal converts the newest signal of a cluster for the API; zero: no pipeline asked for one.
func clusterSignal(g lifecycle.Signal) v1.ClusterSignal {
	return v1.ClusterSignal{Kind: v1.ClusterSignalKind(g.Kind), Told: v1.ClusterSignalTold(g.Told), Problem: g.Problem}
}

// belowRun matches the address of a page below a run's on GitHub.
var belowRun = regexp.MustCompile(`(/actions/runs/[0-9]+)/.*$`)

// runRef returns a run's id or address as it is stored, from any address below its page.
func runRef(given string) string {
	for _, below := range []string{"?", "#"} {
		given, _, _ = strings.Cut(given, below)
	}
	return strings.TrimSuffix(belowRun.ReplaceAllString(given, "$1"), "/")
}

// ListUses implements GET /api/v1/clusters/{id}/uses.
func (s *server) ListUses(w http.ResponseWriter, r *http.Request, id string, params v1.ListUsesParams) {
	named := policy.PipelineRun{Kind: string(params.RunKind), Name: params.RunName, UID: params.RunUID}
	list, err := s.App.Uses(r.Context(), principal(r), id, named)
	if err != nil {
		s.writeError(w, r, err)
		return
	}
	out := v1.Uses{Items: []v1.Use{}}
	for _, one := range list {
		out.Items = append(out.Items, toUse(one))
	}
	writeOK(w, out)
}

// AskUse implements POST /api/v1/clusters/{id}/uses.
func (s *server) AskUse(w http.ResponseWriter, r *http.Request, id string) {
	var said v1.UseRequest
	if !s.readDocument(w, r, &said, true, maxBody) {
		return
	}
	named := policy.PipelineRun{Kind: string(said.Kind), Name: said.Name, UID: said.UID}
	one, fresh, err := s.App.AskUse(r.Context(), principal(r), id, named, app.Origin{Source: policy.SourceAPI})
	if err != nil {
		s.writeError(w, r, err)
		return
	}
	status := http.StatusOK
	if fresh {
		status = http.StatusCreated
	}
	writeReply(w, jsonType, status, toUse(one))
}

// GetUse implements GET /api/v1/clusters/{id}/uses/{use}.
func (s *server) GetUse(w http.ResponseWriter, r *http.Request, id string, useID string) {
	one, err := s.App.Use(r.Context(), principal(r), id, useID)
	s.writeUse(w, r, one, err)
}

// ReleaseUse implements DELETE /api/v1/clusters/{id}/uses/{use}.
func (s *server) ReleaseUse(w http.ResponseWriter, r *http.Request, id string, useID string) {
	one, err := s.App.ReleaseUse(r.Context(), principal(r), id, useID, app.Origin{Source: policy.SourceAPI})
	s.writeUse(w, r, one, err)
}

func (s *server) writeUse(w http.ResponseWriter, r *http.Request, one app.Use, err error) {
	if err != nil {
		s.writeError(w, r, err)
		return
	}
	writeOK(w, toUse(one))
}

// toUse converts a turn for the API.
func toUse(u app.Use) v1.Use {
	out := v1.Use{
		ID: u.ID, ClusterID: u.Cluster, State: v1.UseState(u.State()), Run: runOf(u.Use), Attempt: u.Attempt, Job: u.Job, Principal: u.Principal, Mine: u.Mine,
		AskedAt: u.AskedAt.UTC(), GrantedAt: when(u.GrantedAt), ReleasedAt: when(u.ReleasedAt), Why: u.Why, Position: len(u.Ahead),
	}
	for _, other := range u.Ahead {
		since := other.AskedAt
		if other.GrantedAt != nil {
			since = *other.GrantedAt
		}
		out.Ahead = append(out.Ahead, v1.UseAhead{Run: runOf(other), Since: since.UTC()})
	}
	return out
}

// runOf is the address of a turn's run, else its name.
func runOf(u runs.Use) string { return cmp.Or(u.RunURL, u.RunName) }
