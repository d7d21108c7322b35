package blocks

import (
	api "github.com/slack-go/slack"

	"github.com/ocpctl/ocpctl/chatops/slack"
)

// Offer is an answer with one button.
func Offer(markdown, text string, press Press) slack.Message {
	m := Answer(markdown)
	b := button(text, press)
	b.Style = api.StylePrimary
	m.Blocks = append(paragraphs(m), actions(b)...)
	return m
}

// Shown is the modal that shows an answer.
func Shown(title string, m slack.Message) api.ModalViewRequest {
	view := modal(title)
	view.Close = bare("Close", maxTitle)
	view.Blocks.BlockSet = fitBlocks(paragraphs(m), maxView)
	return view
}

// paragraphs returns a message's blocks; of a message without blocks, its text as one.
func paragraphs(m slack.Message) []api.Block {
	if len(m.Blocks) > 0 {
		return m.Blocks
	}
	text, _ := slack.Cut(m.Text, maxSection)
	return []api.Block{api.NewSectionBlock(markup(text), nil, nil)}
}
