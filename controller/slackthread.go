package controller

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	chat "github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/chatops/blocks"
	"github.com/ocpctl/ocpctl/chatops/slack"
	"github.com/ocpctl/ocpctl/profiles"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/notices"
	"github.com/ocpctl/ocpctl/store/outbox"
)

// threadPause is how long a thread waits for its message. The message's first post wakes it.
const threadPause = 30 * time.Second

// showThread posts what happened to a cluster since the last message in its thread, as one message.
func (c *Controller) showThread(ctx context.Context, sub outbox.Subscriber, row clusters.Row) (done bool, err error) {
	first, err := c.Store.Outbox.SlackMessage(ctx, sub.Cluster)
	switch {
	case err != nil:
		return false, err
	case first.Muted:
		return true, c.Store.Outbox.Mute(ctx, sub.ID)
	case first.ExternalID == 0:
		return false, later{wait: threadPause}
	}
	timeline, err := c.timeline(ctx, row)
	if err != nil {
		return false, err
	}
	var news []blocks.Moment
	newest := sub.ToldTo
	for _, m := range timeline {
		if at := m.At.UnixMicro(); at > sub.ToldTo {
			news, newest = append(news, m), max(newest, at)
		}
	}
	ts := sub.ExternalID
	if len(news) > 0 {
		if err := c.delayInSlack(ctx, sub, row, slackThreadPause); err != nil {
			return false, err
		}
		// The marker names where the batch begins: if its post arrived unseen, it is found and gets what happened since.
		at := slack.Place{Channel: sub.Channel, Thread: first.ExternalID}
		ts, err = c.postInSlack(ctx, sub, at, 0, fmt.Sprintf("%s:%d", sub.ID, sub.ToldTo), blocks.Thread(row.Card, news), notices.Behind)
		if errors.Is(err, slack.ErrGone) {
			c.logDeleted(ctx, sub)
			return true, c.Store.Outbox.Mute(ctx, sub.ID)
		}
		if err != nil {
			return false, fmt.Errorf("show what happened to %s at %s: %w", row.ID, sub.ID, err)
		}
	}
	return false, c.Store.Outbox.ThreadShown(ctx, sub.ID, ts, newest, row.Cluster.Version)
}

// timeline returns what a cluster's thread tells: its steps, and what people did about it.
func (c *Controller) timeline(ctx context.Context, row clusters.Row) ([]chat.Moment, error) {
	events, err := c.Store.Timeline(ctx, row.ID)
	if err != nil {
		return nil, err
	}
	var people []string
	for _, e := range events {
		people = append(people, e.Actor)
		if about := aboutOf(e); about.person() != "" {
			people = append(people, about.person())
		}
	}
	name, err := c.names(ctx, people)
	if err != nil {
		return nil, err
	}
	var all []chat.Moment
	var last chat.Moment // the last step
	for _, e := range events {
		if m, moved := stepOf(row, e); moved {
			if m.What != last.What || m.Why != last.Why { // see detail
				all, last = append(all, m), m
			}
			continue
		}
		if m, told := actOf(e, name).Moment(e.At); told {
			all = append(all, m)
		}
	}
	return all, nil
}

// names returns a function that names these principals as people in Slack read them.
func (c *Controller) names(ctx context.Context, principals []string) (func(id string) string, error) {
	known, err := c.Store.People.ShownNames(ctx, principals...)
	return func(id string) string { return cmp.Or(known[id], profiles.UnlinkedName(id)) }, err
}

// wordsOf returns the reason that somebody gave for what they did; empty: they gave none.
func wordsOf(e store.Event) string {
	if e.Reason.IsUnworded() {
		return ""
	}
	return e.Why
}

// actOf returns what somebody did; name names people.
func actOf(e store.Event, name func(id string) string) chat.Act {
	a, about := chat.Act{Action: e.Action, Why: wordsOf(e)}, aboutOf(e)
	if e.Actor != db.Lifecycle {
		a.By = name(e.Actor)
	}
	if about.Until != nil {
		a.Until = *about.Until
	}
	switch about.Kind {
	case "team":
		a.With = "team " + about.With
	case string(clusters.ApproveKubeadmin):
		a.Action = "" // it is between two people
	default:
		if who := about.person(); who != "" {
			a.With = name(who)
		}
	}
	a.With = cmp.Or(about.Name, a.With)
	if about.Owner != "" {
		a.With = about.Owner + " of team " + about.Team
	}
	a.Count = about.count
	return a
}

// about is the metadata of an act, as far as a thread tells it.
type about struct {
	Until *time.Time // the end that was set

	Kind  string `json:"kind"` // of a share: team or principal; of an approval: what it is for
	With  string `json:"with"` // of a share
	To    string `json:"to"`   // of an offer: an account
	Name  string `json:"name"` // of an offer: theirs
	Owner string `json:"owner"`
	Team  string `json:"team"`

	count int
}

// person is the principal whom an act concerns beside the one who did it; empty: nobody.
func (a about) person() string {
	if a.Kind == "principal" {
		return a.With
	}
	return a.To
}

// aboutOf reads the metadata of an act. What was removed stands before, everything else after.
func aboutOf(e store.Event) (a about) {
	var meta struct {
		At            *time.Time
		Before, After json.RawMessage
		Note          string
	}
	if json.Unmarshal(e.Meta, &meta) != nil {
		return about{}
	}
	value := meta.After
	if e.Action == "unshared" {
		value = meta.Before
	}
	_ = json.Unmarshal(value, &a)       // some acts have a value of another shape
	_ = json.Unmarshal(value, &a.count) // or a number
	a.Until = meta.At
	if meta.Note == string(clusters.ApproveKubeadmin) {
		a.Kind = meta.Note
	}
	return a
}
