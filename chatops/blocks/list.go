package blocks

import (
	"fmt"
	"strings"
	"time"

	api "github.com/slack-go/slack"

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
	Now    time.Time // when it is read: costs count until then; zero: until each cluster's last change
}

// Listed is one cluster of a list.
type Listed struct {
	Card lifecycle.Card
	Idle string // why it may be idle, in words; empty: nothing suggests it
}

// List is who has what: each cluster with its state, owner, end and cost.
func List(v ListView) slack.Message {
	head := "**Clusters**"
	if v.Filter != "" {
		head += ": " + chatops.Plain(v.Filter)
	}
	lines := []string{head}
	for _, row := range v.Rows {
		lines = append(lines, rowOf(row, v))
	}
	if len(v.Rows) == 0 {
		lines = append(lines, "There is no such cluster that you may see.")
	}
	blocks := fitBlocks(sectionBlocks(lines...), maxMessage-3)
	if v.Next != "" {
		blocks = append(blocks, actionBlocks(newButton("Next page", Press{Verb: chatops.VerbPage, Value: v.Next}))...)
	}
	if all := allClustersLink(v.Links); all != "" {
		blocks = append(blocks, contextOf(all))
	}
	return newMessage(blocks)
}

func rowOf(row Listed, v ListView) string {
	what, more := chatops.Row(row.Card, v.Links, v.Now)
	if row.Idle != "" {
		more += " Perhaps idle: " + chatops.Plain(row.Idle) + "."
	}
	return what + "\n" + more
}

// allClustersLink leads to the page with all clusters.
func allClustersLink(links chatops.Links) string {
	if links.UI == "" {
		return ""
	}
	return markdownLink("All clusters", strings.TrimRight(links.UI, "/")+"/")
}

// maxChoices is how many clusters can be chosen from.
const maxChoices = 40

// Choose asks which cluster is meant: a button for each, with the press and the cluster's id in it. The question is GitHub's Markdown.
func Choose(question string, cards []lifecycle.Card, press Press) slack.Message {
	blocks := fitBlocks(sectionBlocks(question), maxMessage-maxChoices-2)
	label := labels[press.Verb]
	if label == "" {
		label = "This one"
	}
	for _, c := range cards[:min(len(cards), maxChoices)] {
		what, _ := chatops.Row(c, chatops.Links{}, time.Time{})
		text, _ := slack.Cut(slack.Markup(what), maxSection)
		b := pressFor(c, label, press)
		b.AccessibilityLabel = plainText(label+" "+c.Name, maxButton).Text
		blocks = append(blocks, api.NewSectionBlock(markupText(text), nil, api.NewAccessory(b)))
	}
	if more := len(cards) - maxChoices; more > 0 {
		blocks = append(blocks, contextOf(fmt.Sprintf("There are %d more. Name the cluster in the command instead.", more)))
	}
	return newMessage(blocks)
}

// maxApprovals is how many approvals are shown, with two blocks each.
const maxApprovals = 20

// Approvals lists pending approvals, with buttons for those that the person may answer. more: there are more than listed.
func Approvals(all []chatops.Waiting, more bool, links chatops.Links) slack.Message {
	if len(all) == 0 {
		return Answer(chatops.SlackWaiting(all, more, links))
	}
	blocks := sectionBlocks("**Waiting for approval**")
	blocks = append(blocks, approvalBlocks(all[:min(len(all), maxApprovals)])...)
	if more || len(all) > maxApprovals {
		blocks = append(blocks, contextOf("There is more. "+moreApprovals(links)))
	}
	return newMessage(blocks)
}

func moreApprovals(links chatops.Links) string {
	if links.UI == "" {
		return ""
	}
	return markdownLink("All approvals", strings.TrimRight(links.UI, "/")+"/approvals")
}

// approvalBlocks shows approvals, each in one section with its buttons below.
func approvalBlocks(all []chatops.Waiting) (blocks []api.Block) {
	for _, a := range all {
		text, _ := slack.Cut(slack.Markup(a.Text()), maxSection)
		blocks = append(blocks, api.NewSectionBlock(markupText(text), nil, nil))
		if a.WhyNot == "" {
			blocks = append(blocks, actionBlocks(
				newButton(labels[chatops.VerbApprove], Press{Verb: chatops.VerbApprove, Approval: a.ID}), newButton(labels[chatops.VerbRefuse], Press{Verb: chatops.VerbRefuse, Approval: a.ID}),
			)...)
		}
	}
	return blocks
}
