package api

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/chatops/messages"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store/clusters"
)

// originOf returns the origin and reason of a request, with the version from its If-Match.
func originOf(ifMatch, why string) (app.Origin, error) {
	version, err := match(ifMatch)
	return app.Origin{Source: policy.SourceAPI, Why: why, Version: version}, err
}

// DestroyCluster implements POST /api/v1/clusters/{id}/destroy.
func (s *server) DestroyCluster(w http.ResponseWriter, r *http.Request, id ID, params DestroyClusterParams) {
	var said MaybeReason
	if !s.read(w, r, &said, true, maxBody) {
		return
	}
	d, err := originOf(params.IfMatch, said.Reason)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	row, job, err := s.App.Destroy(r.Context(), principal(r), id, d)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	s.begun(w, row, job, messages.Destroying(row.Card))
}

// begun answers that a job was started or is running.
func (s *server) begun(w http.ResponseWriter, row clusters.Row, job, text string) {
	tag(w, row)
	reply(w, jsonType, http.StatusAccepted, Accepted{
		ClusterID: row.ID, JobID: job, Status: Status(row.Status), Name: row.Name, URL: s.page(row), DestroyAt: row.DestroyAt.UTC(), Message: text,
	})
}

// ExtendCluster implements POST /api/v1/clusters/{id}/extend.
func (s *server) ExtendCluster(w http.ResponseWriter, r *http.Request, id ID, params ExtendClusterParams) {
	var said Extend
	if !s.read(w, r, &said, false, maxBody) {
		return
	}
	s.change(w, r, params.IfMatch, "", func(ctx context.Context, d app.Origin) (app.Change, error) {
		return s.App.Extend(ctx, principal(r), id, app.Span{Hours: said.Hours, Until: said.Until}, d)
	})
}

// HoldCluster implements POST /api/v1/clusters/{id}/hold.
func (s *server) HoldCluster(w http.ResponseWriter, r *http.Request, id ID, params HoldClusterParams) {
	var said Hold
	if !s.read(w, r, &said, false, maxBody) {
		return
	}
	s.change(w, r, params.IfMatch, said.Reason, func(ctx context.Context, d app.Origin) (app.Change, error) {
		return s.App.Hold(ctx, principal(r), id, app.Span{Hours: said.Hours, Until: said.Until, Tonight: said.Tonight}, d)
	})
}

// ReleaseHold implements DELETE /api/v1/clusters/{id}/hold.
func (s *server) ReleaseHold(w http.ResponseWriter, r *http.Request, id ID, params ReleaseHoldParams) {
	s.change(w, r, params.IfMatch, "", func(ctx context.Context, d app.Origin) (app.Change, error) {
		return s.App.ReleaseHold(ctx, principal(r), id, d)
	})
}

// TransferCluster implements POST /api/v1/clusters/{id}/transfer.
func (s *server) TransferCluster(w http.ResponseWriter, r *http.Request, id ID, params TransferClusterParams) {
	var said Transfer
	if !s.read(w, r, &said, false, maxBody) {
		return
	}
	s.change(w, r, params.IfMatch, said.Reason, func(ctx context.Context, d app.Origin) (app.Change, error) {
		return s.App.Transfer(ctx, principal(r), id, said.Team, said.Owner, d)
	})
}

// change changes a cluster and answers with the result.
func (s *server) change(w http.ResponseWriter, r *http.Request, ifMatch, why string, do func(context.Context, app.Origin) (app.Change, error)) {
	d, err := originOf(ifMatch, why)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	changed, err := do(r.Context(), d)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	tag(w, changed.Row)
	ok(w, Change{Cluster: cluster(changed.Row, s.App.NameOf), Message: changed.Message, Capped: changed.Capped})
}

// ScaleWorkers implements POST /api/v1/clusters/{id}/scale-workers.
func (s *server) ScaleWorkers(w http.ResponseWriter, r *http.Request, id ID, params ScaleWorkersParams) {
	var said Scale
	if !s.read(w, r, &said, false, maxBody) {
		return
	}
	d, err := originOf(params.IfMatch, "")
	if err != nil {
		s.fail(w, r, err)
		return
	}
	row, job, err := s.App.Scale(r.Context(), principal(r), id, said.Replicas, d)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	text := fmt.Sprintf("%s is being scaled to %d workers.", row.Name, said.Replicas)
	if said.Replicas == 1 {
		text = row.Name + " is being scaled to 1 worker."
	}
	if job == "" {
		job, text = row.JobID, fmt.Sprintf("%s already has %d workers.", row.Name, said.Replicas)
	}
	s.begun(w, row, job, text)
}

// SleepCluster implements POST /api/v1/clusters/{id}/sleep.
func (s *server) SleepCluster(w http.ResponseWriter, r *http.Request, id ID, params SleepClusterParams) {
	var said SleepRequest
	if !s.read(w, r, &said, true, maxBody) {
		return
	}
	d, err := originOf(params.IfMatch, said.Reason)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	row, job, err := s.App.Sleep(r.Context(), principal(r), id, app.Span{Hours: said.Hours, Until: said.Until}, d)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	s.begun(w, row, cmp.Or(job, row.JobID), messages.FallingAsleep(row.Card, job))
}

// WakeCluster implements POST /api/v1/clusters/{id}/wake.
func (s *server) WakeCluster(w http.ResponseWriter, r *http.Request, id ID, params WakeClusterParams) {
	d, err := originOf(params.IfMatch, "")
	if err != nil {
		s.fail(w, r, err)
		return
	}
	row, job, err := s.App.Wake(r.Context(), principal(r), id, d)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	s.begun(w, row, cmp.Or(job, row.JobID), messages.WakingUp(row.Card, job))
}

// RefreshCluster implements POST /api/v1/clusters/{id}/refresh.
func (s *server) RefreshCluster(w http.ResponseWriter, r *http.Request, id ID, params RefreshClusterParams) {
	d, err := originOf(params.IfMatch, "")
	if err != nil {
		s.fail(w, r, err)
		return
	}
	row, job, err := s.App.Refresh(r.Context(), principal(r), id, d)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	s.begun(w, row, job, fmt.Sprintf("The add-ons of %s are being installed again: %s.", row.Name, strings.Join(row.Addons, ", ")))
}

// AbandonCluster implements POST /api/v1/clusters/{id}/abandon.
func (s *server) AbandonCluster(w http.ResponseWriter, r *http.Request, id ID) {
	s.reasoned(w, r, id, s.App.Abandon)
}

// RetryTeardown implements POST /api/v1/clusters/{id}/retry.
func (s *server) RetryTeardown(w http.ResponseWriter, r *http.Request, id ID) {
	s.reasoned(w, r, id, s.App.RetryTeardown)
}

// reasoned reads a reason, calls the service, and answers with the cluster's new state.
func (s *server) reasoned(w http.ResponseWriter, r *http.Request, id ID,
	ask func(ctx context.Context, p policy.Principal, ref string, d app.Origin) (clusters.Row, error)) {
	var said Reason
	if !s.read(w, r, &said, false, maxBody) {
		return
	}
	row, err := ask(r.Context(), principal(r), id, app.Origin{Source: policy.SourceAPI, Why: said.Reason})
	if err != nil {
		s.fail(w, r, err)
		return
	}
	tag(w, row)
	ok(w, cluster(row, s.App.NameOf))
}
