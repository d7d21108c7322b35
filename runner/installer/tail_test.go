package installer

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestTheTailOfTheLogIsRedactedAndBeginsAtALine(t *testing.T) {
	dir, tool := t.TempDir(), shell(t)
	lines, err := tool.Tail(dir)
	require.NoError(t, err)
	require.Empty(t, lines)
	noise := `time="2026" level=debug msg="noise"`
	log := strings.Repeat(noise+"\n", 20_000) + `time="2026" level=error msg="password: \"canary\""` + "\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, LogName), []byte(log), 0o644))
	lines, err = tool.Tail(dir)
	require.NoError(t, err)
	require.InDelta(t, tailBytes/(len(noise)+1), len(lines), 2)
	require.Equal(t, noise, lines[0])
	require.Equal(t, `time="2026" level=error msg="password:[redacted]`, lines[len(lines)-1])
}

func TestAGrowingLogIsFollowedLineByLine(t *testing.T) {
	dir, tool := t.TempDir(), shell(t)
	ctx, cancel := context.WithCancel(t.Context())
	heard, ended := make(chan string, 10), make(chan struct{})
	go func() {
		defer close(ended)
		tool.Follow(ctx, dir, time.Millisecond, func(line string) { heard <- line })
	}()
	add := func(text string) {
		file, err := os.OpenFile(filepath.Join(dir, LogName), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
		require.NoError(t, err)
		_, err = file.WriteString(text)
		require.NoError(t, err)
		require.NoError(t, file.Close())
	}
	add("one\ntw")
	require.Equal(t, "one", <-heard)
	add("o, password: canary\nthree\nfo")
	require.Equal(t, "two, password:[redacted]", <-heard)
	require.Equal(t, "three", <-heard)
	cancel()
	<-ended
	require.Empty(t, heard, "half a line is none")
}
