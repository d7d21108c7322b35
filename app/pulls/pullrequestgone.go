package pulls

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/pullrequests"
)

// PullRequestGone ends the clusters of a pull request that we can no longer see, after their grace, so that a mistake, or access
// that is restored, costs only that time. why is the reason.
func (s *Service) PullRequestGone(ctx context.Context, repo string, number int, why lifecycle.Reason) (note string, err error) {
	rows, err := s.goingOn(ctx, []pullrequests.PullRequest{{Repo: repo, Number: number}})
	if err != nil {
		return "", err
	}
	if len(rows) == 0 {
		return "nothing to change", nil
	}
	var notes []string
	for _, row := range rows {
		said, err := s.setEnd(ctx, row, clusters.EndPRClosed, why, actor{})
		if err != nil {
			return "", err
		}
		notes = append(notes, said)
	}
	return strings.Join(notes, "; "), nil
}

// goingOn returns the pull requests' clusters that have no such end yet.
func (s *Service) goingOn(ctx context.Context, pulls []pullrequests.PullRequest) (rows []clusters.Row, err error) {
	for _, pr := range pulls {
		live, err := s.listLive(ctx, pr.Repo, pr.Number)
		if err != nil {
			return nil, err
		}
		rows = append(rows, slices.DeleteFunc(live, func(r clusters.Row) bool { return !r.Ends.PRClosed.IsZero() })...)
	}
	return rows, nil
}

// outOfSight returns the clusters of open pull requests that end because these could not be seen or, with wasArchived, because
// their repository was archived. Drafts and closed pull requests are left to the next look at them.
func (s *Service) outOfSight(ctx context.Context, pulls []pullrequests.PullRequest, wasArchived bool) (rows []clusters.Row, err error) {
	for _, pr := range pulls {
		if !pr.Open || pr.Draft {
			continue
		}
		live, err := s.listLive(ctx, pr.Repo, pr.Number)
		if err != nil {
			return nil, err
		}
		rows = append(rows, slices.DeleteFunc(live, func(r clusters.Row) bool {
			return r.Ends.PRClosed.IsZero() || (r.Ends.PRWhy.Code == lifecycle.ReasonRepoArchived) != wasArchived
		})...)
	}
	return rows, nil
}

// endAll ends clusters after their grace.
func (s *Service) endAll(ctx context.Context, rows []clusters.Row, why lifecycle.Reason, by actor) (note string, err error) {
	for _, row := range rows {
		if _, err := s.setEnd(ctx, row, clusters.EndPRClosed, why, by); err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("%s: clusters that end: %d", why, len(rows)), nil
}

// liftAll lifts these ends.
func (s *Service) liftAll(ctx context.Context, rows []clusters.Row, why string, by actor) (note string, err error) {
	for _, row := range rows {
		if err := s.liftEnd(ctx, row, clusters.EndPRClosed, why, by); err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("%s: clusters that go on: %d", why, len(rows)), nil
}
