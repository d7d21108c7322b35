package slack

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"

	"github.com/ocpctl/ocpctl/devstack/must"
)

// Archive archives a channel. Like all functions that change the workspace, it returns after the app's response to the event.
func (s *Server) Archive(ctx context.Context, channel string) error {
	return s.alter(ctx, channel, "archive", func(c *Channel) { c.Archived = true })
}

// Unarchive brings an archived channel back.
func (s *Server) Unarchive(ctx context.Context, channel string) error {
	return s.alter(ctx, channel, "unarchive", func(c *Channel) { c.Archived = false })
}

// happen changes the workspace, and sends the event of it, if the app gets one. The app's response comes before its return.
func (s *Server) happen(ctx context.Context, change func() object) error {
	event, err := func() (event object, err error) {
		defer must.Catch(&err)
		s.mu.Lock()
		defer s.mu.Unlock()
		event = change()
		return event, s.save()
	}()
	if err == nil && event != nil {
		await(ctx, s.emit(event))
	}
	return err
}

// group finds a channel that is no direct message, under the lock.
func (s *Server) group(channel string) *Channel {
	c := s.channel(channel)
	must.FailIf(c == nil || c.Direct != "", "there is no channel %s", channel)
	return c
}

// ChangeID gives a channel another id, as Slack does when it is shared with another organization, and returns that.
func (s *Server) ChangeID(ctx context.Context, channel string) (is string, err error) {
	err = s.happen(ctx, func() object {
		c := s.group(channel)
		was := c.ID
		_, now := s.stamp()
		is = "C" + id(10)
		c.ID = is
		for _, m := range s.world.Messages {
			if m.Channel == was {
				m.Channel = is
			}
		}
		return c.event(object{"type": "channel_id_changed", "old_channel_id": was, "new_channel_id": is, "event_ts": now})
	})
	return is, err
}

// event is an event of a channel, which the app gets if the bot is in it.
func (c *Channel) event(of object) object {
	if !c.has(Bot) {
		return nil
	}
	return of
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
	return s.happen(ctx, func() object {
		c := s.group(channel)
		_, now := s.stamp()
		event := object{"type": c.kind() + "_" + what, "channel": c.ID, "event_ts": now}
		if what != "deleted" {
			event["actor_id"], event["user"] = "U0DEMOWILL", "U0DEMOWILL"
		}
		event = c.event(event)
		do(c)
		return event
	})
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
	return s.happen(ctx, func() object {
		p, ok := find(s.world.People, who)
		must.FailIf(!ok, "there is nobody called %s", who)
		c := s.group(channel)
		do(c, p.ID)
		_, now := s.stamp()
		kind := map[bool]string{false: "C", true: "G"}[c.Private]
		return c.event(object{"type": event, "user": p.ID, "channel": c.ID, "channel_type": kind, "team": Workspace, "event_ts": now})
	})
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
	return s.happen(ctx, func() object {
		i := slices.IndexFunc(s.world.People, func(p Person) bool { return p.ID == who || p.Login == who })
		must.FailIf(i < 0, "%s is nobody of the workspace", who)
		s.world.People[i].Deactivated = deactivated
		_, now := s.stamp()
		return object{"type": "user_change", "user": s.user(s.world.People[i]), "cache_ts": 1700000000, "event_ts": now}
	})
}

// adminRoutes let other processes of a demo decide what goes wrong and what people do. They are not part of Slack, and take no credentials:
//
//	POST /_standin/fail       {"method","times","code","retry_after"}      the next calls of a method, such as chat.postMessage, get this answer
//	POST /_standin/write      {"who","channel","text","thread","subtype"}  a person writes; subtype is file_share, thread_broadcast or me_message
//	POST /_standin/change-id  {"channel"}                                  the channel gets another id
func (s *Server) adminRoutes(mux *http.ServeMux) {
	ownPages := http.NewCrossOriginProtection() // no other site's page may act through a browser
	type input struct {
		Method     string `json:"method"`
		Times      int    `json:"times"`
		Code       string `json:"code"`
		RetryAfter int    `json:"retry_after"`
		Who        string `json:"who"`
		Channel    string `json:"channel"`
		Text       string `json:"text"`
		Thread     string `json:"thread"`
		Subtype    string `json:"subtype"`
	}
	act := func(name string, do func(*http.Request, input) (any, error)) {
		mux.Handle("POST /_standin/"+name, ownPages.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			var in input
			d := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<20))
			d.DisallowUnknownFields()
			err := d.Decode(&in)
			var out any
			if err == nil {
				out, err = do(r, in)
			}
			if err != nil {
				http.Error(w, err.Error(), http.StatusBadRequest)
				return
			}
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(out) // the caller disconnected
		})))
	}
	act("fail", func(_ *http.Request, in input) (any, error) {
		s.Break(in.Method, Fault{Times: in.Times, Code: in.Code, RetryAfter: in.RetryAfter})
		return object{}, nil
	})
	act("write", func(r *http.Request, in input) (any, error) {
		ts, err := s.Write(r.Context(), in.Who, Post{Channel: in.Channel, Text: in.Text, Thread: in.Thread, Subtype: in.Subtype})
		return object{"ts": ts}, err
	})
	act("change-id", func(r *http.Request, in input) (any, error) {
		is, err := s.ChangeID(r.Context(), in.Channel)
		return object{"channel": is}, err
	})
}
