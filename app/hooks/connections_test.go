package hooks

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/internal/source"
)

// idles has a signal for each answer after which a connection became idle, by the client's address. A client that has read the
// answer may be ahead of that.
var idles sync.Map // string → chan struct{}

// listener is a server whose connections are bounded. A request to /wait is answered when the test says so.
func listener(t *testing.T, proxies source.Networks, most int) (address string, waits, goOn chan struct{}) {
	waits, goOn = make(chan struct{}), make(chan struct{})
	c := NewConnections(proxies)
	if most > 0 {
		c.places = newPlaces(most)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	server := &http.Server{ConnState: func(conn net.Conn, state http.ConnState) {
		c.State(conn, state)
		if state == http.StateIdle {
			idle, _ := idles.LoadOrStore(conn.RemoteAddr().String(), make(chan struct{}, 100))
			idle.(chan struct{}) <- struct{}{}
		}
	}, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/wait" {
			waits <- struct{}{}
			<-goOn
		}
	})}
	go func() { _ = server.Serve(l) }()
	t.Cleanup(func() {
		require.NoError(t, server.Close())
		require.Eventually(t, func() bool { c.places.guard.Lock(); defer c.places.guard.Unlock(); return c.places.count == 0 }, 10*time.Second, time.Millisecond,
			"what is closed is counted no more")
	})
	return l.Addr().String(), waits, goOn
}

// connect comes from an address of this machine.
func connect(t *testing.T, to, from string) net.Conn {
	conn, err := (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}).Dial("tcp", to)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

func ask(t *testing.T, conn net.Conn, path string) {
	_, err := fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: x\r\n\r\n", path)
	require.NoError(t, err)
}

func goesOn(t *testing.T, conn net.Conn) {
	t.Helper()
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, answer.StatusCode)
	idle, _ := idles.LoadOrStore(conn.LocalAddr().String(), make(chan struct{}, 100))
	select {
	case <-idle.(chan struct{}):
	case <-time.After(10 * time.Second):
		require.Fail(t, "the connection never became idle")
	}
}

func closed(t *testing.T, conn net.Conn) {
	t.Helper()
	require.NoError(t, conn.SetReadDeadline(time.Now().Add(10*time.Second)))
	_, err := conn.Read(make([]byte, 1))
	require.Error(t, err)
	require.NotErrorIs(t, err, os.ErrDeadlineExceeded, "it is still open")
}

func TestConnectionsOfOneAddressLeaveCapacityForOthers(t *testing.T) {
	to, waits, goOn := listener(t, nil, 0)
	busy := connect(t, to, "127.0.0.2")
	ask(t, busy, "/wait")
	<-waits
	other := connect(t, to, "127.0.0.3")
	ask(t, other, "/")
	goesOn(t, other)
	var idle []net.Conn
	for range connectionsOfAnywhere - 1 + 5 {
		idle = append(idle, connect(t, to, "127.0.0.2"))
	}
	for _, conn := range idle[:5] {
		closed(t, conn)
	}
	for _, conn := range []net.Conn{idle[5], idle[len(idle)-1], other} {
		ask(t, conn, "/")
		goesOn(t, conn)
	}
	close(goOn)
	goesOn(t, busy)
}

func TestConnectionsAreBoundedAltogether(t *testing.T) {
	to, _, _ := listener(t, source.Networks{netip.MustParsePrefix("127.0.0.9/32")}, 8)
	first := connect(t, to, "127.0.0.2")
	ask(t, first, "/")
	goesOn(t, first)
	var others []net.Conn
	for n := range 7 {
		others = append(others, connect(t, to, fmt.Sprintf("127.0.1.%d", n+1)))
		ask(t, others[n], "/")
		goesOn(t, others[n])
	}
	next := connect(t, to, "127.0.0.9")
	ask(t, next, "/")
	goesOn(t, next)
	closed(t, first)
	for _, conn := range others {
		ask(t, conn, "/")
		goesOn(t, conn)
	}
}

func TestATrustedProxyMayHaveManyConnections(t *testing.T) {
	to, _, _ := listener(t, source.Networks{netip.MustParsePrefix("127.0.0.9/32")}, 0)
	var conns []net.Conn
	for range connectionsOfAnywhere + 10 {
		conns = append(conns, connect(t, to, "127.0.0.9"))
	}
	for _, conn := range conns {
		ask(t, conn, "/")
		goesOn(t, conn)
	}
}

func TestAConnectionThatIsAnsweredIsNotClosedForANewOne(t *testing.T) {
	to, waits, goOn := listener(t, nil, 2)
	busy := []net.Conn{connect(t, to, "127.0.0.2"), connect(t, to, "127.0.0.3")}
	for _, conn := range busy {
		ask(t, conn, "/wait")
		<-waits
	}
	closed(t, connect(t, to, "127.0.0.4"))
	close(goOn)
	for _, conn := range busy {
		goesOn(t, conn)
	}
}
