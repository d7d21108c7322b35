package hooks

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/chatops/github"
	"github.com/ocpctl/ocpctl/profiles"
	"github.com/ocpctl/ocpctl/store/pullrequests"
)

// Asker answers the service's questions through GitHub's API. It caches permissions and team memberships briefly, so that many labels
// and comments of one person take one call; everything else is queried each time.
type Asker struct {
	client      *github.Client
	permissions *memory[string]
	members     *memory[bool]
	only        []int64 // the installations that this server handles; empty: all
}

// NewAsker returns the service's access to GitHub. only are the App's installations that this server handles; empty: all.
func NewAsker(client *github.Client, only ...int64) Asker {
	return Asker{client, newMemory[string](time.Now), newMemory[bool](time.Now), only}
}

// Permission implements app.GitHub.
func (a Asker) Permission(ctx context.Context, installation int64, repo string, who app.GitHubAccount) (string, error) {
	key := describeQuestion(installation, strings.ToLower(repo), strings.ToLower(who.Login)+" "+strconv.FormatInt(who.ID, 10))
	return a.permissions.askOnce(key, func() (string, error) {
		permission, err := a.client.Permission(ctx, installation, repo, who.Login, who.ID)
		if errors.Is(err, github.ErrOtherAccount) {
			return "", fmt.Errorf("%w: %w", app.ErrOtherAccount, err)
		}
		return permission, permanentError(err)
	})
}

// AccountID implements app.GitHub.
func (a Asker) AccountID(ctx context.Context, installation int64, login string) (int64, error) {
	id, err := a.client.AccountID(ctx, installation, login)
	return id, permanentError(err)
}

// Login implements app.GitHub.
func (a Asker) Login(ctx context.Context, installation, account int64) (string, error) {
	login, err := a.client.Login(ctx, installation, account)
	return login, permanentError(err)
}

// permanentError marks an error that GitHub will repeat until a person changes something.
func permanentError(err error) error {
	if errors.Is(err, github.ErrNotFound) || errors.Is(err, github.ErrRefused) {
		return fmt.Errorf("%w: %w", app.ErrRefused, err)
	}
	return err
}

// PullRequest implements app.GitHub. GitHub redirects a repository's earlier names to the current one, which is returned.
func (a Asker) PullRequest(ctx context.Context, installation int64, repo string, number int) (pullrequests.PullRequest, error) {
	pr, err := a.client.PullRequest(ctx, installation, repo, number)
	if errors.Is(err, github.ErrNotFound) {
		return pullrequests.PullRequest{}, fmt.Errorf("%w: %w", app.ErrNoPullRequest, err)
	}
	if err != nil {
		return pullrequests.PullRequest{}, permanentError(err)
	}
	return toPullRequest(installation, cmp.Or(pr.Repo, repo), pr), nil
}

// missingFiles is the context key of the files that one delivery found missing. GitHub counts every 404 for a file, and the goroutine
// that processes a delivery asks for the same file several times.
type missingFiles struct{}

// forOneDelivery remembers missing files while a delivery is processed.
func forOneDelivery(ctx context.Context) context.Context {
	return context.WithValue(ctx, missingFiles{}, map[string]bool{})
}

// RepositoryFile implements app.GitHub. An unchanged file costs nothing of GitHub's limit: the client caches it.
func (a Asker) RepositoryFile(ctx context.Context, installation int64, repo, ref string) (raw []byte, found bool, err error) {
	if missing, ok := ctx.Value(missingFiles{}).(map[string]bool); ok {
		key := describeQuestion(installation, repo, ref)
		if missing[key] {
			return nil, false, nil
		}
		defer func() { missing[key] = err == nil && !found }()
	}
	file, err := a.client.File(ctx, installation, repo, profiles.RepositoryFilePath, ref)
	switch {
	case errors.Is(err, github.ErrNotFound):
		return nil, false, nil
	case errors.Is(err, github.ErrNotFile):
		return nil, false, fmt.Errorf("%w: %w", app.ErrUnreadable, err)
	}
	return file.Raw, err == nil, permanentError(err)
}

// RemovesRepositoryFile implements app.GitHub.
func (a Asker) RemovesRepositoryFile(ctx context.Context, installation int64, repo string, number int) (bool, error) {
	removes, err := a.client.Removes(ctx, installation, repo, number, profiles.RepositoryFilePath)
	return removes, permanentError(err)
}

// Teams implements app.GitHub.
func (a Asker) Teams(ctx context.Context, installation int64, login string, teams []string) (in []string, err error) {
	for _, team := range teams {
		org, slug, _ := strings.Cut(team, "/")
		member, err := a.members.askOnce(describeQuestion(installation, strings.ToLower(team), strings.ToLower(login)), func() (bool, error) {
			member, err := a.client.TeamMember(ctx, installation, org, slug, login)
			return member, permanentError(err)
		})
		if err != nil {
			return nil, err
		}
		if member {
			in = append(in, team)
		}
	}
	return in, nil
}

// WorkflowRun implements app.GitHub.
func (a Asker) WorkflowRun(ctx context.Context, installation int64, repo string, id int64) (app.WorkflowRun, error) {
	got, err := a.client.Run(ctx, installation, repo, id)
	if err != nil {
		return app.WorkflowRun{}, permanentError(err)
	}
	waits, err := a.client.Pending(ctx, installation, repo, id)
	return app.WorkflowRun{
		RepoID: got.RepoID, Repo: got.Repo, Name: got.Name, Attempt: got.Attempt, Completed: got.Completed, Event: got.Event, Head: got.Head, Fork: got.Fork,
		URL: got.URL, Actor: got.Actor, ActorID: got.ActorID, Bot: got.Bot, Waits: waits,
	}, permanentError(err)
}

// OwnLogin implements app.GitHub.
func (a Asker) OwnLogin(ctx context.Context) (string, error) { return a.client.OwnLogin(ctx) }

// InstallationOf implements app.GitHub. A suspended installation, or one that this server does not handle, counts as none: naming or
// moving a repository does not bring its installation in.
func (a Asker) InstallationOf(ctx context.Context, repo string) (int64, error) {
	id, err := a.client.InstallationOf(ctx, repo)
	switch {
	case errors.Is(err, github.ErrNotFound), errors.Is(err, github.ErrSuspended):
		return 0, nil
	case errors.Is(err, github.ErrRefused):
		return 0, fmt.Errorf("%w: %w", app.ErrUnreadable, err)
	case err != nil:
		return 0, err
	case len(a.only) > 0 && !slices.Contains(a.only, id):
		return 0, nil
	}
	return id, nil
}

// Repository implements app.GitHub. The App itself asks which installation reaches the repository. That installation, or else the
// earlier one, asks for its state: everybody sees what is public.
func (a Asker) Repository(ctx context.Context, installation int64, repo string) (app.RepositoryState, error) {
	there, err := a.InstallationOf(ctx, repo)
	if err != nil {
		return app.RepositoryState{}, err
	}
	seen, err := a.client.Repository(ctx, cmp.Or(there, installation), repo)
	hidden := errors.Is(err, github.ErrNotFound) || errors.Is(err, github.ErrRefused)
	switch {
	case err == nil:
		return app.RepositoryState{Installation: there, ID: seen.ID, Name: seen.Name, Archived: seen.Archived}, nil
	case hidden && there == 0:
		return app.RepositoryState{}, nil
	case hidden: // if two responses contradict each other, neither counts
		return app.RepositoryState{}, fmt.Errorf("%w: %w", app.ErrUnreadable, err)
	}
	return app.RepositoryState{}, err
}

func describeQuestion(installation int64, what, login string) string {
	return strconv.FormatInt(installation, 10) + " " + what + " " + login
}

// toPullRequest is a pull request in the store's form.
func toPullRequest(installation int64, repo string, pr github.PullRequest) pullrequests.PullRequest {
	return pullrequests.PullRequest{
		Installation: installation, Repo: repo, RepoID: pr.RepoID, Number: pr.Number, Open: pr.Open, Draft: pr.Draft, Merged: pr.Merged,
		Fork: pr.Fork, Labels: pr.Labels, Author: pr.Author, AuthorID: pr.AuthorID, Association: pr.Association, Head: pr.Head, HeadRef: pr.HeadRef, Base: pr.Base,
		UpdatedAt: pr.UpdatedAt,
	}
}
