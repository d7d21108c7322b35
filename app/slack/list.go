package slack

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/chatops/blocks"
	"github.com/ocpctl/ocpctl/chatops/messages"
	"github.com/ocpctl/ocpctl/chatops/slack"
	"github.com/ocpctl/ocpctl/internal/filter"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/profiles"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/clusters"
)

// mostListed is how many clusters a page lists: a message holds 50 blocks.
const mostListed = 10

// listClusters lists the live clusters that the person may see: whose they are, since when and until when, and what they have cost.
func (s *Service) listClusters(ctx context.Context, t task) (slack.Message, error) {
	f := t.Filter
	owner, shown := filter.Value{Is: f.Owner}, f.Owner
	if slackPerson.MatchString(f.Owner) {
		account := accountOf(t.request.Workspace, f.Owner)
		owner = filter.Value{Principal: account, Is: s.core.NameOf(account)}
		shown = s.displayName(ctx, account)
	}
	query, err := s.core.ReadFilter(ctx, t.by, slackMention.ReplaceAllString(f.Query, accountOf(t.request.Workspace, "$1")))
	if err != nil {
		return slack.Message{}, err
	}
	query = query.WithText(filter.Team, f.Team).WithText(filter.Profile, f.Profile).With(filter.Owner, owner)
	rows, next, err := s.core.List(ctx, t.by, store.Filter{Current: true, Query: query, Cursor: f.Cursor, Limit: mostListed})
	if err != nil {
		return slack.Message{}, err
	}
	view := blocks.ListView{Filter: sayListedBy(f.Team, f.Profile, shown, s.nameMentions(ctx, t, f.Query)), Links: s.chatLinks()}
	if len(rows) == 0 {
		return blocks.Answer(sayNothingListed(view.Filter)), nil
	}
	if view.Now, err = s.store.Now(ctx); err != nil {
		return slack.Message{}, fmt.Errorf("read the clock: %w", err)
	}
	if view.Rows, err = s.toListed(ctx, rows, view.Now); err != nil {
		return slack.Message{}, err
	}
	if next != "" {
		f.Cursor = next
		view.Next = encodeFilter(f)
	}
	return blocks.List(view), nil
}

// slackPerson matches a person's id in Slack, and slackMention a person as Slack writes them in a text.
var (
	slackPerson  = regexp.MustCompile(`^[UW][A-Z0-9]{2,30}$`)
	slackMention = regexp.MustCompile(`<@([UW][A-Z0-9]{2,30})(?:\|[^<>]*)?>`)
)

// nameMentions writes a filter with the names of people in place of how Slack writes them.
func (s *Service) nameMentions(ctx context.Context, t task, words string) string {
	return slackMention.ReplaceAllStringFunc(words, func(mention string) string {
		return s.displayName(ctx, accountOf(t.request.Workspace, slackMention.FindStringSubmatch(mention)[1]))
	})
}

// accountOf is the account of somebody in Slack, as a principal.
func accountOf(workspace, person string) string {
	return string(profiles.SourceSlack) + ":" + workspace + "/" + person
}

// How long a cluster may be ready without a kubeconfig, and after the last one, before the list says so.
const (
	idleAtFirst = 4 * time.Hour
	idleLater   = 24 * time.Hour
)

// toListed returns the clusters with what suggests that they are idle. Only stored facts count: the workers, and the reads of the
// kubeconfig in the audit trail. Whether somebody uses a kubeconfig that they have is not known.
func (s *Service) toListed(ctx context.Context, all []clusters.Row, now time.Time) ([]blocks.Listed, error) {
	ids := make([]string, 0, len(all))
	for _, row := range all {
		ids = append(ids, row.ID)
	}
	read, err := s.store.KubeconfigsRead(ctx, ids)
	if err != nil {
		return nil, err
	}
	out := make([]blocks.Listed, 0, len(all))
	for _, row := range all {
		out = append(out, blocks.Listed{Card: row.Card, Idle: describeIdle(row.Card, read[row.ID], now)})
	}
	return out, nil
}

// describeIdle says what suggests that a ready cluster is not used; empty: nothing does. read is when its kubeconfig was last handed out.
func describeIdle(c lifecycle.Card, read, now time.Time) string {
	switch {
	case c.Status != lifecycle.Ready || c.Desired != lifecycle.Present:
		return ""
	case c.Workers != nil && *c.Workers == 0 && c.WorkersBase != nil && *c.WorkersBase > 0:
		return "its workers are scaled to 0"
	case read.IsZero() && !c.ReadyAt.IsZero() && now.Sub(c.ReadyAt) >= idleAtFirst:
		return messages.IdleSince(c.ReadyAt, true)
	case !read.IsZero() && now.Sub(read) >= idleLater:
		return messages.IdleSince(read, false)
	}
	return ""
}

// encodeFilter returns a filter as a button's value keeps it.
func encodeFilter(f chatops.ListFilter) string {
	raw, err := json.Marshal(f)
	if err != nil {
		panic(err) // strings alone
	}
	return string(raw)
}

// decodeFilter reads a filter of a button; ok is false if it is none.
func decodeFilter(value string) (f chatops.ListFilter, ok bool) {
	return f, json.Unmarshal([]byte(value), &f) == nil
}

// sayListedBy says what a list is limited to; empty: nothing.
func sayListedBy(team, profile, owner, words string) string {
	var parts []string
	if words != "" {
		parts = append(parts, words)
	}
	for _, p := range []struct{ name, value string }{{"team", team}, {"profile", profile}, {"owner", owner}} {
		if p.value != "" {
			parts = append(parts, p.name+" "+p.value)
		}
	}
	return strings.Join(parts, ", ")
}

// sayNothingListed answers a list without a cluster; filter is what it is limited to.
func sayNothingListed(filter string) string {
	if filter == "" {
		return "You have no live cluster. `/ocp create` creates one."
	}
	return fmt.Sprintf("You have no cluster with %s.", filter)
}
