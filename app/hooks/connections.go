package hooks

import (
	"net"
	"net/http"
	"sync"

	"github.com/ocpctl/ocpctl/internal/source"
)

// The most connections that the public listener keeps, altogether and of one address. A trusted proxy may have all of them: who
// is behind it is told apart request by request.
const (
	mostConnections       = 2048
	connectionsOfAnywhere = 256
)

// Connections bounds the connections of a listener. Set its State as http.Server.ConnState.
//
// Where there are too many, the one that did nothing for longest goes, of the same address first; one on which a request is
// answered never does.
type Connections struct {
	proxies source.Networks
	places  *places
	open    sync.Map // net.Conn → *taken
}

// NewConnections returns the bounds of one listener. proxies are trusted to have many connections.
func NewConnections(proxies source.Networks) *Connections {
	return &Connections{proxies: proxies, places: newPlaces(mostConnections)}
}

// State follows a connection.
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
	its, ok := c.places.take(source.Group(address), each, func() { _ = conn.Close() }) // whoever reads it learns that it is closed
	if !ok {
		_ = conn.Close() // as above
		return
	}
	c.open.Store(conn, its)
}
