package api

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	"github.com/ocpctl/ocpctl/app/admin"
	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/internal/download"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/scans"
)

// ListOrphans implements GET /api/v1/orphans.
func (s *server) ListOrphans(w http.ResponseWriter, r *http.Request, params v1.ListOrphansParams) {
	q := s.newQuery(r)
	f := scans.Filter{
		Class: lifecycle.OrphanClass(q.readChoice("class", params.Class, toTexts(lifecycle.OrphanClasses)...)),
		State: lifecycle.OrphanState(q.readChoice("state", params.State, toTexts(lifecycle.OrphanStates)...)),
		Owner: params.Owner, Team: params.Team, Account: params.Account, Gone: params.Gone,
	}
	f.Limit, f.Cursor = q.readPage(params.Limit, params.Cursor, "orp_")
	q.readChoice("format", params.Format, "json", "csv")
	if err := q.refusals(); err != nil {
		s.writeError(w, r, err)
		return
	}
	list, next, err := s.Admin.Orphans(r.Context(), principal(r), f)
	if err != nil {
		s.writeError(w, r, err)
		return
	}
	if wantsCSV(r, params.Format) {
		if next != "" {
			w.Header().Set("Link", fmt.Sprintf("<%s>; rel=\"next\"", nextPage(r, next)))
		}
		if begun, err := download.Send(w, "orphans.csv", csvType+"; charset=utf-8", func(to io.Writer) error { return admin.WriteOrphans(to, list) }); err != nil && !begun {
			s.writeError(w, r, err)
		}
		return
	}
	page := v1.OrphanPage{Items: make([]v1.Orphan, 0, len(list)), NextCursor: next}
	for _, one := range list {
		page.Items = append(page.Items, toOrphan(one))
	}
	writeOK(w, page)
}

// nextPage is the address of the page that follows.
func nextPage(r *http.Request, cursor string) string {
	query := r.URL.Query()
	query.Set("cursor", cursor)
	return r.URL.Path + "?" + query.Encode()
}

// GetOrphan implements GET /api/v1/orphans/{id}.
func (s *server) GetOrphan(w http.ResponseWriter, r *http.Request, id string) {
	found, parts, err := s.Admin.Orphan(r.Context(), principal(r), id)
	if err != nil {
		s.writeError(w, r, err)
		return
	}
	out := v1.OrphanDetail{Orphan: toOrphan(found), Parts: []v1.OrphanPart{}}
	for _, p := range parts {
		part, err := orphanPart(p)
		if err != nil {
			s.writeError(w, r, err)
			return
		}
		out.Parts = append(out.Parts, part)
	}
	writeOK(w, out)
}

func toOrphan(o admin.Orphan) v1.Orphan {
	return v1.Orphan{
		OrphanID: o.ID, Class: string(o.Class), State: string(o.State), StateAt: o.StateAt.UTC(), StateWhy: o.StateReason(), DecidedBy: o.DecidedBy,
		Why: o.Why, Next: o.Next, Platform: o.Platform, Account: o.Account, Regions: append([]string{}, o.Regions...), Installation: o.Installation,
		ClusterTag: o.ClusterTag, Identity: o.Identity, Place: o.Place, ClusterID: valueOrEmpty(o.ClusterID), ClusterName: o.Name, Owner: o.Owner, Team: o.Team,
		Managed: o.ManagedBy, Resources: o.Resources, Evidence: append([]string{}, o.Evidence...), HourlyCents: o.HourlyCents, CostCents: o.CostCents,
		Unpriced: o.Unpriced, FirstSeenAt: o.FirstSeenAt.UTC(), LastSeenAt: o.LastSeenAt.UTC(), Sights: o.Sights, ReportedAt: when(o.ReportedAt),
		GoneAt: when(o.GoneAt), CleanupClusterID: valueOrEmpty(o.CleanupCluster),
	}
}

func orphanPart(row scans.SeenRow) (v1.OrphanPart, error) {
	var seen contract.SeenResource
	if err := json.Unmarshal(row.Resource, &seen); err != nil {
		return v1.OrphanPart{}, fmt.Errorf("read resource %s: %w", row.ID, err)
	}
	return v1.OrphanPart{
		ID: row.ID, Type: seen.Type, Region: seen.Region, Name: seen.Name, Within: seen.Within, Detail: seen.Detail, Stopped: seen.Stopped, Tags: seen.Tags,
		FirstSeenAt: row.FirstSeenAt.UTC(), LastSeenAt: row.LastSeenAt.UTC(),
	}, nil
}

func valueOrEmpty(of *string) string {
	if of == nil {
		return ""
	}
	return *of
}

func toTexts[T ~string](list []T) (out []string) {
	for _, one := range list {
		out = append(out, string(one))
	}
	return out
}
