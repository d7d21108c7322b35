package api

import (
	"net/http"
	"strconv"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store/inbox"
	"github.com/ocpctl/ocpctl/store/reports"
)

// ListDeliveries implements GET /api/v1/deliveries.
func (s *server) ListDeliveries(w http.ResponseWriter, r *http.Request, params v1.ListDeliveriesParams) {
	q := s.newQuery(r)
	state := q.readChoice("state", params.State, string(inbox.DeliveryReceived), string(inbox.DeliveryDone), string(inbox.DeliveryFailed))
	f := inbox.DeliveryFilter{Source: params.Source, Event: params.Event, Topic: params.Topic, State: inbox.DeliveryState(state)}
	f.Limit, f.Cursor = q.readPage(params.Limit, params.Cursor, "")
	if err := q.refusals(); err != nil {
		s.writeError(w, r, err)
		return
	}
	list, next, err := s.Admin.Deliveries(r.Context(), principal(r), f)
	if err != nil {
		s.writeError(w, r, err)
		return
	}
	page := v1.DeliveryPage{Items: []v1.Delivery{}, NextCursor: next}
	for _, d := range list {
		page.Items = append(page.Items, toDelivery(d))
	}
	writeOK(w, page)
}

// GetDelivery implements GET /api/v1/deliveries/{id}.
func (s *server) GetDelivery(w http.ResponseWriter, r *http.Request, id string) {
	found, body, err := s.Admin.Delivery(r.Context(), principal(r), id, app.Origin{Source: policy.SourceAPI})
	if err != nil {
		s.writeError(w, r, err)
		return
	}
	writeOK(w, v1.DeliveryDetail{Delivery: toDelivery(found), Body: string(body)})
}

// ReplayDelivery implements POST /api/v1/deliveries/{id}/replay.
func (s *server) ReplayDelivery(w http.ResponseWriter, r *http.Request, id string) {
	var said v1.Reason
	if !s.readDocument(w, r, &said, false, maxBody) {
		return
	}
	again, err := s.Admin.Replay(r.Context(), principal(r), id, app.Origin{Source: policy.SourceAPI, Why: said.Reason})
	if err != nil {
		s.writeError(w, r, err)
		return
	}
	writeReply(w, jsonType, http.StatusAccepted, toDelivery(again))
}

func toDelivery(d inbox.DeliveryInfo) v1.Delivery {
	return v1.Delivery{
		ID: strconv.FormatInt(d.Row, 10), Source: d.Source, DeliveryID: d.ID, Event: d.Event, Topic: d.Topic, State: v1.DeliveryState(d.State),
		Reason: v1.DeliveryReason(d.Reason), Note: d.Note, ReceivedAt: d.ReceivedAt.UTC(), FinishedAt: when(d.FinishedAt), Size: d.Size,
	}
}

// findingKinds returns the kinds by which findings can be filtered.
func findingKinds() (names []string) {
	for _, kind := range lifecycle.FindingKinds() {
		names = append(names, string(kind))
	}
	return names
}

// ListFindings implements GET /api/v1/findings.
func (s *server) ListFindings(w http.ResponseWriter, r *http.Request, params v1.ListFindingsParams) {
	q := s.newQuery(r)
	kind := q.readChoice("kind", params.Kind, findingKinds()...)
	if err := q.refusals(); err != nil {
		s.writeError(w, r, err)
		return
	}
	list, err := s.Admin.Findings(r.Context(), principal(r), reports.FindingFilter{Kind: lifecycle.FindingKind(kind), Resolved: params.All, Newest: true})
	if err != nil {
		s.writeError(w, r, err)
		return
	}
	out := v1.Findings{Items: []v1.Finding{}}
	for _, f := range list {
		out.Items = append(out.Items, v1.Finding{
			Kind: v1.FindingKind(f.Kind), ClusterID: f.Cluster, ClusterName: f.ClusterName, Identity: f.Identity, Why: f.Why, Evidence: append([]string{}, f.Evidence...),
			Since: f.Since.UTC(), FirstSeenAt: f.FirstSeenAt.UTC(), LastSeenAt: f.LastSeenAt.UTC(), TimesSeen: f.TimesSeen, ResolvedAt: when(f.ResolvedAt),
		})
	}
	writeOK(w, out)
}
