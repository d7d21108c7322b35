package github

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	gh "github.com/google/go-github/v66/github"

	"github.com/ocpctl/ocpctl/chatops"
)

// DeploymentTarget is a deployment that exists or should exist.
type DeploymentTarget struct {
	Installation int64
	Repo         string // owner/name
	Head         string // SHA
	ExternalKey  string // identifies the deployment permanently, e.g. the cluster's id
	Cluster      string // id, for workflows that the deployment starts
	Signal       string // id of the signal that a run asked for; empty: the deployment is none
	ExternalID   int64  // the deployment's id; 0: unknown
	Sure         bool   // ExternalID is certain, even if it is 0: GitHub is not asked whether an earlier try left a deployment
}

const maxDescription = 140

// payload is our part of a deployment; with it, a retry finds what a crash left behind.
type payload struct {
	Key     string `json:"ocpctl"`
	Cluster string `json:"cluster_id,omitempty"` // for workflows
	Signal  string `json:"signal_id,omitempty"`  // for workflows: without it, no run asked to be told
}

// UpsertDeployment makes the deployment's newest status show d and returns its id. With ExternalID 0 it first looks for our
// deployment with the key and the task in the environment. It adds a status only if state, text or URLs changed. ErrGone: somebody deleted the
// deployment. ErrRefused: the commit no longer exists, or the reason in the error's text.
func (c *Client) UpsertDeployment(ctx context.Context, t DeploymentTarget, d chatops.Deployment) (int64, error) {
	doing := fmt.Sprintf("deployment %q on %s", d.Environment, t.Repo)
	owner, repo, err := splitRepository(t.Repo)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", doing, err)
	}
	if t.ExternalKey == "" || t.Head == "" || d.Environment == "" || d.Task == "" || d.State == "" {
		return 0, fmt.Errorf("%s: want a key, a head, an environment, a task and a state", doing)
	}
	d.Description = fitDescription(d.Description)
	w := deploymentWriter{c: c, owner: owner, repo: repo, target: t, want: d}
	var id int64
	err = c.changeAsInstallation(ctx, t.Installation, func(client *gh.Client, leave func() error) error {
		w.client, w.leave = client, leave
		id, err = w.writeDeployment(ctx)
		return err
	})
	if err != nil {
		return 0, convertError(doing, err)
	}
	return id, nil
}

type deploymentWriter struct {
	c           *Client
	client      *gh.Client
	leave       func() error
	owner, repo string
	target      DeploymentTarget
	want        chatops.Deployment
}

func (w *deploymentWriter) writeDeployment(ctx context.Context) (int64, error) {
	id, err := w.target.ExternalID, error(nil)
	if id == 0 && !w.target.Sure {
		if id, err = w.findDeployment(ctx); err != nil {
			return 0, err
		}
	}
	if id == 0 {
		if id, err = w.createDeployment(ctx); err != nil {
			return 0, err
		}
		// The deployment exists: a 404 right after creating it must not be taken for a deletion.
		return id, w.c.retryNotFound(ctx, func() error { return w.createStatus(ctx, id) })
	}
	if !w.target.Sure { // an earlier try may have set the same status
		if got, err := w.isCurrent(ctx, id); err != nil || got {
			return id, asGone(err)
		}
	}
	return id, asGone(w.createStatus(ctx, id))
}

// findDeployment looks for our newest deployment with the key.
func (w *deploymentWriter) findDeployment(ctx context.Context) (int64, error) {
	login, err := w.c.OwnLogin(ctx)
	if err != nil {
		return 0, err
	}
	var found int64
	all, err := listDeployments(ctx, w.client, w.owner, w.repo, w.want.Environment, w.want.Task)
	for _, one := range all {
		if strings.EqualFold(one.GetCreator().GetLogin(), login) && keyOf(one.Payload) == w.target.ExternalKey {
			found = max(found, one.GetID())
		}
	}
	return found, err
}

// listDeployments returns the deployments of an environment with a task.
func listDeployments(ctx context.Context, client *gh.Client, owner, repo, environment, task string) ([]*gh.Deployment, error) {
	return allPages(func(page gh.ListOptions) ([]*gh.Deployment, *gh.Response, error) {
		return client.Repositories.ListDeployments(ctx, owner, repo, &gh.DeploymentsListOptions{Environment: environment, Task: task, ListOptions: page})
	})
}

// keyOf reads the key from a payload. GitHub returns it as an object, or as a text that contains one.
func keyOf(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		raw = json.RawMessage(text)
	}
	var p payload
	if err := json.Unmarshal(raw, &p); err != nil {
		return "" // not ours
	}
	return p.Key
}

func (w *deploymentWriter) createDeployment(ctx context.Context) (int64, error) {
	if err := w.leave(); err != nil {
		return 0, err
	}
	made, _, err := w.client.Repositories.CreateDeployment(ctx, w.owner, w.repo, &gh.DeploymentRequest{
		Ref: &w.target.Head, Task: &w.want.Task, Environment: &w.want.Environment, Payload: payload{w.target.ExternalKey, w.target.Cluster, w.target.Signal},
		Description: new(w.want.Description), TransientEnvironment: new(true), ProductionEnvironment: new(false),
		// A cluster deploys no code: nothing is merged into the branch, and no check has to pass first.
		AutoMerge: new(false), RequiredContexts: &[]string{},
	})
	if hasStatus(err, http.StatusUnprocessableEntity) && strings.Contains(err.Error(), "No ref found") {
		return 0, fmt.Errorf("%w: the commit %s is not in the repository any more, somebody may have force-pushed; a deployment can be made on the new head: %w", ErrRefused, w.target.Head, err)
	}
	return made.GetID(), err
}

// isCurrent reports whether the newest status shows what is wanted.
func (w *deploymentWriter) isCurrent(ctx context.Context, id int64) (bool, error) {
	page, _, err := w.client.Repositories.ListDeploymentStatuses(ctx, w.owner, w.repo, id, &gh.ListOptions{PerPage: pageSize})
	if err != nil {
		return false, err
	}
	var newest *gh.DeploymentStatus // GitHub lists the newest first but does not guarantee it
	for _, one := range page {
		if one.GetID() > newest.GetID() {
			newest = one
		}
	}
	return newest.GetState() == w.want.State && newest.GetDescription() == w.want.Description &&
		newest.GetEnvironmentURL() == w.want.EnvironmentURL && newest.GetLogURL() == w.want.LogURL, nil
}

func (w *deploymentWriter) createStatus(ctx context.Context, id int64) error {
	if err := w.leave(); err != nil {
		return err
	}
	_, _, err := w.client.Repositories.CreateDeploymentStatus(ctx, w.owner, w.repo, id, &gh.DeploymentStatusRequest{
		State: &w.want.State, Description: &w.want.Description,
		EnvironmentURL: nilIfEmpty(w.want.EnvironmentURL), LogURL: nilIfEmpty(w.want.LogURL),
		AutoInactive: new(false), // other clusters' deployments end on their own
	})
	return err
}

func fitDescription(text string) string {
	if all := []rune(text); len(all) > maxDescription {
		return string(all[:maxDescription-1]) + "…"
	}
	return text
}
