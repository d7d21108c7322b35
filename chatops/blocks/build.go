package blocks

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	api "github.com/slack-go/slack"
	"github.com/slack-go/slack/slackutilsx"

	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/chatops/slack"
)

// Slack's limits; package internal/blockkit cites their pages, and the tests check everything with it.
const (
	maxMessage  = 50   // blocks
	maxView     = 100  // blocks
	maxSection  = 3000 // characters
	maxField    = 2000
	maxFields   = 10
	maxHeader   = 150
	maxButton   = 75
	maxElements = 25 // of an actions block
	maxTitle    = 24 // of a modal
	maxInput    = 3000
)

// newMessage makes the text that stands for the blocks from the blocks, so that it always says the same.
func newMessage(blocks []api.Block) slack.Message {
	blocks = fitBlocks(blocks, maxMessage)
	text := plainWords(blocks)
	if strings.TrimSpace(text) == "" {
		return slack.Message{Text: nothing}
	}
	return slack.Message{Text: text, Blocks: blocks}
}

// nothing is shown where a text is empty, because Slack accepts no empty text.
const nothing = "–"

// fitBlocks leaves out what is too much, and says so.
func fitBlocks(blocks []api.Block, most int) []api.Block {
	if len(blocks) <= most {
		return blocks
	}
	return append(slices.Clone(blocks[:most-1]), contextOf("… There is more than fits here."))
}

// plainWords is what the blocks say, without the buttons.
func plainWords(blocks []api.Block) string {
	var lines []string
	for _, b := range blocks {
		switch b := b.(type) {
		case *api.HeaderBlock:
			lines = append(lines, "*"+slackutilsx.EscapeMessage(b.Text.Text)+"*")
		case *api.SectionBlock:
			if b.Text != nil {
				lines = append(lines, b.Text.Text)
			}
			for _, f := range b.Fields {
				lines = append(lines, strings.Replace(f.Text, "*\n", ":* ", 1))
			}
		case *api.ContextBlock:
			for _, e := range b.ContextElements.Elements {
				if text, ok := e.(*api.TextBlockObject); ok {
					lines = append(lines, text.Text)
				}
			}
		}
	}
	return slack.Fit(strings.Join(lines, "\n"))
}

// markupText is text in Slack's markup, of which Slack interprets nothing else: no name becomes a link by itself.
func markupText(text string) *api.TextBlockObject {
	return api.NewTextBlockObject(api.MarkdownType, text, false, true)
}

var angles = strings.NewReplacer("<", "‹", ">", "›")

// plainText is others' text without any markup.
func plainText(text string, most int) *api.TextBlockObject {
	text = chatops.Bare(angles.Replace(text), most)
	text = calls.ReplaceAllString(text, "@\u200b$1")
	if slack.Length(text) > most {
		text, _ = slack.Cut(text, most)
	}
	if text == "" {
		text = nothing
	}
	return api.NewTextBlockObject(api.PlainTextType, text, false, false)
}

// bareLines is bare for a text of several lines.
func bareLines(text string, most int) *api.TextBlockObject {
	var lines []string
	for line := range strings.Lines(text) {
		if strings.TrimSpace(line) != "" {
			lines = append(lines, plainText(line, most).Text)
		}
	}
	text, _ = slack.Cut(cmp.Or(strings.Join(lines, "\n"), nothing), most)
	return api.NewTextBlockObject(api.PlainTextType, text, false, false)
}

// calls matches the words with which people call a whole channel.
var calls = regexp.MustCompile(`(?i)@(here|channel|everyone)`)

func headerBlock(text string) api.Block { return api.NewHeaderBlock(plainText(text, maxHeader)) }

func dividerBlock() api.Block { return api.NewDividerBlock() }

// sectionBlocks are paragraphs of GitHub's Markdown, in as many sections as they need.
func sectionBlocks(markdown ...string) []api.Block {
	return sectionsOf(slack.Markup(strings.Join(nonEmpty(markdown), "\n\n")))
}

// denseSections is sections without empty lines between the paragraphs.
func denseSections(markdown ...string) []api.Block {
	return sectionBlocks(strings.ReplaceAll(strings.Join(nonEmpty(markdown), "\n"), "\n\n", "\n"))
}

func sectionsOf(text string) (all []api.Block) {
	for _, piece := range splitMarkup(text, maxSection) {
		all = append(all, api.NewSectionBlock(markupText(piece), nil, nil, api.SectionBlockOptionExpand(true)))
	}
	return all
}

func nonEmpty(all []string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(s string) bool { return strings.TrimSpace(s) == "" })
}

// factFields are facts side by side; those without a value are left out. Values are in GitHub's Markdown.
func factFields(facts ...Fact) (all []api.Block) {
	var texts []*api.TextBlockObject
	for _, f := range facts {
		if strings.TrimSpace(f.Value) == "" {
			continue
		}
		text, _ := slack.Cut("*"+slack.Markup(chatops.Plain(f.Name))+"*\n"+slack.Markup(f.Value), maxField)
		texts = append(texts, markupText(text))
	}
	for some := range slices.Chunk(texts, maxFields) {
		all = append(all, api.NewSectionBlock(nil, some, nil))
	}
	return all
}

// contextOf is small print, in GitHub's Markdown.
func contextOf(markdown ...string) api.Block {
	text, _ := slack.Cut(slack.Markup(strings.Join(nonEmpty(markdown), " · ")), maxSection)
	return api.NewContextBlock("", markupText(text))
}

// actionBlocks are buttons below each other's block; none: no block.
func actionBlocks(buttons ...*api.ButtonBlockElement) (all []api.Block) {
	for some := range slices.Chunk(buttons, maxElements) {
		row, seen := make([]api.BlockElement, len(some)), map[string]int{}
		for i, b := range some {
			if seen[b.ActionID]++; seen[b.ActionID] > 1 {
				b.ActionID = fmt.Sprintf("%s_%d", b.ActionID, seen[b.ActionID])
			}
			row[i] = b
		}
		all = append(all, api.NewActionBlock("", row...))
	}
	return all
}

// markdownLink is a link in GitHub's Markdown; empty without an address.
func markdownLink(text, address string) string {
	if address == "" {
		return ""
	}
	return fmt.Sprintf("[%s](%s)", text, address)
}

// person matches the id of a person in Slack.
var person = regexp.MustCompile(`^[UW][A-Z0-9]{1,30}$`)

// mentionWithReason mentions a person and says why, in Slack's markup; empty if there is nobody to mention.
func mentionWithReason(id, text string) string {
	if !person.MatchString(id) {
		return ""
	}
	return "<@" + id + ">, " + text
}

// namePerson names a person by their id in Slack, or as text.
func namePerson(who string) string {
	if person.MatchString(who) {
		return "<@" + who + ">"
	}
	return slack.Markup(chatops.Plain(who))
}
