package inbound

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// callback is an event as Slack sends it. https://docs.slack.dev/apis/events-api
type callback struct {
	Team           string `json:"team_id"`
	Context        string `json:"context_team_id"` // the workspace through which the app sees the event
	Enterprise     string `json:"enterprise_id"`
	ID             string `json:"event_id"`
	Authorizations []struct {
		Enterprise string `json:"enterprise_id"`
		Team       string `json:"team_id"`
		User       string `json:"user_id"`
		IsBot      bool   `json:"is_bot"`
	} `json:"authorizations"`
	Event event `json:"event"`
}

// event is what happened. Which fields are set depends on the type. https://docs.slack.dev/reference/events
type event struct {
	Type       string    `json:"type"`
	Subtype    string    `json:"subtype"`
	User       object    `json:"user"`
	Bot        string    `json:"bot_id"`
	Text       string    `json:"text"`
	Thread     string    `json:"thread_ts"`
	Channel    object    `json:"channel"`
	ChannelIs  string    `json:"channel_type"`
	Tab        string    `json:"tab"`
	OldChannel string    `json:"old_channel_id"`
	NewChannel string    `json:"new_channel_id"`
	Edited     *struct{} `json:"edited"`
	Team       string    `json:"team"`        // the author's
	UserTeam   string    `json:"user_team"`   // the same, in a shared channel
	SourceTeam string    `json:"source_team"` // the same
	Tokens     *struct {
		Bot []string `json:"bot"`
	} `json:"tokens"`
}

// object is an id, which some events give alone and others in an object.
type object struct{ ID string }

// UnmarshalJSON implements json.Unmarshaler.
func (o *object) UnmarshalJSON(raw []byte) error {
	if json.Unmarshal(raw, &o.ID) == nil {
		return nil
	}
	var whole struct {
		ID string `json:"id"`
	}
	if err := json.Unmarshal(raw, &whole); err != nil {
		return fmt.Errorf("an id or an object with an id is expected: %w", err)
	}
	o.ID = whole.ID
	return nil
}

// Events returns the events that are read, as an app's manifest names them. Every other one is ignored.
func Events() []string {
	return append([]string{
		"app_home_opened", "app_mention", "app_uninstalled", channelMoved, "member_joined_channel", "member_left_channel", "message.im", "tokens_revoked", "user_change",
	}, ofChannel...)
}

// channelMoved tells that a channel has another id, for example since it is shared with another organization.
// https://docs.slack.dev/reference/events/channel_id_changed
const channelMoved = "channel_id_changed"

// spoken are the subtypes of messages that a person wrote, beside those without one: with a file, in a thread and the channel at once, and
// with /me. What an app wrote, an edit, and what happened to a channel have others.
// https://docs.slack.dev/reference/events/message
var spoken = []string{"", "file_share", "thread_broadcast", "me_message"}

// ofChannel are the events after which the bot can, or cannot, write in a channel.
var ofChannel = []string{
	"channel_archive", "channel_unarchive", "channel_deleted", "channel_left",
	"group_archive", "group_unarchive", "group_deleted", "group_left",
}

func decodeEvent(body []byte) (Request, error) {
	var c callback
	if err := json.Unmarshal(body, &c); err != nil {
		return Request{}, fmt.Errorf("the event is not one of Slack's: %w", err)
	}
	e := c.Event
	r := Request{ID: c.ID, Workspace: c.workspaceOfInstallation(), Org: c.Enterprise, Channel: e.Channel.ID, User: e.User.ID, HomeTeam: e.authorsWorkspace(c.workspaceOfInstallation(), c.Enterprise)}
	if !isIdentifier(e.Type, maxName) {
		return Request{}, fmt.Errorf("event.type is missing, or is not at most %d printable characters", maxName)
	}
	r.Kind, r.Event = c.kindOfEvent()
	switch r.Kind {
	case Ignored:
		return Request{Kind: Ignored, ID: shortenName(c.ID), Event: e.Type}, nil
	case HomeOpened:
		r.Channel = ""
		return r, r.checkIDs("team_id", "event.user", "", "event_id")
	case Lifecycle:
		r.Subject, r.Channel, r.User = r.Channel, "", ""
		switch e.Type {
		case "user_change":
			r.Subject = e.User.ID
		case channelMoved:
			r.Subject, r.Value = e.OldChannel, e.NewChannel
			if !objectID.MatchString(r.Value) {
				return Request{}, fmt.Errorf("event.new_channel_id is %s; a Slack id such as C012AB3CD is expected", quoteValue(r.Value))
			}
		}
		return r, r.checkIDs("team_id", "", "", "event_id")
	}
	if err := r.checkIDs("team_id", "event.user", "event.channel", "event_id"); err != nil {
		return Request{}, err
	}
	r.Thread = parseStamp(e.Thread)
	r.Text = withoutQuotes(cleanText(e.Text))
	if r.Kind == Mention || c.beginsWithMention(r.Text) { // a direct message may mention others
		if begin := "<@" + c.botUser(); strings.Contains(e.Text, begin) && !strings.Contains(r.Text, begin) { // it quotes somebody who mentioned the bot
			return Request{Kind: Ignored, ID: c.ID, Event: e.Type}, nil
		}
		r.Text = c.withoutMention(r.Text)
	}
	if isTooLong(r.Text) { // a long text that only mentions the bot is no command
		return Request{Kind: Ignored, ID: c.ID, Event: e.Type}, nil
	}
	return r, nil
}

// kindOfEvent tells what an event is for ocpctl. event is set where the kind alone does not say it.
func (c callback) kindOfEvent() (kind Kind, event string) {
	e := c.Event
	byPerson := e.Bot == "" && slices.Contains(spoken, e.Subtype) && e.Edited == nil && e.User.ID != c.botUser() && e.User.ID != ""
	switch {
	case e.Type == "app_mention" && byPerson && !e.isDirect(): // a direct message has an event of its own
		return Mention, ""
	case e.Type == "message" && e.ChannelIs == "im" && byPerson:
		return Direct, ""
	case e.Type == "app_home_opened" && e.Tab == "home":
		return HomeOpened, ""
	case e.Type == channelMoved && e.OldChannel != "" && e.NewChannel != "" && e.OldChannel != e.NewChannel:
		return Lifecycle, e.Type
	case slices.Contains(ofChannel, e.Type) && e.Channel.ID != "", e.Type == "user_change" && e.User.ID != "", e.Type == "app_uninstalled":
		return Lifecycle, e.Type
	case (e.Type == "member_left_channel" || e.Type == "member_joined_channel") && e.User.ID == c.botUser() && e.Channel.ID != "":
		return Lifecycle, e.Type
	case e.Type == "tokens_revoked" && e.Tokens != nil && len(e.Tokens.Bot) > 0:
		return Lifecycle, e.Type
	}
	return Ignored, ""
}

// isDirect reports whether a message is for the bot alone. Ids of direct messages begin with D.
func (e event) isDirect() bool { return e.ChannelIs == "im" || strings.HasPrefix(e.Channel.ID, "D") }

// workspaceOfInstallation returns the workspace in which the app is installed; in a shared channel team_id may be another one.
func (c callback) workspaceOfInstallation() string {
	for _, a := range c.Authorizations {
		if a.Team != "" {
			return a.Team
		}
	}
	if c.Context != "" {
		return c.Context
	}
	return c.Team
}

// botUser returns the id of the app's own user; empty: Slack did not say.
func (c callback) botUser() string {
	for _, a := range c.Authorizations {
		if a.IsBot {
			return a.User
		}
	}
	return ""
}

// authorsWorkspace returns the author's workspace if it is another one.
func (e event) authorsWorkspace(workspace, org string) string {
	for _, team := range []string{e.UserTeam, e.SourceTeam, e.Team} {
		if other := otherWorkspace(team, workspace, org); other != "" {
			return other
		}
	}
	return ""
}

// otherWorkspace returns a person's team if it is neither the workspace nor its organization, which Slack gives instead of a workspace for
// people of an Enterprise Grid.
func otherWorkspace(team, workspace, org string) string {
	if team == workspace || team == org {
		return ""
	}
	return team
}

// beginsWithMention reports whether a text begins with a mention of the bot, as people write in a direct message, too.
func (c callback) beginsWithMention(text string) bool {
	return strings.HasPrefix(strings.TrimSpace(text), "<@"+c.botUser()) && c.botUser() != ""
}

// withoutQuotes returns a message without what it quotes: its author did not say that. One quote mark quotes a line, three quote the rest.
// https://slack.com/help/articles/202288908-Format-your-messages
func withoutQuotes(text string) string {
	const mark = "&gt;"
	var said []string
	for line := range strings.SplitSeq(text, "\n") {
		begin := strings.TrimSpace(line)
		if strings.HasPrefix(begin, mark+mark+mark) {
			break
		}
		if !strings.HasPrefix(begin, mark) {
			said = append(said, line)
		}
	}
	return strings.Join(said, "\n")
}

// withoutMention returns what follows the bot's first mention. Where Slack does not name the bot, the first mention is the bot's.
func (c callback) withoutMention(text string) string {
	begin := "<@" + c.botUser()
	at := strings.Index(text, begin)
	if at < 0 {
		return strings.TrimSpace(text)
	}
	_, rest, _ := strings.Cut(text[at:], ">")
	return strings.TrimSpace(strings.TrimLeft(rest, " :,"))
}
