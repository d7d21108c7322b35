package slack

// Person is what Slack knows of somebody. https://docs.slack.dev/reference/objects/user-object
type Person struct {
	ID        string // U… or W…
	Workspace string // whose member they are, T…
	Org       string // the Enterprise Grid organization, E…; empty: none
	Name      string // display name
	Email     string // lower case; empty: unknown, or the scope users:read.email is missing
	Confirmed bool   // Slack confirmed the e-mail address

	Bot         bool
	Deactivated bool
	Guest       bool // of one channel or several
	Stranger    bool // of another organization, through Slack Connect
}

// Channel is what Slack knows of a conversation. https://docs.slack.dev/reference/objects/conversation-object
type Channel struct {
	ID       string
	Name     string
	Member   bool // the bot is in it
	Archived bool
	Direct   bool // a direct message
	External bool // shared with another organization, or another one is invited
}
