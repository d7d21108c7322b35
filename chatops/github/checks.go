package github

import (
	"context"
	"fmt"

	gh "github.com/google/go-github/v66/github"

	"github.com/ocpctl/ocpctl/chatops"
)

// CheckTarget is a check run that is there or should be.
type CheckTarget struct {
	Installation int64
	Repo         string // owner/name
	Head         string // SHA
	Name         string // shown in the list of checks
	ExternalKey  string // names the run for ever, e.g. the subscriber's id
	ExternalID   int64  // the run's id; 0: not known
}

const completed = "completed"

// UpsertCheckRun makes the check run say what run says and returns its id. With ExternalID 0 it looks for a run of ours
// with the key first. The id may differ from the one given: GitHub does not reopen a completed run, so a new one is
// created when words come after it. ErrGone: call again with ExternalID 0.
func (c *Client) UpsertCheckRun(ctx context.Context, t CheckTarget, run chatops.CheckRun) (int64, error) {
	doing := fmt.Sprintf("check run %q on %s", t.Name, t.Repo)
	owner, repo, err := split(t.Repo)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", doing, err)
	}
	if t.ExternalKey == "" || t.Head == "" || t.Name == "" {
		return 0, fmt.Errorf("%s: want a key, a head and a name", doing)
	}
	w := checkWriter{owner: owner, repo: repo, target: t, run: run, app: c.cfg.AppID}
	var id int64
	err = c.change(ctx, t.Installation, func(client *gh.Client) error {
		w.client = client
		id, err = w.write(ctx)
		return err
	})
	if err != nil {
		return 0, explain(doing, err)
	}
	return id, nil
}

type checkWriter struct {
	client      *gh.Client
	owner, repo string
	target      CheckTarget
	run         chatops.CheckRun
	app         int64
}

func (w *checkWriter) write(ctx context.Context) (int64, error) {
	tried := w.target.ExternalID
	if tried != 0 {
		if shown, err := w.update(ctx, tried); err != nil || shown {
			return tried, err
		}
	}
	newest, err := w.newest(ctx)
	if err != nil {
		return 0, err
	}
	if newest != 0 && newest != tried {
		if shown, err := w.update(ctx, newest); err != nil || shown {
			return newest, err
		}
	}
	return w.create(ctx)
}

// update writes to an existing run and reports whether it now shows the wanted status. GitHub takes the words of an
// update to a completed run but not its status.
func (w *checkWriter) update(ctx context.Context, id int64) (shown bool, err error) {
	opts := gh.UpdateCheckRunOptions{Name: w.target.Name, Status: gh.String(w.run.Status), Output: w.output()}
	if w.run.Status == completed {
		opts.Conclusion = gh.String(w.run.Conclusion)
	}
	got, answer, err := w.client.Checks.UpdateCheckRun(ctx, w.owner, w.repo, id, opts)
	if err != nil {
		return false, goneIf(answer, err)
	}
	return got.GetStatus() == w.run.Status, nil
}

// newest finds the last run of ours with the key on the head.
func (w *checkWriter) newest(ctx context.Context) (int64, error) {
	var found int64
	opts := &gh.ListCheckRunsOptions{
		CheckName: gh.String(w.target.Name), Filter: gh.String("all"), AppID: gh.Int64(w.app),
		ListOptions: gh.ListOptions{PerPage: 100},
	}
	for {
		page, answer, err := w.client.Checks.ListCheckRunsForRef(ctx, w.owner, w.repo, w.target.Head, opts)
		if err != nil {
			return 0, err
		}
		for _, one := range page.CheckRuns {
			if one.GetExternalID() == w.target.ExternalKey {
				found = max(found, one.GetID())
			}
		}
		if answer.NextPage == 0 {
			return found, nil
		}
		opts.Page = answer.NextPage
	}
}

func (w *checkWriter) create(ctx context.Context) (int64, error) {
	opts := gh.CreateCheckRunOptions{
		Name: w.target.Name, HeadSHA: w.target.Head, ExternalID: gh.String(w.target.ExternalKey),
		Status: gh.String(w.run.Status), Output: w.output(),
	}
	if w.run.Status == completed {
		opts.Conclusion = gh.String(w.run.Conclusion)
	}
	got, _, err := w.client.Checks.CreateCheckRun(ctx, w.owner, w.repo, opts)
	return got.GetID(), err
}

func (w *checkWriter) output() *gh.CheckRunOutput {
	return &gh.CheckRunOutput{Title: gh.String(w.run.Title), Summary: gh.String(fit(w.run.Summary, maxBody-1))}
}
