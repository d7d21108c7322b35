package devstack_test

import (
	"bytes"
	"context"
	"net/http"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestAServerThatDiesByItselfIsStartedAgainAndThatIsSaid(t *testing.T) {
	l := newLife(t, time.Hour)
	ctx, cancel := context.WithCancel(l.ctx)
	pid, said := l.ServerPID(), &saying{}
	done := make(chan struct{})
	go func() { defer close(done); l.Supervise(ctx, said) }()
	defer func() { cancel(); <-done }()

	require.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
	require.Eventually(t, func() bool { return bytes.Contains(said.all(), []byte("is up again")) }, time.Minute, 20*time.Millisecond)
	require.Contains(t, string(said.all()), "ended by itself (signal: killed)")
	resp, err := http.Get(l.PrivateURL() + "/readyz")
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	require.Equal(t, http.StatusOK, resp.StatusCode)

	cancel()
	<-done
	require.NotEqual(t, pid, l.ServerPID())
	require.NoError(t, l.KillServer())
	require.NotContains(t, string(said.all()[bytes.Index(said.all(), []byte("is up again")):]), "ended", "a deliberate end is nobody's business")
}

// saying keeps what is written to it, from any goroutine.
type saying struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (s *saying) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.buf.Write(p)
}

func (s *saying) all() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return bytes.Clone(s.buf.Bytes())
}
