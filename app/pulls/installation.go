package pulls

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/pullrequests"
)

// GitHub's actions on the App's installation, and on its repositories. An installation can also be deleted (actionDeleted).
const (
	actionSuspend   = "suspend"
	actionUnsuspend = "unsuspend"
	actionCreated   = "created"
	actionRemoved   = "removed"
	actionAdded     = "added"
)

// InstallationEvent is a reported change of the App's installation.
type InstallationEvent struct {
	Installation int64
	Action       string   // deleted, suspend, unsuspend, created; removed or added with Repos
	Repos        []string // owner/name; empty: all of the installation
	Actor        string
	ActorID      int64
}

// lostBy are the reasons, by action, for ending clusters whose repository the App no longer reaches.
var lostBy = map[string]lifecycle.ReasonCode{
	actionDeleted: lifecycle.ReasonAppRemoved, actionRemoved: lifecycle.ReasonAppRemoved, actionSuspend: lifecycle.ReasonAppSuspended,
}

// InstallationChanged ends the clusters that the App can no longer look after, and lifts such ends when it can again. It asks
// GitHub about each repository that has something to end or to lift. What was done stays done: if the time does not suffice for
// all, the next attempt continues.
func (s *Service) InstallationChanged(ctx context.Context, e InstallationEvent) (note string, err error) {
	_, ends := lostBy[e.Action]
	lifts := slices.Contains([]string{actionUnsuspend, actionCreated, actionAdded}, e.Action)
	someOnly := e.Action == actionRemoved || e.Action == actionAdded
	switch {
	case !ends && !lifts:
		return "nothing follows from an installation that was " + e.Action, nil
	case len(e.Repos) == 0 && someOnly:
		return "no repository is named", nil
	}
	var notes []string
	if lifts {
		if notes, err = s.takeOverRepositories(ctx, e); err != nil {
			return "", err
		}
	}
	var repos []string // a whole installation: all its repositories, whichever were named
	if someOnly {
		repos = e.Repos
	}
	pulls, err := s.store.PullRequests.PullsOf(ctx, e.Installation, repos)
	if err != nil {
		return "", fmt.Errorf("list pull requests of installation %d: %w", e.Installation, err)
	}
	of := map[string][]pullrequests.PullRequest{}
	for _, pr := range pulls {
		of[pr.Repo] = append(of[pr.Repo], pr)
	}
	for _, repo := range slices.Sorted(maps.Keys(of)) {
		said, err := s.checkReach(ctx, e, repo, of[repo])
		if err != nil {
			return "", err
		}
		notes = append(notes, said...)
	}
	if len(notes) == 0 {
		return "nothing to change", nil
	}
	return strings.Join(notes, "; "), nil
}

// takeOverRepositories takes over the repositories that are known by another installation, which no longer reaches them: a new
// installation has another id.
func (s *Service) takeOverRepositories(ctx context.Context, e InstallationEvent) (notes []string, err error) {
	known, err := s.store.PullRequests.ReachedBefore(ctx, e.Repos, e.Installation)
	if err != nil {
		return nil, err
	}
	for _, repo := range known {
		there, err := s.findReachingInstallation(ctx, repo)
		if errors.Is(err, app.ErrUnreadable) || err == nil && there == 0 {
			continue
		}
		if err != nil {
			return nil, err
		}
		said, err := s.moveRows(ctx, RepositoryEvent{Action: e.Action, From: repo, To: repo, Actor: e.Actor, ActorID: e.ActorID}, there)
		if err != nil {
			return nil, err
		}
		notes = append(notes, said)
	}
	return notes, nil
}

// checkReach ends or lifts the clusters of one repository, by what GitHub says about it.
func (s *Service) checkReach(ctx context.Context, e InstallationEvent, repo string, pulls []pullrequests.PullRequest) (notes []string, err error) {
	lost, ends := lostBy[e.Action]
	var rows []clusters.Row
	if ends {
		rows, err = s.goingOn(ctx, pulls)
	} else {
		rows, err = s.outOfSight(ctx, pulls, false)
	}
	if err != nil || len(rows) == 0 || pullrequests.Nameless(repo) { // without its name GitHub cannot be asked about it
		return nil, err
	}
	there, err := s.findReachingInstallation(ctx, repo)
	if errors.Is(err, app.ErrUnreadable) {
		return []string{noteWithoutConfirmation(repo)}, nil
	}
	if err != nil {
		return nil, err
	}
	if there != 0 && there != e.Installation {
		note, err := s.moveRows(ctx, RepositoryEvent{Action: e.Action, From: repo, To: repo, Actor: e.Actor, ActorID: e.ActorID}, there)
		if err != nil {
			return nil, err
		}
		notes = append(notes, note)
	}
	var note string
	switch {
	case ends && there == 0:
		note, err = s.endAll(ctx, rows, lifecycle.Reason{Code: lost, Name: repo}, e.actorOf())
	case !ends && there != 0:
		note, err = s.liftAll(ctx, rows, "the App is there again", e.actorOf())
	case ends:
		note = "GitHub says that the App reaches " + repo
	default:
		note = "GitHub says that the App does not reach " + repo
	}
	return append(notes, note), err
}

// findReachingInstallation returns which of the App's installations reaches a repository; 0: none.
func (s *Service) findReachingInstallation(ctx context.Context, repo string) (int64, error) {
	installation, err := s.github.InstallationOf(ctx, repo)
	if err != nil {
		return 0, fmt.Errorf("ask for the App's installation on %s: %w", repo, err)
	}
	return installation, nil
}
