package pulls

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/profiles"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/pullrequests"
)

// readFile returns the repository's file from the pull request's base branch; nil: there is none. wrong is what is invalid in it,
// line by line; f is nil then too.
func (s *Service) readFile(ctx context.Context, pr pullrequests.PullRequest) (f *profiles.RepositoryFile, wrong error, err error) {
	raw, found, err := s.github.RepositoryFile(ctx, pr.Installation, pr.Repo, pr.Base)
	if errors.Is(err, app.ErrUnreadable) {
		return nil, err, nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("ask %s of %s at %s: %w", profiles.RepositoryFilePath, pr.Repo, pr.Base, err)
	}
	if !found {
		return nil, nil, nil
	}
	read, wrong := profiles.LoadRepositoryFile(raw)
	if wrong != nil {
		return nil, wrong, nil
	}
	return &read, nil, nil
}

// toClusterRequest makes a cluster request from a pull request's request, judged by the repository's current file. With an invalid file no
// cluster is created; existing ones stay.
func (s *Service) toClusterRequest(ctx context.Context, r policy.Request, pr pullrequests.PullRequest) (app.ClusterRequest, error) {
	file, wrong, err := s.readFile(ctx, pr)
	if err != nil {
		return app.ClusterRequest{}, err
	}
	r.File = file
	w := app.ClusterRequest{Request: r, PR: pr}
	if wrong != nil {
		w.Notes = []policy.Check{{
			Name: "repository file", Result: policy.Fail, Asked: pr.Base,
			Message: fmt.Sprintf("%s on %s is not valid, so no new clusters are created. %s", profiles.RepositoryFilePath, chatops.Code(pr.Base), wrong),
			Next:    "Fix it on that branch, and try again.",
		}}
	}
	return w, nil
}

// profileOf returns the profile if none is named: from the repository's file, a rule or the catalogue.
func (s *Service) profileOf(ctx context.Context, r policy.Request) (string, error) {
	now, err := s.store.Now(ctx)
	if err != nil {
		return "", fmt.Errorf("read the clock: %w", err)
	}
	return policy.ProfileOf(r, s.catalogue().Terms(now)), nil
}

// listOffered returns the profiles that a pull request can ask for, the default first. A person without permission gets all of them:
// their comment is not worth a question to GitHub.
func (s *Service) listOffered(ctx context.Context, c command) ([]string, error) {
	if !mayCreate(c.request) || c.pr.Base == "" {
		return s.core.ProfileNames(), nil
	}
	w, err := s.toClusterRequest(ctx, c.request, c.pr)
	if err != nil {
		return nil, err
	}
	first, err := s.profileOf(ctx, w.Request)
	if err != nil {
		return nil, err
	}
	names := slices.DeleteFunc(s.core.ProfileNames(), func(name string) bool { return name == first || !w.Request.Listed(name) })
	if first != "" {
		names = slices.Insert(names, 0, first)
	}
	return names, nil
}

// noDrafts reports whether the repository gives drafts no cluster. It reads the file only for drafts.
func (s *Service) noDrafts(ctx context.Context, pr pullrequests.PullRequest) (bool, error) {
	if !pr.Draft {
		return false, nil
	}
	file, _, err := s.readFile(ctx, pr)
	return file != nil && file.Drafts == profiles.DraftsDeny, err
}

// fileDiffers reports whether a pull request's own version of the file differs from the base branch's.
func (s *Service) fileDiffers(ctx context.Context, pr pullrequests.PullRequest) (bool, error) {
	theirs, found, err := s.github.RepositoryFile(ctx, pr.Installation, pr.Repo, pr.Head)
	if errors.Is(err, app.ErrUnreadable) || errors.Is(err, app.ErrRefused) { // e.g. a fork's commit that is not visible yet: the next push checks it
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("ask %s of %s at %s: %w", profiles.RepositoryFilePath, pr.Repo, pr.Head, err)
	}
	ours, ourFile, err := s.github.RepositoryFile(ctx, pr.Installation, pr.Repo, pr.Base)
	if err != nil && !errors.Is(err, app.ErrUnreadable) && !errors.Is(err, app.ErrRefused) {
		return false, fmt.Errorf("ask %s of %s at %s: %w", profiles.RepositoryFilePath, pr.Repo, pr.Base, err)
	}
	if found && bytes.Equal(ours, theirs) || !found && !ourFile {
		return false, nil
	}
	if found {
		return true, nil
	}
	return s.github.RemovesRepositoryFile(ctx, pr.Installation, pr.Repo, pr.Number) // the branch may be older than the file
}

// checkHead asks for a check of what is at a pull request's head.
func (s *Service) checkHead(ctx context.Context, e PullRequestEvent, kind clusters.EffectKind, what string) (note string, err error) {
	permission, _, err := s.askPermission(ctx, e.PR.Installation, e.PR.Repo, e.actorOf())
	if err != nil {
		return "", err
	}
	if s.isOverlooked(e, policy.Request{Source: policy.SourceLabel, Permission: permission}) { // whoever has a fork can push as often as they like
		return noteWithoutReply(e, "a version of "+what), nil
	}
	if e.hint {
		if pr, err := s.askTruth(ctx, e.PR); err != nil || !pr.Open || pr.Head != e.PR.Head {
			return "", err
		}
	}
	err = s.store.Outbox.SaveEffect(ctx, clusters.Effect{
		Cause: fmt.Sprintf("%s:%s#%d:%s", kind, e.PR.Repo, e.PR.Number, e.PR.Head), Kind: kind,
		Installation: e.PR.Installation, Repo: e.PR.Repo, Number: e.PR.Number, Content: e.PR.Head,
	})
	return "its " + what + " is checked", err
}
