package pulls

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ocpctl/ocpctl/store"
)

// PullRequestGone ends the clusters of a pull request that is not there for us any more, after their grace: a mistake, or a
// door that is opened again, costs nothing but the rent. why says what became of it, e.g. "acme/shop was deleted".
func (d *Service) PullRequestGone(ctx context.Context, repo string, number int, why, actor string) (note string, err error) {
	rows, err := d.goingOn(ctx, []store.PullRequest{{Repo: repo, Number: number}})
	if err != nil {
		return "", err
	}
	if len(rows) == 0 {
		return "nothing to change", nil
	}
	var notes []string
	for _, row := range rows {
		said, err := d.setEnd(ctx, row, store.EndPRClosed, why, actor)
		if err != nil {
			return "", err
		}
		notes = append(notes, said)
	}
	return strings.Join(notes, "; "), nil
}

// goingOn are the clusters of pull requests that do not end with them yet.
func (d *Service) goingOn(ctx context.Context, pulls []store.PullRequest) (rows []store.Row, err error) {
	for _, pr := range pulls {
		live, err := d.live(ctx, pr.Repo, pr.Number)
		if err != nil {
			return nil, err
		}
		rows = append(rows, slices.DeleteFunc(live, func(r store.Row) bool { return !r.Ends.PRClosed.IsZero() })...)
	}
	return rows, nil
}

// outOfSight are the clusters of open pull requests that end because these could not be seen, or where their repository was archived
// for that. Whether a draft or a closed one may go on, the next look at it says.
func (d *Service) outOfSight(ctx context.Context, pulls []store.PullRequest, wasArchived bool) (rows []store.Row, err error) {
	for _, pr := range pulls {
		if !pr.Open || pr.Draft {
			continue
		}
		live, err := d.live(ctx, pr.Repo, pr.Number)
		if err != nil {
			return nil, err
		}
		rows = append(rows, slices.DeleteFunc(live, func(r store.Row) bool {
			return r.Ends.PRClosed.IsZero() || strings.Contains(r.Ends.PRWhy, archived) != wasArchived
		})...)
	}
	return rows, nil
}

// endAll ends clusters after their grace.
func (d *Service) endAll(ctx context.Context, rows []store.Row, why, actor string) (note string, err error) {
	for _, row := range rows {
		if _, err := d.setEnd(ctx, row, store.EndPRClosed, why, actor); err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("%s: clusters that end: %d", why, len(rows)), nil
}

// liftAll lets clusters go on.
func (d *Service) liftAll(ctx context.Context, rows []store.Row, why, actor string) (note string, err error) {
	for _, row := range rows {
		if err := d.liftEnd(ctx, row, store.EndPRClosed, why, actor); err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("%s: clusters that go on: %d", why, len(rows)), nil
}
