package pulls

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store"
)

// keptWhy is the reason of a hold that the label set; it distinguishes this hold from those of other entry points.
const keptWhy = "the label " + chatops.KeepLabel

// keep holds the clusters of a pull request on behalf of whoever added the label, if they may hold them all. Otherwise the label
// is removed and a reply says why.
func (d *Service) keep(ctx context.Context, e PullRequestEvent) ([]string, error) {
	if !setsLabel(e, chatops.KeepLabel) {
		return nil, nil
	}
	live, err := d.live(ctx, e.PR.Repo, e.PR.Number)
	if err != nil {
		return nil, err
	}
	if e.late && slices.ContainsFunc(live, kept) {
		return nil, nil
	}
	request, err := d.request(ctx, policy.SourceLabel, e.PR, actor{e.Actor, e.ActorID})
	if err != nil {
		return nil, err
	}
	if d.overlooked(e, request) {
		return []string{notTold(e, chatops.KeepLabel)}, nil
	}
	refused := func(why string) ([]string, error) {
		cause := "keep:" + e.at
		if err := d.store.SaveEffect(ctx, unlabel(e.PR, chatops.KeepLabel, cause)); err != nil {
			return nil, fmt.Errorf("take the label off: %w", err)
		}
		words := fmt.Sprintf("@%s, the label `%s` was removed: %s", e.Actor, chatops.KeepLabel, chatops.Said(why, e.Actor))
		return []string{words}, d.answerLabel(ctx, e.PR, cause, chatops.KeepLabel, words)
	}
	if team := request.Ownership.Team; len(live) == 0 && !request.Principal.May(policy.ActHold, team) {
		return refused(fmt.Sprintf("to hold clusters here, the role %s of team %s is needed; %s. Ask someone who has it to add the label.",
			policy.RoleText(policy.ActHold), chatops.Code(team), request.Principal.OwnRole(team)))
	}
	var notes []string
	for _, row := range live {
		words, err := d.keepOne(ctx, e.PR, request, row)
		var said *app.Error
		switch {
		case errors.As(err, &said):
			return refused(said.Message)
		case err != nil:
			return nil, err
		}
		notes = append(notes, words)
	}
	return notes, nil
}

func kept(row store.Row) bool { return row.HoldWhy == keptWhy }

// keepOne holds a cluster for as long as the repository's file says, at most up to its profile's maximum.
func (d *Service) keepOne(ctx context.Context, pr store.PullRequest, r policy.Request, row store.Row) (string, error) {
	until, err := d.keptUntil(ctx, pr, row)
	if err != nil {
		return "", err
	}
	change, err := d.core.Hold(ctx, r.Principal, row.ID, app.Span{Until: until}, app.Origin{Source: policy.SourceLabel, Why: keptWhy, Repository: &r})
	return row.Name + " is kept: " + change.Message, err
}

func (d *Service) keptUntil(ctx context.Context, pr store.PullRequest, row store.Row) (time.Time, error) {
	file, _, err := d.file(ctx, pr)
	if err != nil || file == nil || file.Keep == 0 {
		return row.Ends.Max, err
	}
	now, err := d.store.Now(ctx)
	if err != nil {
		return time.Time{}, fmt.Errorf("read the clock: %w", err)
	}
	until := now.Add(d.policy.Scale(file.Keep))
	if until.After(row.Ends.Max) {
		return row.Ends.Max, nil
	}
	return until, nil
}

// keepNew holds a cluster that was created while the label is there, if its requester may hold it.
func (d *Service) keepNew(ctx context.Context, pr store.PullRequest, r policy.Request, row store.Row) error {
	if !keeps(pr, row) {
		return nil
	}
	_, err := d.keepOne(ctx, pr, r, row)
	if app.KindOf(err) != "" {
		return nil // the label was meant for the clusters of that time
	}
	return err
}

// keeps reports whether the label still has to hold a cluster that was created while it is there.
func keeps(pr store.PullRequest, row store.Row) bool {
	return slices.Contains(pr.Labels, chatops.KeepLabel) && row.Ends.Hold.IsZero()
}

// unkeep lifts the label's hold once the label is gone, whoever removed it.
func (d *Service) unkeep(ctx context.Context, e PullRequestEvent, live []store.Row) (notes []string, err error) {
	if slices.Contains(e.PR.Labels, chatops.KeepLabel) {
		return nil, nil
	}
	for _, row := range live {
		if !kept(row) {
			continue
		}
		why := seenBySomebody("the label "+chatops.KeepLabel+" was taken off", e.Why)
		_, err := d.store.Hold(ctx, row.ID, time.Time{}, store.Origin{Actor: whose(e.Actor), Source: string(policy.SourceLabel), Why: why})
		if err != nil && !errors.Is(err, store.ErrConflict) {
			return nil, fmt.Errorf("let go of %s: %w", row.ID, err)
		}
		notes = append(notes, row.Name+" is no longer held")
	}
	return notes, nil
}
