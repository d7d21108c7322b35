package db

// PaceClock and the row are read again after a wait for the row's lock, so both show the time behind the lock.
const (
	PaceClock = `coalesce(@fixed::timestamptz, clock_timestamp())`
	PaceFree  = `greatest(next_at, held_until, minute_full - @minute_depth::interval, hour_full - @hour_depth::interval)`
)
