package blocks

import (
	api "github.com/slack-go/slack"

	"github.com/ocpctl/ocpctl/chatops/slack"
)

// Offer is an answer with one button.
func Offer(markdown, button string, press Press) slack.Message {
	m := Answer(markdown)
	element := api.NewButtonBlockElement("ocp_"+string(press.Verb), press.Encode(), api.NewTextBlockObject(api.PlainTextType, button, false, false))
	m.Blocks = append(paragraphs(m), api.NewActionBlock("", element.WithStyle(api.StylePrimary)))
	return m
}

// Shown is the modal that shows an answer.
func Shown(title string, m slack.Message) api.ModalViewRequest {
	return api.ModalViewRequest{
		Type: api.VTModal, Title: api.NewTextBlockObject(api.PlainTextType, title, false, false), Blocks: api.Blocks{BlockSet: paragraphs(m)},
	}
}

// paragraphs returns a message's blocks; of a message without blocks, its text as one.
func paragraphs(m slack.Message) []api.Block {
	if len(m.Blocks) > 0 {
		return m.Blocks
	}
	return []api.Block{api.NewSectionBlock(api.NewTextBlockObject(api.MarkdownType, m.Text, false, false), nil, nil)}
}
