package hooks

import (
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"net/url"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// proxy stands before PostgreSQL. It holds each message of a client's for a time, so that every statement takes that much longer (those
// of different connections do so at the same time), and counts the statements that are executed.
type proxy struct {
	by         atomic.Int64 // nanoseconds
	statements atomic.Int64
}

// to returns a database's URL behind the proxy.
func (w *proxy) to(t testing.TB, database string) string {
	to, err := url.Parse(database)
	require.NoError(t, err)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	address := to.Host
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return // the test is over
			}
			server, err := net.Dial("tcp", address)
			if err != nil {
				_ = client.Close()
				continue
			}
			go func() {
				_, _ = io.Copy(client, server) // until one of them ends
				_ = client.Close()
			}()
			go w.pass(server, client)
		}
	}()
	to.Host = l.Addr().String()
	return to.String()
}

// pass passes on what is read, later, and counts the statements in it.
func (w *proxy) pass(to, from net.Conn) {
	defer to.Close()
	message, c := make([]byte, 64<<10), counter{first: true}
	for {
		n, err := from.Read(message)
		if err != nil {
			return
		}
		w.statements.Add(c.count(message[:n]))
		time.Sleep(time.Duration(w.by.Load()))
		if _, err := to.Write(message[:n]); err != nil {
			return
		}
	}
}

// counter counts the statements in what a client sends: https://www.postgresql.org/docs/current/protocol-message-formats.html
type counter struct {
	rest  bytes.Buffer
	first bool // the message that begins a connection has no type
}

func (c *counter) count(sent []byte) (n int64) {
	c.rest.Write(sent)
	for {
		head := 1
		if c.first {
			head = 0
		}
		raw := c.rest.Bytes()
		if len(raw) < head+4 {
			return n
		}
		size := head + int(binary.BigEndian.Uint32(raw[head:]))
		if len(raw) < size {
			return n
		}
		execute := !c.first && raw[0] == 'E'
		query := !c.first && raw[0] == 'Q' && !bytes.HasPrefix(raw[head+4:], []byte("-- ping")) // pgx looks whether a connection that was idle still works
		if execute || query {
			n++
		}
		c.rest.Next(size)
		c.first = false
	}
}
