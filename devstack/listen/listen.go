// Package listen is how stand-ins listen and serve HTTP.
package listen

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"
)

// On listens at an address; empty: at a free port of this machine. what names the server in an error.
func On(ctx context.Context, addr, what string) (net.Listener, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", cmp.Or(addr, "127.0.0.1:0"))
	if err != nil {
		return nil, fmt.Errorf("listen for %s: %w", what, err)
	}
	return listener, nil
}

// Serve answers until stop is called or ctx ends. Stop waits for no request: clients must handle cut connections.
func Serve(ctx context.Context, listener net.Listener, handler http.Handler, what string) (stop func() error) {
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}
	done := make(chan error, 1)
	go func() { done <- server.Serve(listener) }()
	release := context.AfterFunc(ctx, func() { _ = server.Close() })
	return sync.OnceValue(func() error {
		release()
		_ = server.Close()
		if err := <-done; !errors.Is(err, http.ErrServerClosed) {
			return fmt.Errorf("serve %s: %w", what, err)
		}
		return nil
	})
}
