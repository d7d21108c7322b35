package blocks

import (
	"fmt"
	"slices"
	"strings"
	"time"

	api "github.com/slack-go/slack"

	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/chatops/slack"
)

const (
	// maxActive is how many entries of a digest have buttons, with two blocks each: a message holds 50 blocks.
	maxActive = 20
	// maxDigest is how many entries a digest names.
	maxDigest = 60
)

// digestMessage tells the same of several clusters, or several findings, in one message. What asks for something has its own buttons, and what a
// press did stands in their place.
func digestMessage(v NoticeView, k kind) slack.Message {
	all := append([]NoticeView{v}, v.More...)
	all[0].More = nil
	blocks := []api.Block{headerBlock(fmt.Sprintf("%s %d %s", k.sign, len(all), k.many))}
	if call := callingAll(all); k.call != "" && call != "" {
		blocks = append(blocks, sectionsOf(call)...)
	}
	active := 0
	if k.verbs != nil || v.Event == Expiring {
		active = min(len(all), maxActive)
	}
	for _, one := range all[:active] {
		blocks = append(blocks, digestEntry(one, k)...)
	}
	var lines []string
	for _, one := range all[active:min(len(all), maxDigest)] {
		lines = append(lines, "- "+entryLine(one))
	}
	if rest := len(all) - maxDigest; rest > 0 {
		lines = append(lines, fmt.Sprintf("- and %d more", rest))
	}
	blocks = append(blocks, fitBlocks(sectionBlocks(strings.Join(lines, "\n")), maxMessage-len(blocks)-1)...)
	if where := strings.Join(nonEmpty(append(runbookLinks(all), clustersLink(v))), " · "); where != "" {
		blocks = append(blocks, contextOf(where))
	}
	return newMessage(blocks)
}

// callingAll mentions everybody whom one of the notices mentions.
func callingAll(all []NoticeView) string {
	var names []string
	for _, one := range all {
		if name := "<@" + one.Mention + ">"; person.MatchString(one.Mention) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return strings.Join(names, ", ") + ": this is about your clusters."
}

// digestEntry is one notice of a digest, with its buttons or what a press of them did.
func digestEntry(v NoticeView, k kind) []api.Block {
	s := chatops.SummaryOf(v.Card, chatops.Detail{Approval: v.Approval}, v.Links)
	text := slack.Markup(entryLine(v))
	switch {
	case v.Facts.Title != "":
	case v.Event == Expiring && v.Facts.Done == "":
		what, _ := chatops.Row(v.Card, v.Links, time.Time{})
		text = slack.Markup(what + "\n" + endText(v, s))
	case len(s.Trouble) > 0 && (v.Event == Failed || v.Event == Blocked):
		what, _ := chatops.Row(v.Card, v.Links, time.Time{})
		first, _, _ := strings.Cut(s.Trouble[0], "\n\n")
		text = slack.Markup(what + "\n" + first)
	}
	if v.Facts.Done != "" {
		text += "\n" + outcomeText(v.Facts)
	}
	text, _ = slack.Cut(text, maxSection)
	blocks := []api.Block{api.NewSectionBlock(markupText(text), nil, nil)}
	if v.Facts.Done != "" {
		return blocks
	}
	return append(blocks, actionBlocks(noticeButtons(v, s, k)...)...)
}

// entryLine names what a notice is about, in GitHub's Markdown.
func entryLine(v NoticeView) string {
	if v.Facts.Title != "" {
		first, _, _ := strings.Cut(v.Facts.Text, "\n")
		return fmt.Sprintf("**%s**: %s", chatops.Plain(v.Facts.Title), chatops.Said(first, ""))
	}
	what, more := chatops.Row(v.Card, v.Links, time.Time{})
	return what + " " + more
}

// runbookLinks leads to the runbooks of all notices, each once and with what it is for.
func runbookLinks(all []NoticeView) (links []string) {
	var seen []string
	for _, one := range all {
		name := one.Facts.Runbook
		if slices.Contains(seen, name) {
			continue
		}
		seen = append(seen, name)
		text := "Runbook"
		if one.Facts.Title != "" {
			text = "Runbook: " + strings.NewReplacer("[", "(", "]", ")").Replace(chatops.Plain(one.Facts.Title))
		}
		links = append(links, runbookPage(text, one.Links, name))
	}
	return links
}

// clustersLink leads to the page with all clusters, from a digest that is about clusters.
func clustersLink(v NoticeView) string {
	if v.Event == Finding || v.Card.ID == "" {
		return ""
	}
	return allClustersLink(v.Links)
}
