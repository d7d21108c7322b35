package slack

import (
	"context"
	"slices"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/chatops/blocks"
	"github.com/ocpctl/ocpctl/chatops/messages"
	"github.com/ocpctl/ocpctl/chatops/slack"
	"github.com/ocpctl/ocpctl/store/clusters"
)

func (s *Service) destroy(ctx context.Context, t task) (slack.Message, error) {
	row, err := s.one(ctx, t)
	if err != nil {
		return slack.Message{}, err
	}
	_, _, err = s.core.Destroy(ctx, t.by, row.ID, t.once(s.why(t), func(out clusters.Outcome) string {
		if out.Already {
			return messages.DestroyingAlreadyInSlack(row.Card)
		}
		return messages.DestroyingInSlack(row.Name, out.Job)
	}))
	if err == nil && app.IsGone(row) { // nothing was changed, so nothing was saved
		return blocks.Answer(messages.GoneSince(row.Card)), nil
	}
	return slack.Message{}, err
}

// extend extends a cluster. A button extends it once, from the end that it was shown with: whoever presses it after somebody extended the
// cluster changes nothing, and hears who was first. The updated message has a button that extends it further.
func (s *Service) extend(ctx context.Context, t task) (slack.Message, error) {
	row, err := s.one(ctx, t)
	if err != nil {
		return slack.Message{}, err
	}
	warning, err := s.isWarning(ctx, t, row.ID)
	if err != nil {
		return slack.Message{}, err
	}
	for range mostRaces {
		if row, err = s.core.Cluster(ctx, t.by, row.ID); err != nil {
			return slack.Message{}, err
		}
		if t.seen != 0 && row.Ends.TTL.UnixMicro() != t.seen {
			by, err := s.lastExtended(ctx, row)
			return blocks.Answer(messages.ExtendedAlready(row.Card, by)), err
		}
		origin := t.onceShown(s.why(t), func(out clusters.Outcome) string {
			return messages.ExtendedInSlack(row.Card, out.Before, out.After, out.Capped, out.Warning)
		}, func(out clusters.Outcome) blocks.Facts {
			if !warning { // its other buttons stay
				return blocks.Facts{}
			}
			return blocks.Facts{Done: messages.ExtendedNote(out.After.TTL)}
		})
		if t.seen != 0 {
			origin.Version = row.Version
		}
		_, err = s.core.Extend(ctx, t.by, row.ID, app.Span{For: t.TTL}, origin)
		if t.seen == 0 || app.KindOf(err) != app.Stale { // otherwise it changed in between, maybe by somebody who pressed the same button
			break
		}
	}
	return slack.Message{}, err
}

// mostRaces is how often an extension is tried while the cluster changes at the same time.
const mostRaces = 5

// lastExtended returns who extended a cluster last; empty: nobody did.
func (s *Service) lastExtended(ctx context.Context, row clusters.Row) (by string, err error) {
	events, err := s.store.Timeline(ctx, row.ID)
	if err != nil {
		return "", err
	}
	for _, e := range slices.Backward(events) {
		if e.Action == "extended" {
			return s.shownActor(ctx, e.Actor), nil
		}
	}
	return "", nil
}

func (s *Service) hold(ctx context.Context, t task) (slack.Message, error) {
	row, err := s.one(ctx, t)
	if err != nil {
		return slack.Message{}, err
	}
	if t.Tonight {
		_, err = s.core.KeepAwake(ctx, t.by, row.ID, t.onceShown(s.why(t), func(out clusters.Outcome) string {
			return messages.KeptAwakeInSlack(row.Card, out.Awake)
		}, func(out clusters.Outcome) blocks.Facts {
			return blocks.Facts{Done: messages.KeptAwakeInSlack(row.Card, out.Awake)}
		}))
		return slack.Message{}, err
	}
	_, err = s.core.Hold(ctx, t.by, row.ID, app.Span{For: t.TTL}, t.once(s.why(t), func(out clusters.Outcome) string {
		return messages.HeldInSlack(row.Card, out.After, out.Capped, out.Warning)
	}))
	return slack.Message{}, err
}

func (s *Service) unhold(ctx context.Context, t task) (slack.Message, error) {
	row, err := s.one(ctx, t)
	if err != nil {
		return slack.Message{}, err
	}
	_, err = s.core.ReleaseHold(ctx, t.by, row.ID, t.once(s.why(t), func(out clusters.Outcome) string {
		card := row.Card
		card.Ends, card.DestroyAt = out.After, out.After.DestroyAt()
		return messages.HoldReleased(card, !out.Before.Hold.IsZero())
	}))
	return slack.Message{}, err
}

func (s *Service) scale(ctx context.Context, t task) (slack.Message, error) {
	row, err := s.one(ctx, t)
	if err != nil {
		return slack.Message{}, err
	}
	_, _, err = s.core.Scale(ctx, t.by, row.ID, t.Replicas, t.once(s.why(t), func(out clusters.Outcome) string {
		return messages.ScalingInSlack(row.Name, t.Replicas, out.Job)
	}))
	return slack.Message{}, err
}

func (s *Service) refresh(ctx context.Context, t task) (slack.Message, error) {
	row, err := s.one(ctx, t)
	if err != nil {
		return slack.Message{}, err
	}
	_, _, err = s.core.Refresh(ctx, t.by, row.ID, t.once(s.why(t), func(out clusters.Outcome) string {
		return messages.RefreshingInSlack(row.Card, out.Job)
	}))
	return slack.Message{}, err
}

func (s *Service) sleep(ctx context.Context, t task) (slack.Message, error) {
	row, err := s.one(ctx, t)
	if err != nil {
		return slack.Message{}, err
	}
	_, _, err = s.core.Sleep(ctx, t.by, row.ID, app.Span{For: t.TTL}, t.once(s.why(t), func(out clusters.Outcome) string {
		return messages.FallingAsleep(row.Card, out.Job)
	}))
	return slack.Message{}, err
}

func (s *Service) wake(ctx context.Context, t task) (slack.Message, error) {
	row, err := s.one(ctx, t)
	if err != nil {
		return slack.Message{}, err
	}
	_, _, err = s.core.Wake(ctx, t.by, row.ID, t.once(s.why(t), func(out clusters.Outcome) string {
		return messages.WakingUp(row.Card, out.Job)
	}))
	return slack.Message{}, err
}
