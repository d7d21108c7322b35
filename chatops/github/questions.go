package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	gh "github.com/google/go-github/v66/github"
)

// PullRequest is the current state of a pull request on GitHub.
type PullRequest struct {
	Repo          string // current owner/name, to which GitHub redirects old names; empty: not reported
	Number        int
	Open          bool
	Draft, Merged bool
	Fork          bool // its head is in another repository, or in a deleted one
	Labels        []string
	Author        string
	AuthorID      int64  // GitHub's number of the author's account; 0: not reported
	Association   string // of the author, in GitHub's spelling: NONE, FIRST_TIMER, CONTRIBUTOR, MEMBER …; empty: not reported
	Head, Base    string // SHA, branch
	HeadRef       string // branch
	RepoID        int64  // GitHub's id of the repository, which never changes
	Archived      bool   // the repository is read-only
	UpdatedAt     time.Time
}

// Of converts go-github's struct, from a response or from a webhook's payload.
func Of(pr *gh.PullRequest) PullRequest {
	head, base := pr.GetHead().GetRepo(), pr.GetBase().GetRepo()
	out := PullRequest{
		Repo: base.GetFullName(), Number: pr.GetNumber(), Open: pr.GetState() == "open", Draft: pr.GetDraft(), Merged: pr.GetMerged() || pr.MergedAt != nil,
		Fork:   head == nil || head.GetID() != base.GetID() || head.GetFork() && head.GetFullName() != base.GetFullName(),
		Author: pr.GetUser().GetLogin(), AuthorID: pr.GetUser().GetID(), Association: pr.GetAuthorAssociation(),
		Head: pr.GetHead().GetSHA(), HeadRef: pr.GetHead().GetRef(), Base: pr.GetBase().GetRef(),
		RepoID: base.GetID(), Archived: base.GetArchived(), UpdatedAt: pr.GetUpdatedAt().UTC(),
	}
	for _, label := range pr.Labels {
		out.Labels = append(out.Labels, label.GetName())
	}
	return out
}

// PullRequest returns the current state of a pull request. ErrNotFound: it does not exist for the App, not even after some seconds;
// GitHub returns 404 for a moment after a pull request was opened.
func (c *Client) PullRequest(ctx context.Context, installation int64, repo string, number int) (PullRequest, error) {
	doing := fmt.Sprintf("ask for %s#%d", repo, number)
	owner, name, err := splitRepository(repo)
	if err != nil {
		return PullRequest{}, fmt.Errorf("%s: %w", doing, err)
	}
	ctx = toDecide(ctx)
	var out PullRequest
	err = c.retryNotFound(ctx, func() error {
		return c.callAsInstallation(ctx, installation, func(client *gh.Client) error {
			pr, _, err := client.PullRequests.Get(ctx, owner, name, number)
			if err == nil {
				out = Of(pr)
			}
			return err
		})
	})
	return out, convertError(doing, err)
}

var (
	loginName = regexp.MustCompile(`^[A-Za-z0-9_-]+(\[bot\])?$`)
	roles     = []string{"admin", "maintain", "write", "triage", "read", "none"}
)

// ErrOtherAccount says that a login belongs to another account than the one that was asked for.
var ErrOtherAccount = errors.New("another account has the login by now")

// Permission returns an account's permission in a repository: admin, maintain, write, triage, read or none. A custom role of the
// organisation gives the permission that it is based on; GitHub is asked by login, so its answer
// must be about the account with this number; else the error is ErrOtherAccount, also if no user has the login.
func (c *Client) Permission(ctx context.Context, installation int64, repo, login string, account int64) (string, error) {
	doing := fmt.Sprintf("ask for the permission of %q in %s", login, repo)
	owner, name, err := splitRepository(repo)
	if err != nil {
		return "", fmt.Errorf("%s: %w", doing, err)
	}
	if !loginName.MatchString(login) {
		return "none", nil
	}
	ctx = toDecide(ctx)
	permission := "none"
	err = c.callAsInstallation(ctx, installation, func(client *gh.Client) error {
		level, answer, err := client.Repositories.GetPermissionLevel(ctx, owner, name, login)
		if err != nil {
			if err = unlessUnknownUser(answer, err); err == nil {
				err = ErrOtherAccount
			}
			return err
		}
		if level.GetUser().GetID() != account {
			return ErrOtherAccount
		}
		permission = level.GetPermission()
		if slices.Contains(roles, level.GetRoleName()) {
			permission = level.GetRoleName()
		}
		return nil
	})
	return permission, convertError(doing, err)
}

// unlessUnknownUser distinguishes "login is not a user" from a repository that is not visible; both are 404.
func unlessUnknownUser(answer *gh.Response, err error) error {
	var refused *gh.ErrorResponse
	if errors.As(err, &refused) && answer != nil && answer.StatusCode == http.StatusNotFound &&
		strings.HasSuffix(refused.Message, "is not a user") {
		return nil
	}
	return err
}
