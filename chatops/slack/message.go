package slack

import (
	"encoding/json"
	"fmt"

	api "github.com/slack-go/slack"
)

// Message is what is posted: blocks, and the text that notifications and screen readers get instead of them. Text is in Slack's
// markup and never empty. Without blocks the text is the message.
type Message struct {
	Text   string
	Blocks []api.Block
}

// EncodedBlocks returns the blocks as Slack takes them; an empty list: there are none.
func (m Message) EncodedBlocks() json.RawMessage {
	raw, err := json.Marshal(append([]api.Block{}, m.Blocks...))
	if err != nil {
		panic(err) // blocks are plain values
	}
	return raw
}

// DecodeMessage returns a message from its text, in Slack's markup, and its encoded blocks.
func DecodeMessage(text string, blocks json.RawMessage) (Message, error) {
	var list api.Blocks
	if err := json.Unmarshal(blocks, &list); err != nil {
		return Message{}, fmt.Errorf("read the blocks of a message: %w", err)
	}
	return Message{Text: text, Blocks: list.BlockSet}, nil
}
