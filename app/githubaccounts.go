package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ocpctl/ocpctl/chatops/messages"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/profiles"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/people"
)

// GitHubAccount is an account on GitHub, as an event or an answer names it.
type GitHubAccount struct {
	ID    int64 // GitHub's number, which a renaming does not change
	Login string
}

// ErrOtherAccount says that a login belongs to another account on GitHub than the one that was asked for.
var ErrOtherAccount = errors.New("the login belongs to another account on GitHub by now")

// RecordGitHubAccount writes down what an account on GitHub is called now.
func (s *Service) RecordGitHubAccount(ctx context.Context, by GitHubAccount) (people.GitHubAccount, error) {
	return s.store.People.RecordGitHubAccount(ctx, by.ID, by.Login)
}

// GitHubPrincipal returns the principal of an account on GitHub. It is the account's number: neither a renaming nor another account with
// its login changes who that is. values are what GitHub says about it besides. A login that the catalogue names counts for the account
// that had it first, whatever that is called now.
func (s *Service) GitHubPrincipal(ctx context.Context, installation int64, by GitHubAccount, values map[string][]string) (policy.Principal, error) {
	if err := s.resolveLogins(ctx, installation); err != nil {
		return policy.Principal{}, err
	}
	seen, err := s.RecordGitHubAccount(ctx, by)
	if err != nil {
		return policy.Principal{}, err
	}
	values["id"] = []string{strconv.FormatInt(by.ID, 10)}
	for _, login := range seen.Owns {
		if strings.EqualFold(login, by.Login) {
			login = by.Login // in GitHub's spelling
		}
		values["login"] = append(values["login"], login)
	}
	name := by.Login
	if person, known := s.personOnGitHub(seen); known {
		name = person.DisplayName
	} else if !slices.Contains(seen.Owns, strings.ToLower(by.Login)) {
		name = fmt.Sprintf("%s (GitHub account %d)", by.Login, by.ID)
	}
	said := policy.Claims{Source: profiles.SourceGitHub, Subject: strings.TrimPrefix(seen.Principal, string(profiles.SourceGitHub)+":"), Name: name, Values: values}
	return s.ExternalPrincipal(ctx, said)
}

// personOnGitHub returns the catalogue's person with an account on GitHub: by its number, else by one of the logins that are its alone.
func (s *Service) personOnGitHub(a people.GitHubAccount) (profiles.Person, bool) {
	c := s.catalogue()
	person, known := c.PersonOf(a.Principal)
	for _, login := range a.Owns {
		if !known {
			person, known = c.PersonOf(string(profiles.SourceGitHub) + ":" + login)
		}
	}
	return person, known
}

// resolveLogins asks GitHub once for each login, owner and repository that the catalogue names and that nobody was seen with, so that
// whoever takes such a name later does not become whom the catalogue means.
func (s *Service) resolveLogins(ctx context.Context, installation int64) error {
	c := s.catalogue()
	if done := s.resolved.Load(); c.Hash == "" || done != nil && *done == c.Hash {
		return nil
	}
	accounts, repositories := profiles.NamesOfJobs(c.Identities, s.isAppIssuer)
	unknown, err := s.store.People.UnknownLogins(ctx, append(c.GitHubLogins(), accounts...))
	if err != nil {
		return err
	}
	whole := true
	for _, login := range unknown {
		id, err := s.github.AccountID(ctx, installation, login)
		switch {
		case err != nil:
			s.log.WarnContext(ctx, "a login of the catalogue is not resolved to its account yet", "login", login, "err", err)
			if !errors.Is(err, ErrRefused) {
				return nil // the next event tries it again
			}
			whole = false // one refusal is not an answer; others may get one
		case id == 0:
			s.log.WarnContext(ctx, "the catalogue names a login that GitHub does not know", "login", login)
		default:
			if _, err := s.RecordGitHubAccount(ctx, GitHubAccount{id, login}); err != nil {
				return err
			}
		}
	}
	all, err := s.resolveRepositories(ctx, installation, repositories)
	if err != nil {
		s.log.WarnContext(ctx, "a repository of the catalogue is not resolved to its number yet", "err", err)
		return nil
	}
	if whole && all {
		s.resolved.Store(&c.Hash)
	}
	return nil
}

// PrincipalNamed returns the principal whom a typed id means. github:<login> is the account whose login it is, which GitHub is asked for
// if no account was seen with it; installation is one that may ask, or 0. Other ids are as they are. A problem: nobody can be meant.
func (s *Service) PrincipalNamed(ctx context.Context, installation int64, id string) (string, *messages.Problem, error) {
	login, onGitHub := profiles.GitHubLogin(id)
	if !onGitHub {
		return id, nil, nil
	}
	owner, err := s.store.People.LoginOwner(ctx, login)
	if errors.Is(err, db.ErrNotFound) && installation != 0 {
		var number int64
		if number, err = s.github.AccountID(ctx, installation, login); err == nil && number != 0 {
			owner, err = s.RecordGitHubAccount(ctx, GitHubAccount{number, login})
		} else if err == nil {
			err = db.ErrNotFound
		}
	}
	var problem messages.Problem
	switch {
	case errors.Is(err, db.ErrNotFound), errors.Is(err, ErrRefused):
		problem = messages.Problem{
			fmt.Sprintf("no account on GitHub is known as %q, or several had that login", login),
			[]string{"the login of somebody who did something in a repository with the App", "github:id/<number of the account>, which https://api.github.com/users/<login> shows"},
		}
	case err != nil:
		return "", nil, fmt.Errorf("look for the account %s on GitHub: %w", login, err)
	case !strings.EqualFold(owner.Login, login):
		problem = messages.Problem{
			fmt.Sprintf("%q was the login of an account that is called %s now. Another account may have it by now", login, owner.Login),
			[]string{"github:" + owner.Login + " for the account that had it", fmt.Sprintf("github:id/<number> for another one; that one's number is %d", owner.ID)},
		}
	default:
		return owner.Principal, nil, nil
	}
	return "", &problem, nil
}

// AccountName is the principal id of an account as people write it: an account on GitHub by its current login, if that is its alone.
func (s *Service) AccountName(ctx context.Context, account string) (string, error) {
	logins, err := s.store.People.LoginsOf(ctx, account)
	if err != nil {
		return "", err
	}
	login, known := logins[account]
	if !known {
		return account, nil
	}
	owner, err := s.store.People.LoginOwner(ctx, login)
	switch {
	case errors.Is(err, db.ErrNotFound) || err == nil && owner.Principal != account:
		return account, nil
	case err != nil:
		return "", err
	}
	return string(profiles.SourceGitHub) + ":" + login, nil
}
