package eventstream

import (
	"bufio"
	"compress/gzip"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// serveEvents starts a server whose stream sends what it is told to, and ends after that.
func serveEvents(t *testing.T, events <-chan string) string {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		out := New(w).Packed(r)
		if out.Begin() != nil {
			return
		}
		defer out.End()
		for data := range events {
			if out.Send("parts", "has", []byte(data)) != nil || out.Beat() != nil {
				return
			}
		}
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func TestAPackedEventIsReadAtOnceAndTheEndIsComplete(t *testing.T) {
	for _, accepted := range []string{"gzip", "identity"} {
		events := make(chan string)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		t.Cleanup(cancel)
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, serveEvents(t, events), nil)
		require.NoError(t, err)
		r.Header.Set("Accept-Encoding", accepted)
		answer, err := http.DefaultClient.Do(r)
		require.NoError(t, err)
		defer answer.Body.Close()
		require.Equal(t, []string{"no", "text/event-stream", "Accept-Encoding"},
			[]string{answer.Header.Get("X-Accel-Buffering"), answer.Header.Get("Content-Type"), answer.Header.Get("Vary")})
		body := io.Reader(answer.Body)
		if accepted == "gzip" {
			require.Equal(t, "gzip", answer.Header.Get("Content-Encoding"))
			body, err = gzip.NewReader(answer.Body)
			require.NoError(t, err)
		} else {
			require.Empty(t, answer.Header.Get("Content-Encoding"))
		}
		lines := bufio.NewReader(body)
		read := func() string {
			line, err := lines.ReadString('\n')
			require.NoError(t, err)
			return line
		}
		require.Equal(t, ": here\n\n", read()+read())
		for _, data := range []string{"first", "second"} { // the second is sent after the first was read
			events <- data
			require.Equal(t, "event: parts\nid: has\ndata: "+data+"\n\n:\n\n", read()+read()+read()+read()+read()+read())
		}
		close(events)
		rest, err := io.ReadAll(lines)
		require.NoError(t, err, "the checksum and the length are right")
		require.Empty(t, rest)
	}
}

func TestAStreamEndsWithItsSessionAndWithTheServer(t *testing.T) {
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	stopping, stop := context.WithCancel(t.Context())
	ctx, cancel := Until(r, time.Time{}, stopping)
	defer cancel()
	require.NoError(t, ctx.Err())
	stop()
	<-ctx.Done()
	ctx, cancel = Until(r, time.Now().Add(-time.Second), nil)
	defer cancel()
	<-ctx.Done()
}
