// Package blocks renders what people see in Slack: messages, lists, forms and App Home, in Block Kit. Every text is also readable
// without the blocks.
//
// It must never ask anybody or decide anything: the same values give the same blocks.
// https://docs.slack.dev/reference/block-kit
package blocks

import (
	"encoding/json"
	"errors"
	"time"

	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/lifecycle"
)

// Press is what a button means; it is the button's value. It is a command with its cluster, so that a button and the typed command
// do the same.
type Press struct {
	Verb     chatops.Verb `json:"v"`
	Cluster  string       `json:"c,omitempty"` // id
	Approval string       `json:"a,omitempty"` // id
	Notice   string       `json:"n,omitempty"` // id of the notice that the button stands in
	End      int64        `json:"e,omitempty"` // extend: when the lifetime ended as the button was shown, in microseconds: it extends from there, once
	Value    string       `json:"x,omitempty"` // what the verb takes: a duration, a page's cursor, a handover's id
}

// Encode returns the press as a button's value.
func (p Press) Encode() string {
	raw, err := json.Marshal(p)
	if err != nil {
		panic(err) // strings alone
	}
	return string(raw)
}

// DecodePress reads a button's value.
func DecodePress(value string) (p Press, err error) {
	if json.Unmarshal([]byte(value), &p) != nil || p.Verb == "" {
		return Press{}, errors.New("not a button of ocpctl")
	}
	return p, nil
}

// ClusterView is what the one message of a cluster shows.
type ClusterView struct {
	Card     lifecycle.Card
	Detail   chatops.Detail
	Links    chatops.Links
	Asker    string           // the person in Slack who asked for it: named, not mentioned
	Approval *chatops.Waiting // what it waits for; nil: for no approval
	Approved []string         // the names of those who approved it; none: it needed no approval

	// Of an answer that one person reads once:
	Acts []chatops.Verb // what they may do; nil: many read it, so it offers what the owner may do
	Now  time.Time      // its costs count until then; zero: until the cluster's last change
}

// Moment is one entry of a cluster's timeline.
type Moment = chatops.Moment

// Event is a kind of notice.
type Event string

// The events that notices are about. The first six can be subscribed to.
const (
	Ready       Event = "ready"
	Failed      Event = "failed"
	Expiring    Event = "expiring"
	Blocked     Event = "blocked"
	Destroyed   Event = "destroyed"
	Weekly      Event = "weekly"   // report on a week
	Resting     Event = "resting"  // it is about to be put to sleep outside working hours
	Idle        Event = "idle"     // nobody uses it
	Approval    Event = "approval" // it waits for an approval
	Finding     Event = "finding"  // of the janitor, for admins
	Budget      Event = "budget"   // of a team, for admins
	HandoverAsk Event = "handover" // somebody is asked to take a cluster over

	HandoverEnded     Event = "handover_ended"     // an offer, for whoever made it
	SubscriptionEnded Event = "subscription_ended" // for its channel
)

// NoticeView is what a notice shows. Which fields are set depends on the event.
type NoticeView struct {
	Event   Event
	ID      string         // the notice's, for its buttons
	Card    lifecycle.Card // of its cluster; zero: it is about none
	Links   chatops.Links
	Mention string // the person in Slack to mention; empty: nobody
	Facts   Facts
	// Approval says why the cluster needs an approval and whose, in GitHub's Markdown; empty: a general sentence.
	Approval string
	More     []NoticeView // others that this message tells: a digest
}

// Facts are what a notice tells beyond the cluster itself. They are stored with it and hold no secret.
type Facts struct {
	End        time.Time     `json:"end,omitzero"`         // expiring: when it ends; resting: when it falls asleep; idle: when it ends for that
	Since      time.Time     `json:"since,omitzero"`       // idle: when it was last used
	Sleeps     time.Time     `json:"sleeps,omitzero"`      // idle: when it is put to sleep; zero: it is not
	Unobserved bool          `json:"unobserved,omitempty"` // idle: nobody could look inside it for people's requests
	Before     time.Duration `json:"before,omitempty"`     // expiring: how long before the end this was told
	Longest    time.Duration `json:"longest,omitempty"`    // expiring: by how much it can be extended; 0: not at all
	Approval   string        `json:"approval,omitempty"`
	Title      string        `json:"title,omitempty"`   // finding, budget, weekly, what ended, and an approval of something else than the cluster: what it is about
	Text       string        `json:"text,omitempty"`    // what is wrong and what to do, in GitHub's Markdown: code, bold and lists, no links
	Runbook    string        `json:"runbook,omitempty"` // its page's name, e.g. teardown-blocked
	Page       string        `json:"page,omitempty"`    // weekly: path of the page with the same report
	From       string        `json:"from,omitempty"`    // handover: who gives it away
	Handover   string        `json:"handover,omitempty"`
	Done       string        `json:"done,omitempty"`    // it is over: what happened, as Text; a press did it if DoneBy is set
	DoneBy     string        `json:"done_by,omitempty"` // who pressed a button, in Slack

	Who    string   `json:"-"` // the name of who did it, if nobody pressed this notice's button
	Voters []string `json:"-"` // approval that needs several votes: the names of those who approved so far
}
