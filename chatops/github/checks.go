package github

import (
	"context"
	"fmt"

	gh "github.com/google/go-github/v66/github"

	"github.com/ocpctl/ocpctl/chatops"
)

// CheckTarget is a check run that exists or should exist.
type CheckTarget struct {
	Installation int64
	Repo         string // owner/name
	Head         string // SHA
	Name         string // shown in the list of checks
	ExternalKey  string // identifies the run permanently, e.g. the subscriber's id
	ExternalID   int64  // the run's id; 0: unknown
	Sure         bool   // ExternalID is certain, even if it is 0: GitHub is not asked whether an earlier try left a run
}

const (
	completed  = "completed"
	maxActions = 3
)

// UpsertCheckRun makes the check run show run and returns its id. With ExternalID 0 it first looks for our run with the key. The id
// may differ from the given one: GitHub neither reopens a completed run nor removes annotations, so a new run is created when more
// has to be shown. ErrGone: call again with ExternalID 0.
func (c *Client) UpsertCheckRun(ctx context.Context, t CheckTarget, run chatops.CheckRun) (int64, error) {
	doing := fmt.Sprintf("check run %q on %s", t.Name, t.Repo)
	owner, repo, err := splitRepository(t.Repo)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", doing, err)
	}
	if t.ExternalKey == "" || t.Head == "" || t.Name == "" {
		return 0, fmt.Errorf("%s: want a key, a head and a name", doing)
	}
	if len(run.Actions) > maxActions {
		return 0, fmt.Errorf("%s: %d buttons: GitHub takes at most %d", doing, len(run.Actions), maxActions)
	}
	w := checkWriter{owner: owner, repo: repo, target: t, run: run, wanted: uniqueAnnotations(run.Annotations), app: c.cfg.AppID}
	var id int64
	err = c.retryUnknownCommit(ctx, func() error {
		return c.changeAsInstallation(ctx, t.Installation, func(client *gh.Client, leave func() error) error {
			w.client, w.leave = client, leave
			id, err = w.writeRun(ctx)
			return err
		})
	})
	if err != nil {
		return 0, convertError(doing, err)
	}
	return id, nil
}

type checkWriter struct {
	client      *gh.Client
	leave       func() error
	owner, repo string
	target      CheckTarget
	run         chatops.CheckRun
	wanted      []chatops.Annotation
	app         int64
}

func (w *checkWriter) writeRun(ctx context.Context) (int64, error) {
	tried := w.target.ExternalID
	if tried != 0 {
		if shown, err := w.updateRun(ctx, tried); err != nil || shown {
			return tried, err
		}
	}
	if w.target.Sure && tried == 0 {
		return w.createRun(ctx)
	}
	newest, err := w.findNewestRun(ctx)
	if err != nil {
		return 0, err
	}
	if newest != 0 && newest != tried {
		if shown, err := w.updateRun(ctx, newest); err != nil || shown {
			return newest, err
		}
	}
	return w.createRun(ctx)
}

// updateRun writes to an existing run and reports whether it now shows what is wanted. On a completed run GitHub updates the text but
// not the status, and it adds annotations to the existing ones.
func (w *checkWriter) updateRun(ctx context.Context, id int64) (shown bool, err error) {
	missing, stale, err := w.compareAnnotations(ctx, id)
	if err != nil || stale {
		return false, err
	}
	got, err := w.sendAnnotations(ctx, id, firstOf(missing))
	if err != nil {
		return false, err
	}
	if got.GetStatus() != w.run.Status || got.GetOutput().GetAnnotationsCount() > 0 && len(w.wanted) == 0 {
		return false, nil
	}
	return true, w.sendRest(ctx, id, missing)
}

// findNewestRun finds our last run with the key on the head.
func (w *checkWriter) findNewestRun(ctx context.Context) (int64, error) {
	var found int64
	opts := &gh.ListCheckRunsOptions{
		CheckName: new(w.target.Name), Filter: new("all"), AppID: new(w.app),
		ListOptions: gh.ListOptions{PerPage: pageSize},
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

func (w *checkWriter) createRun(ctx context.Context) (int64, error) {
	opts := gh.CreateCheckRunOptions{
		Name: w.target.Name, HeadSHA: w.target.Head, ExternalID: new(w.target.ExternalKey), DetailsURL: nilIfEmpty(w.run.DetailsURL),
		Status: new(w.run.Status), Output: w.makeOutput(firstOf(w.wanted)), Actions: w.makeActions(),
	}
	if w.run.Status == completed {
		opts.Conclusion = new(w.run.Conclusion)
	}
	if err := w.leave(); err != nil {
		return 0, err
	}
	got, _, err := w.client.Checks.CreateCheckRun(ctx, w.owner, w.repo, opts)
	if err != nil {
		return 0, err
	}
	return got.GetID(), w.sendRest(ctx, got.GetID(), w.wanted)
}

// checkUpdate sends an empty list of buttons too: go-github omits it, and the old buttons would stay.
type checkUpdate struct {
	gh.UpdateCheckRunOptions
	Actions []*gh.CheckRunAction `json:"actions"`
}

func (w *checkWriter) sendAnnotations(ctx context.Context, id int64, some []chatops.Annotation) (*gh.CheckRun, error) {
	body := checkUpdate{Actions: w.makeActions()}
	body.Name, body.Status, body.Output, body.DetailsURL = w.target.Name, new(w.run.Status), w.makeOutput(some), nilIfEmpty(w.run.DetailsURL)
	if w.run.Status == completed {
		body.Conclusion = new(w.run.Conclusion)
	}
	req, err := w.client.NewRequest("PATCH", fmt.Sprintf("repos/%s/%s/check-runs/%d", w.owner, w.repo, id), body)
	if err != nil {
		return nil, err
	}
	if err := w.leave(); err != nil {
		return nil, err
	}
	got := new(gh.CheckRun)
	_, err = w.client.Do(ctx, req, got)
	return got, asGone(err)
}

func (w *checkWriter) makeOutput(some []chatops.Annotation) *gh.CheckRunOutput {
	return &gh.CheckRunOutput{
		Title: new(w.run.Title), Summary: new(truncateText(w.run.Summary, maxBody-1)), Annotations: toGitHubAnnotations(some),
	}
}

func (w *checkWriter) makeActions() []*gh.CheckRunAction {
	out := []*gh.CheckRunAction{}
	for _, a := range w.run.Actions {
		out = append(out, &gh.CheckRunAction{Label: a.Label, Description: a.Description, Identifier: a.Identifier})
	}
	return out
}

// nilIfEmpty returns nil for an empty text, so that the field is omitted.
func nilIfEmpty(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}
