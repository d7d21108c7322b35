package hooks

import (
	"context"

	"github.com/ocpctl/ocpctl/chatops/github"
	"github.com/ocpctl/ocpctl/store"
)

// Asker answers the desk's questions through GitHub's API.
type Asker struct{ Client *github.Client }

// Permission implements app.GitHub.
func (a Asker) Permission(ctx context.Context, installation int64, repo, login string) (string, error) {
	return a.Client.Permission(ctx, installation, repo, login)
}

// PullRequest implements app.GitHub.
func (a Asker) PullRequest(ctx context.Context, installation int64, repo string, number int) (store.PullRequest, error) {
	pr, err := a.Client.PullRequest(ctx, installation, repo, number)
	if err != nil {
		return store.PullRequest{}, err
	}
	return known(installation, repo, pr), nil
}

// known is a pull request as the store remembers it.
func known(installation int64, repo string, pr github.PullRequest) store.PullRequest {
	return store.PullRequest{
		Installation: installation, Repo: repo, Number: pr.Number, Open: pr.Open, Fork: pr.Fork, Labels: pr.Labels,
		Author: pr.Author, Head: pr.Head, Base: pr.Base, UpdatedAt: pr.UpdatedAt,
	}
}
