package outbox

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/store/db"
)

// Pace is how fast content may be written on GitHub. A zero field sets no limit.
type Pace struct {
	Every     time.Duration // the least time between two writes
	PerMinute int           // the most in any 60 seconds
	PerHour   int           // the most in any hour
}

// allowance is a bucket of permits (GCRA). Half of a window's limit can be taken at once, and refills evenly so that the other
// half comes within a window. So no window sees more than its limit.
type allowance struct {
	step, depth time.Duration // what one permit takes, and what may be taken before one has to wait
}

func allowanceOf(most int, window time.Duration) allowance {
	switch most = max(most, 0); most {
	case 0:
		return allowance{depth: unlimited}
	case 1:
		return allowance{step: window + time.Microsecond}
	}
	burst := most / 2
	step := (window + time.Duration(most-burst) - 1) / time.Duration(most-burst)
	step = (step + time.Microsecond - 1).Truncate(time.Microsecond) // PostgreSQL's precision
	return allowance{step: step, depth: time.Duration(burst-1) * step}
}

// unlimited is deeper than anything that is ever taken.
const unlimited = 100 * 365 * 24 * time.Hour

// takePace writes nothing and waits for no lock if it is too soon.
const takePace = `
	WITH taken AS (
		UPDATE paces SET next_at = ` + db.PaceClock + ` + @every::interval,
			minute_full = greatest(minute_full, ` + db.PaceClock + `) + @minute_step::interval,
			hour_full = greatest(hour_full, ` + db.PaceClock + `) + @hour_step::interval
		WHERE installation = @installation AND ` + db.PaceFree + ` <= ` + db.PaceClock + ` RETURNING true)
	SELECT CASE WHEN EXISTS (SELECT FROM taken) THEN interval '0'
		ELSE greatest(` + db.PaceFree + `, ` + db.PaceClock + ` + @soon::interval) - ` + db.PaceClock + ` END
	FROM paces WHERE installation = @installation`

// tooSoon is the least wait that is returned: another may have taken the permit that was just seen to be free.
const tooSoon = time.Millisecond

// TakePace asks for one write of content in an installation, across all processes and by the database's clock. Zero: the write
// is permitted and counted; otherwise ask again after that time.
func (s *Store) TakePace(ctx context.Context, installation int64, p Pace) (wait time.Duration, err error) {
	minute, hour := allowanceOf(p.PerMinute, time.Minute), allowanceOf(p.PerHour, time.Hour)
	args := pgx.NamedArgs{
		"installation": installation, "fixed": s.db.Fixed(), "every": max(p.Every, 0), "soon": tooSoon,
		"minute_step": minute.step, "minute_depth": minute.depth, "hour_step": hour.step, "hour_depth": hour.depth,
	}
	err = s.db.Pool().QueryRow(ctx, takePace, args).Scan(&wait)
	if errors.Is(err, pgx.ErrNoRows) { // the first write ever
		if _, err = s.db.Pool().Exec(ctx, `INSERT INTO paces (installation) VALUES ($1) ON CONFLICT DO NOTHING`, installation); err == nil {
			err = s.db.Pool().QueryRow(ctx, takePace, args).Scan(&wait)
		}
	}
	if err == nil {
		wait, err = s.plausibleWait(ctx, installation, wait)
	}
	if err != nil {
		return 0, fmt.Errorf("ask leave to write in installation %d: %w", installation, err)
	}
	return wait, nil
}

const (
	longestHold = time.Hour       // GitHub's limits end within the hour
	longestWait = 2 * longestHold // longer than any pace or hold
)

// plausibleWait returns a plausible wait. A longer one was written by a clock that ran ahead: its values are brought back to the
// present, or nothing could be written until that time came.
func (s *Store) plausibleWait(ctx context.Context, installation int64, wait time.Duration) (time.Duration, error) {
	if wait <= longestWait {
		return wait, nil
	}
	_, err := s.db.Pool().Exec(ctx, `
		UPDATE paces SET next_at = least(next_at, `+db.PaceClock+`), held_until = least(held_until, `+db.PaceClock+`),
			minute_full = least(minute_full, `+db.PaceClock+` + interval '1 minute'), hour_full = least(hour_full, `+db.PaceClock+` + interval '1 hour')
		WHERE installation = @installation`, pgx.NamedArgs{"installation": installation, "fixed": s.db.Fixed()})
	return time.Minute, err
}

// HoldPace permits no write in an installation for that long, at most for an hour. A longer hold stays.
func (s *Store) HoldPace(ctx context.Context, installation int64, d time.Duration) error {
	_, err := s.db.Pool().Exec(ctx, `
		INSERT INTO paces AS p (installation, held_until) VALUES ($1, coalesce($3::timestamptz, clock_timestamp()) + $2::interval)
		ON CONFLICT (installation) DO UPDATE SET held_until = greatest(p.held_until, excluded.held_until)`, installation, min(d, longestHold), s.db.Fixed())
	if err != nil {
		return fmt.Errorf("hold the pace of installation %d: %w", installation, err)
	}
	return nil
}
