package slack

import (
	"context"
	"time"

	api "github.com/slack-go/slack"
)

// eventType is the type of our messages' metadata. https://docs.slack.dev/messaging/message-metadata
const eventType = "ocpctl"

func markerMetadata(marker string) api.SlackMetadata {
	return api.SlackMetadata{EventType: eventType, EventPayload: map[string]any{"id": marker}}
}

const (
	findPage  = 200 // messages in one answer
	findPages = 10  // answers that are read at most
	// findEarlier is by how much Slack's clock may be behind ours.
	findEarlier = time.Minute
)

// Find returns the newest message with this marker that was posted in a channel, or in its thread, since a time. Without the scope to
// read the channel it finds nothing.
func (c *Client) Find(ctx context.Context, in Place, marker string, since time.Time) (ts int64, found bool, err error) {
	cursor, oldest := "", formatStamp(max(since.Add(-findEarlier).UnixMicro(), 1))
	for range findPages {
		var page []api.Message
		if page, cursor, err = c.readPage(ctx, in, oldest, cursor); err != nil {
			break
		}
		for _, m := range page {
			at, err := parseStamp(m.Timestamp)
			if m.Metadata.EventType == eventType && m.Metadata.EventPayload["id"] == marker && err == nil && at > ts {
				ts = at
			}
		}
		if ts != 0 || cursor == "" {
			break
		}
	}
	if answer := errorCode(err); answer == "missing_scope" || answer == "thread_not_found" {
		return 0, false, nil
	}
	return ts, ts != 0, explainError("look for a message in "+in.Channel, err, ofChannel)
}

// readPage reads messages of a channel or a thread.
func (c *Client) readPage(ctx context.Context, in Place, oldest, cursor string) (page []api.Message, next string, err error) {
	if in.Thread != 0 {
		page, _, next, err = c.api.GetConversationRepliesContext(ctx, &api.GetConversationRepliesParameters{
			ChannelID: in.Channel, Timestamp: formatStamp(in.Thread), Oldest: oldest, Cursor: cursor, Limit: findPage, IncludeAllMetadata: true,
		})
		return page, next, err
	}
	got, err := c.api.GetConversationHistoryContext(ctx, &api.GetConversationHistoryParameters{
		ChannelID: in.Channel, Oldest: oldest, Cursor: cursor, Limit: findPage, IncludeAllMetadata: true,
	})
	if err != nil {
		return nil, "", err
	}
	return got.Messages, got.ResponseMetaData.NextCursor, nil
}
