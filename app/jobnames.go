package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/people"
)

// ReusedNames returns the names in a job's token that belong to another number: a name belongs to the first number that is seen with it.
// With keep, names without a number belong to the token's numbers from now on.
func (s *Service) ReusedNames(ctx context.Context, job policy.Claims, keep bool) (reused []policy.JobName, err error) {
	for _, n := range job.JobNames() {
		is, err := s.isReused(ctx, job.JobSite(), n, keep)
		if err != nil {
			return nil, fmt.Errorf("look for whose the name %s is: %w", n.Name, err)
		}
		if is {
			reused = append(reused, n)
		}
	}
	return reused, nil
}

// isReused reports whether a name belongs to another number. Accounts on the App's GitHub are the same as those that write there.
func (s *Service) isReused(ctx context.Context, site string, n policy.JobName, keep bool) (bool, error) {
	account, err := strconv.ParseInt(n.Number, 10, 64)
	keep = keep && n.Number != ""
	switch onGitHub := n.Kind == policy.NameOfAccount && site == s.site; {
	case onGitHub && keep && err == nil && account > 0:
		seen, err := s.RecordGitHubAccount(ctx, GitHubAccount{account, n.Name})
		return !slices.Contains(seen.Owns, strings.ToLower(n.Name)), err
	case onGitHub:
		owner, err := s.store.People.LoginOwner(ctx, n.Name)
		if errors.Is(err, db.ErrNotFound) {
			return false, nil
		}
		return owner.ID != account, err
	case keep:
		return s.store.People.RecordJobName(ctx, s.jobName(site, n))
	}
	first, err := s.store.People.JobNameOwner(ctx, s.jobName(site, n))
	return first != "" && first != n.Number, err
}

func (s *Service) jobName(site string, n policy.JobName) people.JobName {
	return people.JobName{Site: site, Kind: string(n.Kind), Name: n.Name, Number: n.Number}
}

// isAppIssuer reports whether an issuer's tokens are those of jobs of the App's GitHub.
func (s *Service) isAppIssuer(issuer string) bool {
	return s.site != "" && policy.Claims{Issuer: issuer}.JobSite() == s.site
}

// resolveRepositories asks GitHub for the numbers of the repositories that identities name, so that somebody who takes such a name later gets
// nothing by it. Not whole: GitHub refused one.
func (s *Service) resolveRepositories(ctx context.Context, installation int64, repositories []string) (whole bool, err error) {
	whole = true
	for _, repo := range repositories {
		n := people.JobName{Site: s.site, Kind: string(policy.NameOfRepository), Name: repo}
		first, err := s.store.People.JobNameOwner(ctx, n)
		if err != nil {
			return false, err
		}
		if first != "" {
			continue
		}
		is, err := s.github.Repository(ctx, installation, repo)
		switch {
		case errors.Is(err, ErrUnreadable), errors.Is(err, ErrRefused), err == nil && (is.ID == 0 || !strings.EqualFold(is.Name, repo)):
			s.log.WarnContext(ctx, "the catalogue names a repository that GitHub does not show", "repo", repo, "err", err)
			whole = whole && !errors.Is(err, ErrRefused)
			continue
		case err != nil:
			return false, fmt.Errorf("ask for the number of %s: %w", repo, err)
		}
		n.Number = strconv.FormatInt(is.ID, 10)
		if _, err := s.store.People.RecordJobName(ctx, n); err != nil {
			return false, err
		}
	}
	return whole, nil
}
