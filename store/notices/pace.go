package notices

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/store/db"
)

// Slack takes about one message per second in each channel, and 50 edits per minute in a workspace (chat.update is of tier 3). It
// names a wait (Retry-After) when a workspace sends too many. https://docs.slack.dev/apis/web-api/rate-limits
const (
	// every is the least time between two messages in one channel.
	every = time.Second
	// editEvery is the time between two edits in a workspace, of which editBurst allows some at once.
	editEvery = 1200 * time.Millisecond
	editBurst = 10 * time.Second
	// edits is the key that counts a workspace's edits, among the channels.
	edits = "chat.update"
	// tooSoon is the least wait that is returned: another may have taken the turn that was just seen to be free.
	tooSoon = 10 * time.Millisecond
	// longestHold is how long a workspace or channel is held at most.
	longestHold = time.Hour
	// longestWait is longer than any wait that this package writes.
	longestWait = 2 * longestHold
	// gap is how long a channel stays quiet, beside every, before a message of rank Behind; and for how long a turn is kept for
	// an edit of rank Awaited, from its begin.
	gap = every / 2
	// editsKept is how much of editBurst is kept for edits of the other ranks than Behind.
	editsKept = 2 * editEvery
)

// Rank is how soon something in a channel has to be shown.
type Rank int

// The ranks, from the last to the first.
const (
	Behind  Rank = iota // progress, or what stands elsewhere already: it leaves gaps, and a free turn to an edit that somebody waits for
	Usual               // news
	Awaited             // somebody pressed a button and waits: the next turn is kept for it
)

// The first and the longest time between two tries to write where something is wrong. It grows with the age of the problem.
const (
	probeEvery    = 10 * time.Minute
	probeEveryMax = time.Hour
)

// probeAgain is when the next attempt is due where something is wrong, as an SQL expression.
const probeAgain = db.PaceClock + ` + least(greatest(` + db.PaceClock + ` - s.problem_since, @probe::interval), @probe_max::interval)`

// takeTurn writes nothing and waits for no lock if it is too soon, except to keep an awaited turn. Where something is wrong, in the channel or in the whole
// workspace, a turn is a try to write there, and the next one comes much later.
const takeTurn = `
	WITH clock AS (SELECT ` + db.PaceClock + ` AS now),
	whole AS (SELECT next_at, problem FROM slack_channels WHERE workspace = @workspace AND channel = ''),
	here AS (SELECT greatest(next_at + @gap::interval, CASE WHEN NOT @awaited THEN awaited_until END) AS next_at FROM slack_channels WHERE workspace = @workspace AND channel = @channel),
	tier AS (SELECT next_at - @burst::interval AS next_at FROM slack_channels WHERE @edit AND workspace = @workspace AND channel = @edits),
	pressed AS (
		SELECT max(a.created_at) + @every::interval AS next_at FROM clock, audit_events a JOIN subscribers m ON m.cluster_id = a.target_cluster_id
		WHERE @behind AND a.created_at > clock.now - @every::interval AND a.source = 'slack'
			AND m.kind = 'slack_message' AND m.workspace = @workspace AND m.channel = @channel AND m.external_id <> 0 AND m.shown_version < m.wanted_version),
	tried AS (
		UPDATE slack_channels s SET next_at = ` + probeAgain + ` FROM clock
		WHERE s.workspace = @workspace AND s.channel = '' AND s.problem <> '' AND s.next_at <= clock.now
			AND NOT EXISTS (SELECT FROM (TABLE here UNION ALL TABLE tier UNION ALL TABLE pressed) waits WHERE waits.next_at > clock.now) RETURNING true),
	taken AS (
		INSERT INTO slack_channels AS s (workspace, channel, next_at) SELECT @workspace, @channel, clock.now + @every::interval FROM clock
		WHERE (EXISTS (SELECT FROM tried) OR NOT EXISTS (SELECT FROM whole WHERE whole.problem <> '' OR whole.next_at > clock.now))
			AND NOT EXISTS (SELECT FROM (TABLE tier UNION ALL TABLE pressed) waits WHERE waits.next_at > clock.now)
		ON CONFLICT (workspace, channel) DO UPDATE SET next_at = CASE WHEN s.problem = '' THEN excluded.next_at ELSE ` + probeAgain + ` END
			WHERE s.next_at + @gap::interval <= ` + db.PaceClock + ` AND (@awaited OR s.awaited_until <= ` + db.PaceClock + `) RETURNING true),
	kept AS (
		UPDATE slack_channels s SET awaited_until = s.next_at + @keep::interval FROM clock
		WHERE @awaited AND s.problem = '' AND s.workspace = @workspace AND s.channel = @channel AND s.next_at > clock.now AND NOT EXISTS (SELECT FROM taken)),
	counted AS (
		INSERT INTO slack_channels AS s (workspace, channel, next_at) SELECT @workspace, @edits, clock.now + @edit_every::interval FROM clock
		WHERE @edit AND EXISTS (SELECT FROM taken)
		ON CONFLICT (workspace, channel) DO UPDATE SET next_at = greatest(s.next_at, ` + db.PaceClock + `) + @edit_every::interval)
	SELECT CASE WHEN EXISTS (SELECT FROM taken) THEN interval '0'
		ELSE greatest((SELECT max(next_at) FROM whole), (SELECT max(next_at) FROM here), (SELECT max(next_at) FROM tier), (TABLE pressed), clock.now + @soon::interval) - clock.now
		END FROM clock`

// AskAgain is how long at most to wait before asking for a turn again. A longer wait is for a problem. When that is solved, the jobs that wait are
// brought forward, but not one that runs at that moment and is about to wait.
const AskAgain = 30 * time.Second

// TakeTurn asks for one message in a channel, across all processes and by the database's clock. Zero: it may be posted now, and is
// counted; otherwise ask again after that time. The channel may also be a person's id: answers that they alone see have turns of
// their own.
func (s *Store) TakeTurn(ctx context.Context, workspace, channel string, rank Rank) (wait time.Duration, err error) {
	return s.take(ctx, workspace, channel, rank, false)
}

// TakeEdit is TakeTurn for an edit of a message, of which Slack takes fewer.
func (s *Store) TakeEdit(ctx context.Context, workspace, channel string, rank Rank) (wait time.Duration, err error) {
	return s.take(ctx, workspace, channel, rank, true)
}

func (s *Store) take(ctx context.Context, workspace, channel string, rank Rank, edit bool) (wait time.Duration, err error) {
	quiet, burst := time.Duration(0), editBurst
	if rank == Behind {
		quiet, burst = gap, editBurst-editsKept
	}
	err = s.db.Pool().QueryRow(ctx, takeTurn, pgx.NamedArgs{
		"workspace": workspace, "channel": channel, "fixed": s.db.Fixed(), "every": every, "soon": tooSoon, "probe": probeEvery, "probe_max": probeEveryMax,
		"edit": edit, "edits": edits, "edit_every": editEvery, "burst": burst,
		"gap": quiet, "keep": gap, "awaited": rank == Awaited, "behind": rank == Behind,
	}).Scan(&wait)
	if err == nil && wait > longestWait { // a clock that ran ahead wrote it
		_, err = s.db.Pool().Exec(ctx, `UPDATE slack_channels SET next_at = `+db.PaceClock+`, awaited_until = '-infinity' WHERE workspace = @workspace AND channel IN ('', @channel, @edits)`,
			pgx.NamedArgs{"edits": edits, "workspace": workspace, "channel": channel, "fixed": s.db.Fixed()})
		wait = every
	}
	if err != nil {
		return 0, fmt.Errorf("ask for a turn in %s of %s: %w", channel, workspace, err)
	}
	return wait, nil
}

// HoldWorkspace permits no message in a workspace for that long, at most for an hour. A longer hold stays.
func (s *Store) HoldWorkspace(ctx context.Context, workspace string, d time.Duration) error {
	return s.HoldChannel(ctx, workspace, "", d)
}

// HoldChannel is HoldWorkspace for one channel.
func (s *Store) HoldChannel(ctx context.Context, workspace, channel string, d time.Duration) error {
	_, err := s.db.Pool().Exec(ctx, `
		INSERT INTO slack_channels AS s (workspace, channel, next_at) VALUES (@workspace, @channel, `+db.PaceClock+` + @hold::interval)
		ON CONFLICT (workspace, channel) DO UPDATE SET next_at = greatest(s.next_at, excluded.next_at)`,
		pgx.NamedArgs{"workspace": workspace, "channel": channel, "hold": min(d, longestHold), "fixed": s.db.Fixed()})
	if err != nil {
		return fmt.Errorf("hold the pace in %q of %s: %w", channel, workspace, err)
	}
	return nil
}
