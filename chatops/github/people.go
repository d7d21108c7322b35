package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	gh "github.com/google/go-github/v66/github"
)

// TeamMember reports whether a person is in a team or in one below it. Invited people are not members, and neither is anybody in a
// team that is not visible to the App.
func (c *Client) TeamMember(ctx context.Context, installation int64, org, slug, login string) (bool, error) {
	doing := fmt.Sprintf("ask whether %q is in the team %s/%s", login, org, slug)
	if !loginName.MatchString(login) {
		return false, nil
	}
	if _, _, err := splitRepository(org + "/" + slug); err != nil {
		return false, fmt.Errorf("%s: want org/team-slug", doing)
	}
	ctx = toDecide(ctx)
	var member bool
	err := c.callAsInstallation(ctx, installation, func(client *gh.Client) error {
		got, answer, err := client.Teams.GetTeamMembershipBySlug(ctx, org, slug, url.PathEscape(login))
		if answer != nil && answer.StatusCode == http.StatusNotFound {
			return nil
		}
		member = got.GetState() == "active"
		return err
	})
	return member, convertError(doing, err)
}

// IsBot reports whether an account of this type, as REST, GraphQL and webhooks name it, is a bot's. Its login need not tell it.
func IsBot(accountType string) bool { return accountType == "Bot" }

// AccountID returns the number of the account that has a login now; 0: nobody has it.
// https://docs.github.com/rest/users/users#get-a-user
func (c *Client) AccountID(ctx context.Context, installation int64, login string) (id int64, err error) {
	doing := fmt.Sprintf("ask whose login %q is", login)
	if !loginName.MatchString(login) {
		return 0, nil
	}
	ctx = toDecide(ctx)
	err = c.callAsInstallation(ctx, installation, func(client *gh.Client) error {
		got, answer, err := client.Users.Get(ctx, url.PathEscape(login))
		if answer != nil && answer.StatusCode == http.StatusNotFound {
			return nil
		}
		id = got.GetID()
		return err
	})
	return id, convertError(doing, err)
}

// Login returns the current login of an account; empty: there is no such account any more.
// https://docs.github.com/rest/users/users#get-a-user-using-their-id
func (c *Client) Login(ctx context.Context, installation, account int64) (login string, err error) {
	doing := fmt.Sprintf("ask what account %d is called", account)
	ctx = toDecide(ctx)
	err = c.callAsInstallation(ctx, installation, func(client *gh.Client) error {
		got, answer, err := client.Users.GetByID(ctx, account)
		if answer != nil && answer.StatusCode == http.StatusNotFound {
			return nil
		}
		login = got.GetLogin()
		return err
	})
	return login, convertError(doing, err)
}

// InstallationOf returns the App's installation that covers a repository. ErrNotFound: none.
func (c *Client) InstallationOf(ctx context.Context, repo string) (int64, error) {
	doing := "ask for the App's installation in " + repo
	owner, name, err := splitRepository(repo)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", doing, err)
	}
	got, _, err := c.app.Apps.FindRepositoryInstallation(toDecide(ctx), owner, name)
	if err != nil {
		return 0, convertError(doing, err)
	}
	if got.SuspendedAt != nil {
		return 0, fmt.Errorf("%s: %w: %w; an owner of %s can lift that in its settings under GitHub Apps", doing, ErrRefused, ErrSuspended, owner)
	}
	if got.GetID() == 0 {
		return 0, fmt.Errorf("%s: GitHub answered without its number", doing)
	}
	return got.GetID(), nil
}

// Repository is the current state of a repository.
type Repository struct {
	ID       int64  // never changes, even if the repository is renamed
	Name     string // current owner/name; GitHub redirects old names to it
	Archived bool
}

// Repository returns the current state of a repository by its current or an earlier name. ErrNotFound: it does not exist or is not
// visible.
func (c *Client) Repository(ctx context.Context, installation int64, repo string) (Repository, error) {
	doing := "ask for " + repo
	owner, name, err := splitRepository(repo)
	if err != nil {
		return Repository{}, fmt.Errorf("%s: %w", doing, err)
	}
	ctx = toDecide(ctx)
	var out Repository
	err = c.callAsInstallation(ctx, installation, func(client *gh.Client) error {
		got, _, err := client.Repositories.Get(ctx, owner, name)
		out = Repository{ID: got.GetID(), Name: got.GetFullName(), Archived: got.GetArchived()}
		return err
	})
	if err == nil && (out.ID == 0 || out.Name == "") {
		err = errors.New("GitHub answered without its number or its name")
	}
	return out, convertError(doing, err)
}
