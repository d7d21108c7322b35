package app

import (
	"context"
	"fmt"
	"strings"

	"github.com/ocpctl/ocpctl/store"
)

// PullRequestGone ends the clusters of a pull request that is not there for us any more, after their grace: a mistake, or a
// door that is opened again, costs nothing but the rent. why says what became of it, e.g. "acme/shop was deleted".
func (d *Desk) PullRequestGone(ctx context.Context, repo string, number int, why, actor string) (note string, err error) {
	live, err := d.live(ctx, repo, number)
	if err != nil {
		return "", err
	}
	var notes []string
	for _, row := range live {
		if !row.Ends.PRClosed.IsZero() {
			continue
		}
		said, err := d.setEnd(ctx, row, store.EndPRClosed, why, actor)
		if err != nil {
			return "", err
		}
		notes = append(notes, said)
	}
	if len(notes) == 0 {
		return "nothing to change", nil
	}
	return strings.Join(notes, "; "), nil
}

// goneAll does the same to all of them.
func (d *Desk) goneAll(ctx context.Context, pulls []store.PullRequest, why func(repo string) string, actor string) (note string, err error) {
	for _, pr := range pulls {
		if _, err := d.PullRequestGone(ctx, pr.Repo, pr.Number, why(pr.Repo), actor); err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("pull requests whose clusters end: %d", len(pulls)), nil
}

// back lifts what was ended because a pull request could not be seen, or where its repository is archived no longer, for that.
// Whether a draft or a closed one may go on, the next look at it says.
func (d *Desk) back(ctx context.Context, pulls []store.PullRequest, unarchived bool, why, actor string) (note string, err error) {
	lifted := 0
	for _, pr := range pulls {
		if !pr.Open || pr.Draft {
			continue
		}
		live, err := d.live(ctx, pr.Repo, pr.Number)
		if err != nil {
			return "", err
		}
		for _, row := range live {
			if row.Ends.PRClosed.IsZero() || strings.Contains(row.Ends.PRWhy, archived) != unarchived {
				continue
			}
			if err := d.liftEnd(ctx, row, store.EndPRClosed, why, actor); err != nil {
				return "", err
			}
			lifted++
		}
	}
	return fmt.Sprintf("clusters that go on: %d", lifted), nil
}
