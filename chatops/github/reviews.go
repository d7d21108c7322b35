package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	gh "github.com/google/go-github/v66/github"

	"github.com/ocpctl/ocpctl/chatops"
)

// ErrNothingPending says that no job of a run waits for the App's rule of an environment: it was decided, or the run ended.
var ErrNothingPending = errors.New("nothing waits for the environment")

// Review decides about an environment for which jobs of a run wait by the App's deployment protection rule, or reports without a
// decision, which GitHub takes at most ten times. ErrNothingPending: no job waits for that. ErrNotFound: the run was deleted.
// https://docs.github.com/rest/actions/workflow-runs#review-custom-deployment-protection-rules-for-a-workflow-run
func (c *Client) Review(ctx context.Context, installation int64, repo string, run int64, r chatops.Review) error {
	doing := fmt.Sprintf("review %q for run %d of %s", r.Environment, run, repo)
	owner, name, err := splitRepository(repo)
	if err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	body := map[string]string{"environment_name": r.Environment, "comment": r.Comment}
	if r.State != "" {
		body["state"] = r.State
	}
	err = c.changeAsInstallation(ctx, installation, func(client *gh.Client, leave func() error) error {
		req, err := client.NewRequest("POST", fmt.Sprintf("repos/%s/%s/actions/runs/%d/deployment_protection_rule", owner, name, run), body)
		if err != nil {
			return err
		}
		if err := leave(); err != nil {
			return err
		}
		_, err = client.Do(ctx, req, nil)
		return err
	})
	if hasStatus(err, http.StatusUnprocessableEntity) {
		return fmt.Errorf("%s: %w: %w", doing, ErrNothingPending, err)
	}
	return convertError(doing, err)
}

// Pending returns the environments for which jobs of a run wait, by whichever rule.
func (c *Client) Pending(ctx context.Context, installation int64, repo string, run int64) (environments []string, err error) {
	doing := fmt.Sprintf("ask for what run %d of %s waits for", run, repo)
	owner, name, err := splitRepository(repo)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", doing, err)
	}
	ctx = toDecide(ctx)
	err = c.callAsInstallation(ctx, installation, func(client *gh.Client) error {
		environments = nil
		all, _, err := client.Actions.GetPendingDeployments(ctx, owner, name, run)
		for _, one := range all {
			environments = append(environments, one.GetEnvironment().GetName())
		}
		return err
	})
	return environments, convertError(doing, err)
}

// Dispatch sends a repository_dispatch, which starts the workflows of the default branch that wait for its type. GitHub gives it no
// key: sent again, it starts them again. ErrRefused: the App may not write the repository's contents, or GitHub takes no such payload.
// https://docs.github.com/rest/repos/repos#create-a-repository-dispatch-event
func (c *Client) Dispatch(ctx context.Context, installation int64, repo, kind string, payload map[string]string) error {
	doing := fmt.Sprintf("send %s to %s", kind, repo)
	owner, name, err := splitRepository(repo)
	if err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	err = c.changeAsInstallation(ctx, installation, func(client *gh.Client, leave func() error) error {
		req, err := client.NewRequest("POST", fmt.Sprintf("repos/%s/%s/dispatches", owner, name), map[string]any{"event_type": kind, "client_payload": payload})
		if err != nil {
			return err
		}
		if err := leave(); err != nil {
			return err
		}
		_, err = client.Do(ctx, req, nil)
		return err
	})
	return convertError(doing, err)
}
