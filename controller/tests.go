package controller

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	chat "github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/chatops/github"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/testreports"
)

// showTests updates the check with the test results on a report's commit. It shows all reports that are there by then, so it settles the
// others that wait to be shown on the same commit.
func (c *Controller) showTests(ctx context.Context, e clusters.Effect) (note string, err error) {
	target, err := c.Store.TestReports.Target(ctx, e.Content)
	if errors.Is(err, db.ErrNotFound) {
		return "the report is gone", nil
	}
	if err != nil {
		return "", err
	}
	if target.Head == "" {
		if target.Head, _, err = c.commitOf(ctx, e, target.RunID, target.RunKey, target.Event, target.Claimed); err != nil {
			return "", err
		}
	}
	return c.oneAtATime(ctx, strings.Join([]string{"tests", target.Repo, target.Head, target.Profile}, " "), func(ctx context.Context) (string, error) {
		return c.showTestsOn(ctx, e, target)
	})
}

func (c *Controller) showTestsOn(ctx context.Context, e clusters.Effect, target testreports.Target) (note string, err error) {
	waiting, err := c.Store.TestReports.Waiting(ctx, target)
	if err != nil {
		return "", err
	}
	all, err := c.Store.TestReports.OnCommit(ctx, target)
	if err != nil || len(all) == 0 {
		return "the reports are gone", err
	}
	run := chat.TestsCheck(all)
	_, err = c.GitHub.UpsertCheckRun(ctx, github.CheckTarget{
		Installation: e.Installation, Repo: e.Repo, Head: target.Head, Name: chat.TestsCheckName(target.Profile), ExternalKey: "tests:" + target.Profile,
	}, run)
	if err != nil {
		return "", err
	}
	for _, id := range waiting {
		if err := c.Store.Outbox.EffectDone(ctx, id, run.Title, false); err != nil {
			return "", err
		}
	}
	return run.Title, nil
}

// commitOf asks at which commit GitHub shows a run, and stores it: the token of a pull request's run names a commit that only merges. fork
// reports that the commit is in another repository. If the App may not read Actions, the token's commit counts for all other runs.
func (c *Controller) commitOf(ctx context.Context, e clusters.Effect, run, key, event, claimed string) (sha string, fork bool, err error) {
	number, err := strconv.ParseInt(key, 10, 64)
	if err != nil {
		return "", false, fmt.Errorf("run %s has no number on GitHub: %w", run, err)
	}
	got, err := c.GitHub.Run(ctx, e.Installation, e.Repo, number)
	sha, fork = got.Head, got.Fork
	if errors.Is(err, github.ErrRefused) && claimed != "" && !ofPull(event) {
		sha, fork, err = claimed, false, nil
	}
	if err != nil {
		return "", false, err
	}
	return sha, fork, c.Store.Runs.ShownAt(ctx, run, sha)
}

// ofPull reports whether a run was started by a pull request, whose commit may be in a fork.
func ofPull(event string) bool { return strings.HasPrefix(event, "pull_request") }
