package slack

import "slices"

// Events are those that the app is subscribed to.
var Events = []string{
	"app_mention", "message.im", "app_home_opened", "channel_id_changed", "channel_archive", "channel_unarchive", "channel_deleted", "channel_left", "group_archive",
	"group_unarchive", "group_deleted", "group_left", "member_joined_channel", "member_left_channel", "user_change", "app_uninstalled", "tokens_revoked",
}

// event wraps an event, unless the app is not subscribed to it. Under the lock.
// https://docs.slack.dev/apis/events-api
func (s *Server) event(event object) (q request, subscribed bool) {
	name := str(event, "type")
	subscription := name
	if name == "message" {
		subscription += "." + str(event, "channel_type")
	}
	if !slices.Contains(Events, subscription) {
		return request{}, false
	}
	c := s.channel(str(event, "channel"))
	micros, _ := s.stamp()
	eventID := "Ev" + id(9)
	return request{kind: eventsAPI, name: name, id: eventID, payload: object{
		"token": legacyToken, "team_id": Workspace, "context_team_id": Workspace, "context_enterprise_id": nil, "api_app_id": App,
		"event": event, "type": "event_callback", "event_id": eventID, "event_time": micros / 1_000_000,
		"authorizations": []object{{
			"enterprise_id": nil, "team_id": Workspace, "user_id": Bot, "is_bot": true, "is_enterprise_install": false,
		}},
		"is_ext_shared_channel": c != nil && c.External, "event_context": "4-" + random(40),
	}}, true
}

// background sends an event that nobody waits for, from under the lock.
func (s *Server) background(event object) {
	s.tasks.Go(func() { <-s.emit(event) })
}

// botWrote tells the app of what it wrote itself, as Slack does in direct messages. Under the lock.
func (s *Server) botWrote(c *Channel, m, before *Message) {
	if c.Direct == "" {
		return
	}
	_, at := s.stamp()
	if before == nil {
		o := m.object()
		o["channel"], o["channel_type"], o["event_ts"] = c.ID, "im", m.TS
		s.background(o)
		return
	}
	s.background(object{
		"type": "message", "subtype": "message_changed", "hidden": true, "channel": c.ID, "channel_type": "im", "ts": at, "event_ts": at,
		"message": m.object(), "previous_message": before.object(),
	})
}
