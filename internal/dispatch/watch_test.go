package dispatch

import (
	"context"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestTheEndOfARunnerIsReportedOnceNothingOfItIsLeft(t *testing.T) {
	p, cfg := newDispatcher(t, "#!/bin/sh\nsetsid sleep 1000 &\necho started\nwait\n")
	killed, goesOn := attemptID(t), attemptID(t)
	for attempt, cluster := range map[string]string{killed: "killed", goesOn: "goes-on"} {
		j := job(attempt)
		j.Cluster = cluster
		require.NoError(t, p.Start(t.Context(), j))
		requireLogged(t, cfg, attempt, "started")
	}
	ctx, cancel := context.WithCancel(t.Context())
	reported, ended := make(chan string, 10), make(chan struct{})
	again, err := NewProcess(cfg) // a server that did not start the runner
	require.NoError(t, err)
	go func() {
		defer close(ended)
		again.Watch(ctx, func(cluster string) { reported <- cluster })
	}()
	runner, err := loadIdentity(filepath.Join(cfg.WorkDir, killed, processFile))
	require.NoError(t, err)
	require.NoError(t, syscall.Kill(runner.PID, syscall.SIGKILL))
	select {
	case cluster := <-reported:
		require.Equal(t, "killed", cluster)
	case <-time.After(30 * time.Second):
		require.Fail(t, "nobody reported the end")
	}
	requireSeen(t, p, killed, Ended)
	found, err := findMarked(killed)
	require.NoError(t, err)
	require.Empty(t, found, "what it started has ended too")
	cancel()
	<-ended
	require.Empty(t, reported)
}
