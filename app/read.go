package app

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store"
)

// Details is everything the detail view shows of one cluster.
type Details struct {
	Row           store.Row
	Job           store.Job               // newest
	Attempts      []store.AttemptRow      // oldest first
	Verifications []store.VerificationRow // every pass of every teardown, oldest first
	Conditions    []store.Condition
	Timeline      []store.Event
	Log           []string // newest job's last lines
}

// JobDetails is a job with the last lines of its log.
type JobDetails struct {
	Job store.Job
	Log []string
}

// List returns a page of the clusters the principal may see, newest first, and the next page's cursor.
func (d *Desk) List(ctx context.Context, p policy.Principal, f store.Filter) ([]store.Row, string, error) {
	teams, err := visible(p)
	if err != nil {
		return nil, "", err
	}
	f.Teams = teams
	rows, next, err := d.store.List(ctx, f)
	if err != nil {
		return nil, "", fmt.Errorf("list clusters: %w", err)
	}
	return rows, next, nil
}

// Get returns one cluster with its newest job. Another team's cluster is not found.
func (d *Desk) Get(ctx context.Context, p policy.Principal, id string, lines int) (Details, error) {
	row, err := d.seen(ctx, p, id)
	if err != nil {
		return Details{}, err
	}
	out := Details{Row: row}
	if out.Job, err = d.store.Job(ctx, row.JobID); err != nil {
		return Details{}, fmt.Errorf("read job %s: %w", row.JobID, err)
	}
	if out.Attempts, err = d.store.Attempts(ctx, id); err != nil {
		return Details{}, fmt.Errorf("read attempts: %w", err)
	}
	if out.Verifications, err = d.store.Verifications(ctx, id); err != nil {
		return Details{}, fmt.Errorf("read verifications: %w", err)
	}
	if out.Conditions, err = d.store.Conditions(ctx, id); err != nil {
		return Details{}, fmt.Errorf("read conditions: %w", err)
	}
	if out.Timeline, err = d.store.Timeline(ctx, id); err != nil {
		return Details{}, fmt.Errorf("read timeline: %w", err)
	}
	if lines > 0 {
		if out.Log, err = d.store.LogTail(ctx, row.JobID, lines); err != nil {
			return Details{}, fmt.Errorf("read log: %w", err)
		}
	}
	return out, nil
}

// Job returns a job and the last lines of its log. The job of another team's cluster is not found.
func (d *Desk) Job(ctx context.Context, p policy.Principal, id string, lines int) (JobDetails, error) {
	missing := fail(NotFound, "There is no job %s that you may see. The list of clusters shows yours.", id)
	job, err := d.store.Job(ctx, id)
	if errors.Is(err, store.ErrNotFound) {
		return JobDetails{}, missing
	}
	if err != nil {
		return JobDetails{}, fmt.Errorf("read job: %w", err)
	}
	if _, err := d.seen(ctx, p, job.Cluster); KindOf(err) == NotFound {
		return JobDetails{}, missing
	} else if err != nil {
		return JobDetails{}, err
	}
	log, err := d.store.LogTail(ctx, id, lines)
	if err != nil {
		return JobDetails{}, fmt.Errorf("read log: %w", err)
	}
	return JobDetails{Job: job, Log: log}, nil
}

// Outputs returns where a cluster is, as references. It is a conflict while there is nothing to show.
func (d *Desk) Outputs(ctx context.Context, p policy.Principal, id string) (store.Row, error) {
	row, err := d.seen(ctx, p, id)
	if err != nil {
		return store.Row{}, err
	}
	return row, reachable(row)
}

// Kubeconfig hands out a cluster's kubeconfig to its team or an admin. The audit line is written before the file is
// read, so nothing is ever handed out that was not written down.
func (d *Desk) Kubeconfig(ctx context.Context, p policy.Principal, id string) ([]byte, error) {
	row, err := d.seen(ctx, p, id)
	if err != nil {
		return nil, err
	}
	if !p.May(policy.ActKubeconfig, row.Team) {
		return nil, fail(Denied, "A kubeconfig is for the cluster's team and for admins; your role is %s. "+
			"Ask team %s.", p.Role(), row.Team)
	}
	if err := reachable(row); err != nil {
		return nil, err
	}
	meta := map[string]string{"why": "the kubeconfig was handed out", "ref": row.Outputs.KubeconfigRef}
	if err := d.store.Audit(ctx, store.Deed{Actor: p.ID}, "kubeconfig.read", id, meta); err != nil {
		return nil, fmt.Errorf("write down the reading: %w", err)
	}
	raw, err := d.artifacts.Read(ctx, row.Outputs.KubeconfigRef)
	if err != nil {
		return nil, fmt.Errorf("read kubeconfig of %s: %w", id, err)
	}
	return raw, nil
}

func (d *Desk) seen(ctx context.Context, p policy.Principal, id string) (store.Row, error) {
	teams, err := visible(p)
	if err != nil {
		return store.Row{}, err
	}
	row, err := d.store.Cluster(ctx, id)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return store.Row{}, fmt.Errorf("read cluster: %w", err)
	}
	if err != nil || teams != nil && !slices.Contains(teams, row.Team) {
		return store.Row{}, fail(NotFound, "There is no cluster %s that you may see. The list of clusters shows yours.", id)
	}
	return row, nil
}

// visible lists the teams whose clusters the principal may see; nil means all.
func visible(p policy.Principal) ([]string, error) {
	teams, every := p.Teams()
	switch {
	case every:
		return nil, nil
	case len(teams) > 0:
		return teams, nil
	}
	return nil, fail(Denied, "You are known, but without a role: the token's ocpctl_role claim is missing. "+
		"Ask a platform admin for requester, platform_admin or auditor.")
}

// reachable is an error as long as, or once, the cluster cannot be used.
func reachable(row store.Row) error {
	switch {
	case row.Status == lifecycle.Ready && row.Outputs != nil:
		return nil
	case row.Status == lifecycle.Pending || row.Status == lifecycle.Creating:
		return fail(Conflict, "%s is not ready yet: %s (%s). Ask again when its status is READY.", row.Name, row.Status, row.Phase)
	}
	return fail(Conflict, "%s cannot be used any more: %s (%s). Create a new cluster.", row.Name, row.Status, row.Phase)
}
