package github

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	gh "github.com/google/go-github/v66/github"
)

// oldTask is the task of the deployments from the time when each cluster had an environment of its own.
const oldTask = "ocpctl"

// RemoveDeployments deletes the App's deployments in an environment of the time when each cluster had one of its own, and returns how
// many there were. The environment itself stays: GitHub lets only Apps with Administration: write delete it.
// https://docs.github.com/rest/deployments/environments#delete-an-environment
func (c *Client) RemoveDeployments(ctx context.Context, installation int64, fullName, environment string) (removed int, err error) {
	doing := fmt.Sprintf("remove the deployments of %q on %s", environment, fullName)
	owner, repo, err := splitRepository(fullName)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", doing, err)
	}
	login, err := c.OwnLogin(ctx)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", doing, err)
	}
	err = c.changeAsInstallation(ctx, installation, func(client *gh.Client, leave func() error) error {
		all, err := listDeployments(ctx, client, owner, repo, environment, oldTask)
		if err != nil {
			return err
		}
		for _, one := range all {
			if !strings.EqualFold(one.GetCreator().GetLogin(), login) {
				continue
			}
			if err := leave(); err != nil {
				return err
			}
			if err := deleteDeployment(ctx, client, owner, repo, one.GetID()); err != nil {
				return err
			}
			removed++
		}
		return nil
	})
	if err != nil {
		return removed, convertError(doing, err)
	}
	return removed, nil
}

// deleteDeployment deletes a deployment. GitHub deletes only those that are not active.
func deleteDeployment(ctx context.Context, client *gh.Client, owner, repo string, id int64) error {
	_, err := client.Repositories.DeleteDeployment(ctx, owner, repo, id)
	if hasStatus(err, http.StatusUnprocessableEntity) {
		if _, _, err := client.Repositories.CreateDeploymentStatus(ctx, owner, repo, id, &gh.DeploymentStatusRequest{State: new("inactive")}); err != nil {
			return err
		}
		_, err = client.Repositories.DeleteDeployment(ctx, owner, repo, id)
	}
	if hasStatus(err, http.StatusNotFound) {
		return nil
	}
	return err
}
