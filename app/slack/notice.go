package slack

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/chatops/blocks"
	"github.com/ocpctl/ocpctl/chatops/messages"
	"github.com/ocpctl/ocpctl/profiles"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/notices"
)

// noticeShows is what the notice whose button was pressed shows from now on; nil: the button was in no notice.
func (t task) noticeShows(facts blocks.Facts) *clusters.Pressed {
	if t.notice == "" {
		return nil
	}
	if facts.Done != "" {
		facts.DoneBy = t.request.User
	}
	raw, err := json.Marshal(facts)
	if err != nil {
		panic(err) // plain values
	}
	return &clusters.Pressed{Notice: t.notice, Facts: raw}
}

// noticeOf returns the id of the notice in which a button stands: empty unless the notice is about what the button is about, so that
// no press is shown in a notice of something else.
func (s *Service) noticeOf(ctx context.Context, p blocks.Press) (id string, err error) {
	if p.Notice == "" {
		return "", nil
	}
	n, err := s.store.Notices.Notice(ctx, p.Notice)
	if errors.Is(err, db.ErrNotFound) {
		return "", nil
	}
	var facts blocks.Facts
	if err == nil {
		err = json.Unmarshal(n.Facts, &facts)
	}
	if err != nil {
		return "", fmt.Errorf("read notice %s: %w", p.Notice, err)
	}
	handover, _, _ := strings.Cut(p.Value, "/") // a team may follow
	switch {
	case p.Approval != "" && p.Approval == facts.Approval, facts.Handover != "" && handover == facts.Handover:
		return n.ID, nil
	case p.Approval == "" && p.Cluster != "" && p.Cluster == n.Cluster:
		return n.ID, nil
	}
	return "", nil
}

// findNotice returns the notice whose button was pressed, if it is about this cluster. A zero notice: there is none.
func (s *Service) findNotice(ctx context.Context, t task, cluster string) (n notices.Notice, facts blocks.Facts, err error) {
	if t.notice == "" {
		return n, facts, nil
	}
	n, err = s.store.Notices.Notice(ctx, t.notice)
	if errors.Is(err, db.ErrNotFound) || err == nil && n.Cluster != cluster {
		return notices.Notice{}, facts, nil
	}
	if err == nil {
		err = json.Unmarshal(n.Facts, &facts)
	}
	if err != nil {
		return n, facts, fmt.Errorf("read notice %s: %w", t.notice, err)
	}
	return n, facts, nil
}

// isWarning reports whether the button that was pressed is in a warning about this cluster.
func (s *Service) isWarning(ctx context.Context, t task, cluster string) (bool, error) {
	n, _, err := s.findNotice(ctx, t, cluster)
	return n.Kind == string(blocks.Expiring), err
}

// updateNotice shows in the notice whose button was pressed what that did and who pressed it.
func (s *Service) updateNotice(ctx context.Context, t task, done string) error {
	p := t.noticeShows(blocks.Facts{Done: done})
	if p == nil {
		return nil
	}
	return s.store.Notices.Pressed(ctx, p.Notice, p.Facts)
}

// refreshNotice has the notice show what is true now if its button could not do what it says any more.
func (s *Service) refreshNotice(ctx context.Context, t task, refusal error) error {
	if kind := app.KindOf(refusal); t.notice == "" || kind != app.Conflict && kind != app.NotFound {
		return nil
	}
	return s.store.Notices.Outdated(ctx, t.notice)
}

// actorName is what somebody who did something is called: as in the catalogue, else as in Slack.
func (s *Service) actorName(ctx context.Context, actor string) string {
	if s.isInCatalogue(actor) || !strings.HasPrefix(actor, string(profiles.SourceSlack)+":") {
		return s.core.NameOf(actor)
	}
	return messages.Person(s.displayName(ctx, actor))
}
