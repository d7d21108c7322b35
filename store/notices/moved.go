package notices

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/ocpctl/ocpctl/store/db"
)

// moves are the statements that let what is kept of a channel follow it to another id. What the new id has already stays. They take the
// workspace, the earlier id and the new one.
var moves = []string{
	`UPDATE channel_subscriptions s SET channel = @to WHERE workspace = @workspace AND channel = @from AND NOT EXISTS (
		SELECT FROM channel_subscriptions n WHERE (n.workspace, n.channel, n.team, n.repo) = (s.workspace, @to, s.team, s.repo))`,
	`DELETE FROM channel_subscriptions WHERE workspace = @workspace AND channel = @from`,
	`UPDATE subscribers SET channel = @to WHERE workspace = @workspace AND channel = @from`,
	`UPDATE replies SET channel = @to WHERE workspace = @workspace AND channel = @from`,
	`UPDATE notices o SET channel = @to WHERE workspace = @workspace AND channel = @from AND NOT EXISTS (
		SELECT FROM notices n WHERE (n.cause, n.workspace, n.channel, n.person) = (o.cause, o.workspace, @to, o.person))`,
	`UPDATE notices SET posted_in = @to WHERE workspace = @workspace AND posted_in = @from`,
	`DELETE FROM slack_channels WHERE workspace = @workspace AND channel = @from`, // its problem is that nobody knows this id any more
}

// MoveChannel lets a channel's subscriptions, the messages that show clusters in it, and what waits for it follow the channel to another
// id, and returns how many rows that were. A second call changes nothing.
func (s *Store) MoveChannel(ctx context.Context, workspace, from, to string) (moved int64, err error) {
	args := pgx.NamedArgs{"workspace": workspace, "from": from, "to": to}
	err = s.db.Write(ctx, func(c *db.Tx) error {
		moved = 0
		for _, one := range moves {
			tag, err := c.Exec(ctx, one, args)
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
	return moved, s.forgetProblems(ctx, workspace, []string{to})
}
