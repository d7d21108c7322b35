package hooks

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/ocpctl/ocpctl/app/hooks/guard"
	"github.com/ocpctl/ocpctl/internal/secret"
	"github.com/ocpctl/ocpctl/internal/source"
)

// proxied trusts everything on this machine to say where a request comes from.
func proxied(c *Config) {
	c.Proxies = source.Networks{netip.MustParsePrefix("127.0.0.0/8")}
}

// standing has what is charged to addresses never come back by itself.
func standing(c *Config) {
	now := time.Now()
	c.Now = func() time.Time { return now }
}

func from(address string, headers map[string]string) map[string]string {
	headers[source.ForwardedFor] = address
	return headers
}

// forged are the headers of a webhook that somebody else signed.
func forged(body []byte) map[string]string {
	headers := signed("pull_request", "forged", body)
	headers["X-Hub-Signature-256"] = signature([]byte("guessed"), body)
	return headers
}

// hang opens a connection and sends the beginning of a request, whose body never comes. When it returns the body is waited for.
func (f *front) hang(address string, length int) net.Conn {
	f.Helper()
	conn, err := net.Dial("tcp", f.Server.Listener.Addr().String())
	require.NoError(f, err)
	f.Cleanup(func() { _ = conn.Close() })
	_, err = fmt.Fprintf(conn, "POST /webhooks/github HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\nX-Hub-Signature-256: sha256=%s\r\nX-Forwarded-For: %s\r\nExpect: 100-continue\r\n\r\n",
		length, strings.Repeat("0", 64), address)
	require.NoError(f, err)
	asked := make([]byte, len("HTTP/1.1 100 Continue\r\n\r\n"))
	_, err = io.ReadFull(conn, asked)
	require.NoError(f, err)
	require.Equal(f, "HTTP/1.1 100 Continue\r\n\r\n", string(asked))
	_, err = io.WriteString(conn, "{")
	require.NoError(f, err)
	return conn
}

func TestSendersOfOneByteDoNotCloseTheListenerForOthers(t *testing.T) {
	for name, spread := range map[string]int{"from one address, which is everybody's behind an unknown proxy": 1, "from ten": 10, "from a thousand": 1000} {
		t.Run(name, func(t *testing.T) {
			f := newFront(t, proxied)
			const senders = 700
			var answered atomic.Int64
			for i := range senders {
				conn := f.hang(fmt.Sprintf("198.51.%d.%d", i%spread/200, i%spread%200), 100)
				go func() {
					if answer, err := http.ReadResponse(bufio.NewReader(conn), nil); err == nil && answer.StatusCode == http.StatusTooManyRequests {
						answered.Add(1)
					}
				}()
			}
			left := min(guard.SmallAtOnce, spread*guard.SmallOfSource)
			require.Eventually(t, func() bool { return answered.Load() == int64(senders-left) }, 30*time.Second, time.Millisecond,
				"all have come, and who was there longest made room")
			for _, address := range []string{"198.51.0.0", "203.0.113.9"} {
				for n := range 20 {
					body := payload(t, "pull_request", "labeled", pull(0, label))
					status, answer := f.post("/webhooks/github", body, from(address, signed("pull_request", address+strconv.Itoa(n), body)))
					require.Equal(t, http.StatusAccepted, status, "%v", answer)
				}
			}
			require.Len(t, f.stored(), 40)
		})
	}
}

func TestAFloodOfUnsignedRequestsTakesNothingFromSignedOnes(t *testing.T) {
	f := newFront(t, proxied, standing)
	body := payload(t, "pull_request", "labeled", pull(0, label))
	seen := map[int]int{}
	for range 3000 {
		status, _ := f.post("/webhooks/github", []byte("{}"), from("198.51.100.1", forged(nil)))
		seen[status]++
	}
	require.Equal(t, map[int]int{http.StatusUnauthorized: guard.FailuresAtOnce, http.StatusTooManyRequests: 3000 - guard.FailuresAtOnce}, seen)
	status, answer := f.post("/webhooks/github", body, from("198.51.100.2", forged(body)))
	require.Equal(t, http.StatusUnauthorized, status, "another address is charged for its own")
	require.Contains(t, answer["detail"], "Check that the webhook has the same secret as the server")
	for _, address := range []string{"198.51.100.1", "198.51.100.2"} { // the flood's too: it may be everybody's
		var group errgroup.Group
		for n := range 100 {
			group.Go(func() error {
				status, answer := f.post("/webhooks/github", body, from(address, signed("pull_request", address+"-"+strconv.Itoa(n), body)))
				if status != http.StatusAccepted {
					return fmt.Errorf("answered %d %v", status, answer)
				}
				return nil
			})
		}
		require.NoError(t, group.Wait())
	}
	require.Len(t, f.stored(), 200)
}

func TestARequestWithoutASignatureIsRefusedBeforeItsBodyArrives(t *testing.T) {
	f := newFront(t, standing)
	for _, header := range []string{"", "X-Hub-Signature-256: sha1=00\r\n", "X-Hub-Signature-256: sha256=00\r\n"} {
		conn, err := net.Dial("tcp", f.Server.Listener.Addr().String())
		require.NoError(t, err)
		defer conn.Close()
		_, err = fmt.Fprintf(conn, "POST /webhooks/github HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n%s\r\n{", header)
		require.NoError(t, err)
		answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
		require.NoError(t, err)
		require.Equal(t, http.StatusUnauthorized, answer.StatusCode)
		require.True(t, answer.Close)
	}
}

func TestLargeBodiesOfStrangersLeaveCapacityForOthers(t *testing.T) {
	f := newFront(t, proxied, standing)
	var hanging []net.Conn
	place := func(n int) string { return "198.51.100." + strconv.Itoa(n) }
	small := payload(t, "pull_request", "labeled", pull(0, label))
	large := append(bytes.Repeat([]byte(" "), guard.SmallBody), small...)
	status := func(address, id string, body []byte) int {
		status, _ := f.post("/webhooks/github", body, from(address, signed("pull_request", id, body)))
		return status
	}
	for n := range guard.LargeAtOnce {
		hanging = append(hanging, f.hang(place(n/guard.LargeOfSource), MaxGitHubBody))
		if n == guard.LargeOfSource-1 {
			require.Equal(t, http.StatusTooManyRequests, status(place(0), "d0", large), "an address has two at once")
			require.Equal(t, http.StatusAccepted, status(place(1), "d1", large))
		}
	}
	require.Equal(t, http.StatusTooManyRequests, status("203.0.113.9", "d2", large), "there are eight altogether")
	require.Equal(t, http.StatusAccepted, status(place(0), "d3", small), "none of them takes the place of a small one")
	for _, conn := range hanging {
		require.NoError(t, conn.Close())
	}
	require.Eventually(t, func() bool { return status("203.0.113.9", "d4", large) == http.StatusAccepted }, 10*time.Second, time.Millisecond,
		"a place that was given back is free")
	require.Eventually(t, func() bool { return status(place(0), "d5", large) == http.StatusTooManyRequests }, 10*time.Second, time.Millisecond,
		"who sent large ones that never came is not read")
	require.Equal(t, http.StatusAccepted, status(place(0), "d6", small))
	answer, said := f.post("/webhooks/github", large, from("203.0.113.10", forged(large)))
	require.Equal(t, http.StatusUnauthorized, answer, said)
	require.Equal(t, http.StatusTooManyRequests, status("203.0.113.10", "d7", large), "nor who sent one that was not signed")
}

// More signed requests at once than are stored at once: they wait, and none is refused while PostgreSQL goes on.
func TestSignedRequestsWaitForPostgreSQL(t *testing.T) {
	f := newFront(t)
	tx, err := f.store.Pool().Begin(t.Context())
	require.NoError(t, err)
	_, err = tx.Exec(t.Context(), `LOCK TABLE deliveries IN ACCESS EXCLUSIVE MODE`)
	require.NoError(t, err)
	const many = 600
	body := payload(t, "pull_request", "labeled", pull(0, label))
	var group errgroup.Group
	var begun atomic.Int64
	for n := range many {
		group.Go(func() error {
			begun.Add(1)
			status, answer := f.post("/webhooks/github", body, signed("pull_request", strconv.Itoa(n), body))
			if status != http.StatusAccepted {
				return fmt.Errorf("answered %d %v", status, answer)
			}
			return nil
		})
	}
	require.Eventually(t, func() bool { return begun.Load() == many }, 10*time.Second, time.Millisecond)
	require.NoError(t, tx.Rollback(t.Context()))
	require.NoError(t, group.Wait())
	require.Len(t, f.stored(), many)
}

func TestWebhooksMayBeTakenFromGitHubsAddressesAlone(t *testing.T) {
	f := newFront(t, proxied, func(c *Config) {
		var err error
		c.GitHubAddresses, err = source.Parse([]string{"140.82.112.0/20", "2a0a:a440::/29"})
		require.NoError(t, err)
	})
	body := payload(t, "pull_request", "labeled", pull(0, label))
	for address, want := range map[string]int{
		"140.82.112.7": http.StatusAccepted, "2a0a:a440::5": http.StatusAccepted, "203.0.113.9": http.StatusForbidden, "2001:db8::5": http.StatusForbidden,
	} {
		status, answer := f.post("/webhooks/github", body, from(address, signed("pull_request", address, body)))
		require.Equal(t, want, status, "%s: %v", address, answer)
	}
	require.ElementsMatch(t, []string{"140.82.112.7", "2a0a:a440::5"}, f.stored())
	status, answer := f.slack(typed("1.2", "U1", "help"))
	require.Equal(t, http.StatusOK, status, "Slack calls from elsewhere: %v", answer)
}

func TestAnUnknownProxyIsNamedOnce(t *testing.T) {
	var got bytes.Buffer
	f := newFront(t, func(c *Config) { c.Log = slog.New(slog.NewTextHandler(&got, nil)) })
	for range 3 {
		f.post("/webhooks/github", nil, from("203.0.113.9", map[string]string{}))
	}
	f.Server.Close()
	require.Equal(t, 1, strings.Count(got.String(), "set listen.trusted_proxies"))
}

// pipes is a listener of connections in memory, which live by the test's clock.
type pipes struct {
	conns chan net.Conn
	once  sync.Once
	over  chan struct{}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case conn := <-p.conns:
		return conn, nil
	case <-p.over:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	p.once.Do(func() { close(p.over) })
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.TCPAddr{} }

func TestABodyArrivesWithinTenSeconds(t *testing.T) {
	handler, err := New(Config{GitHubSecret: secret.New(testSecret)})
	require.NoError(t, err)
	for name, every := range map[string]time.Duration{"nothing comes": time.Hour, "it trickles": time.Second} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				in := &pipes{conns: make(chan net.Conn), over: make(chan struct{})}
				server := &http.Server{Handler: handler}
				go func() { _ = server.Serve(in) }()
				ours, theirs := net.Pipe()
				in.conns <- theirs
				begun := time.Now()
				ctx, cancel := context.WithCancel(t.Context())
				go func() {
					_, _ = fmt.Fprintf(ours, "POST /webhooks/github HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\nX-Hub-Signature-256: sha256=%s\r\n\r\n{",
						strings.Repeat("0", 64))
					for ctx.Err() == nil {
						select {
						case <-ctx.Done():
						case <-time.After(every):
							_, _ = io.WriteString(ours, " ")
						}
					}
				}()
				answer, err := http.ReadResponse(bufio.NewReader(ours), nil)
				require.NoError(t, err)
				require.Equal(t, http.StatusRequestTimeout, answer.StatusCode)
				require.Equal(t, guard.BodyTime, time.Since(begun))
				cancel()
				require.NoError(t, ours.Close())
				require.NoError(t, server.Close())
				synctest.Wait()
			})
		})
	}
}
