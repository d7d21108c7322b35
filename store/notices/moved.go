package notices

import (
	"context"
	"fmt"
)

// moves are the statements that let what is kept of a channel follow it to another id. What the new id has already stays. $1 is the
// workspace, $2 the earlier id and $3 the new one.
var moves = []string{
	`UPDATE channel_subscriptions s SET channel = $3 WHERE workspace = $1 AND channel = $2 AND NOT EXISTS (
		SELECT FROM channel_subscriptions n WHERE (n.workspace, n.channel, n.team, n.repo) = (s.workspace, $3, s.team, s.repo))`,
	`DELETE FROM channel_subscriptions WHERE workspace = $1 AND channel = $2`,
	`UPDATE subscribers SET channel = $3 WHERE workspace = $1 AND channel = $2`,
	`UPDATE replies SET channel = $3 WHERE workspace = $1 AND channel = $2`,
	`UPDATE notices o SET channel = $3 WHERE workspace = $1 AND channel = $2 AND NOT EXISTS (
		SELECT FROM notices n WHERE (n.cause, n.workspace, n.channel, n.person) = (o.cause, o.workspace, $3, o.person))`,
	`UPDATE notices SET posted_in = $3 WHERE workspace = $1 AND posted_in = $2`,
	`DELETE FROM slack_channels WHERE workspace = $1 AND channel = $2`, // its problem is that nobody knows this id any more
}

// ChannelMoved lets a channel's subscriptions, the messages that show clusters in it, and what waits for it follow the channel to another
// id, and returns how many rows that were. A second call changes nothing.
func (s *Store) ChannelMoved(ctx context.Context, workspace, from, to string) (moved int64, err error) {
	err = s.write(ctx, func(c *change) error {
		moved = 0
		for _, one := range moves {
			tag, err := c.Exec(ctx, one, workspace, from, to)
			if err != nil {
				return err
			}
			moved += tag.RowsAffected()
		}
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("let what is kept of channel %s follow it to %s: %w", from, to, err)
	}
	return moved, s.solved(ctx, workspace, []string{to})
}
