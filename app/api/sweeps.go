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
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/intake"
	"github.com/ocpctl/ocpctl/store/sweeps"
)

// StartSweeps implements POST /api/v1/sweeps.
func (s *server) StartSweeps(w http.ResponseWriter, r *http.Request) {
	var said v1.SweepRequest
	if !s.read(w, r, &said, false, maxBody) {
		return
	}
	opened, err := s.Admin.StartSweeps(r.Context(), principal(r), said.Account, app.Origin{Source: policy.SourceAPI, Why: said.Reason})
	if err != nil {
		s.fail(w, r, err)
		return
	}
	reply(w, jsonType, http.StatusAccepted, sweepList(opened))
}

// ListSweeps implements GET /api/v1/sweeps.
func (s *server) ListSweeps(w http.ResponseWriter, r *http.Request, params v1.ListSweepsParams) {
	q := s.query(r)
	limit, _ := q.page(params.Limit, "", "swp_")
	if err := q.err(); err != nil {
		s.fail(w, r, err)
		return
	}
	list, err := s.Admin.Sweeps(r.Context(), principal(r), params.Account, limit)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	ok(w, sweepList(list))
}

// GetSweep implements GET /api/v1/sweeps/{id}.
func (s *server) GetSweep(w http.ResponseWriter, r *http.Request, id string) {
	found, parts, err := s.Admin.Sweep(r.Context(), principal(r), id)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	out := v1.SweepDetail{Sweep: sweep(found), Parts: []v1.SweepPart{}}
	for _, p := range parts {
		out.Parts = append(out.Parts, v1.SweepPart{Name: p.Name, Resources: p.Resources, Calls: p.Calls, Complete: p.DoneAt != nil && p.Err == "", Error: p.Err})
	}
	ok(w, out)
}

func sweepList(list []sweeps.Sweep) v1.Sweeps {
	out := v1.Sweeps{Items: make([]v1.Sweep, 0, len(list))}
	for _, one := range list {
		out.Items = append(out.Items, sweep(one))
	}
	return out
}

func sweep(s sweeps.Sweep) v1.Sweep {
	out := v1.Sweep{
		SweepID: s.ID, JobID: s.JobID(), Platform: s.Platform, Account: s.Account, Round: s.Round, AskedBy: s.AskedBy, OpenedAt: s.OpenedAt.UTC(),
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

// ClaimSweep implements POST /api/v1/status/sweeps/{id}/claim.
func (s *server) ClaimSweep(w http.ResponseWriter, r *http.Request, id string) {
	var said contract.Claim
	if !s.hear(w, r, &said) {
		return
	}
	pod, err := intake.Claim(said)
	if err != nil {
		s.fail(w, r, invalid(err))
		return
	}
	lease, err := s.Store.Sweeps.Claim(r.Context(), id, claims(r).TokenID, pod)
	if err != nil {
		s.failRunner(w, r, err)
		return
	}
	row, err := s.Store.Sweeps.Sweep(r.Context(), id)
	if err != nil {
		s.failRunner(w, r, err)
		return
	}
	parts, err := s.Store.Sweeps.Parts(r.Context(), id)
	if err != nil {
		s.failRunner(w, r, err)
		return
	}
	answer, err := s.answer(r, lease)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	ok(w, contract.ClaimedSweep{Spec: sweepSpec(row, parts, s.Runner), Answer: answer})
}

// sweepSpec is everything that a sweep's runner gets. A part that an earlier runner could not complete is tried again.
func sweepSpec(row sweeps.Sweep, parts []sweeps.Part, set RunnerSettings) contract.SweepSpec {
	out := contract.SweepSpec{
		Sweep: row.ID, Installation: row.Spec.Installation, Platform: row.Platform, Account: row.Account, HomeRegion: row.Spec.HomeRegion,
		Regions: row.Spec.Regions, BaseDomains: row.Spec.BaseDomains, CloudCredentialsRef: row.Spec.CloudCredentialsRef,
		CallsPerSecond: row.Spec.CallsPerSecond, Heartbeat: set.Heartbeat, Correlation: row.ID,
	}
	for _, p := range parts {
		if p.DoneAt != nil && p.Err == "" {
			out.Done = append(out.Done, p.Name)
		}
	}
	return out
}

// ReportSweep implements POST /api/v1/status/sweeps/{id}/report.
func (s *server) ReportSweep(w http.ResponseWriter, r *http.Request, id string) {
	keepOfSweep(s, w, r, func(said contract.SweepReport) (store.Lease, error) {
		row, err := intake.SweepReport(said)
		if err != nil {
			return store.Lease{}, err
		}
		return s.Store.Sweeps.Report(r.Context(), id, claims(r).TokenID, row)
	})
}

// ResultOfSweep implements POST /api/v1/status/sweeps/{id}/result.
func (s *server) ResultOfSweep(w http.ResponseWriter, r *http.Request, id string) {
	keepOfSweep(s, w, r, func(said contract.SweepResult) (store.Lease, error) {
		row, err := intake.SweepResult(said)
		if err != nil {
			return store.Lease{}, err
		}
		return s.Store.Sweeps.Result(r.Context(), id, claims(r).TokenID, row)
	})
}

// keepOfSweep passes one document of a sweep's runner into the store.
func keepOfSweep[Document any](s *server, w http.ResponseWriter, r *http.Request, write func(Document) (store.Lease, error)) {
	var said Document
	if !s.hear(w, r, &said) {
		return
	}
	lease, err := write(said)
	var wrong intake.Invalid
	if errors.As(err, &wrong) {
		s.fail(w, r, invalid(err))
		return
	}
	s.acknowledge(w, r, lease, err)
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
