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
	Branch          string // to be made, or made by an earlier try
	Path            string
	Was, Now        string // content; an empty Was: the file is new
	Title, Body     string
	Author, Address string // of the commit
}

// ErrChanged says that a file is not what a proposal started from.
var ErrChanged = errors.New("the file changed on the default branch since")

// Propose opens a pull request with a changed file against the default branch and returns its number. It may be called again with the same
// proposal after any failure. It takes the permissions contents: write and pull_requests: write.
func (c *Client) Propose(ctx context.Context, installation int64, repo string, p Proposal) (number int, err error) {
	doing := fmt.Sprintf("propose %s in %s", p.Path, repo)
	owner, name, err := splitRepository(repo)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", doing, err)
	}
	err = c.changeAsInstallation(ctx, installation, func(client *gh.Client, leave func() error) error {
		w := proposer{client: client, leave: leave, owner: owner, repo: name, Proposal: p}
		number, err = w.propose(ctx)
		return err
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
	repo, _, err := w.client.Repositories.Get(ctx, w.owner, w.repo)
	if err != nil {
		return 0, err
	}
	base := repo.GetDefaultBranch()
	was, blob, err := w.readFile(ctx, base)
	if err != nil {
		return 0, err
	}
	if was != w.Was {
		return 0, ErrChanged
	}
	if err := w.makeBranch(ctx, base); err != nil {
		return 0, err
	}
	if err := w.commitFile(ctx, blob); err != nil {
		return 0, err
	}
	return w.openPull(ctx, base)
}

// readFile returns the file and git's id of it on a branch; empty: there is none.
func (w proposer) readFile(ctx context.Context, branch string) (content, blob string, err error) {
	at, err := contentsURL(w.owner, w.repo, w.Path, branch)
	if err != nil {
		return "", "", err
	}
	file, err := readFile(ctx, w.client, at)
	if hasStatus(err, http.StatusNotFound) && !noCommit(err) {
		return "", "", nil
	}
	return string(file.Raw), file.SHA, err
}

func (w proposer) makeBranch(ctx context.Context, base string) error {
	if _, _, err := w.client.Git.GetRef(ctx, w.owner, w.repo, "heads/"+w.Branch); err == nil || !hasStatus(err, http.StatusNotFound) {
		return err
	}
	from, _, err := w.client.Git.GetRef(ctx, w.owner, w.repo, "heads/"+base)
	if err != nil {
		return err
	}
	if err := w.leave(); err != nil {
		return err
	}
	_, _, err = w.client.Git.CreateRef(ctx, w.owner, w.repo, &gh.Reference{Ref: new("refs/heads/" + w.Branch), Object: &gh.GitObject{SHA: from.GetObject().SHA}})
	return err
}

func (w proposer) commitFile(ctx context.Context, blob string) error {
	now, _, err := w.readFile(ctx, w.Branch)
	if err != nil || now == w.Now {
		return err
	}
	if err := w.leave(); err != nil {
		return err
	}
	author := &gh.CommitAuthor{Name: new(w.Author), Email: new(w.Address)}
	_, _, err = w.client.Repositories.CreateFile(ctx, w.owner, w.repo, w.Path, &gh.RepositoryContentFileOptions{
		Message: new(w.Title), Content: []byte(w.Now), SHA: nilIfEmpty(blob), Branch: new(w.Branch), Author: author,
	})
	return err
}

func (w proposer) openPull(ctx context.Context, base string) (int, error) {
	head := w.owner + ":" + w.Branch
	there, _, err := w.client.PullRequests.List(ctx, w.owner, w.repo, &gh.PullRequestListOptions{State: "all", Head: head})
	if err != nil {
		return 0, err
	}
	if len(there) > 0 {
		return there[0].GetNumber(), nil
	}
	if err := w.leave(); err != nil {
		return 0, err
	}
	made, _, err := w.client.PullRequests.Create(ctx, w.owner, w.repo, &gh.NewPullRequest{Title: new(w.Title), Head: new(w.Branch), Base: new(base), Body: new(w.Body)})
	return made.GetNumber(), err
}
