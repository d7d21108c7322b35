package github

import (
	"context"
	"fmt"
	"strings"

	gh "github.com/google/go-github/v66/github"
)

// Branch is a branch with its head.
type Branch struct{ Ref, SHA string } // Ref begins with refs/heads/

// queuePrefix begins the names of the branches that GitHub makes for the commits of merge queues.
const queuePrefix = "heads/gh-readonly-queue/"

// QueueBranches returns the branches of a repository's merge queues: one for each commit that waits for its checks.
// https://docs.github.com/rest/git/refs#list-matching-references
func (c *Client) QueueBranches(ctx context.Context, installation int64, fullName string) (found []Branch, err error) {
	doing := "list the merge queues of " + fullName
	owner, repo, err := split(fullName)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", doing, err)
	}
	err = c.call(ctx, installation, func(client *gh.Client) error {
		found = nil
		opts := &gh.ReferenceListOptions{Ref: strings.TrimSuffix(queuePrefix, "/"), ListOptions: gh.ListOptions{PerPage: pageSize}}
		for {
			page, answer, err := client.Git.ListMatchingRefs(ctx, owner, repo, opts)
			if err != nil {
				return err
			}
			for _, one := range page {
				if strings.HasPrefix(one.GetRef(), "refs/"+queuePrefix) {
					found = append(found, Branch{one.GetRef(), one.GetObject().GetSHA()})
				}
			}
			if answer.NextPage == 0 {
				return nil
			}
			opts.Page = answer.NextPage
		}
	})
	if err != nil {
		return nil, explain(doing, err)
	}
	return found, nil
}
