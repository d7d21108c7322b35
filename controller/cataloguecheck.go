package controller

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	chat "github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/chatops/github"
	"github.com/ocpctl/ocpctl/store/clusters"
)

// CatalogueChanges judges changes of the catalogue.
type CatalogueChanges interface {
	// CheckCatalogue returns the check run on a pull request that changes the catalogue to these files; without replays, past requests are
	// not judged by them.
	CheckCatalogue(ctx context.Context, files map[string]string, replays bool) (chat.CheckRun, error)
}

// checkCatalogue shows, on a pull request that changes the catalogue's files, what is wrong with them or what they would have meant for past
// requests. Past requests are not replayed for forks: with rules of their own, strangers could ask what others did.
func (c *Controller) checkCatalogue(ctx context.Context, e clusters.Effect) (string, error) {
	if c.Changes == nil {
		return "no repository of the catalogue is configured", nil
	}
	pr, err := c.GitHub.PullRequest(ctx, e.Installation, e.Repo, e.Number)
	if err != nil {
		return "", err
	}
	if pr.Head != e.Content || !pr.Open {
		return "the pull request has another head, or is closed", nil
	}
	changes, err := c.GitHub.ChangesBelow(ctx, e.Installation, e.Repo, e.Number, c.CataloguePath)
	if err != nil {
		return "", err
	}
	if !changes {
		return "no file of the catalogue changes", nil
	}
	run, err := c.catalogueRun(ctx, e, !pr.Fork)
	if err != nil {
		return "", err
	}
	_, err = c.GitHub.UpsertCheckRun(ctx, github.CheckTarget{
		Installation: e.Installation, Repo: e.Repo, Head: e.Content, Name: chat.CatalogueCheckName, ExternalKey: "catalogue",
	}, run)
	return run.Title, err
}

func (c *Controller) catalogueRun(ctx context.Context, e clusters.Effect, replays bool) (chat.CheckRun, error) {
	files, err := c.GitHub.Folder(ctx, e.Installation, e.Repo, c.CataloguePath, e.Content)
	if errors.Is(err, github.ErrNotFile) {
		return chat.CatalogueChange{Problems: []chat.Annotation{{Path: c.CataloguePath, Message: err.Error()}}}.Run(), nil
	}
	if err != nil {
		return chat.CheckRun{}, err
	}
	return c.Changes.CheckCatalogue(ctx, files, replays)
}

// proposeCatalogue opens a pull request with a changed document of the catalogue. Its result is the number.
func (c *Controller) proposeCatalogue(ctx context.Context, e clusters.Effect) (string, error) {
	var p chat.CatalogueProposal
	if err := json.Unmarshal([]byte(e.Content), &p); err != nil {
		return "", fmt.Errorf("read the proposal %s: %w", e.ID, err)
	}
	number, err := c.GitHub.Propose(ctx, e.Installation, e.Repo, github.Proposal{
		Branch: "ocpctl/" + strings.ReplaceAll(strings.ToLower(e.ID), "_", "-"), Path: p.Path, Was: p.Was, Now: p.Now, Title: p.Title, Body: p.Body(),
	})
	if errors.Is(err, github.ErrChanged) {
		return "", fmt.Errorf("%s on the default branch differs from the active document; wait until its newest version is active, and propose the change again: %w", p.Path, err)
	}
	if errors.Is(err, github.ErrRefused) {
		return "", fmt.Errorf("GitHub refuses it; check that the App has the permissions contents: write and pull_requests: write for %s, and that no ruleset forbids branches named ocpctl/*: %w", e.Repo, err)
	}
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("pull request #%d", number), nil
}
