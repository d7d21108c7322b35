package api

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/chatops/messages"
	"github.com/ocpctl/ocpctl/internal/filter"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store"
)

// ListClusters implements GET /api/v1/clusters.
func (s *server) ListClusters(w http.ResponseWriter, r *http.Request, params v1.ListClustersParams) {
	q := s.newQuery(r)
	f := store.Filter{Run: runRef(params.Run), Current: params.Live, Status: q.parseStatuses(params.Status)}
	f.Limit, f.Cursor = q.readPage(params.Limit, params.Cursor, "clu_")
	found, err := s.readFilter(q, params.Filter)
	if err = cmp.Or(err, q.refusals()); err != nil {
		s.writeError(w, r, err)
		return
	}
	f.Query = found.WithText(filter.Platform, platformAlias(params.Platform)).WithText(filter.Owner, params.Owner).WithText(filter.Team, params.Team).
		WithText(filter.Profile, params.Profile).WithText(filter.Name, params.Name)
	rows, next, err := s.App.List(r.Context(), principal(r), f)
	if err != nil {
		s.writeError(w, r, err)
		return
	}
	page := v1.ClusterPage{Items: make([]v1.Cluster, 0, len(rows)), NextCursor: next}
	for _, row := range rows {
		page.Items = append(page.Items, toCluster(row, s.App.NameOf))
	}
	writeOK(w, page)
}

// parseStatuses parses a list of statuses, repeated or separated by commas.
func (q *query) parseStatuses(given []string) (out []lifecycle.Status) {
	accepted := statusNames()
	for _, list := range given {
		for one := range strings.SplitSeq(list, ",") {
			if !slices.Contains(accepted, one) {
				q.addRefusal("status", fmt.Sprintf("the status %q does not exist", one), accepted...)
				continue
			}
			out = append(out, lifecycle.Status(one))
		}
	}
	return out
}

func statusNames() []string {
	var names []string
	for _, status := range slices.Sorted(maps.Keys(lifecycle.Phases)) {
		names = append(names, string(status))
	}
	return names
}

// platformAlias resolves the short name of a platform.
func platformAlias(name string) string {
	if name == "ibm" {
		return "ibmcloud"
	}
	return name
}

// GetCluster implements GET /api/v1/clusters/{id}.
func (s *server) GetCluster(w http.ResponseWriter, r *http.Request, id string) {
	found, err := s.App.Get(r.Context(), principal(r), id, 0)
	if err != nil {
		s.writeError(w, r, err)
		return
	}
	body, err := toDetail(found, s.App.NameOf)
	if err != nil {
		s.writeError(w, r, err)
		return
	}
	setETag(w, found.Row)
	writeOK(w, body)
}

// GetOutputs implements GET /api/v1/clusters/{id}/outputs.
func (s *server) GetOutputs(w http.ResponseWriter, r *http.Request, id string) {
	row, err := s.App.Outputs(r.Context(), principal(r), id, app.Origin{Source: policy.SourceAPI})
	if err != nil {
		s.writeError(w, r, err)
		return
	}
	writeOK(w, outputs(row))
}

// GetTimeline implements GET /api/v1/clusters/{id}/timeline.
func (s *server) GetTimeline(w http.ResponseWriter, r *http.Request, id string) {
	found, err := s.App.Timeline(r.Context(), principal(r), id)
	if err != nil {
		s.writeError(w, r, err)
		return
	}
	writeOK(w, v1.Timeline{Items: toEvents(found, s.App.NameOf)})
}

// ExplainCluster implements GET /api/v1/clusters/{id}/explain.
func (s *server) ExplainCluster(w http.ResponseWriter, r *http.Request, id string) {
	found, err := s.App.Explain(r.Context(), principal(r), id)
	if err != nil {
		s.writeError(w, r, err)
		return
	}
	out := v1.Explanation{
		Cluster: toCluster(found.Row, s.App.NameOf), Why: append([]string{messages.StateReason(found.Row.Card, found.Row.Name)}, found.Why...),
		Ends: []v1.End{}, Next: []string{},
	}
	for _, step := range found.Next {
		out.Next = append(out.Next, step.String())
	}
	if found.Verdict != nil {
		out.Verdict = toVerdict(*found.Verdict)
	}
	for _, e := range found.Ends {
		out.Ends = append(out.Ends, v1.End{Kind: e.Kind, At: e.At.UTC(), Message: e.Message})
	}
	setETag(w, found.Row)
	writeOK(w, out)
}
