package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	gh "github.com/google/go-github/v66/github"
)

// Proposal is a changed file that a pull request proposes.
type Proposal struct {
	Branch      string // to be made, or made by an earlier try
	Path        string
	Was, Now    string // content; an empty Was: the file is new
	Title, Body string // of the pull request; the commit has both as its message
}

// ErrChanged says that a file is not what a proposal started from.
var ErrChanged = errors.New("the file changed on the default branch since")

// Propose opens a pull request with a changed file against the default branch and returns its number. It may be called again with the same
// proposal after any failure: a pull request that was opened is returned, whatever became of it, and a branch that was made is used. The App
// is the author of the commit, so that GitHub signs it. It needs the permissions contents: write and pull_requests: write.
func (c *Client) Propose(ctx context.Context, installation int64, repo string, p Proposal) (number int, err error) {
	doing := fmt.Sprintf("propose %s in %s", p.Path, repo)
	owner, name, err := splitRepository(repo)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", doing, err)
	}
	err = c.changeAsInstallation(ctx, installation, func(client *gh.Client, leave func() error) error {
		w := proposer{client: client, leave: leave, owner: owner, repo: name, Proposal: p}
		return c.retryUnknownCommit(ctx, func() error { // the branch is read as soon as it is made
			number, err = w.propose(ctx)
			return err
		})
	})
	if errors.Is(err, ErrChanged) {
		return 0, err
	}
	return number, convertError(doing, err)
}

type proposer struct {
	client      *gh.Client
	leave       func() error
	owner, repo string
	Proposal
}

func (w proposer) propose(ctx context.Context) (int, error) {
	if number, err := w.findPull(ctx); number > 0 || err != nil {
		return number, err
	}
	repo, _, err := w.client.Repositories.Get(ctx, w.owner, w.repo)
	if err != nil {
		return 0, err
	}
	if err := w.makeBranch(ctx, repo.GetDefaultBranch()); err != nil {
		return 0, err
	}
	if err := w.commitFile(ctx); err != nil {
		return 0, err
	}
	if err := w.leave(); err != nil {
		return 0, err
	}
	made, _, err := w.client.PullRequests.Create(ctx, w.owner, w.repo, &gh.NewPullRequest{
		Title: new(w.Title), Head: new(w.Branch), Base: repo.DefaultBranch, Body: new(w.Body),
	})
	return made.GetNumber(), err
}

// findPull returns the pull request that an earlier try opened, also if it is merged or closed by now; 0: there is none.
func (w proposer) findPull(ctx context.Context) (int, error) {
	there, _, err := w.client.PullRequests.List(ctx, w.owner, w.repo, &gh.PullRequestListOptions{State: "all", Head: w.owner + ":" + w.Branch})
	if err != nil || len(there) == 0 {
		return 0, err
	}
	return there[0].GetNumber(), nil
}

// readFile returns the file and git's id of it at a branch or commit; empty: there is none.
func (w proposer) readFile(ctx context.Context, ref string) (content, blob string, err error) {
	at, err := contentsURL(w.owner, w.repo, w.Path, ref)
	if err != nil {
		return "", "", err
	}
	file, err := readFile(ctx, w.client, at)
	if hasStatus(err, http.StatusNotFound) && !noCommit(err) {
		return "", "", nil
	}
	return string(file.Raw), file.SHA, err
}

// makeBranch makes the branch at a commit of the default branch whose file is what the proposal started from.
func (w proposer) makeBranch(ctx context.Context, base string) error {
	if _, _, err := w.client.Git.GetRef(ctx, w.owner, w.repo, "heads/"+w.Branch); err == nil || !hasStatus(err, http.StatusNotFound) {
		return err
	}
	from, _, err := w.client.Git.GetRef(ctx, w.owner, w.repo, "heads/"+base)
	if err != nil {
		return err
	}
	was, _, err := w.readFile(ctx, from.GetObject().GetSHA())
	if err != nil {
		return err
	}
	if was != w.Was {
		return ErrChanged
	}
	if err := w.leave(); err != nil {
		return err
	}
	_, _, err = w.client.Git.CreateRef(ctx, w.owner, w.repo, &gh.Reference{Ref: new("refs/heads/" + w.Branch), Object: &gh.GitObject{SHA: from.GetObject().SHA}})
	return err
}

// commitFile commits the file to the branch, unless an earlier try did, or somebody changed it there since.
func (w proposer) commitFile(ctx context.Context) error {
	now, blob, err := w.readFile(ctx, w.Branch)
	if err != nil || now != w.Was {
		return err
	}
	escaped, err := escapePath(w.Path) // the library does not
	if err != nil {
		return err
	}
	if err := w.leave(); err != nil {
		return err
	}
	_, _, err = w.client.Repositories.CreateFile(ctx, w.owner, w.repo, escaped, &gh.RepositoryContentFileOptions{
		Message: new(w.Title + "\n\n" + w.Body), Content: []byte(w.Now), SHA: nilIfEmpty(blob), Branch: new(w.Branch),
	})
	return err
}
