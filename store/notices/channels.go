package notices

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"github.com/ocpctl/ocpctl/internal/queue"
	"github.com/ocpctl/ocpctl/store/db"
)

// ChannelProblem records Slack's error code for a channel in which nothing can be written, or with an empty channel for a whole
// workspace. From then on TakeTurn grants one try after ten minutes, later one after an hour. An empty code: a person seems to have
// solved it, and everything that waits there is tried at once.
func (s *Store) ChannelProblem(ctx context.Context, workspace, channel, code string) error {
	if code != "" {
		return s.recordProblem(ctx, workspace, channel, code, 0)
	}
	if channel != "" { // a message may be on its way that will be refused
		_, err := s.db.Pool().Exec(ctx, `UPDATE slack_channels SET healed_at = `+db.PaceClock+` WHERE workspace = @workspace AND channel = @channel`,
			pgx.NamedArgs{"workspace": workspace, "channel": channel, "fixed": s.db.Fixed()})
		if err != nil {
			return fmt.Errorf("record that %q of %s was put right: %w", channel, workspace, err)
		}
	}
	return s.forgetProblems(ctx, workspace, []string{channel})
}

// lateness is how long it may take at most until an answer of Slack is recorded. What is still wrong is found by the next try.
const lateness = 10 * time.Second

// ChannelRefused is ChannelProblem for the answer to a request that took so long. If the channel was put right meanwhile, it is old news.
func (s *Store) ChannelRefused(ctx context.Context, workspace, channel, code string, took time.Duration) error {
	return s.recordProblem(ctx, workspace, channel, code, took+lateness)
}

// recordProblem records a problem of a channel that was seen at some time within the last so long, unless the channel was put right since.
func (s *Store) recordProblem(ctx context.Context, workspace, channel, code string, within time.Duration) error {
	_, err := s.db.Pool().Exec(ctx, `
		INSERT INTO slack_channels AS s (workspace, channel, next_at, problem, problem_since)
		VALUES (@workspace, @channel, `+db.PaceClock+` + @probe::interval, @code, `+db.PaceClock+`)
		ON CONFLICT (workspace, channel) DO UPDATE SET problem = excluded.problem, problem_since = coalesce(s.problem_since, excluded.problem_since),
			next_at = greatest(s.next_at, CASE WHEN s.problem = '' THEN excluded.next_at ELSE s.next_at END)
		WHERE s.healed_at IS NULL OR s.healed_at <= `+db.PaceClock+` - @within::interval`,
		pgx.NamedArgs{"workspace": workspace, "channel": channel, "code": code, "probe": probeEvery, "within": within, "fixed": s.db.Fixed()})
	if err != nil {
		return fmt.Errorf("record the problem of %q of %s: %w", channel, workspace, err)
	}
	return nil
}

// Closed reports whether nothing can be written in a channel for now, because of a problem that ChannelProblem recorded for it.
func (s *Store) Closed(ctx context.Context, workspace, channel string) (closed bool, err error) {
	err = s.db.Pool().QueryRow(ctx, `SELECT EXISTS (SELECT FROM slack_channels WHERE workspace = $1 AND channel = $2 AND problem <> '')`, workspace, channel).Scan(&closed)
	if err != nil {
		return false, fmt.Errorf("look for a problem of %s in %s: %w", channel, workspace, err)
	}
	return closed, nil
}

// Reached records that Slack just took a message in a channel: neither the channel nor the workspace has a problem.
func (s *Store) Reached(ctx context.Context, workspace, channel string) error {
	return s.forgetProblems(ctx, workspace, []string{channel, ""})
}

// forgetProblems forgets the problems of channels. What waits there is brought forward, and then waits for its turn alone.
func (s *Store) forgetProblems(ctx context.Context, workspace string, channels []string) error {
	args := pgx.NamedArgs{"workspace": workspace, "channels": channels, "every": every, "fixed": s.db.Fixed()}
	var known bool // most posts find no problem: they write nothing
	err := s.db.Pool().QueryRow(ctx, `
		SELECT EXISTS (SELECT FROM slack_channels WHERE workspace = @workspace AND channel = ANY (@channels) AND problem <> '')`, args).Scan(&known)
	if err == nil && known {
		err = s.db.Write(ctx, func(c *db.Tx) error { return solve(ctx, c, args) })
	}
	if err != nil {
		return fmt.Errorf("forget the problems of %q in %s: %w", channels, workspace, err)
	}
	return nil
}

func solve(ctx context.Context, c *db.Tx, args pgx.NamedArgs) error {
	healed, err := db.All[struct{ Channel string }](ctx, c, `
		UPDATE slack_channels SET problem = '', problem_since = NULL, awaited_until = '-infinity', next_at = `+db.PaceClock+` + @every::interval
		WHERE workspace = @workspace AND channel = ANY (@channels) AND problem <> '' RETURNING channel`, args)
	if err != nil {
		return fmt.Errorf("clear them: %w", err)
	}
	if len(healed) == 0 {
		return nil
	}
	names := make([]string, len(healed))
	for i, h := range healed {
		names[i] = h.Channel
	}
	for kind, where := range map[string]string{
		queue.PublishArgs{}.Kind(): `args ->> 'subscriber' IN (SELECT s.id FROM subscribers s
			WHERE s.workspace = @workspace AND ('' = ANY (@healed::text[]) OR s.channel = ANY (@healed)) AND s.shown_version < s.wanted_version AND NOT s.muted)`,
		queue.ReplyArgs{}.Kind(): `args ->> 'reply' IN (SELECT r.id FROM replies r
			WHERE r.workspace = @workspace AND '' = ANY (@healed::text[]) AND r.external_id = 0)`,
		queue.NoticeArgs{}.Kind(): `args ->> 'notice' IN (SELECT n.id FROM notices n
			WHERE n.workspace = @workspace AND ('' = ANY (@healed::text[]) OR ARRAY[n.channel, n.person, n.posted_in] && @healed)
				AND n.shown_version < n.wanted_version AND n.given_up = '')`,
	} {
		if err := c.RunNow(ctx, kind, where, river.NamedArgs{"workspace": args["workspace"], "healed": names}); err != nil {
			return err
		}
	}
	return nil
}
