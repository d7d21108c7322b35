package github

import (
	"context"
	"fmt"
	"regexp"
	"strconv"

	gh "github.com/google/go-github/v66/github"
)

// Queued is a commit of a merge queue.
type Queued struct {
	SHA  string
	Pull int // the number of the pull request whose turn it is
}

// queueBranch matches the branch that GitHub makes for a merge queue's commit; it names the base and the pull request whose turn it is.
var queueBranch = regexp.MustCompile(`^(?:refs/heads/)?gh-readonly-queue/.+/pr-([1-9][0-9]{0,8})-[0-9a-f]{7,64}$`)

// QueuedPull returns the number of the pull request for which a branch of a merge queue was made; ok is false if it is none.
func QueuedPull(ref string) (number int, ok bool) {
	of := queueBranch.FindStringSubmatch(ref)
	if of == nil {
		return 0, false
	}
	number, err := strconv.Atoi(of[1])
	return number, err == nil
}

// QueueBranches returns the commits of a repository's merge queues: each waits for its checks and has a branch.
// https://docs.github.com/rest/git/refs#list-matching-references
func (c *Client) QueueBranches(ctx context.Context, installation int64, fullName string) (found []Queued, err error) {
	doing := "list the merge queues of " + fullName
	owner, repo, err := splitRepository(fullName)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", doing, err)
	}
	err = c.callAsInstallation(ctx, installation, func(client *gh.Client) error {
		refs, err := allPages(func(page gh.ListOptions) ([]*gh.Reference, *gh.Response, error) {
			return client.Git.ListMatchingRefs(ctx, owner, repo, &gh.ReferenceListOptions{Ref: "heads/gh-readonly-queue", ListOptions: page})
		})
		found = nil
		for _, one := range refs {
			if pull, ok := QueuedPull(one.GetRef()); ok {
				found = append(found, Queued{one.GetObject().GetSHA(), pull})
			}
		}
		return err
	})
	if err != nil {
		return nil, convertError(doing, err)
	}
	return found, nil
}
