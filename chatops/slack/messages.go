package slack

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	api "github.com/slack-go/slack"
)

// Place is where a message stands.
type Place struct {
	Channel string // id
	Thread  int64  // timestamp of the message whose thread it stands in, in microseconds; 0: in no thread
}

// Post posts a message that Find finds by its marker, and returns its timestamp in microseconds. ErrChannel: nothing can be written
// there until a person changes something. ErrGone: the thread's first message was deleted.
func (c *Client) Post(ctx context.Context, to Place, m Message, marker string) (ts int64, err error) {
	doing := "post in " + to.Channel
	options := append(messageContent(m), api.MsgOptionMetadata(markerMetadata(marker)))
	if to.Thread != 0 {
		options = append(options, api.MsgOptionTS(formatStamp(to.Thread)))
	}
	_, posted, answer, err := c.api.PostMessageWithResponseContext(ctx, to.Channel, options...)
	if err != nil {
		return 0, explainError(doing, err, ofChannel, ofMessage)
	}
	if ts, err = parseStamp(posted); err != nil {
		return 0, fmt.Errorf("%s: %w", doing, err)
	}
	if to.Thread != 0 && answer.ThreadTimestamp == "" { // it stands beside the thread, because that has no first message any more
		_, _, err := c.api.DeleteMessageContext(ctx, to.Channel, posted)
		return 0, errors.Join(fmt.Errorf("%s: the thread: %w", doing, ErrGone), explainError("delete what was posted outside the thread", err, ofChannel, ofMessage))
	}
	return ts, nil
}

// Update replaces a message; its marker stays. ErrGone: it was deleted, or can no longer be changed.
func (c *Client) Update(ctx context.Context, channel string, ts int64, m Message) error {
	options := append(messageContent(m), api.MsgOptionParse(false)) // unlike a post, an update would turn names into mentions
	if len(m.Blocks) == 0 {
		options = append(options, api.MsgOptionBlocks()) // or the blocks before would stay
	}
	_, _, _, err := c.api.UpdateMessageContext(ctx, channel, formatStamp(ts), options...)
	return explainError("update a message in "+channel, err, ofChannel, ofMessage)
}

// Target is a person and where they asked.
type Target struct {
	Channel, User string // their ids
	Thread        int64  // timestamp of the message in whose thread they asked, in microseconds; 0: in none
}

// Send sends a message to one person, and returns its timestamp in microseconds: in the channel for nobody else to see if the bot
// is in it, and in the thread if they asked in one, else in a direct message. ErrNever: the person cannot be reached.
func (c *Client) Send(ctx context.Context, to Target, m Message) (int64, error) {
	doing := "answer " + to.User + " in " + to.Channel
	var posted string
	var err error
	options := messageContent(m)
	if to.Thread != 0 {
		options = append(options, api.MsgOptionTS(formatStamp(to.Thread)))
	}
	if strings.HasPrefix(to.Channel, "D") {
		_, posted, err = c.api.PostMessageContext(ctx, to.Channel, options...)
	} else {
		posted, err = c.api.PostEphemeralContext(ctx, to.Channel, to.User, options...)
	}
	if slices.Contains(unseen, errorCode(err)) {
		doing = "answer " + to.User + " alone"
		alone, openErr := c.OpenDirect(ctx, to.User)
		if openErr != nil {
			return 0, openErr
		}
		_, posted, err = c.api.PostMessageContext(ctx, alone, messageContent(m)...)
	}
	if err != nil {
		return 0, explainError(doing, err, ofPerson)
	}
	ts, err := parseStamp(posted)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", doing, err)
	}
	return ts, nil
}

// OpenDirect returns the channel of the direct messages with a person. ErrNever: there can be none.
func (c *Client) OpenDirect(ctx context.Context, person string) (channel string, err error) {
	alone, _, _, err := c.api.OpenConversationContext(ctx, &api.OpenConversationParameters{Users: []string{person}, ReturnIM: true})
	if err != nil {
		return "", explainError("open a conversation with "+person, err, ofPerson)
	}
	if alone == nil || alone.ID == "" {
		return "", fmt.Errorf("open a conversation with %s: Slack named none", person)
	}
	return alone.ID, nil
}

// messageContent is what every message has. Links in it get no previews.
func messageContent(m Message) []api.MsgOption {
	options := []api.MsgOption{api.MsgOptionText(m.Text, false), api.MsgOptionDisableLinkUnfurl(), api.MsgOptionDisableMediaUnfurl()}
	if len(m.Blocks) > 0 {
		options = append(options, api.MsgOptionBlocks(m.Blocks...))
	}
	return options
}

// formatStamp is a message's timestamp as Slack writes it.
func formatStamp(ts int64) string { return fmt.Sprintf("%d.%06d", ts/1_000_000, ts%1_000_000) }

// parseStamp parses a message's timestamp, e.g. 1710000000.000100.
func parseStamp(stamp string) (int64, error) {
	whole, part, ok := strings.Cut(stamp, ".")
	seconds, err := strconv.ParseInt(whole, 10, 64)
	rest, partErr := strconv.ParseInt(part, 10, 64)
	if !ok || err != nil || partErr != nil || len(part) != 6 || rest < 0 || seconds <= 0 || seconds > math.MaxInt64/1_000_000-1 {
		return 0, fmt.Errorf("%q is no timestamp of a message", stamp)
	}
	return seconds*1_000_000 + rest, nil
}
