package api

import (
	"encoding/json"
	"net/http"
	"time"

	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/internal/eventstream"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/auditchain"
)

// ListAudit implements GET /api/v1/audit.
func (s *server) ListAudit(w http.ResponseWriter, r *http.Request, params v1.ListAuditParams) {
	q := s.newQuery(r)
	f := store.AuditFilter{Actor: params.Actor, Action: params.Action, Cluster: params.Cluster}
	f.From, f.To = q.checkSpan(params.From, params.To)
	f.Limit, f.Cursor = q.readPage(params.Limit, params.Cursor, "")
	if err := q.refusals(); err != nil {
		s.writeError(w, r, err)
		return
	}
	lines, next, err := s.Admin.Audit(r.Context(), principal(r), f)
	if err != nil {
		s.writeError(w, r, err)
		return
	}
	page := v1.AuditPage{Items: []v1.AuditEvent{}, NextCursor: next}
	for _, l := range lines {
		page.Items = append(page.Items, auditEvent(l, s.App.NameOf))
	}
	writeOK(w, page)
}

func auditEvent(l auditchain.Line, name func(string) string) v1.AuditEvent {
	return v1.AuditEvent{
		Seq: l.Seq, At: l.At.UTC(), Actor: l.Actor, ActorName: name(l.Actor), Action: l.Action, Source: l.Source, ClusterID: l.Cluster,
		Metadata: l.Metadata, Details: json.RawMessage(l.Metadata), Previous: l.Previous, Hash: l.Hash,
	}
}

// ExportAudit implements GET /api/v1/audit/export. Nothing is sent before the first page was read, so that a refusal can still be
// sent as one; a later read error breaks the connection, which no reader takes for the end.
func (s *server) ExportAudit(w http.ResponseWriter, r *http.Request, params v1.ExportAuditParams) {
	q := s.newQuery(r)
	f := store.AuditFilter{Actor: params.Actor, Action: params.Action, Cluster: params.Cluster, Oldest: true, Limit: maxLimit}
	f.From, f.To = q.checkSpan(params.From, params.To)
	if err := q.refusals(); err != nil {
		s.writeError(w, r, err)
		return
	}
	ctrl, who := http.NewResponseController(w), s.whoNow(r)
	for begun := false; ; begun = true {
		lines, next, err := s.Admin.Audit(r.Context(), who(), f)
		switch {
		case err != nil && begun:
			s.Log.ErrorContext(r.Context(), "export broken off", "request", visitOf(r).id, "err", err)
			panic(http.ErrAbortHandler)
		case err != nil:
			s.writeError(w, r, err)
			return
		case !begun:
			w.Header().Set("Content-Type", "application/x-ndjson")
			w.Header().Set("Content-Disposition", `attachment; filename="audit.ndjson"`)
			w.Header().Set("Cache-Control", "no-store")
		}
		_ = ctrl.SetWriteDeadline(time.Now().Add(eventstream.Slowest)) // a test's recorder does not support it
		out := json.NewEncoder(w)
		out.SetEscapeHTML(false)
		for _, l := range lines {
			if out.Encode(auditEvent(l, s.App.NameOf)) != nil {
				return // the reader disconnected
			}
		}
		if f.Cursor = next; next == "" {
			return
		}
	}
}

// VerifyAudit implements GET /api/v1/audit/verify.
func (s *server) VerifyAudit(w http.ResponseWriter, r *http.Request) {
	proof, err := s.Admin.VerifyAudit(r.Context(), principal(r))
	if err != nil {
		s.writeError(w, r, err)
		return
	}
	writeOK(w, auditProof(proof))
}

func auditProof(p auditchain.Proof) v1.AuditProof {
	out := v1.AuditProof{Whole: p.Whole(), Lines: p.Lines, Head: p.Head.Hash, Message: p.Text()}
	if !p.Whole() {
		out.BrokenAt = p.Breaks[0].Seq
	}
	return out
}
