package devstack

import (
	"io"
	"net"
	"sync"
	"sync/atomic"
)

// Cut is a TCP proxy that can be cut: while cut it refuses new connections and breaks open ones. With several targets it is a load
// balancer: each new connection goes to the next target that accepts it.
type Cut struct {
	listener net.Listener
	off      atomic.Bool

	mu    sync.Mutex
	to    []string
	turn  int // of the targets
	conns map[net.Conn]struct{}
	wg    sync.WaitGroup
}

// StartCut listens on addr and forwards to one or several other addresses.
func StartCut(addr string, to ...string) (*Cut, error) {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, err
	}
	c := &Cut{listener: l, to: to, conns: map[net.Conn]struct{}{}}
	c.wg.Add(1)
	go c.accept()
	return c, nil
}

// Off cuts the proxy and breaks its open connections.
func (c *Cut) Off() {
	c.off.Store(true)
	c.closeAll()
}

// On ends the cut.
func (c *Cut) On() { c.off.Store(false) }

// Lead sends new connections to other addresses from now on; open ones stay with the old ones.
func (c *Cut) Lead(to ...string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.to = to
}

// Stop ends the proxy and its connections.
func (c *Cut) Stop() error {
	err := c.listener.Close()
	c.Off()
	c.wg.Wait()
	return err
}

func (c *Cut) accept() {
	defer c.wg.Done()
	for {
		conn, err := c.listener.Accept()
		if err != nil {
			return
		}
		if c.off.Load() {
			conn.Close()
			continue
		}
		c.wg.Add(1)
		go c.forward(conn)
	}
}

func (c *Cut) forward(near net.Conn) {
	defer c.wg.Done()
	far := c.dial()
	if far == nil {
		near.Close()
		return
	}
	c.hold(near, far)
	defer c.drop(near, far)
	if c.off.Load() { // it was cut between the accept and here
		return
	}
	var both sync.WaitGroup
	both.Add(2)
	pipe := func(dst, src net.Conn) {
		defer both.Done()
		_, _ = io.Copy(dst, src) // the end of either side ends the pair
		dst.Close()
		src.Close()
	}
	go pipe(far, near)
	go pipe(near, far)
	both.Wait()
}

// dial connects to the next target that accepts; nil: none does.
func (c *Cut) dial() net.Conn {
	c.mu.Lock()
	to, turn := c.to, c.turn
	c.turn++
	c.mu.Unlock()
	for n := range to {
		if far, err := net.Dial("tcp", to[(turn+n)%len(to)]); err == nil {
			return far
		}
	}
	return nil
}

func (c *Cut) hold(conns ...net.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, conn := range conns {
		c.conns[conn] = struct{}{}
	}
}

func (c *Cut) drop(conns ...net.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, conn := range conns {
		conn.Close()
		delete(c.conns, conn)
	}
}

func (c *Cut) closeAll() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for conn := range c.conns {
		conn.Close()
	}
}
