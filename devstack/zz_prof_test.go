package devstack_test

import (
	"os"
	"os/exec"
	"strconv"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/chaos"
	"github.com/ocpctl/ocpctl/devstack/postgres/pgtest"
)

func TestProfSoak(t *testing.T) {
	run := startChaosRun(t, 1)
	pool, err := pgxpool.New(t.Context(), run.DatabaseURL())
	require.NoError(t, err)
	defer pool.Close()
	pgtest.Prof(pool, false)
	perf := exec.Command("perf", "record", "-o", "/tmp/perf/soak.data", "-F", "299", "-g", "-p", strconv.Itoa(run.ServerPID()))
	require.NoError(t, perf.Start())
	require.NoError(t, chaos.Soak(t.Context(), run, chaos.SoakOptions{Cycles: 24, Seed: 7}))
	_ = perf.Process.Signal(os.Interrupt)
	_ = perf.Wait()
	pgtest.Prof(pool, true)
}
