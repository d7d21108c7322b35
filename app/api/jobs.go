package api

import (
	"net/http"
	"slices"
	"strings"

	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/reports"
)

const (
	defaultLines = 100
	maxLines     = 1000
)

// jobAliases are the job types' names in other documents.
var jobAliases = map[string]string{"CREATE_CLUSTER": string(lifecycle.JobCreate), "DESTROY_CLUSTER": string(lifecycle.JobDestroy), "SCALE": string(lifecycle.JobScale)}

var jobTypes = []string{
	string(lifecycle.JobCreate), string(lifecycle.JobDestroy), string(lifecycle.JobJanitorDestroy), string(lifecycle.JobScale), string(lifecycle.JobConfigure),
	string(lifecycle.JobAccess), string(lifecycle.JobSleep), string(lifecycle.JobWake), string(lifecycle.JobObserve), string(lifecycle.JobTag), string(lifecycle.JobInform),
	string(lifecycle.JobPrepare), string(lifecycle.JobOffHoursDown), string(lifecycle.JobOffHoursUp), "ORPHAN_SCAN",
}

var jobStatuses = []string{
	string(lifecycle.JobPending), string(lifecycle.JobRunning), string(lifecycle.JobRetrying), string(lifecycle.JobSucceeded), string(lifecycle.JobFailed),
}

// ListJobs implements GET /api/v1/jobs.
func (s *server) ListJobs(w http.ResponseWriter, r *http.Request, params v1.ListJobsParams) {
	q := s.newQuery(r)
	kind := strings.ToUpper(params.Type)
	if ours, other := jobAliases[kind]; other {
		kind = ours
	}
	f := reports.JobFilter{
		Cluster: params.Cluster, Type: lifecycle.JobType(q.readChoice("type", kind, slices.Concat(jobTypes, []string{"CREATE_CLUSTER", "DESTROY_CLUSTER"})...)),
		Status: lifecycle.JobStatus(q.readChoice("status", strings.ToUpper(params.Status), jobStatuses...)),
	}
	f.Limit, f.Cursor = q.readPage(params.Limit, params.Cursor, "job_")
	if err := q.refusals(); err != nil {
		s.writeError(w, r, err)
		return
	}
	jobs, next, err := s.App.Jobs(r.Context(), principal(r), f)
	if err != nil {
		s.writeError(w, r, err)
		return
	}
	page := v1.JobPage{Items: make([]v1.Job, 0, len(jobs)), NextCursor: next}
	for _, one := range jobs {
		page.Items = append(page.Items, job(one))
	}
	writeOK(w, page)
}

// GetJob implements GET /api/v1/jobs/{id}.
func (s *server) GetJob(w http.ResponseWriter, r *http.Request, id string, params v1.GetJobParams) {
	q := s.newQuery(r)
	lines := q.readNumber("lines", params.Lines, defaultLines, 0, maxLines)
	if err := q.refusals(); err != nil {
		s.writeError(w, r, err)
		return
	}
	found, err := s.App.Job(r.Context(), principal(r), id, lines)
	if err != nil {
		s.writeError(w, r, err)
		return
	}
	writeOK(w, v1.JobDetail{Job: job(found.Job), Log: append([]string{}, found.Log...)})
}
