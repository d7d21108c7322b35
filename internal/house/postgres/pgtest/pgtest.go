// Package pgtest gives tests a real PostgreSQL: one private server per test process, one database per test.
package pgtest

import "testing"

// New returns the URL of a migrated database of the test's own, dropped when the test ends.
func New(t testing.TB) string { t.Helper(); t.Fatal("not written yet"); return "" }
