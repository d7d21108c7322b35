package clusters

import (
	"time"
)

// ExpectedOf is an array of seconds that an attempt of @kind for @cluster may take: the median and the 90th percentile of the
// last twenty that succeeded with the same profile in the same region; those of any region if none did in this one; null if none
// ever did. It is queried once per attempt, so that a shown time does not move.
const ExpectedOf = `
	SELECT coalesce((` + tookIn + ` AND pc.region = mine.region` + newest + `), (` + tookIn + newest + `))
	FROM clusters mine WHERE mine.id = @cluster`

const (
	tookIn = `
		SELECT percentile_cont(ARRAY[0.5, 0.9]) WITHIN GROUP (ORDER BY seconds) FROM (
			SELECT greatest(1, extract(epoch FROM p.closed_at - p.opened_at)) AS seconds
			FROM attempts p JOIN clusters pc ON pc.id = p.cluster_id
			WHERE p.kind = @kind AND p.outcome = 'succeeded' AND pc.profile = mine.profile`
	newest = ` ORDER BY p.closed_at DESC LIMIT 20) took`
)

// longRun is the duration from which an expected end is shown in whole minutes.
const longRun = 10 * time.Minute

// ExpectedEnd is when an open attempt should be done, judged by earlier ones. Zero: unknown, or already past.
func ExpectedEnd(opened time.Time, seconds *int, now time.Time) time.Time {
	if seconds == nil {
		return time.Time{}
	}
	took, unit := time.Duration(*seconds)*time.Second, time.Second
	if took >= longRun {
		unit = time.Minute
	}
	end := opened.Add(took + unit - 1).Truncate(unit)
	if !end.After(now) {
		return time.Time{}
	}
	return end
}
