package store

import "time"

// expectedOf is an array of how many seconds an attempt of @kind for @cluster may take: the middle one of the last twenty
// that succeeded with the same profile in the same region, and what nine of ten of them kept to; those of any region where
// none did in this one, null where none ever did. It is asked once per attempt, so that no shown time moves.
const expectedOf = `
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

// longRun is from when on an expected end is told in whole minutes.
const longRun = 10 * time.Minute

// expectedEnd is when an open attempt should be done by what others took. Zero: not known, or later than that already.
func expectedEnd(opened time.Time, seconds *int, now time.Time) time.Time {
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
