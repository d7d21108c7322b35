package hooks

import (
	"net"
	"net/http"
	"sync"

	"github.com/ocpctl/ocpctl/internal/source"
)

// The most connections of the public listener, altogether and for one address. A trusted proxy may have all of them: its clients are
// told apart for each request.
const (
	mostConnections       = 2048
	connectionsOfAnywhere = 256
)

// Connections limits the connections of a listener. Set its State as http.Server.ConnState.
//
// If there are too many, the one that was idle longest is closed, of the same address first; never one with a request in progress.
type Connections struct {
	proxies source.Networks
	places  *places
	open    sync.Map // net.Conn → *taken
}

// NewConnections returns the limits of one listener. proxies may have many connections.
func NewConnections(proxies source.Networks) *Connections {
	return &Connections{proxies: proxies, places: newPlaces(mostConnections)}
}

// State tracks the state of a connection.
func (c *Connections) State(conn net.Conn, state http.ConnState) {
	if state == http.StateNew {
		c.opened(conn)
		return
	}
	known, ok := c.open.Load(conn)
	if !ok {
		return
	}
	its := known.(*taken)
	switch state {
	case http.StateActive:
		c.places.hold(its)
	case http.StateIdle:
		c.places.release(its)
	case http.StateClosed, http.StateHijacked:
		c.open.Delete(conn)
		c.places.free(its)
	}
}

func (c *Connections) opened(conn net.Conn) {
	address := source.Peer(conn.RemoteAddr().String())
	each := connectionsOfAnywhere
	if c.proxies.Contain(address) {
		each = mostConnections
	}
	its, ok := c.places.take(source.Group(address), each, func() { _ = conn.Close() }) // its reader learns that it is closed
	if !ok {
		_ = conn.Close() // as above
		return
	}
	c.open.Store(conn, its)
}
