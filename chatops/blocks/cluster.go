package blocks

import (
	"cmp"
	"fmt"
	"strings"

	api "github.com/slack-go/slack"

	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/chatops/slack"
	"github.com/ocpctl/ocpctl/internal/price"
	"github.com/ocpctl/ocpctl/lifecycle"
)

// Cluster is the message of a cluster in the channel in which it was asked for. It is updated in place.
func Cluster(v ClusterView) slack.Message {
	c, s := v.Card, chatops.SummaryOf(v.Card, v.Detail, v.Links)
	if v.Acts != nil {
		s.Acts = v.Acts
	}
	if spent := chatops.SpentUntil(c, v.Now); spent != "" {
		s.Spent = spent
	}
	blocks := []api.Block{headerBlock(s.Sign + " " + c.Name + " " + s.Head)}
	blocks = append(blocks, fitBlocks(denseSections(append(append(s.State, s.Progress, s.Apps), s.Trouble...)...), maxMessage/2)...)
	approval, votes := "", ""
	if a := v.Approval; a != nil {
		approval = a.ID
		if a.Needs > 1 {
			votes = fmt.Sprintf("%d of %d", a.Votes, a.Needs)
		}
	}
	head, made := chatops.MadeOf(c)
	blocks = append(blocks, factFields(
		Fact{"Profile", chatops.Code(c.Profile)},
		Fact{head, fmt.Sprintf("%s on %s in %s", chatops.Plain(made), chatops.Plain(price.PlatformText(c.Platform)), chatops.Plain(c.Region))},
		Fact{"Owner", fmt.Sprintf("%s, team %s", chatops.Plain(c.Owner), chatops.Plain(c.Team))},
		Fact{"Price", strings.Join(nonEmpty([]string{s.Hourly, s.Spent}), "; ")},
		Fact{"Votes", votes}, Fact{"Workers", s.Workers}, Fact{"Off-hours", s.OffHours}, Fact{"Ends", s.Ends}, Fact{"Lived", s.Lived},
	)...)
	blocks = append(blocks, actionBlocks(buttonsFor(c, s, s.Acts, approval, "")...)...)
	return newMessage(append(blocks, contextOf(requesterText(v), linksElsewhere(c, s))))
}

// requesterText names who asked for the cluster, and who approved it. It mentions nobody: the id of a person in Slack would be a mention, so their name is shown.
func requesterText(v ClusterView) string {
	name := v.Asker
	if name == "" || person.MatchString(name) {
		name = v.Card.Owner
	}
	text := "Requested by " + chatops.Plain(name)
	if len(v.Approved) > 0 {
		text += ", approved by " + chatops.Plain(strings.Join(v.Approved, " and "))
	}
	return text
}

// linksElsewhere says where else the cluster is: its console and its page.
func linksElsewhere(c lifecycle.Card, s chatops.Summary) string {
	page := "cluster " + chatops.Code(c.ID)
	if s.Page != "" {
		page = markdownLink("Timeline and log", s.Page)
	}
	if s.Console == "" {
		return page
	}
	return markdownLink("Open console", s.Console) + " · " + page
}

// Thread is what happened to a cluster since the last message in its thread. Only the notification names the cluster: the thread is
// the cluster's.
func Thread(card lifecycle.Card, news []Moment) slack.Message {
	var b strings.Builder
	for _, m := range news {
		fmt.Fprintf(&b, "- %s **%s**", chatops.Time(m.At), chatops.Plain(m.What))
		if m.Why != "" {
			b.WriteString(": " + chatops.Plain(m.Why))
		}
		b.WriteByte('\n')
	}
	m := newMessage(sectionBlocks(cmp.Or(b.String(), "Nothing happened.")))
	m.Text = slack.Fit(slack.Markup(chatops.Code(card.Name)) + ":\n" + m.Text)
	return m
}
