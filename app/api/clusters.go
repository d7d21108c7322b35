package api

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store"
)

const (
	defaultLimit = 50
	maxLimit     = 500
	defaultLines = 100
	maxLines     = 1000
)

// ListClusters implements GET /api/v1/clusters.
func (s *server) ListClusters(w http.ResponseWriter, r *http.Request, params ListClustersParams) {
	filter, err := filterOf(r, params)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	rows, next, err := s.Desk.List(r.Context(), principal(r), filter)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	page := ClusterPage{Items: make([]Cluster, 0, len(rows)), NextCursor: next}
	for _, row := range rows {
		page.Items = append(page.Items, cluster(row))
	}
	ok(w, page)
}

// filters are the parameters of a list, as openapi.yaml has them.
var filters = []string{"status", "platform", "owner", "team", "cursor", "limit"}

// filterOf checks every parameter and tells everything that is wrong at once.
func filterOf(r *http.Request, params ListClustersParams) (store.Filter, error) {
	f := store.Filter{
		Platform: params.Platform, Owner: params.Owner, Team: params.Team, Cursor: params.Cursor, Limit: params.Limit,
	}
	var wrong []app.Field
	for _, name := range slices.Sorted(maps.Keys(r.URL.Query())) {
		if !slices.Contains(filters, name) { // a filter that is misspelt would show everything
			wrong = append(wrong, app.Field{Name: name, Detail: "there is no such parameter", Accept: filters})
		}
	}
	accepted := statusNames()
	for _, name := range params.Status {
		for one := range strings.SplitSeq(name, ",") {
			if !slices.Contains(accepted, one) {
				wrong = append(wrong, app.Field{Name: "status", Detail: fmt.Sprintf("there is no status %q", one), Accept: accepted})
				continue
			}
			f.Status = append(f.Status, lifecycle.Status(one))
		}
	}
	if !r.URL.Query().Has("limit") {
		f.Limit = defaultLimit
	}
	if f.Limit < 1 || f.Limit > maxLimit {
		wrong = append(wrong, app.Field{Name: "limit", Detail: fmt.Sprintf("%d is out of bounds", f.Limit), Accept: []string{"1 to 500"}})
	}
	if f.Cursor != "" && !strings.HasPrefix(f.Cursor, "clu_") {
		wrong = append(wrong, app.Field{Name: "cursor", Detail: "it is not one of ours", Accept: []string{"the nextCursor of the page before"}})
	}
	if len(wrong) > 0 {
		return store.Filter{}, &app.Error{Kind: app.Invalid, Message: "The request has invalid parameters.", Fields: wrong}
	}
	return f, nil
}

func statusNames() []string {
	var names []string
	for _, status := range slices.Sorted(maps.Keys(lifecycle.Phases)) {
		names = append(names, string(status))
	}
	return names
}

// GetCluster implements GET /api/v1/clusters/{id}.
func (s *server) GetCluster(w http.ResponseWriter, r *http.Request, id ID) {
	found, err := s.Desk.Get(r.Context(), principal(r), id, 0)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	body, err := detail(found)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	ok(w, body)
}

// GetOutputs implements GET /api/v1/clusters/{id}/outputs.
func (s *server) GetOutputs(w http.ResponseWriter, r *http.Request, id ID) {
	row, err := s.Desk.Outputs(r.Context(), principal(r), id)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	ok(w, outputs(row))
}

// GetKubeconfig implements GET /api/v1/clusters/{id}/kubeconfig.
func (s *server) GetKubeconfig(w http.ResponseWriter, r *http.Request, id ID) {
	raw, err := s.Desk.Kubeconfig(r.Context(), principal(r), id)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	w.Header().Set("Content-Type", "application/yaml")
	w.Header().Set("Content-Disposition", fmt.Sprintf("attachment; filename=%q", id+".kubeconfig"))
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	_, _ = w.Write(raw) // a client that went away will ask again
}

// AbandonCluster implements POST /api/v1/clusters/{id}/abandon.
func (s *server) AbandonCluster(w http.ResponseWriter, r *http.Request, id ID) {
	s.change(w, r, id, s.Desk.Abandon)
}

// RetryTeardown implements POST /api/v1/clusters/{id}/retry.
func (s *server) RetryTeardown(w http.ResponseWriter, r *http.Request, id ID) {
	s.change(w, r, id, s.Desk.RetryTeardown)
}

// change reads a reason, asks the desk, and answers with the cluster as it stands then.
func (s *server) change(w http.ResponseWriter, r *http.Request, id ID,
	ask func(ctx context.Context, p policy.Principal, id, reason string) (store.Row, error)) {
	var said Reason
	if !s.hear(w, r, &said) {
		return
	}
	row, err := ask(r.Context(), principal(r), id, said.Reason)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	ok(w, cluster(row))
}

// GetJob implements GET /api/v1/jobs/{id}.
func (s *server) GetJob(w http.ResponseWriter, r *http.Request, id ID, params GetJobParams) {
	lines := params.Lines
	if !r.URL.Query().Has("lines") {
		lines = defaultLines
	}
	if lines < 0 || lines > maxLines {
		s.fail(w, r, &app.Error{Kind: app.Invalid, Message: "The request has an invalid parameter.", Fields: []app.Field{
			{Name: "lines", Detail: fmt.Sprintf("%d is out of bounds", lines), Accept: []string{"0 to 1000"}},
		}})
		return
	}
	found, err := s.Desk.Job(r.Context(), principal(r), id, lines)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	ok(w, JobDetail{Job: job(found.Job), Log: append([]string{}, found.Log...)})
}
