package slack

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/chatops/blocks"
	"github.com/ocpctl/ocpctl/chatops/messages"
	"github.com/ocpctl/ocpctl/chatops/slack"
	"github.com/ocpctl/ocpctl/chatops/slack/inbound"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store/outbox"
)

// homeMargin is how far behind its own clock a Home counts as read: a change that was committed while it was read may have begun before.
const homeMargin = 5 * time.Second

// openHome has the app's Home shown to somebody who opened it.
func (s *Service) openHome(ctx context.Context, r inbound.Request) (note string, err error) {
	if s.slack == nil {
		return "there is no bot token to show Home with", nil
	}
	return "Home is shown", s.store.Outbox.OpenHome(ctx, r.Workspace, r.User)
}

// refreshHome has a person's Home shown again soon, if they opened it in the last day.
func (s *Service) refreshHome(ctx context.Context, workspace, person string) error {
	return s.store.Outbox.RefreshHome(ctx, workspace, person)
}

// ShowHome shows a person's Home if they opened it in the last day and it changed. It is the work of queue.HomeArgs.
func (s *Service) ShowHome(ctx context.Context, workspace, person string) error {
	shown, recent, err := s.store.Outbox.HomeContent(ctx, workspace, person)
	if err != nil || !recent || s.slack == nil {
		return err
	}
	return s.showHome(ctx, inbound.Request{Kind: inbound.HomeOpened, Workspace: workspace, User: person}, shown)
}

// showHome shows Home unless its content is what is shown already: Slack keeps it.
func (s *Service) showHome(ctx context.Context, r inbound.Request, shown string) error {
	at, err := s.store.Now(ctx)
	if err != nil {
		return fmt.Errorf("read the clock: %w", err)
	}
	p, err := s.identifyRequester(ctx, r)
	if err == nil && len(p.Seats) == 0 {
		err = app.Fail(app.Denied, messages.NoRoleOnSlack+"\n\nThen you see your clusters and your team's here, create, extend and destroy them, fetch a kubeconfig, "+
			"and approve what waits for you.")
	}
	var view blocks.HomeView
	switch {
	case app.KindOf(err) != "" && app.KindOf(err) != app.Busy: // busy: who they are is not known now, so nothing is shown in its place
		view, p = blocks.HomeView{Name: r.Name, LinkHint: err.Error(), Links: s.chatLinks()}, policy.Principal{}
	case err != nil:
		return err
	default:
		if view, err = s.homeView(ctx, p); err != nil {
			return fmt.Errorf("read what Home shows: %w", err)
		}
	}
	home := blocks.Home(view)
	raw, err := json.Marshal(home)
	if err != nil {
		return fmt.Errorf("encode Home: %w", err)
	}
	sum := sha256.Sum256(raw)
	content := hex.EncodeToString(sum[:])
	var refused error
	if content != shown {
		err := s.slack.ShowHome(ctx, r.User, home)
		if errors.Is(err, slack.ErrRefused) || errors.Is(err, slack.ErrNever) { // until the next change: it is not tried every few seconds
			content, refused = shown, fmt.Errorf("show Home: %w", err)
		} else if err != nil {
			return fmt.Errorf("show Home: %w", err)
		}
	}
	teams, every := p.Teams(policy.RolesFor(policy.ActSee)...)
	err = s.store.Outbox.HomeShown(ctx, outbox.Home{
		Workspace: r.Workspace, Person: r.User, Principal: p.ID, Teams: teams, Every: every, Content: content,
	}, at.Add(-homeMargin))
	return errors.Join(refused, err)
}
