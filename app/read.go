package app

import (
	"context"
	"errors"
	"fmt"

	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/chatops/messages"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/attempts"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/reports"
)

// Details is everything that the detail view shows of one cluster.
type Details struct {
	Row           clusters.Row
	Job           reports.Job                // newest
	Attempts      []attempts.AttemptRow      // oldest first
	Verifications []attempts.VerificationRow // every pass of every teardown, oldest first
	Conditions    []clusters.Condition
	Timeline      []store.Event
	Log           []string // newest job's last lines
	Actions       []policy.Action
}

// JobDetails is a job with the last lines of its log.
type JobDetails struct {
	Job reports.Job
	Log []string
}

// List returns a page of the clusters that the principal may see, and the next page's cursor. A query that says itself whether clusters live
// is not limited to current ones.
func (s *Service) List(ctx context.Context, p policy.Principal, f store.Filter) ([]clusters.Row, string, error) {
	cut := visibleFilter(p)
	f.Teams, f.Principal = cut.Teams, cut.Principal
	f.Current = f.Current && !f.Query.NamesState()
	rows, next, err := s.store.List(ctx, f)
	if err != nil {
		return nil, "", fmt.Errorf("list clusters: %w", err)
	}
	if len(rows) == 0 && len(p.Seats) == 0 { // a cluster may still be shared with a principal without a role
		return nil, "", noRoleError(p)
	}
	return rows, next, nil
}

// Get returns one cluster with its newest job and the last lines of its log. Another team's cluster is NotFound.
func (s *Service) Get(ctx context.Context, p policy.Principal, ref string, lines int) (Details, error) {
	row, err := s.Cluster(ctx, p, ref)
	if err != nil {
		return Details{}, err
	}
	out := Details{Row: row}
	if out.Actions, err = s.Actions(ctx, p, row); err != nil {
		return Details{}, err
	}
	if out.Job, err = s.store.Reports.Job(ctx, row.JobID); err != nil {
		return Details{}, fmt.Errorf("read job %s: %w", row.JobID, err)
	}
	if out.Attempts, err = s.store.Attempts.List(ctx, row.ID); err != nil {
		return Details{}, fmt.Errorf("read attempts: %w", err)
	}
	if out.Verifications, err = s.store.Attempts.Verifications(ctx, row.ID); err != nil {
		return Details{}, fmt.Errorf("read verifications: %w", err)
	}
	if out.Conditions, err = s.listConditions(ctx, row); err != nil {
		return Details{}, fmt.Errorf("read conditions: %w", err)
	}
	if out.Timeline, err = s.store.Timeline(ctx, row.ID); err != nil {
		return Details{}, fmt.Errorf("read timeline: %w", err)
	}
	out.Timeline = tellOnce(out.Timeline, chatops.TellsFailure(row.Card))
	if lines > 0 {
		if out.Log, err = s.store.Attempts.LogTail(ctx, row.JobID, lines); err != nil {
			return Details{}, fmt.Errorf("read log: %w", err)
		}
	}
	return out, nil
}

// Timeline returns what happened to a cluster and why, oldest first.
func (s *Service) Timeline(ctx context.Context, p policy.Principal, ref string) ([]store.Event, error) {
	row, err := s.Cluster(ctx, p, ref)
	if err != nil {
		return nil, err
	}
	events, err := s.store.Timeline(ctx, row.ID)
	if err != nil {
		return nil, fmt.Errorf("read timeline: %w", err)
	}
	return tellOnce(events, false), nil
}

// tellOnce leaves out of a timeline what the event before told: an attempt begins with what the move before it announced. How the create failed
// is told by the first event that knows it; told: it is shown beside the timeline.
func tellOnce(events []store.Event, told bool) (kept []store.Event) {
	var moved store.Event // the last move
	for _, e := range events {
		if e.To != "" && e.To == moved.To && e.Why == moved.Why {
			continue
		}
		if e.To != "" {
			moved = e
		}
		if e.Brief != "" && told {
			e.Why = e.Brief
		}
		told = told || e.Brief != ""
		kept = append(kept, e)
	}
	return kept
}

// Jobs returns a page of the jobs of clusters that the principal may see, newest first.
func (s *Service) Jobs(ctx context.Context, p policy.Principal, f reports.JobFilter) ([]reports.Job, string, error) {
	if f.Cluster != "" {
		row, err := s.Cluster(ctx, p, f.Cluster)
		if err != nil {
			return nil, "", err
		}
		f.Cluster = row.ID
	}
	cut := visibleFilter(p)
	f.Teams, f.Principal = cut.Teams, cut.Principal
	jobs, next, err := s.store.Reports.Jobs(ctx, f)
	if err != nil {
		return nil, "", fmt.Errorf("list jobs: %w", err)
	}
	if len(jobs) == 0 && len(p.Seats) == 0 {
		return nil, "", noRoleError(p)
	}
	return jobs, next, nil
}

// Job returns a job and the last lines of its log. A job of another team's cluster is NotFound.
func (s *Service) Job(ctx context.Context, p policy.Principal, id string, lines int) (JobDetails, error) {
	job, _, err := s.findJob(ctx, p, id)
	if err != nil {
		return JobDetails{}, err
	}
	log, err := s.store.Attempts.LogTail(ctx, job.ID, lines)
	if err != nil {
		return JobDetails{}, fmt.Errorf("read log: %w", err)
	}
	return JobDetails{Job: job, Log: log}, nil
}

// findJob finds a job by its id, or the newest of a cluster by the cluster's id or name.
func (s *Service) findJob(ctx context.Context, p policy.Principal, id string) (reports.Job, clusters.Row, error) {
	missing := Fail(NotFound, fmt.Sprintf("You have no job %q. See the list of your jobs.", id))
	job, err := s.store.Reports.Job(ctx, id)
	if errors.Is(err, db.ErrNotFound) {
		if row, unseen := s.Cluster(ctx, p, id); unseen == nil {
			job, err = s.store.Reports.Job(ctx, row.JobID)
		}
	}
	if errors.Is(err, db.ErrNotFound) {
		if len(p.Seats) == 0 {
			return reports.Job{}, clusters.Row{}, noRoleError(p)
		}
		return reports.Job{}, clusters.Row{}, missing
	}
	if err != nil {
		return reports.Job{}, clusters.Row{}, fmt.Errorf("read job: %w", err)
	}
	if job.Cluster == "" { // of an account: it concerns every team
		if visibleFilter(p).Teams != nil {
			return reports.Job{}, clusters.Row{}, missing
		}
		return job, clusters.Row{}, nil
	}
	row, err := s.Cluster(ctx, p, job.Cluster)
	if KindOf(err) == NotFound {
		return reports.Job{}, clusters.Row{}, missing
	}
	return job, row, err
}

// Outputs returns a cluster with its URLs; the read is recorded in the audit trail. Conflict: there is nothing to show.
func (s *Service) Outputs(ctx context.Context, p policy.Principal, ref string, origin Origin) (clusters.Row, error) {
	row, err := s.Cluster(ctx, p, ref) // every role may, and a share shows the URLs too
	if err != nil {
		return clusters.Row{}, err
	}
	if err := s.CheckReachable(ctx, row); err != nil {
		return clusters.Row{}, err
	}
	if err := s.store.Audit(ctx, s.StoreOrigin(origin, p), "outputs.read", row.ID, map[string]string{"why": "addresses were read"}); err != nil {
		return clusters.Row{}, fmt.Errorf("write down the reading: %w", err)
	}
	return row, nil
}

// CheckReachable returns a Conflict while, or once, the cluster cannot be used. One that a schedule put to sleep is woken: it is wanted.
func (s *Service) CheckReachable(ctx context.Context, row clusters.Row) error {
	if row.Status == lifecycle.Ready && row.OutOfReach() && row.SleepWanted && row.PowerBy != lifecycle.ByPerson {
		if err := s.store.Active(ctx, row.ID, lifecycle.ActivityAccess); err != nil {
			return err
		}
		return Fail(Conflict, messages.WakesForUse(row.Card))
	}
	if row.Status == lifecycle.Ready && row.OutOfReach() {
		return Fail(Conflict, sayAsleep(row.Card))
	}
	if row.Status == lifecycle.Ready && row.Outputs != nil {
		return nil
	}
	return Fail(Conflict, sayUnreachable(row.Card))
}

// sayUnreachable tells somebody why a cluster that is not ready cannot be used, and what to do.
func sayUnreachable(c lifecycle.Card) string {
	switch {
	case c.Status == lifecycle.Pending || c.Status == lifecycle.Creating:
		return fmt.Sprintf("%s is not ready yet: %s (%s). Ask again when its status is READY.", c.Name, c.Status, c.Phase)
	case c.Phase == lifecycle.Released:
		return messages.GoneSince(c) + " Create a new cluster."
	}
	return fmt.Sprintf("%s can no longer be used: %s (%s). Create a new cluster.", c.Name, c.Status, c.Phase)
}

// sayAsleep tells somebody who wants to use a cluster that it sleeps, and how to wake it.
func sayAsleep(c lifecycle.Card) string {
	if c.Phase == lifecycle.Waking || !c.SleepWanted {
		return c.Name + " is waking up. Try again as soon as it is ready."
	}
	return fmt.Sprintf("%s is asleep, so it cannot be used. Wake it with ocpctl wake %s, or with %s wake; that takes some minutes.", c.Name, c.Name, chatops.Prefix)
}
