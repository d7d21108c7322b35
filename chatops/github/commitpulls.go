package github

import (
	"context"
	"fmt"

	gh "github.com/google/go-github/v66/github"
)

// PullsAt returns the open pull requests of a repository whose head is a commit that is in no default branch.
// https://docs.github.com/rest/commits/commits#list-pull-requests-associated-with-a-commit
func (c *Client) PullsAt(ctx context.Context, installation int64, fullName, sha string) (found []PullRequest, err error) {
	doing := fmt.Sprintf("list the pull requests at %s of %s", sha, fullName)
	owner, repo, err := splitRepository(fullName)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", doing, err)
	}
	err = c.callAsInstallation(ctx, installation, func(client *gh.Client) error {
		pulls, err := allPages(func(page gh.ListOptions) ([]*gh.PullRequest, *gh.Response, error) {
			return client.PullRequests.ListPullRequestsWithCommit(ctx, owner, repo, sha, &page)
		})
		found = nil
		for _, one := range pulls {
			if pr := Of(one); pr.Head == sha && pr.Open {
				found = append(found, pr)
			}
		}
		return err
	})
	if err != nil {
		return nil, convertError(doing, err)
	}
	return found, nil
}
