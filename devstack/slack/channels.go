package slack

import (
	"slices"
	"strings"

	"github.com/ocpctl/ocpctl/devstack/must"
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

// Person is an account that the workspace knows.
type Person struct {
	ID        string // U…, or W… in an Enterprise Grid organization
	Login     string // their name in mentions
	Name      string
	Email     string
	Workspace string // T…; another one than Workspace with Slack Connect
	Org       string // E…; empty: none

	Guest, Bot, Deactivated bool
}

// Stranger says that the person is a member of another company's workspace, through Slack Connect.
func (p Person) Stranger() bool { return p.Workspace != Workspace }

// People are those of the demo's identity provider with their Slack ids, and one account of each kind that needs care: a guest of one
// channel, a member of an Enterprise Grid organization, a stranger through Slack Connect, a deactivated account and a bot.
var People = []Person{
	{ID: "U0DEMOMAYA", Login: "maya", Name: "Maya", Email: "maya@acme.example", Workspace: Workspace},
	{ID: "U0DEMOROBB", Login: "rob", Name: "Rob", Email: "rob@acme.example", Workspace: Workspace},
	{ID: "U0DEMOWILL", Login: "will", Name: "Will", Email: "will@acme.example", Workspace: Workspace},
	{ID: "U0DEMOADAA", Login: "ada", Name: "Ada", Email: "ada@acme.example", Workspace: Workspace},
	{ID: "U0DEMOGUST", Login: "gus", Name: "Gus", Email: "gus@contractor.example", Workspace: Workspace, Guest: true},
	{ID: "W0DEMOGWEN", Login: "gwen", Name: "Gwen", Email: "gwen@acme.example", Workspace: Workspace, Org: Org},
	// What another company's workspace says of its members proves nothing here: his address is an administrator's.
	{ID: "U0OTHERSAM", Login: "sam", Name: "Sam", Email: "will@acme.example", Workspace: "T0OTHERCOM"},
	{ID: "U0DEMODEAN", Login: "dean", Name: "Dean", Email: "dean@acme.example", Workspace: Workspace, Deactivated: true},
	{ID: "U0DEMOCIBO", Login: "buildbot", Name: "Build bot", Workspace: Workspace, Bot: true},
	{ID: Bot, Login: "ocpctl", Name: "ocpctl", Workspace: Workspace, Bot: true},
}

// Members returns the accounts as they are now.
func (s *Server) Members() []Person {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.world.People)
}

// By finds one of People by login or id.
func By(who string) (Person, bool) { return find(People, who) }

func find(people []Person, who string) (Person, bool) {
	i := slices.IndexFunc(people, func(p Person) bool { return p.Login == who || p.ID == who })
	if i < 0 {
		return Person{}, false
	}
	return people[i], true
}

// Group is a user group.
type Group struct {
	ID      string // S…
	Handle  string // its name in mentions, without @
	Name    string
	Members []string // ids
}

// Groups are the user groups of the workspace.
var Groups = []Group{{ID: "S0DEMOPAYM", Handle: "payments-oncall", Name: "Payments on call", Members: []string{"U0DEMOMAYA", "U0DEMOROBB"}}}

// user describes a person as the Web API and events do, under the lock. Somebody of another workspace is called a stranger only while
// they share no channel with the bot. https://docs.slack.dev/reference/objects/user-object
func (s *Server) user(p Person) map[string]any {
	o := p.object(allowed("users:read.email"))
	if p.Stranger() {
		o["is_stranger"] = !slices.ContainsFunc(s.world.Channels, func(c *Channel) bool { return c.External && c.has(Bot) && c.has(p.ID) })
	}
	return o
}

func (p Person) object(email bool) map[string]any {
	profile := map[string]any{"real_name": p.Name, "display_name": p.Login, "team": p.Workspace}
	if email && p.Email != "" {
		profile["email"] = p.Email
	}
	o := map[string]any{
		"id": p.ID, "team_id": p.Workspace, "name": p.Login, "deleted": p.Deactivated, "real_name": p.Name, "profile": profile,
		"is_bot": p.Bot, "is_app_user": false, "updated": 1700000000, "is_email_confirmed": p.Email != "",
	}
	if !p.Deactivated { // a deactivated account has no role
		o["is_admin"], o["is_owner"], o["is_primary_owner"] = false, false, false
		o["is_restricted"], o["is_ultra_restricted"] = p.Guest, p.Guest
		o["tz"] = "Etc/UTC"
	}
	if p.Org != "" {
		o["enterprise_user"] = map[string]any{
			"id": p.ID, "enterprise_id": p.Org, "enterprise_name": "Acme", "is_admin": false, "is_owner": false, "teams": []string{Workspace},
		}
	}
	return o
}

func (s *Server) userInfo(a args) reply {
	p, ok := find(s.world.People, a["user"])
	must.EndIf(!ok || p.ID != a["user"], no("user_not_found"))
	return reply{"ok": true, "user": s.user(p)}
}
