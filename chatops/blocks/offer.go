package blocks

import (
	api "github.com/slack-go/slack"

	"github.com/ocpctl/ocpctl/chatops/slack"
)

// Offer is an answer with one button.
func Offer(markdown, text string, press Press) slack.Message {
	m := Answer(markdown)
	b := newButton(text, press)
	b.Style = api.StylePrimary
	m.Blocks = append(messageBlocks(m), actionBlocks(b)...)
	return m
}

// Shown is the modal that shows an answer.
func Shown(title string, m slack.Message) api.ModalViewRequest {
	view := newModal(title)
	view.Close = plainText("Close", maxTitle)
	view.Blocks.BlockSet = fitBlocks(messageBlocks(m), maxView)
	return view
}

// messageBlocks returns a message's blocks; of a message without blocks, its text as one.
func messageBlocks(m slack.Message) []api.Block {
	if len(m.Blocks) > 0 {
		return m.Blocks
	}
	text, _ := slack.Cut(m.Text, maxSection)
	return []api.Block{api.NewSectionBlock(markupText(text), nil, nil)}
}
