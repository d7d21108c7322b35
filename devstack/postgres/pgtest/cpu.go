package pgtest

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
)

// Units of a benchmark's processor time: of its own process, and of PostgreSQL for it.
const (
	ownUnit      = "cpu-ms/op"
	databaseUnit = "pg-ms/op"
)

// MeasureCPU begins to measure the processor time of this process and of PostgreSQL. The function that it returns reports both for
// each operation; call it after the last one, with the connections still open. On a busy machine compare these, not durations.
func MeasureCPU(b *testing.B, pool *pgxpool.Pool) (report func()) {
	b.Helper()
	ownBefore, databaseBefore := ReadCPU(b, pool)
	return func() {
		b.Helper()
		b.StopTimer()
		own, database := ReadCPU(b, pool)
		perOperation := func(used time.Duration) float64 { return used.Seconds() * 1000 / float64(b.N) }
		b.ReportMetric(perOperation(own-ownBefore), ownUnit)
		b.ReportMetric(perOperation(database-databaseBefore), databaseUnit)
	}
}

// ReadCPU returns the processor time that this process has used, and the time that PostgreSQL has used for the open connections to
// the pool's database. The database's part needs Linux; elsewhere it is zero.
func ReadCPU(b testing.TB, pool *pgxpool.Pool) (own, database time.Duration) {
	b.Helper()
	var used syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &used))
	var backends []int
	err := pool.QueryRow(context.Background(), `SELECT array_agg(pid) FROM pg_stat_activity WHERE datname = current_database()`).Scan(&backends)
	require.NoError(b, err)
	for _, pid := range backends {
		raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/schedstat", pid))
		if err != nil {
			continue // it has ended, or this is not Linux
		}
		onCPU, _, _ := strings.Cut(string(raw), " ")
		nanos, err := strconv.ParseInt(onCPU, 10, 64)
		require.NoError(b, err)
		database += time.Duration(nanos)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano()), database
}
