package notifier

import (
	"encoding/json"

	"github.com/ocpctl/ocpctl/chatops/blocks"
	"github.com/ocpctl/ocpctl/store/notices"
)

// event is something that happened, with everything that decides who hears of it.
type event struct {
	cause   string
	kind    blocks.Event
	cluster string // id; empty: it is about none
	facts   blocks.Facts

	to         person                // the one whom it is for; zero: it is for nobody in particular
	owner      person                // of the cluster; zero: nobody in Slack is known to own it
	message    *notices.SlackMessage // that shows the cluster where it was asked for; nil: it was not asked for in Slack
	subscribed []notices.Subscription
	named      []string // channels that the repository's file or the configuration names for this event
}

// person is somebody in Slack.
type person struct{ workspace, id string }

// What is told of each event. Everything else is seen in the cluster's own message and its thread, or only by who subscribed to it.
var (
	// inThread: in the thread of the cluster's message. mentions: and the asker is mentioned there.
	inThread = map[blocks.Event]bool{blocks.Ready: true, blocks.Failed: true, blocks.Expiring: true, blocks.Resting: true, blocks.Idle: true, blocks.Blocked: true}
	mentions = map[blocks.Event]bool{blocks.Ready: true, blocks.Failed: true, blocks.Expiring: true, blocks.Resting: true, blocks.Idle: true}
	// toOwner: to the cluster's owner alone, unless the thread mentions them.
	toOwner = map[blocks.Event]bool{blocks.Expiring: true, blocks.Resting: true, blocks.Idle: true}
	// toAdmins: in the admin channel.
	toAdmins = map[blocks.Event]bool{blocks.Failed: true, blocks.Blocked: true, blocks.Approval: true, blocks.Finding: true, blocks.Budget: true}
)

// noticesFor returns the notices that an event becomes: at most one for each channel and each person. The message in which a cluster is shown
// counts for its channel.
func noticesFor(e event, workspace, admins string) (list []notices.Notice) {
	h := &hearing{event: e}
	if e.message != nil && inThread[e.kind] {
		h.tellThread()
	}
	if e.message == nil || e.owner.id != e.message.Person {
		if toOwner[e.kind] {
			h.tellPerson(e.owner)
		}
	}
	h.tellPerson(e.to)
	for _, sub := range e.subscribed {
		h.tellChannel(sub.Workspace, sub.Channel)
	}
	for _, channel := range e.named {
		h.tellChannel(workspace, channel)
	}
	if toAdmins[e.kind] {
		h.tellChannel(workspace, admins)
	}
	return h.list
}

// hearing collects the notices of one event.
type hearing struct {
	event
	list []notices.Notice
}

// tellThread tells the people in the thread of the cluster's message. If somebody deleted the message, the notice stands alone.
func (h *hearing) tellThread() {
	n := notices.Notice{Workspace: h.message.Workspace, Channel: h.message.Channel}
	if !h.message.Muted {
		n.Thread = h.message.Subscriber
	}
	if mentions[h.kind] && (h.owner.id == "" || h.owner.id == h.message.Person) { // it was not handed over since
		n.Mention = h.message.Person
	}
	h.addNotice(n)
}

func (h *hearing) tellPerson(p person) {
	if p.id != "" {
		h.addNotice(notices.Notice{Workspace: p.workspace, Person: p.id})
	}
}

// tellChannel tells a channel, unless the cluster's message stands in it: that shows everything but a finding.
func (h *hearing) tellChannel(workspace, channel string) {
	shown := h.message != nil && !h.message.Muted && h.message.Workspace == workspace && h.message.Channel == channel
	if workspace != "" && channel != "" && !(shown && h.kind != blocks.Finding) {
		h.addNotice(notices.Notice{Workspace: workspace, Channel: channel})
	}
}

// addNotice adds a notice unless its place has one.
func (h *hearing) addNotice(n notices.Notice) {
	for _, other := range h.list {
		if other.Workspace == n.Workspace && other.Channel == n.Channel && other.Person == n.Person {
			return
		}
	}
	facts, err := json.Marshal(h.facts)
	if err != nil {
		panic(err) // plain values
	}
	n.Cause, n.Kind, n.Cluster, n.Facts = h.cause, string(h.kind), h.cluster, facts
	h.list = append(h.list, n)
}
