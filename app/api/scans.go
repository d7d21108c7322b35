package api

import (
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store/attempts"
	"github.com/ocpctl/ocpctl/store/intake"
	"github.com/ocpctl/ocpctl/store/scans"
)

// StartScans implements POST /api/v1/scans.
func (s *server) StartScans(w http.ResponseWriter, r *http.Request) {
	var said v1.ScanRequest
	if !s.readDocument(w, r, &said, false, maxBody) {
		return
	}
	opened, err := s.Admin.StartScans(r.Context(), principal(r), said.Account, app.Origin{Source: policy.SourceAPI, Why: said.Reason})
	if err != nil {
		s.writeError(w, r, err)
		return
	}
	writeReply(w, jsonType, http.StatusAccepted, scanList(opened))
}

// ListScans implements GET /api/v1/scans.
func (s *server) ListScans(w http.ResponseWriter, r *http.Request, params v1.ListScansParams) {
	q := s.newQuery(r)
	limit, _ := q.readPage(params.Limit, "", "scn_")
	if err := q.refusals(); err != nil {
		s.writeError(w, r, err)
		return
	}
	list, err := s.Admin.Scans(r.Context(), principal(r), params.Account, limit)
	if err != nil {
		s.writeError(w, r, err)
		return
	}
	writeOK(w, scanList(list))
}

// GetScan implements GET /api/v1/scans/{id}.
func (s *server) GetScan(w http.ResponseWriter, r *http.Request, id string) {
	found, parts, err := s.Admin.Scan(r.Context(), principal(r), id)
	if err != nil {
		s.writeError(w, r, err)
		return
	}
	out := v1.ScanDetail{Scan: toScan(found), Parts: []v1.ScanPart{}}
	for _, p := range parts {
		out.Parts = append(out.Parts, v1.ScanPart{Name: p.Name, Resources: p.Resources, Calls: p.Calls, Complete: p.DoneAt != nil && p.Err == "", Error: p.Err})
	}
	writeOK(w, out)
}

func scanList(list []scans.Scan) v1.Scans {
	out := v1.Scans{Items: make([]v1.Scan, 0, len(list))}
	for _, one := range list {
		out.Items = append(out.Items, toScan(one))
	}
	return out
}

func toScan(s scans.Scan) v1.Scan {
	out := v1.Scan{
		ScanID: s.ID, JobID: s.JobID(), Platform: s.Platform, Account: s.Account, Round: s.Round, AskedBy: s.AskedBy, OpenedAt: s.OpenedAt.UTC(),
		StartedAt: when(s.ClaimedAt), EndedAt: when(s.ClosedAt), Runner: s.Runner, Reason: s.Reason, Message: s.Message, Next: s.Next,
		Resources: s.Resources, Regions: append([]string{}, s.Regions...), Calls: s.Calls, Slowed: s.Slowed,
	}
	switch {
	case s.Outcome != nil:
		out.State = string(*s.Outcome)
	case s.ClaimedAt != nil:
		out.State = "running"
	default:
		out.State = "waiting"
	}
	if s.LaunchTrouble != nil && s.ClosedAt == nil {
		out.Trouble = s.LaunchTrouble.Message
	}
	return out
}

// ClaimScan implements POST /api/v1/status/scans/{id}/claim.
func (s *server) ClaimScan(w http.ResponseWriter, r *http.Request, id string) {
	var said contract.Claim
	if !s.readReport(w, r, &said) {
		return
	}
	pod, err := intake.Claim(said)
	if err != nil {
		s.writeError(w, r, toInvalid(err))
		return
	}
	lease, err := s.Store.Scans.Claim(r.Context(), id, claimsOf(r).TokenID, pod)
	if err != nil {
		s.failRunner(w, r, err)
		return
	}
	row, err := s.Store.Scans.Scan(r.Context(), id)
	if err != nil {
		s.failRunner(w, r, err)
		return
	}
	parts, err := s.Store.Scans.Parts(r.Context(), id)
	if err != nil {
		s.failRunner(w, r, err)
		return
	}
	answer, err := s.answerFor(r, lease)
	if err != nil {
		s.writeError(w, r, err)
		return
	}
	spec := scanSpec(row, parts, s.Runner)
	spec.Proof = scans.IsProof(id)
	spec.Plans = s.App.ScanPlans(row.Platform, row.Spec.Regions)
	writeOK(w, contract.ClaimedScan{Spec: spec, Answer: answer})
}

// scanSpec is everything that a scan's runner gets. A part that an earlier runner could not complete is tried again.
func scanSpec(row scans.Scan, parts []scans.Part, set RunnerSettings) contract.ScanSpec {
	out := contract.ScanSpec{
		Scan: row.ID, Installation: row.Spec.Installation, Platform: row.Platform, Account: row.Account, HomeRegion: row.Spec.HomeRegion,
		Regions: row.Spec.Regions, BaseDomains: row.Spec.BaseDomains, CloudCredentialsRef: row.Spec.CloudCredentialsRef, CloudRole: row.Spec.CloudRole,
		CallsPerSecond: row.Spec.CallsPerSecond, Heartbeat: set.Heartbeat, Correlation: row.ID,
	}
	for _, p := range parts {
		if p.DoneAt != nil && p.Err == "" {
			out.Done = append(out.Done, p.Name)
		}
	}
	return out
}

// ReportScan implements POST /api/v1/status/scans/{id}/report.
func (s *server) ReportScan(w http.ResponseWriter, r *http.Request, id string) {
	keepOfScan(s, w, r, func(said contract.ScanReport) (attempts.Lease, error) {
		row, err := intake.ScanReport(said)
		if err != nil {
			return attempts.Lease{}, err
		}
		if room := row.Room; room != nil && !s.App.Offers(room.Profile, room.Region) { // the catalogue changed, or nobody asked for it
			row.Room = nil
		}
		return s.Store.Scans.Report(r.Context(), id, claimsOf(r).TokenID, row)
	})
}

// ResultOfScan implements POST /api/v1/status/scans/{id}/result.
func (s *server) ResultOfScan(w http.ResponseWriter, r *http.Request, id string) {
	keepOfScan(s, w, r, func(said contract.ScanResult) (attempts.Lease, error) {
		row, err := intake.ScanResult(said)
		if err != nil {
			return attempts.Lease{}, err
		}
		return s.Store.Scans.Result(r.Context(), id, claimsOf(r).TokenID, row)
	})
}

// keepOfScan passes one document of a scan's runner into the store.
func keepOfScan[Document any](s *server, w http.ResponseWriter, r *http.Request, write func(Document) (attempts.Lease, error)) {
	var said Document
	if !s.readReport(w, r, &said) {
		return
	}
	lease, err := write(said)
	var wrong intake.Invalid
	if errors.As(err, &wrong) {
		s.writeError(w, r, toInvalid(err))
		return
	}
	s.writeAnswer(w, r, lease, err)
}

// wantsCSV reports that the request asks for CSV rather than JSON.
func wantsCSV(r *http.Request, format string) bool {
	if format != "" {
		return format == "csv"
	}
	return slices.ContainsFunc(strings.Split(r.Header.Get("Accept"), ","), func(one string) bool {
		kind, _, _ := strings.Cut(one, ";")
		return strings.TrimSpace(kind) == csvType
	})
}

const csvType = "text/csv"
