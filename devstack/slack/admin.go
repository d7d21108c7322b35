package slack

import (
	"context"
	"fmt"
	"slices"
)

// Archive archives a channel. Like all functions that change the workspace, it returns after the app's response to the event.
func (s *Server) Archive(ctx context.Context, channel string) error {
	return s.alter(ctx, channel, "archive", func(c *Channel) { c.Archived = true })
}

// Unarchive brings an archived channel back.
func (s *Server) Unarchive(ctx context.Context, channel string) error {
	return s.alter(ctx, channel, "unarchive", func(c *Channel) { c.Archived = false })
}

// ChangeID gives a channel another id, as Slack does when it is shared with another organization, and returns that.
func (s *Server) ChangeID(ctx context.Context, channel string) (string, error) {
	s.mu.Lock()
	c := s.channel(channel)
	if c == nil || c.Direct != "" {
		s.mu.Unlock()
		return "", fmt.Errorf("there is no channel %s", channel)
	}
	was, concerned := c.ID, c.has(Bot)
	_, now := s.stamp()
	c.ID = "C" + id(10)
	for _, m := range s.world.Messages {
		if m.Channel == was {
			m.Channel = c.ID
		}
	}
	is, err := c.ID, s.save()
	s.mu.Unlock()
	if err == nil && concerned {
		await(ctx, s.emit(object{"type": "channel_id_changed", "old_channel_id": was, "new_channel_id": is, "event_ts": now}))
	}
	return is, err
}

// DeleteChannel deletes a channel with its messages.
func (s *Server) DeleteChannel(ctx context.Context, channel string) error {
	return s.alter(ctx, channel, "deleted", func(c *Channel) {
		s.world.Channels = slices.DeleteFunc(s.world.Channels, func(other *Channel) bool { return other == c })
		s.world.Messages = slices.DeleteFunc(s.world.Messages, func(m *Message) bool { return m.Channel == c.ID })
	})
}

// Kick removes the bot from a channel.
func (s *Server) Kick(ctx context.Context, channel string) error {
	return s.alter(ctx, channel, "left", func(c *Channel) {
		c.Members = slices.DeleteFunc(c.Members, func(m string) bool { return m == Bot })
	})
}

// alter changes a channel in which the bot is and sends the event channel_… or group_….
func (s *Server) alter(ctx context.Context, channel, what string, do func(*Channel)) error {
	s.mu.Lock()
	c := s.channel(channel)
	if c == nil || c.Direct != "" {
		s.mu.Unlock()
		return fmt.Errorf("there is no channel %s", channel)
	}
	concerned := c.has(Bot)
	_, now := s.stamp()
	event := object{"type": c.kind() + "_" + what, "channel": c.ID, "event_ts": now}
	switch what {
	case "left", "archive", "unarchive":
		event["actor_id"], event["user"] = "U0DEMOWILL", "U0DEMOWILL"
	}
	do(c)
	err := s.save()
	s.mu.Unlock()
	if err == nil && concerned {
		await(ctx, s.emit(event))
	}
	return err
}

// Invite brings somebody into a channel, Bot for the bot.
func (s *Server) Invite(ctx context.Context, who, channel string) error {
	return s.member(ctx, who, channel, "member_joined_channel", func(c *Channel, id string) {
		if !c.has(id) {
			c.Members = append(c.Members, id)
		}
	})
}

// Leave takes a person out of a channel.
func (s *Server) Leave(ctx context.Context, who, channel string) error {
	return s.member(ctx, who, channel, "member_left_channel", func(c *Channel, id string) {
		c.Members = slices.DeleteFunc(c.Members, func(m string) bool { return m == id })
	})
}

func (s *Server) member(ctx context.Context, who, channel, event string, do func(*Channel, string)) error {
	s.mu.Lock()
	p, ok := find(s.world.People, who)
	c := s.channel(channel)
	if !ok || c == nil || c.Direct != "" {
		s.mu.Unlock()
		return fmt.Errorf("there is nobody called %s or no channel %s", who, channel)
	}
	do(c, p.ID)
	err := s.save()
	_, now := s.stamp()
	kind := map[bool]string{false: "C", true: "G"}[c.Private]
	o := object{"type": event, "user": p.ID, "channel": c.ID, "channel_type": kind, "team": Workspace, "event_ts": now}
	concerned := c.has(Bot)
	s.mu.Unlock()
	if err == nil && concerned {
		await(ctx, s.emit(o))
	}
	return err
}

// RevokeToken revokes the bot's token.
func (s *Server) RevokeToken(ctx context.Context) error {
	err := s.refuse("token_revoked")
	await(ctx, s.emit(object{"type": "tokens_revoked", "tokens": object{"oauth": []string{}, "bot": []string{Bot}}}))
	return err
}

// Uninstall removes the app from the workspace.
func (s *Server) Uninstall(ctx context.Context) error {
	err := s.refuse("account_inactive")
	await(ctx, s.emit(object{"type": "app_uninstalled"}))
	await(ctx, s.emit(object{"type": "tokens_revoked", "tokens": object{"oauth": []string{}, "bot": []string{Bot}}}))
	return err
}

// Install installs the app again, with the same token.
func (s *Server) Install() error { return s.refuse("") }

func (s *Server) refuse(why string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.world.Token = why
	return s.save()
}

// DeleteMessage deletes a message as a person with the right to do so.
func (s *Server) DeleteMessage(channel, ts string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.channel(channel)
	if c == nil || s.message(c.ID, ts) == nil {
		return fmt.Errorf("there is no message %s in %s", ts, channel)
	}
	s.message(c.ID, ts).Deleted = true
	return s.save()
}

// Deactivate deactivates a person's account.
func (s *Server) Deactivate(ctx context.Context, who string) error {
	return s.changeUser(ctx, who, true)
}

// Reactivate activates a person's account again.
func (s *Server) Reactivate(ctx context.Context, who string) error {
	return s.changeUser(ctx, who, false)
}

func (s *Server) changeUser(ctx context.Context, who string, deactivated bool) error {
	s.mu.Lock()
	i := slices.IndexFunc(s.world.People, func(p Person) bool { return p.ID == who || p.Login == who })
	if i < 0 {
		s.mu.Unlock()
		return fmt.Errorf("%s is nobody of the workspace", who)
	}
	s.world.People[i].Deactivated = deactivated
	err := s.save()
	_, now := s.stamp()
	event := object{"type": "user_change", "user": s.user(s.world.People[i]), "cache_ts": 1700000000, "event_ts": now}
	s.mu.Unlock()
	if err == nil {
		await(ctx, s.emit(event))
	}
	return err
}
