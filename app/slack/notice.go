package slack

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/ocpctl/ocpctl/chatops/blocks"
	"github.com/ocpctl/ocpctl/store"
)

// warnedAt returns when the notice was written whose button was pressed, if it is about this cluster; the zero time: there is none.
func (s *Service) warnedAt(ctx context.Context, t task, cluster string) (time.Time, error) {
	if t.notice == "" {
		return time.Time{}, nil
	}
	n, err := s.store.Notices.Notice(ctx, t.notice)
	if errors.Is(err, store.ErrNotFound) || err == nil && n.Cluster != cluster {
		return time.Time{}, nil
	}
	return n.CreatedAt, err
}

// pressedNotice shows in the notice whose button was pressed what that did and who pressed it.
func (s *Service) pressedNotice(ctx context.Context, t task, done string) error {
	if t.notice == "" {
		return nil
	}
	n, err := s.store.Notices.Notice(ctx, t.notice)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	var facts blocks.Facts
	if err := json.Unmarshal(n.Facts, &facts); err != nil {
		return fmt.Errorf("read the facts of notice %s: %w", n.ID, err)
	}
	facts.Done, facts.DoneBy = done, t.request.User
	raw, err := json.Marshal(facts)
	if err != nil {
		return fmt.Errorf("encode the facts of notice %s: %w", n.ID, err)
	}
	return s.store.Notices.Pressed(ctx, n.ID, raw)
}
