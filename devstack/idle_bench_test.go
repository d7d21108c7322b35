package devstack_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/internal/dispatch"
	"github.com/ocpctl/ocpctl/internal/token"
)

const (
	idleBeat     = 15 * time.Second // of a runner and of a scrape of the metrics, as by default
	idleMeasured = time.Minute
)

// idleCrowd is the clusters of an idle server.
type idleCrowd struct{ ready, installing, waiting int }

// BenchmarkIdle starts the real server with clusters that need nothing: ready ones, some that are being installed, whose runners each
// send a report every 15 seconds, and some that wait for their team's only place. Somebody reads the metrics as often. It measures the
// processor time of the server and of PostgreSQL for a minute, and the server's memory at the end.
func BenchmarkIdle(b *testing.B) {
	for name, crowd := range map[string]idleCrowd{
		"10000 ready": {ready: 10_000}, "10000 ready and 200 installing": {ready: 10_000, installing: 200}, "10000 waiting": {ready: 20, waiting: 10_000},
	} {
		b.Run(name, func(b *testing.B) {
			l := newLife(b, time.Hour)
			require.NoError(b, l.GitHub.Label(41, label, "maya"))
			l.runUntil("ready", time.Minute, func() bool { return l.newest().Status == "READY" })
			l.becomeIdle(crowd)
			for b.Loop() {
				l.measureIdle(b, crowd)
			}
		})
	}
}

func (l *life) measureIdle(b *testing.B, crowd idleCrowd) {
	ctx, cancel := context.WithTimeout(l.ctx, idleBeat+idleMeasured)
	defer cancel()
	var runners sync.WaitGroup
	for i := range crowd.installing {
		runners.Go(func() { l.beat(ctx, crowd, i) })
	}
	runners.Go(func() { l.scrape(ctx) })
	wait(ctx, idleBeat) // until each has reported once
	server, postgres := l.serverCPU(), l.postgresCPU()
	<-ctx.Done()
	server, postgres = l.serverCPU()-server, l.postgresCPU()-postgres
	runners.Wait()
	b.ReportMetric(100*server.Seconds()/idleMeasured.Seconds(), "%server")
	b.ReportMetric(100*postgres.Seconds()/idleMeasured.Seconds(), "%postgres")
	b.ReportMetric(l.serverMemory("VmRSS"), "MB")
	b.ReportMetric(l.serverMemory("VmHWM"), "MB-at-most")
}

// becomeIdle fills the database with copies of the only cluster and starts the server on it with the product's own periods.
func (l *life) becomeIdle(crowd idleCrowd) {
	require.NoError(l.t, l.StopServer())
	for _, sql := range []string{`
		INSERT INTO clusters (id, name, platform, version, profile, region, base_domain, owner, team, cost_center, environment,
			requested_by, source, ttl, hourly_cents, request_tags, effective_tags, spec, status, phase, why, desired, desired_why, teardown,
			tries, max_tries, wake_at, end_ttl, end_max, created_at, updated_at, ready_at, needs_turn)
		SELECT 'clu_' || lpad(i::text, 8, '0'), 'c' || i, platform, version, profile, region, base_domain, owner, 'team-' || i % 20, cost_center,
			environment, requested_by, 'api', ttl, hourly_cents, request_tags, effective_tags, spec,
			CASE WHEN i <= $1 THEN 'READY' WHEN i <= $1 + $2 THEN 'CREATING' ELSE 'PENDING' END,
			CASE WHEN i <= $1 THEN 'ready' WHEN i <= $1 + $2 THEN 'installing' ELSE 'queued' END, why, 'present', '{}', '', 1, max_tries,
			now() + CASE WHEN i BETWEEN $1 + 1 AND $1 + $2 THEN interval '15 seconds' ELSE interval '1 day' END, now() + interval '2 days',
			now() + interval '3 days', created_at, updated_at, CASE WHEN i <= $1 THEN ready_at END, i > $1 + $2
		FROM (SELECT * FROM clusters ORDER BY id DESC LIMIT 1) seed, generate_series(1, $1::int + $2::int + $3::int) i`, `
		INSERT INTO jobs (id, cluster_id, job_type, status, created_at, started_at, ended_at)
		SELECT 'job_' || id, id, 'CREATE', CASE WHEN status = 'READY' THEN 'SUCCEEDED' ELSE 'RUNNING' END, created_at - interval '1 day',
			created_at - interval '1 day', CASE WHEN status = 'READY' THEN created_at - interval '1 day' END
		FROM clusters WHERE id LIKE 'clu\_000%' AND status <> 'PENDING' AND $1::int + $2::int + $3::int > 0`, `
		INSERT INTO attempts (id, cluster_id, job_id, number, kind, token_id, opened_at, phase, claimed_by, claimed_at, lease_until, recorded_at,
			infra_id, closed_at, outcome)
		SELECT 'att_' || id, id, 'job_' || id, 1, 'create', 'token_' || id, now(), 'installing', 'pod', now(), now() + interval '15 minutes', now(),
			id, CASE WHEN status = 'READY' THEN now() - interval '1 day' END, CASE WHEN status = 'READY' THEN 'succeeded' END
		FROM clusters WHERE id LIKE 'clu\_000%' AND status <> 'PENDING' AND $1::int + $2::int + $3::int > 0`, `
		INSERT INTO turns (cluster_id, team, weight, limits, since, position, words)
		SELECT id, team, 1, jsonb_build_array(jsonb_build_object('quota', 'teams', 'scope', 'team', 'key', team, 'what', 'live', 'most', 1)), created_at, 1, 'full'
		FROM clusters WHERE needs_turn AND $1::int + $2::int + $3::int > 0`} {
		_, err := l.pool.Exec(l.ctx, sql, crowd.ready, crowd.installing, crowd.waiting)
		require.NoError(l.t, err)
	}
	_, err := l.pool.Exec(l.ctx, `VACUUM ANALYZE`)
	require.NoError(l.t, err)
	config := filepath.Join(l.Dir, "server.yaml")
	raw, err := os.ReadFile(config)
	require.NoError(l.t, err)
	text := strings.NewReplacer("look_again: 500ms", "look_again: 15s", "wake: 1s", "wake: 5s", "lease: 10s", "lease: 15m", "retry_max: 1m", "retry_max: 24h", "reload: 1s", "reload: 10s").Replace(string(raw))
	require.Equal(l.t, 1, strings.Count(text, "look_again: 15s"))
	require.NoError(l.t, os.WriteFile(config, []byte(text), 0o600))
	l.standIns(crowd)
	require.NoError(l.t, l.StartServer(l.ctx))
	l.askUntil("everybody knows a position", 5*time.Minute, time.Second, func() (known bool) {
		require.NoError(l.t, l.pool.QueryRow(l.ctx, `SELECT NOT EXISTS (SELECT FROM clusters WHERE needs_turn AND row_version = 1)
			AND NOT EXISTS (SELECT FROM river_job WHERE kind = 'reconcile' AND state = 'available')`).Scan(&known))
		return known
	})
}

// standIns starts a process for each attempt, which the server takes for its runner.
func (l *life) standIns(crowd idleCrowd) {
	program := filepath.Join(l.Dir, "stand-in")
	require.NoError(l.t, os.WriteFile(program, []byte("#!/bin/sh\nexec sleep 600\n"), 0o700))
	d, err := dispatch.NewProcess(dispatch.Config{
		Runner: program, Installers: filepath.Join(l.Dir, "installers"), WorkDir: filepath.Join(l.Dir, "work"), StatusURL: l.StatusURL(),
	})
	require.NoError(l.t, err)
	for i := range crowd.installing {
		require.NoError(l.t, d.Start(l.ctx, dispatch.Job{Attempt: "att_" + crowd.installs(i), Cluster: "none", Number: 1, Kind: "create", Token: "none"}))
	}
}

// installs is one of the clusters that are being installed.
func (c idleCrowd) installs(i int) string { return fmt.Sprintf("clu_%08d", c.ready+1+i) }

// beat reports for one runner until the context ends, at its own moment of the period.
func (l *life) beat(ctx context.Context, crowd idleCrowd, i int) {
	attempt := "att_" + crowd.installs(i)
	key, err := token.LoadKey(filepath.Join(l.Dir, "secrets", "status-key.pem"))
	require.NoError(l.t, err)
	raw, err := token.NewSigner(key, time.Hour).Sign(attempt, "token_"+crowd.installs(i), time.Now())
	require.NoError(l.t, err)
	wait(ctx, idleBeat*time.Duration(i)/time.Duration(crowd.installing))
	for seq := int(time.Now().Unix()); ctx.Err() == nil; seq++ {
		body, err := json.Marshal(contract.Report{Seq: seq, Phase: "installing", Percent: 40})
		require.NoError(l.t, err)
		r, err := http.NewRequest(http.MethodPost, l.StatusURL()+"/api/v1/status/attempts/"+attempt+"/report", bytes.NewReader(body))
		require.NoError(l.t, err)
		r.Header.Set("Authorization", "Bearer "+raw)
		r.Header.Set("Content-Type", "application/json")
		said, err := http.DefaultClient.Do(r)
		require.NoError(l.t, err)
		text, _ := io.ReadAll(said.Body)
		said.Body.Close()
		if said.StatusCode/100 != 2 {
			l.t.Errorf("%s: the report was answered with %d %s", attempt, said.StatusCode, text)
			return
		}
		wait(ctx, idleBeat)
	}
}

func (l *life) scrape(ctx context.Context) {
	for ctx.Err() == nil {
		said, err := http.Get(l.PrivateURL() + "/metrics")
		require.NoError(l.t, err)
		_, _ = io.Copy(io.Discard, said.Body)
		said.Body.Close()
		require.Equal(l.t, http.StatusOK, said.StatusCode)
		wait(ctx, idleBeat)
	}
}

func wait(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// serverCPU is the processor time that the server has used. It needs Linux.
func (l *life) serverCPU() time.Duration { return l.processorTime(l.ServerPID())[0] }

// postgresCPU is the processor time of PostgreSQL's processes, also of those that ended. Autovacuum belongs to it.
func (l *life) postgresCPU() (sum time.Duration) {
	var backend int
	require.NoError(l.t, l.pool.QueryRow(l.ctx, `SELECT pg_backend_pid()`).Scan(&backend))
	postmaster := l.processFields(backend)[1]
	all, err := filepath.Glob("/proc/[0-9]*")
	require.NoError(l.t, err)
	for _, dir := range all {
		pid, _ := strconv.Atoi(filepath.Base(dir)) // it is a number
		if _, err := os.Stat(dir); err == nil && l.processFields(pid)[1] == postmaster {
			sum += l.processorTime(pid)[0]
		}
	}
	pid, err := strconv.Atoi(postmaster)
	require.NoError(l.t, err)
	used := l.processorTime(pid)
	return sum + used[0] + used[1]
}

// processFields are the fields of a process that follow its name: its state, its parent and so on; empty if it ended.
func (l *life) processFields(pid int) []string {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return make([]string, 20)
	}
	_, after, _ := strings.Cut(string(raw), ") ")
	return strings.Fields(after)
}

// processorTime is the processor time of a process, and of its children that ended.
func (l *life) processorTime(pid int) (used [2]time.Duration) {
	for i, field := range l.processFields(pid)[11:15] { // in user and system mode, in hundredths of a second
		n, _ := strconv.Atoi(field) // 0 if the process ended
		used[i/2] += time.Duration(n) * 10 * time.Millisecond
	}
	return used
}

// serverMemory is a line of the server's status, in MB.
func (l *life) serverMemory(name string) float64 {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", l.ServerPID()))
	require.NoError(l.t, err)
	_, after, _ := strings.Cut(string(raw), name+":")
	kb, err := strconv.Atoi(strings.Fields(after)[0])
	require.NoError(l.t, err)
	return float64(kb) / 1024
}
