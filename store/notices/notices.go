package notices

import (
	"encoding/json"
	"time"
)

// Notice is one message in Slack about something that happened.
type Notice struct {
	ID         string // filled by the store
	Cause      string // unique for each place: what happened, e.g. "clu_01J…:ready:12"
	Kind       string // the event; package chatops/blocks names them
	Cluster    string // id; empty: it is about none
	Workspace  string
	Channel    string // exactly one of Channel and Person is set
	Person     string
	Thread     string // id of the subscriber in whose thread it stands; empty: it stands alone
	Mention    string // the person in Slack who is mentioned; empty: nobody
	Facts      json.RawMessage
	Wanted     int // version of the facts
	Shown      int // version that is posted; 0: none
	PostedIn   string
	ExternalID int64      // its timestamp in microseconds; 0: not posted
	PostingAt  *time.Time // since when a post is under way or its answer is lost; nil: neither. Notices of one digest have the same
	CreatedAt  time.Time
}

// Subscription says that a channel wants to hear of some events.
type Subscription struct {
	ID        string
	Workspace string
	Channel   string
	Team      string // empty: of every team
	Repo      string // in lower case; empty: of every repository
	Events    []string
	CreatedBy string // principal
	Claims    []byte // what they had proved, as JSON; nil: not known
	CreatedAt time.Time
}

// Ending is why a subscription ended without somebody ending it.
type Ending string

// The endings, all about whoever made the subscription.
const (
	EndedNoMember     Ending = "no_member"      // they are no full member of the workspace any more
	EndedNoRole       Ending = "no_role"        // they may no longer see the clusters
	EndedNotInChannel Ending = "not_in_channel" // they have left the channel
	EndedOutside      Ending = "outside"        // another organization reads the channel, and they are no platform admin
)
