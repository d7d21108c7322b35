package slack

import api "github.com/slack-go/slack"

// Message is what is posted: blocks, and the text that notifications and screen readers get instead of them. Text is in Slack's
// markup and never empty. Without blocks the text is the message.
type Message struct {
	Text   string
	Blocks []api.Block
}
