package db

import (
	"time"
)

// Round returns a time as PostgreSQL stores it: UTC, in microseconds.
func Round(t time.Time) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	return t.UTC().Truncate(time.Microsecond)
}

// Null returns nil for the zero time, else the time in PostgreSQL's precision.
func Null(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC().Truncate(time.Microsecond)
	return &t
}

// Zero returns the zero time for nil.
func Zero(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return *t
}

// JSON returns JSON as the database takes it; nil: there is none.
func JSON(raw []byte) *string {
	if raw == nil {
		return nil
	}
	text := string(raw)
	return &text
}
