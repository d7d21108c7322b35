package api

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/chatops/messages"
	"github.com/ocpctl/ocpctl/internal/duration"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store/clusters"
)

// originOf returns the origin and reason of a request, with the version from its If-Match.
func originOf(ifMatch, why string) (app.Origin, error) {
	version, err := parseIfMatch(ifMatch)
	return app.Origin{Source: policy.SourceAPI, Why: why, Version: version}, err
}

// DestroyCluster implements POST /api/v1/clusters/{id}/destroy.
func (s *server) DestroyCluster(w http.ResponseWriter, r *http.Request, id string, params v1.DestroyClusterParams) {
	var said v1.MaybeReason
	if !s.readDocument(w, r, &said, true, maxBody) {
		return
	}
	s.start(w, r, params.IfMatch, said.Reason, func(ctx context.Context, d app.Origin) (startedJob, error) {
		row, job, err := s.App.Destroy(ctx, principal(r), id, d)
		return startedJob{row, job, messages.Destroying(row.Card)}, err
	})
}

// startedJob is a job of a cluster that was started or is running, and what to say of it.
type startedJob struct {
	row       clusters.Row
	job, text string
}

// start starts a job and answers with it.
func (s *server) start(w http.ResponseWriter, r *http.Request, ifMatch, why string, do func(context.Context, app.Origin) (startedJob, error)) {
	d, err := originOf(ifMatch, why)
	if err != nil {
		s.writeError(w, r, err)
		return
	}
	its, err := do(r.Context(), d)
	if err != nil {
		s.writeError(w, r, err)
		return
	}
	setETag(w, its.row)
	writeReply(w, jsonType, http.StatusAccepted, v1.Accepted{
		ClusterID: its.row.ID, JobID: its.job, Status: v1.Status(its.row.Status), Name: its.row.Name, URL: s.pageURL(its.row), DestroyAt: its.row.DestroyAt.UTC(), Message: its.text,
	})
}

// mostHours keeps every duration far below the longest time.Duration.
const mostHours = 100_000

// spanOf reads how long something should last: a duration, a number of hours or a time.
func spanOf(text string, hours int, until time.Time) (app.Span, error) {
	span := app.Span{For: time.Duration(max(min(hours, mostHours), -mostHours)) * time.Hour, Until: until}
	if text == "" {
		return span, nil
	}
	problem, ok := messages.SpanGivenTwice, false
	if hours == 0 {
		problem = messages.NotADuration(text)
		span.For, ok = duration.ParseHours(text)
		ok = ok && span.For != 0 // nothing lasts no time, and for a sleep no duration means no end
	}
	if !ok {
		return span, &app.Error{Kind: app.Invalid, Message: messages.HowLong, Fields: []app.Field{app.ProblemOf("for", problem)}}
	}
	return span, nil
}

// ExtendCluster implements POST /api/v1/clusters/{id}/extend.
func (s *server) ExtendCluster(w http.ResponseWriter, r *http.Request, id string, params v1.ExtendClusterParams) {
	var said v1.Extend
	if !s.readDocument(w, r, &said, false, maxBody) {
		return
	}
	s.handleChange(w, r, params.IfMatch, "", func(ctx context.Context, d app.Origin) (app.Change, error) {
		span, err := spanOf(said.For, said.Hours, said.Until)
		if err != nil {
			return app.Change{}, err
		}
		return s.App.Extend(ctx, principal(r), id, span, d)
	})
}

// HoldCluster implements POST /api/v1/clusters/{id}/hold.
func (s *server) HoldCluster(w http.ResponseWriter, r *http.Request, id string, params v1.HoldClusterParams) {
	var said v1.Hold
	if !s.readDocument(w, r, &said, false, maxBody) {
		return
	}
	s.handleChange(w, r, params.IfMatch, said.Reason, func(ctx context.Context, d app.Origin) (app.Change, error) {
		span, err := spanOf(said.For, said.Hours, said.Until)
		if err != nil {
			return app.Change{}, err
		}
		span.Tonight = said.Tonight
		return s.App.Hold(ctx, principal(r), id, span, d)
	})
}

// ReleaseHold implements DELETE /api/v1/clusters/{id}/hold.
func (s *server) ReleaseHold(w http.ResponseWriter, r *http.Request, id string, params v1.ReleaseHoldParams) {
	s.handleChange(w, r, params.IfMatch, "", func(ctx context.Context, d app.Origin) (app.Change, error) {
		return s.App.ReleaseHold(ctx, principal(r), id, d)
	})
}

// TransferCluster implements POST /api/v1/clusters/{id}/transfer.
func (s *server) TransferCluster(w http.ResponseWriter, r *http.Request, id string, params v1.TransferClusterParams) {
	var said v1.Transfer
	if !s.readDocument(w, r, &said, false, maxBody) {
		return
	}
	s.handleChange(w, r, params.IfMatch, said.Reason, func(ctx context.Context, d app.Origin) (app.Change, error) {
		return s.App.Transfer(ctx, principal(r), id, said.Team, said.Owner, d)
	})
}

// handleChange changes a cluster and answers with the result.
func (s *server) handleChange(w http.ResponseWriter, r *http.Request, ifMatch, why string, do func(context.Context, app.Origin) (app.Change, error)) {
	d, err := originOf(ifMatch, why)
	if err != nil {
		s.writeError(w, r, err)
		return
	}
	changed, err := do(r.Context(), d)
	if err != nil {
		s.writeError(w, r, err)
		return
	}
	setETag(w, changed.Row)
	writeOK(w, v1.Change{Cluster: toCluster(changed.Row, s.App.NameOf), Message: changed.Message, Capped: changed.Capped})
}

// ScaleWorkers implements POST /api/v1/clusters/{id}/scale-workers.
func (s *server) ScaleWorkers(w http.ResponseWriter, r *http.Request, id string, params v1.ScaleWorkersParams) {
	var said v1.Scale
	if !s.readDocument(w, r, &said, false, maxBody) {
		return
	}
	s.start(w, r, params.IfMatch, "", func(ctx context.Context, d app.Origin) (startedJob, error) {
		row, job, err := s.App.Scale(ctx, principal(r), id, said.Replicas, d)
		text := fmt.Sprintf("%s is being scaled to %d workers.", row.Name, said.Replicas)
		if said.Replicas == 1 {
			text = row.Name + " is being scaled to 1 worker."
		}
		if job == "" {
			job, text = row.JobID, fmt.Sprintf("%s already has %d workers.", row.Name, said.Replicas)
		}
		return startedJob{row, job, text}, err
	})
}

// SleepCluster implements POST /api/v1/clusters/{id}/sleep.
func (s *server) SleepCluster(w http.ResponseWriter, r *http.Request, id string, params v1.SleepClusterParams) {
	var said v1.SleepRequest
	if !s.readDocument(w, r, &said, true, maxBody) {
		return
	}
	s.start(w, r, params.IfMatch, said.Reason, func(ctx context.Context, d app.Origin) (startedJob, error) {
		span, err := spanOf(said.For, said.Hours, said.Until)
		if err != nil {
			return startedJob{}, err
		}
		row, job, err := s.App.Sleep(ctx, principal(r), id, span, d)
		return startedJob{row, cmp.Or(job, row.JobID), messages.FallingAsleep(row.Card, job)}, err
	})
}

// WakeCluster implements POST /api/v1/clusters/{id}/wake.
func (s *server) WakeCluster(w http.ResponseWriter, r *http.Request, id string, params v1.WakeClusterParams) {
	s.start(w, r, params.IfMatch, "", func(ctx context.Context, d app.Origin) (startedJob, error) {
		row, job, err := s.App.Wake(ctx, principal(r), id, d)
		return startedJob{row, cmp.Or(job, row.JobID), messages.WakingUp(row.Card, job)}, err
	})
}

// RefreshCluster implements POST /api/v1/clusters/{id}/refresh.
func (s *server) RefreshCluster(w http.ResponseWriter, r *http.Request, id string, params v1.RefreshClusterParams) {
	s.start(w, r, params.IfMatch, "", func(ctx context.Context, d app.Origin) (startedJob, error) {
		row, job, err := s.App.Refresh(ctx, principal(r), id, d)
		return startedJob{row, job, fmt.Sprintf("The add-ons of %s are being installed again: %s.", row.Name, strings.Join(row.Addons, ", "))}, err
	})
}

// AbandonCluster implements POST /api/v1/clusters/{id}/abandon.
func (s *server) AbandonCluster(w http.ResponseWriter, r *http.Request, id string) {
	s.handleReason(w, r, id, s.App.Abandon)
}

// RetryCluster implements POST /api/v1/clusters/{id}/retry.
func (s *server) RetryCluster(w http.ResponseWriter, r *http.Request, id string) {
	s.handleReason(w, r, id, func(ctx context.Context, p policy.Principal, ref string, d app.Origin) (clusters.Row, error) {
		row, _, err := s.App.Retry(ctx, p, ref, d)
		return row, err
	})
}

// handleReason reads a reason, calls the service, and answers with the cluster's new state.
func (s *server) handleReason(w http.ResponseWriter, r *http.Request, id string,
	ask func(ctx context.Context, p policy.Principal, ref string, d app.Origin) (clusters.Row, error)) {
	var said v1.Reason
	if !s.readDocument(w, r, &said, false, maxBody) {
		return
	}
	row, err := ask(r.Context(), principal(r), id, app.Origin{Source: policy.SourceAPI, Why: said.Reason})
	if err != nil {
		s.writeError(w, r, err)
		return
	}
	setETag(w, row)
	writeOK(w, toCluster(row, s.App.NameOf))
}
