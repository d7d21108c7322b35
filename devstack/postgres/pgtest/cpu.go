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

// CPU returns the processor time that this process has used, and the time that PostgreSQL has used for the open connections to the
// pool's database. A benchmark on a busy machine reports their growth: unlike a duration, it does not depend on the neighbours.
// The database's part needs Linux; elsewhere it is zero.
func CPU(b testing.TB, pool *pgxpool.Pool) (mine, database time.Duration) {
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
