package blocks

import (
	"fmt"
	"strings"

	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/chatops/slack"
	"github.com/ocpctl/ocpctl/lifecycle"
)

// ListView is one page of a list of clusters.
type ListView struct {
	Rows   []Listed
	Filter string // what the list is limited to, in words; empty: nothing
	Next   string // the value of the press that shows the next page; empty: there is none
	Links  chatops.Links
}

// Listed is one cluster of a list.
type Listed struct {
	Card lifecycle.Card
	Idle string // why it may be idle, in words; empty: nothing suggests it
}

// List is who has what: each cluster with its state, owner, end and cost.
func List(v ListView) slack.Message {
	var b strings.Builder
	for _, row := range v.Rows {
		fmt.Fprintf(&b, "- %s\n", chatops.Code(row.Card.Name))
	}
	return Answer(b.String() + "\n")
}

// Choose asks which cluster is meant: a button for each, with the press and the cluster's id in it.
func Choose(question string, cards []lifecycle.Card, _ Press) slack.Message {
	for _, c := range cards {
		question += "\n- " + chatops.Code(c.Name)
	}
	return Answer(question)
}

// Approvals lists pending approvals, with buttons for those that the person may answer. more: there are more than listed.
func Approvals(all []chatops.Waiting, more bool, links chatops.Links) slack.Message {
	return Answer(chatops.SlackWaiting(all, more, links))
}

// Help is the list of commands.
func Help(markdown string) slack.Message { return Answer(markdown) }
