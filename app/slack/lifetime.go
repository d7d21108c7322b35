package slack

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/chatops/blocks"
	"github.com/ocpctl/ocpctl/chatops/messages"
	"github.com/ocpctl/ocpctl/chatops/slack"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/clusters"
)

func (s *Service) destroyCluster(ctx context.Context, t task) (slack.Message, error) {
	row, err := s.findCluster(ctx, t)
	if err != nil {
		return slack.Message{}, err
	}
	_, _, err = s.core.Destroy(ctx, t.by, row.ID, t.onceWith(s.reasonOf(t), func(out clusters.Outcome) string {
		if out.Already {
			return fmt.Sprintf("`%s` is already being destroyed (%s).", row.Card.Name, chatops.Plain(row.Card.DesiredWhy.String()))
		}
		return fmt.Sprintf("`%s` is being destroyed (job `%s`). It counts as destroyed when two counts in a row have found nothing left. `%s status %s` shows the progress.",
			row.Name, out.Job, chatops.Prefix, row.Name)
	}))
	if err == nil && app.IsGone(row) { // nothing was changed, so nothing was saved
		return blocks.Answer(messages.GoneSince(row.Card)), nil
	}
	return slack.Message{}, err
}

// extendCluster extends a cluster. A button extends it once, from the end that it was shown with: whoever presses it after somebody extended the
// cluster changes nothing, and hears who was first. The updated message has a button that extends it further.
func (s *Service) extendCluster(ctx context.Context, t task) (slack.Message, error) {
	row, err := s.findCluster(ctx, t)
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
			return blocks.Answer(sayExtendedAlready(row.Card, by)), err
		}
		origin := t.onceShown(s.reasonOf(t), func(out clusters.Outcome) string {
			return messages.ExtendedInSlack(row.Card, out.Before, out.After, out.Capped, out.Warning)
		}, func(out clusters.Outcome) blocks.Facts {
			if !warning { // its other buttons stay
				return blocks.Facts{}
			}
			return blocks.Facts{Done: "Extended until " + chatops.Time(out.After.TTL) + "."}
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
			return s.actorName(ctx, e.Actor), nil
		}
	}
	return "", nil
}

func (s *Service) holdCluster(ctx context.Context, t task) (slack.Message, error) {
	row, err := s.findCluster(ctx, t)
	if err != nil {
		return slack.Message{}, err
	}
	if t.Tonight {
		_, err = s.core.KeepAwake(ctx, t.by, row.ID, t.onceShown(s.reasonOf(t), func(out clusters.Outcome) string {
			return messages.KeptAwakeInSlack(row.Card, out.Awake)
		}, func(out clusters.Outcome) blocks.Facts {
			return blocks.Facts{Done: messages.KeptAwakeInSlack(row.Card, out.Awake)}
		}))
		return slack.Message{}, err
	}
	_, err = s.core.Hold(ctx, t.by, row.ID, app.Span{For: t.TTL}, t.onceWith(s.reasonOf(t), func(out clusters.Outcome) string {
		return sayHeldInSlack(row.Card, out.After, out.Capped, out.Warning)
	}))
	return slack.Message{}, err
}

func (s *Service) unholdCluster(ctx context.Context, t task) (slack.Message, error) {
	row, err := s.findCluster(ctx, t)
	if err != nil {
		return slack.Message{}, err
	}
	_, err = s.core.ReleaseHold(ctx, t.by, row.ID, t.onceWith(s.reasonOf(t), func(out clusters.Outcome) string {
		card := row.Card
		card.Ends, card.DestroyAt = out.After, out.After.DestroyAt()
		return messages.HoldReleased(card, !out.Before.Hold.IsZero())
	}))
	return slack.Message{}, err
}

func (s *Service) scaleCluster(ctx context.Context, t task) (slack.Message, error) {
	row, err := s.findCluster(ctx, t)
	if err != nil {
		return slack.Message{}, err
	}
	_, _, err = s.core.Scale(ctx, t.by, row.ID, t.Replicas, t.onceWith(s.reasonOf(t), func(out clusters.Outcome) string {
		return sayScalingInSlack(row.Name, t.Replicas, out.Job)
	}))
	return slack.Message{}, err
}

func (s *Service) refreshAddons(ctx context.Context, t task) (slack.Message, error) {
	row, err := s.findCluster(ctx, t)
	if err != nil {
		return slack.Message{}, err
	}
	_, _, err = s.core.Refresh(ctx, t.by, row.ID, t.onceWith(s.reasonOf(t), func(out clusters.Outcome) string {
		return fmt.Sprintf("The add-ons of `%s` are being applied again: %s (job `%s`). `%s explain %s` shows the result.",
			row.Card.Name, strings.Join(row.Card.Addons, ", "), out.Job, chatops.Prefix, row.Card.Name)
	}))
	return slack.Message{}, err
}

func (s *Service) putToSleep(ctx context.Context, t task) (slack.Message, error) {
	row, err := s.findCluster(ctx, t)
	if err != nil {
		return slack.Message{}, err
	}
	_, _, err = s.core.Sleep(ctx, t.by, row.ID, app.Span{For: t.TTL}, t.onceWith(s.reasonOf(t), func(out clusters.Outcome) string {
		return messages.FallingAsleep(row.Card, out.Job)
	}))
	return slack.Message{}, err
}

func (s *Service) wakeCluster(ctx context.Context, t task) (slack.Message, error) {
	row, err := s.findCluster(ctx, t)
	if err != nil {
		return slack.Message{}, err
	}
	_, _, err = s.core.Wake(ctx, t.by, row.ID, t.onceWith(s.reasonOf(t), func(out clusters.Outcome) string {
		return messages.WakingUp(row.Card, out.Job)
	}))
	return slack.Message{}, err
}

// sayExtendedAlready tells somebody who pressed Extend that the cluster was extended since the button was shown; by is who did, or empty.
func sayExtendedAlready(c lifecycle.Card, by string) string {
	if by != "" {
		by = " by " + by
	}
	return fmt.Sprintf("`%s` was already extended%s: its lifetime ends %s. Nothing was changed. To extend it further, use the button in the updated message, or type `%s extend %s 4h`.",
		c.Name, by, chatops.Time(c.Ends.TTL), chatops.Prefix, c.Name)
}

// sayHeldInSlack answers hold: until when, and whether that is the profile's maximum.
func sayHeldInSlack(c lifecycle.Card, after lifecycle.Ends, capped bool, warning string) string {
	text := fmt.Sprintf("`%s` is held until %s. Only its profile's maximum lifetime (%s) or a drain can end it earlier.", c.Name, chatops.Time(after.Hold), chatops.Time(after.Max))
	if capped {
		text = fmt.Sprintf("`%s` is held. %s", c.Name, messages.HeldToMaximum(after.Hold))
	}
	return chatops.Said(strings.TrimSpace(text+" "+warning), "")
}

// sayScalingInSlack answers scale; without a job the cluster has that many workers already.
func sayScalingInSlack(name string, replicas int, job string) string {
	if job == "" {
		return fmt.Sprintf("`%s` has %d workers already. Nothing was changed.", name, replicas)
	}
	return fmt.Sprintf("`%s` is being scaled to %d workers (job `%s`). `%s status %s` shows when it is done.", name, replicas, job, chatops.Prefix, name)
}
