package blocks

import (
	api "github.com/slack-go/slack"

	"github.com/ocpctl/ocpctl/chatops/slack"
)

// maxPicks is how many values can be picked from; an actions block holds 25 elements.
const maxPicks = 25

// Pick asks which value is meant: a button for each, whose press has it. The question is GitHub's Markdown.
func Pick(question string, options []Option, press Press) slack.Message {
	var buttons []*api.ButtonBlockElement
	for _, o := range options[:min(len(options), maxPicks)] {
		press.Value = o.Value
		b := newButton(o.Text, press)
		b.Style = api.StyleDefault
		buttons = append(buttons, b)
	}
	return newMessage(append(fitBlocks(sectionBlocks(question), maxMessage-2), actionBlocks(buttons...)...))
}
