package notices

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/store/db"
)

// ChannelProblem records Slack's error code for a channel in which nothing can be written, or with an empty channel for a whole
// workspace. From then on TakeTurn grants one try after ten minutes, later one after an hour. An empty code: a person seems to have
// solved it, and everything that waits there is tried at once.
func (s *Store) ChannelProblem(ctx context.Context, workspace, channel, code string) error {
	if code == "" {
		return s.solved(ctx, workspace, []string{channel})
	}
	_, err := s.db.Pool().Exec(ctx, `
		INSERT INTO slack_channels AS s (workspace, channel, next_at, problem, problem_since)
		VALUES (@workspace, @channel, `+db.PaceClock+` + @probe::interval, @code, `+db.PaceClock+`)
		ON CONFLICT (workspace, channel) DO UPDATE SET problem = excluded.problem, problem_since = coalesce(s.problem_since, excluded.problem_since),
			next_at = greatest(s.next_at, CASE WHEN s.problem = '' THEN excluded.next_at ELSE s.next_at END)`,
		pgx.NamedArgs{"workspace": workspace, "channel": channel, "code": code, "probe": probeEvery, "fixed": s.db.Fixed()})
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
	return s.solved(ctx, workspace, []string{channel, ""})
}

// solved forgets the problems of channels. What waits there is brought forward, and then waits for its turn alone.
func (s *Store) solved(ctx context.Context, workspace string, channels []string) error {
	args := pgx.NamedArgs{"workspace": workspace, "channels": channels, "every": every, "fixed": s.db.Fixed()}
	var known bool // most posts find no problem: they write nothing
	err := s.db.Pool().QueryRow(ctx, `
		SELECT EXISTS (SELECT FROM slack_channels WHERE workspace = @workspace AND channel = ANY (@channels) AND problem <> '')`, args).Scan(&known)
	if err == nil && known {
		err = s.write(ctx, func(c *change) error { return c.solve(ctx, args) })
	}
	if err != nil {
		return fmt.Errorf("forget the problems of %q in %s: %w", channels, workspace, err)
	}
	return nil
}

func (c *change) solve(ctx context.Context, args pgx.NamedArgs) error {
	healed, err := db.All[struct{ Channel string }](ctx, c, `
		UPDATE slack_channels SET problem = '', problem_since = NULL, next_at = `+db.PaceClock+` + @every::interval
		WHERE workspace = @workspace AND channel = ANY (@channels) AND problem <> '' RETURNING channel`, args)
	if err != nil {
		return fmt.Errorf("clear them: %w", err)
	}
	args["healed"] = []string{}
	for _, h := range healed {
		args["healed"] = append(args["healed"].([]string), h.Channel)
	}
	_, err = c.Exec(ctx, `
		WITH healed AS (SELECT unnest(@healed::text[]) AS channel),
		waiting AS (
			SELECT 'publish' AS kind, 'subscriber' AS key, s.id FROM subscribers s JOIN healed h ON h.channel IN ('', s.channel)
			WHERE s.workspace = @workspace AND s.shown_version < s.wanted_version AND NOT s.muted
			UNION ALL SELECT 'reply', 'reply', r.id FROM replies r JOIN healed h ON h.channel = '' WHERE r.workspace = @workspace AND r.external_id = 0
			UNION ALL SELECT 'notice', 'notice', n.id FROM notices n JOIN healed h ON h.channel IN ('', n.channel, n.person, n.posted_in)
			WHERE n.workspace = @workspace AND n.shown_version < n.wanted_version AND n.given_up = '')
		UPDATE river_job j SET state = 'available', scheduled_at = clock_timestamp() FROM waiting w
		WHERE j.kind = w.kind AND j.state = 'scheduled' AND j.args ->> w.key = w.id`, args)
	if err != nil {
		return fmt.Errorf("bring forward what waits: %w", err)
	}
	return nil
}
