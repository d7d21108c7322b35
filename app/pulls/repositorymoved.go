package pulls

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/pullrequests"
)

// A change of a whole repository, or of the App's installation, ends or moves many clusters at once. So an event only says what
// to ask: GitHub is asked for the repository's state, and only its answer counts. If GitHub does not answer, it is asked again
// later; if it refuses, nothing follows, and the next look at each pull request finds out.

// GitHub's actions on a whole repository.
const (
	actionRenamed     = "renamed"
	actionTransferred = "transferred"
	actionDeleted     = "deleted"
	actionArchived    = "archived"
	actionUnarchived  = "unarchived"
)

// RepositoryEvent is a reported change of a whole repository.
type RepositoryEvent struct {
	Installation int64
	RepoID       int64  // GitHub's id of it, which a renaming does not change; 0: unknown
	Action       string // renamed, transferred, deleted, archived or unarchived
	From, To     string // owner/name before and after; To is empty if it did not change
	Actor        string
	ActorID      int64
}

// RepositoryMoved moves what we know of a renamed or transferred repository, and ends the clusters that are left behind.
func (s *Service) RepositoryMoved(ctx context.Context, e RepositoryEvent) (note string, err error) {
	switch e.Action {
	case actionRenamed, actionTransferred:
		note, err = s.followMove(ctx, e)
	case actionDeleted, actionArchived, actionUnarchived:
		note, err = s.handleRepository(ctx, e)
	default:
		return "nothing follows from a repository that was " + e.Action, nil
	}
	if errors.Is(err, app.ErrUnreadable) {
		return noteWithoutConfirmation(e.From), nil
	}
	return note, err
}

// noteWithoutConfirmation is the note for an event that GitHub does not confirm or deny.
func noteWithoutConfirmation(repo string) string {
	return "GitHub does not tell how " + repo + " stands; nothing follows before it does"
}

// askRepository asks GitHub for a repository's state.
func (s *Service) askRepository(ctx context.Context, installation int64, name string) (app.RepositoryState, error) {
	is, err := s.github.Repository(ctx, installation, name)
	if err != nil {
		return is, fmt.Errorf("ask how %s stands: %w", name, err)
	}
	return is, nil
}

// handleRepository ends or lifts the clusters of a repository that is reported deleted, archived or unarchived.
func (s *Service) handleRepository(ctx context.Context, e RepositoryEvent) (note string, err error) {
	pulls, err := s.pullsOf(ctx, e.Installation, e.From, e.RepoID)
	if err != nil || len(pulls) == 0 {
		return "no cluster of " + e.From, err
	}
	is, err := s.askRepository(ctx, e.Installation, e.From)
	if err != nil {
		return "", err
	}
	// If another repository has the name, this one is not there.
	reached := is.Installation != 0 && (e.RepoID == 0 || is.ID == e.RepoID)
	var rows []clusters.Row
	switch {
	case e.Action == actionDeleted && !reached:
		if rows, err = s.goingOn(ctx, pulls); err != nil {
			return "", err
		}
		return s.endAll(ctx, rows, lifecycle.Reason{Code: lifecycle.ReasonRepoDeleted, Name: e.From}, e.actorOf())
	case e.Action == actionArchived && reached && is.Archived:
		if rows, err = s.goingOn(ctx, pulls); err != nil {
			return "", err
		}
		return s.endAll(ctx, rows, lifecycle.Reason{Code: lifecycle.ReasonRepoArchived, Name: e.From}, e.actorOf())
	case e.Action == actionUnarchived && reached && !is.Archived:
		if rows, err = s.outOfSight(ctx, pulls, true); err != nil {
			return "", err
		}
		return s.liftAll(ctx, rows, e.From+" is no longer archived", e.actorOf())
	}
	return fmt.Sprintf("GitHub does not say that %s was %s", e.From, e.Action), nil
}

// pullsOf returns a repository's pull requests with a wanted cluster. In a late event its name may belong to another one by now.
func (s *Service) pullsOf(ctx context.Context, installation int64, repo string, id int64) ([]pullrequests.PullRequest, error) {
	pulls, err := s.store.PullRequests.PullsOf(ctx, installation, []string{repo})
	if err != nil {
		return nil, fmt.Errorf("list pull requests of %s: %w", repo, err)
	}
	return slices.DeleteFunc(pulls, func(pr pullrequests.PullRequest) bool { return pr.RepoID != id && pr.RepoID != 0 && id != 0 }), nil
}

// followMove follows a repository to the name and the installation that GitHub reports. If it has another owner and the App does not
// reach it there, its clusters end.
func (s *Service) followMove(ctx context.Context, e RepositoryEvent) (note string, err error) {
	if e.From == "" || e.To == "" {
		return "", app.Fail(app.Invalid, fmt.Sprintf("A repository that was %s needs its names before and after.", e.Action))
	}
	is, err := s.askWhereabouts(ctx, e)
	if err != nil {
		return "", err
	}
	if !strings.EqualFold(is.Name, e.From) || is.Installation != 0 && is.Installation != e.Installation {
		to := RepositoryEvent{RepoID: is.ID, Action: e.Action, From: e.From, To: is.Name, Actor: e.Actor, ActorID: e.ActorID}
		if note, err = s.moveRows(ctx, to, cmp.Or(is.Installation, e.Installation)); err != nil {
			return "", err
		}
	}
	if e.Action != actionTransferred || is.Installation != 0 {
		return cmp.Or(note, fmt.Sprintf("GitHub does not say that %s was %s", e.From, e.Action)), nil
	}
	pulls, err := s.pullsOf(ctx, e.Installation, is.Name, e.RepoID)
	if err != nil {
		return "", err
	}
	rows, err := s.goingOn(ctx, pulls)
	if err != nil {
		return "", err
	}
	ended, err := s.endAll(ctx, rows, lifecycle.Reason{Code: lifecycle.ReasonRepoMoved, To: e.To}, e.actorOf())
	return strings.TrimPrefix(note+"; "+ended, "; "), err
}

// askWhereabouts asks for a repository that is reported renamed or transferred: by its old name, from which GitHub redirects, or by
// the new one, if another repository has the old name or it is not visible. If it is not visible at all, its ID is 0.
func (s *Service) askWhereabouts(ctx context.Context, e RepositoryEvent) (app.RepositoryState, error) {
	is, err := s.askRepository(ctx, e.Installation, e.From)
	if err != nil || is.ID != 0 && (e.RepoID == 0 || is.ID == e.RepoID) {
		return is, err
	}
	is, err = s.askRepository(ctx, e.Installation, e.To)
	if err != nil || is.ID == 0 || is.ID != e.RepoID {
		return app.RepositoryState{Name: e.From}, err
	}
	return is, nil
}

// moveRows moves the rows of a repository to its new name, its new installation, or both.
func (s *Service) moveRows(ctx context.Context, e RepositoryEvent, installation int64) (note string, err error) {
	whose, err := s.auditActor(ctx, e.actorOf())
	if err != nil {
		return "", err
	}
	origin := clusters.Origin{Actor: whose, Source: "github", Why: fmt.Sprintf("%s was %s to %s", e.From, e.Action, e.To)}
	n, err := s.store.PullRequests.RenameRepository(ctx, e.From, e.To, e.RepoID, installation, origin)
	if err != nil {
		return "", fmt.Errorf("follow %s to %s: %w", e.From, e.To, err)
	}
	if e.RepoID != 0 {
		if err := s.store.Runs.Renamed(ctx, strconv.FormatInt(e.RepoID, 10), e.From, e.To); err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("clusters that followed %s to %s: %d", e.From, e.To, n), nil
}
