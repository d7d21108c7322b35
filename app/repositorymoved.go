package app

import (
	"context"
	"fmt"
	"slices"

	"github.com/ocpctl/ocpctl/store"
)

// The actions of GitHub on a whole repository, and on the App's installation.
const (
	actionRenamed     = "renamed"
	actionTransferred = "transferred"
	actionDeleted     = "deleted"
	actionArchived    = "archived"
	actionUnarchived  = "unarchived"
	actionSuspend     = "suspend"
	actionUnsuspend   = "unsuspend"
	actionCreated     = "created"
	actionRemoved     = "removed"
	actionAdded       = "added"
)

// archived is why the clusters end of a repository that can be seen, and in which nothing can be shown.
const archived = " was archived"

// RepositoryEvent is something that happened to a whole repository.
type RepositoryEvent struct {
	Installation int64
	RepoID       int64  // GitHub's number of it, which no renaming changes; 0: not known
	Action       string // renamed, transferred, deleted, archived or unarchived
	From, To     string // owner/name before and after; To is empty where it is the same
	Actor        string
}

// RepositoryMoved makes what we know follow a repository that was renamed or transferred, and ends what is left behind.
func (d *Desk) RepositoryMoved(ctx context.Context, e RepositoryEvent) (note string, err error) {
	switch e.Action {
	case actionRenamed:
		return d.follow(ctx, e, e.Installation)
	case actionTransferred:
		return d.transferred(ctx, e)
	}
	pulls, err := d.store.PullsOf(ctx, e.Installation, []string{e.From})
	if err != nil {
		return "", fmt.Errorf("list pull requests of %s: %w", e.From, err)
	}
	// Heard late, the name may be another repository's by now.
	pulls = slices.DeleteFunc(pulls, func(pr store.PullRequest) bool { return pr.RepoID != e.RepoID && pr.RepoID != 0 && e.RepoID != 0 })
	switch e.Action {
	case actionDeleted:
		return d.goneAll(ctx, pulls, func(repo string) string { return repo + " was deleted" }, e.Actor)
	case actionArchived:
		return d.goneAll(ctx, pulls, func(repo string) string { return repo + archived }, e.Actor)
	case actionUnarchived:
		return d.back(ctx, pulls, true, e.From+" is archived no longer", e.Actor)
	}
	return "nothing follows from a repository that was " + e.Action, nil
}

// follow makes the rows of a repository those of its new name.
func (d *Desk) follow(ctx context.Context, e RepositoryEvent, installation int64) (note string, err error) {
	if e.From == "" || e.To == "" {
		return "", fail(Invalid, "A repository that was %s needs its names before and after.", e.Action)
	}
	deed := store.Deed{Actor: whose(e.Actor), Door: "github", Why: fmt.Sprintf("%s was %s to %s", e.From, e.Action, e.To)}
	n, err := d.store.RenameRepository(ctx, e.From, e.To, e.RepoID, installation, deed)
	if err != nil {
		return "", fmt.Errorf("follow %s to %s: %w", e.From, e.To, err)
	}
	return fmt.Sprintf("clusters that followed %s to %s: %d", e.From, e.To, n), nil
}

// transferred follows a repository to another owner. Where the App cannot look after it there, what it has comes to its end.
func (d *Desk) transferred(ctx context.Context, e RepositoryEvent) (note string, err error) {
	there, err := d.github.InstallationOf(ctx, e.To)
	if err != nil {
		return "", fmt.Errorf("ask for the App's installation on %s: %w", e.To, err)
	}
	installation := there
	if there == 0 {
		installation = e.Installation
	}
	if note, err = d.follow(ctx, e, installation); err != nil || there != 0 {
		return note, err
	}
	pulls, err := d.store.PullsOf(ctx, installation, []string{e.To})
	if err != nil {
		return "", fmt.Errorf("list pull requests of %s: %w", e.To, err)
	}
	ended, err := d.goneAll(ctx, pulls, func(repo string) string {
		return "the repository moved to " + repo + ", where the App is not installed"
	}, e.Actor)
	return note + "; " + ended, err
}

// InstallationEvent is something that happened to the App's installation.
type InstallationEvent struct {
	Installation int64
	Action       string   // deleted, suspend, unsuspend, created; removed or added with Repos
	Repos        []string // owner/name; empty: all of the installation
	Actor        string
}

// InstallationChanged ends what the App cannot look after any more, and lifts such ends when it can again.
func (d *Desk) InstallationChanged(ctx context.Context, e InstallationEvent) (note string, err error) {
	why := map[string]func(string) string{
		actionDeleted: func(repo string) string { return "the App was removed from " + repo },
		actionRemoved: func(repo string) string { return "the App was removed from " + repo },
		actionSuspend: func(repo string) string { return "the App was suspended on " + repo },
	}[e.Action]
	back := e.Action == actionUnsuspend || e.Action == actionCreated || e.Action == actionAdded
	switch {
	case why == nil && !back:
		return "nothing follows from an installation that was " + e.Action, nil
	case len(e.Repos) == 0 && (e.Action == actionRemoved || e.Action == actionAdded):
		return "no repository is named", nil
	}
	var repos []string // of a whole installation all, whichever were named
	if e.Action == actionRemoved || e.Action == actionAdded {
		repos = e.Repos
	}
	if back {
		anew, err := d.store.ReachedBefore(ctx, e.Repos, e.Installation) // what was installed anew has another number
		if err != nil {
			return "", err
		}
		for _, repo := range anew {
			if _, err := d.follow(ctx, RepositoryEvent{Action: e.Action, From: repo, To: repo, Actor: e.Actor}, e.Installation); err != nil {
				return "", err
			}
		}
	}
	pulls, err := d.store.PullsOf(ctx, e.Installation, repos)
	if err != nil {
		return "", fmt.Errorf("list pull requests of installation %d: %w", e.Installation, err)
	}
	if e.Action != actionDeleted { // its number never comes back
		if pulls, err = d.reached(ctx, pulls, back); err != nil {
			return "", err
		}
	}
	if back {
		return d.back(ctx, pulls, false, "the App is there again", e.Actor)
	}
	return d.goneAll(ctx, pulls, why, e.Actor)
}

// mostAsked is of how many repositories GitHub is asked at most before all of an installation is believed.
const mostAsked = 20

// reached are those of the pull requests whose repository the App reaches now, or does not reach: what was so when GitHub told
// it may be heard after it became otherwise, and nobody would tell that again.
func (d *Desk) reached(ctx context.Context, pulls []store.PullRequest, is bool) ([]store.PullRequest, error) {
	late := map[string]bool{}
	for _, pr := range pulls {
		if _, asked := late[pr.Repo]; asked {
			continue
		}
		nameless := store.Nameless(pr.Repo)
		if late[pr.Repo] = is && nameless; nameless || len(late) > mostAsked {
			continue
		}
		installation, err := d.github.InstallationOf(ctx, pr.Repo)
		if err != nil {
			return nil, fmt.Errorf("ask for the App's installation on %s: %w", pr.Repo, err)
		}
		late[pr.Repo] = (installation != 0) != is
	}
	return slices.DeleteFunc(pulls, func(pr store.PullRequest) bool { return late[pr.Repo] }), nil
}
