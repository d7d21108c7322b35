package slack

import (
	"slices"
	"strings"
)

// The ids of the channels. The bot is in all but Random; Private has two members beside it, Shared is shared with another company,
// Invited will be once that accepts, and Archived is archived. Not everybody is in Admins, which is public.
const (
	Clusters = "C0DEMOCLUS"
	Random   = "C0DEMORAND"
	Payments = "C0DEMOPAYM"
	Admins   = "C0DEMOADMN"
	Private  = "C0DEMOPRIV"
	Shared   = "C0DEMOSHAR"
	Invited  = "C0DEMOINVT"
	Archived = "C0DEMOOLDP"
)

// Channel is a channel or a direct message.
type Channel struct {
	ID, Name                    string
	Private, Archived, External bool
	Pending                     bool     // another company is invited to share it, and did not accept yet
	Direct                      string   // the person's id, if it is a direct message with the bot
	Members                     []string // ids, with the bot's
}

func (c *Channel) has(id string) bool { return slices.Contains(c.Members, id) }

// channels are those of a new workspace.
func channels() []*Channel {
	everyone := []string{"U0DEMOMAYA", "U0DEMOROBB", "U0DEMOWILL", "U0DEMOADAA", "W0DEMOGWEN"}
	with := func(more ...string) []string { return append(slices.Clone(everyone), more...) }
	return []*Channel{
		{ID: Clusters, Name: "clusters", Members: with(Bot)},
		{ID: Random, Name: "random", Members: with()},
		{ID: Payments, Name: "payments", Members: with("U0DEMOGUST", Bot)},
		{ID: Admins, Name: "admins", Members: []string{"U0DEMOWILL", "U0DEMOADAA", Bot}},
		{ID: Private, Name: "platform-private", Private: true, Members: []string{"U0DEMOWILL", "U0DEMOADAA", Bot}},
		{ID: Shared, Name: "partners", External: true, Members: with("U0OTHERSAM", Bot)},
		{ID: Invited, Name: "partners-soon", Pending: true, Members: with(Bot)},
		{ID: Archived, Name: "old-project", Archived: true, Members: with(Bot)},
	}
}

// directID is the id of the direct message between the bot and a person.
func directID(person string) string { return "D" + person[1:] }

// channel finds a channel by id or name, under the lock.
func (s *Server) channel(which string) *Channel {
	which = strings.TrimPrefix(which, "#")
	for _, c := range s.world.Channels {
		if c.ID == which || c.Name == which && c.Name != "" {
			return c
		}
	}
	return nil
}

// openDirect returns the direct message between the bot and a person, under the lock.
func (s *Server) openDirect(person string) (c *Channel, already bool) {
	id := directID(person)
	if c := s.channel(id); c != nil {
		return c, true
	}
	c = &Channel{ID: id, Direct: person, Members: []string{person, Bot}}
	s.world.Channels = append(s.world.Channels, c)
	return c, false
}

// spoken is the channel's name in a command or interaction.
func (c *Channel) spoken() string {
	switch {
	case c.Direct != "":
		return "directmessage"
	case c.Private:
		return "privategroup"
	}
	return c.Name
}

// kind is the channel's type in events.
func (c *Channel) kind() string {
	switch {
	case c.Direct != "":
		return "im"
	case c.Private:
		return "group"
	}
	return "channel"
}

// object returns the channel as the Web API describes it to the bot.
// https://docs.slack.dev/reference/objects/conversation-object
func (c *Channel) object() map[string]any {
	if c.Direct != "" {
		return map[string]any{"id": c.ID, "created": 1700000000, "is_im": true, "is_org_shared": false, "user": c.Direct, "is_archived": c.Archived}
	}
	return map[string]any{
		"id": c.ID, "name": c.Name, "name_normalized": c.Name, "is_channel": true, "is_group": false, "is_im": false, "is_mpim": false,
		"created": 1700000000, "creator": "U0DEMOWILL", "is_archived": c.Archived, "is_general": false, "is_private": c.Private,
		"is_member": c.has(Bot), "is_shared": c.External, "is_ext_shared": c.External, "is_pending_ext_shared": c.Pending, "is_org_shared": false, "context_team_id": Workspace,
		"topic": map[string]any{"value": "", "creator": "", "last_set": 0}, "purpose": map[string]any{"value": "", "creator": "", "last_set": 0},
	}
}

// Channels returns the channels in which somebody is, and their direct message with the bot if there is one.
func (s *Server) Channels(who string) (list []Channel) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, _ := find(s.world.People, who)
	for _, c := range s.world.Channels {
		if c.has(p.ID) {
			list = append(list, *c)
		}
	}
	return list
}
