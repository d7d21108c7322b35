package pulls

import (
	"context"
	"errors"
	"fmt"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/store/pullrequests"
)

// Learn asks GitHub for a pull request of which nothing is known, because a run wants its cluster. That GitHub does not show it is
// remembered for the run's next try.
func (s *Service) Learn(ctx context.Context, repo string, number int) error {
	installation, err := s.github.InstallationOf(ctx, repo)
	if err == nil && installation != 0 {
		_, err = s.askTruth(ctx, pullrequests.PullRequest{Installation: installation, Repo: repo, Number: number})
	}
	switch {
	case app.IsRefused(err), errors.Is(err, app.ErrUnreadable), err == nil && installation == 0:
	case err != nil:
		return fmt.Errorf("learn of %s#%d: %w", repo, number, err)
	default:
		return nil
	}
	now, err := s.store.Now(ctx)
	if err != nil {
		return fmt.Errorf("read the clock: %w", err)
	}
	return s.store.Inbox.SetMark(ctx, app.UnseenPull(repo, number), now)
}
