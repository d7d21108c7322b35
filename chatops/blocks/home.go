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

// HomeView is what a person sees in the app's Home tab.
type HomeView struct {
	Name       string   // of the person
	Linked     bool     // who they are in ocpctl is known
	LinkHint   string   // what to do if it is not, in GitHub's Markdown
	Lookalikes []string // accounts elsewhere that look like the person's, and that nobody linked
	Mine, Team []lifecycle.Card
	More       bool // there are more clusters than shown
	Approvals  []chatops.Waiting
	Allowances []Allowance
	Acts       map[string][]chatops.Verb // which buttons this person may press, by cluster id
	Links      chatops.Links
	Now        time.Time // when it is rendered: costs count until then; zero: until each cluster's last change
}

// Allowance is a quota or budget: how much of it is used and left.
type Allowance struct{ Name, Used, Limit, Left string }

// How much of each part is shown: with two blocks for each entry, everything fits into Slack's 100 blocks.
const (
	maxMine    = 15
	maxTeam    = 12
	maxToVote  = 8
	maxAllowed = 20
)

// Home is the app's Home tab.
func Home(v HomeView) api.HomeTabViewRequest {
	blocks := []api.Block{headerBlock("OpenShift clusters")}
	blocks = append(blocks, greetingBlocks(v)...)
	if len(v.Approvals) > 0 {
		blocks = append(blocks, headerBlock("Waiting for your approval"))
		blocks = append(blocks, approvalBlocks(v.Approvals[:min(len(v.Approvals), maxToVote)])...)
		if len(v.Approvals) > maxToVote {
			blocks = append(blocks, contextOf("There is more. "+moreApprovals(v.Links)))
		}
	}
	blocks = append(blocks, homePart("My clusters", "You have no cluster.", v.Mine, maxMine, v)...)
	if len(v.Team) > 0 {
		blocks = append(blocks, homePart("My team's clusters", "", v.Team, maxTeam, v)...)
	}
	if v.More || len(v.Mine) > maxMine || len(v.Team) > maxTeam {
		blocks = append(blocks, contextOf("There are more clusters. "+allClustersLink(v.Links)))
	}
	blocks = append(blocks, allowanceBlocks(v.Allowances)...)
	return api.HomeTabViewRequest{Type: api.VTHomeTab, Blocks: api.Blocks{BlockSet: fitBlocks(blocks, maxView)}}
}

// greetingBlocks says who the person is to ocpctl, and what they can begin.
func greetingBlocks(v HomeView) []api.Block {
	if v.Linked {
		text := "Signed in as " + chatops.Plain(v.Name) + "."
		for _, account := range v.Lookalikes {
			text += fmt.Sprintf("\nThe account %s looks like yours. If it is, type %s there, so that what you do with it counts as yours.", chatops.Plain(account), chatops.Code(chatops.Prefix+" link"))
		}
		blocks := sectionBlocks(text)
		return append(blocks, actionBlocks(newButton(labels[chatops.VerbOpenForm], Press{Verb: chatops.VerbOpenForm, Value: FormCreate}), newButton(labels[chatops.VerbHelp], Press{Verb: chatops.VerbHelp}))...)
	}
	hint := v.LinkHint
	if hint == "" {
		hint = "Link your account to create clusters and to see yours."
	}
	link := newButton(labels[chatops.VerbLink], Press{Verb: chatops.VerbLink})
	link.Style = api.StylePrimary
	return append(fitBlocks(sectionBlocks(hint), 5), actionBlocks(link, newButton(labels[chatops.VerbHelp], Press{Verb: chatops.VerbHelp}))...)
}

// homePart is a titled list of clusters, each with the buttons that the person may press.
func homePart(title, none string, cards []lifecycle.Card, most int, v HomeView) []api.Block {
	blocks := []api.Block{headerBlock(title)}
	if len(cards) == 0 {
		return append(blocks, contextOf(none))
	}
	for _, c := range cards[:min(len(cards), most)] {
		s := chatops.SummaryOf(c, chatops.Detail{}, v.Links)
		what, more := chatops.Row(c, v.Links, v.Now)
		text, _ := slack.Cut(slack.Markup(strings.Join(nonEmpty([]string{what, more, s.Progress}), "\n")), maxSection)
		blocks = append(blocks, api.NewSectionBlock(markupText(text), nil, nil))
		blocks = append(blocks, actionBlocks(buttonsFor(c, s, v.Acts[c.ID], "", "")...)...)
	}
	return blocks
}

// allowanceBlocks says what the person can still request.
func allowanceBlocks(all []Allowance) []api.Block {
	if len(all) == 0 {
		return nil
	}
	facts := make([]Fact, 0, len(all))
	for _, a := range all[:min(len(all), maxAllowed)] {
		value := chatops.Plain(a.Used) + " of " + chatops.Plain(a.Limit) + " used"
		if a.Left != "" {
			value += ", " + chatops.Plain(a.Left) + " left"
		}
		facts = append(facts, Fact{a.Name, value})
	}
	return append([]api.Block{headerBlock("What you can still request")}, factFields(facts...)...)
}
