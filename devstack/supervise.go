package devstack

import (
	"context"
	"fmt"
	"io"
	"time"
)

// The waits between restarts of a server that keeps ending.
const (
	firstPause = 500 * time.Millisecond
	lastPause  = 30 * time.Second
)

// Supervise restarts the server whenever it ends by itself, and reports that to out, until ctx ends. Runners go on meanwhile, and the
// new server finds them. To stop the server on purpose, end ctx first and wait until Supervise returns.
func (h *Stack) Supervise(ctx context.Context, out io.Writer) {
	pause := firstPause
	for {
		began := time.Now()
		select {
		case <-ctx.Done():
			return
		case <-h.Servers[0].process.done:
		}
		if ctx.Err() != nil {
			return
		}
		if time.Since(began) > lastPause {
			pause = firstPause
		}
		fmt.Fprintf(out, "\nocpctl-server ended by itself (%s) and is started again; running installs go on. Its log: %s\n",
			h.Servers[0].process.cmd.ProcessState, h.Servers[0].log)
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
		pause = min(2*pause, lastPause)
		if err := h.StartServer(ctx); err != nil {
			fmt.Fprintf(out, "ocpctl-server is not up: %v\n", err)
			continue
		}
		fmt.Fprintln(out, "ocpctl-server is up again.")
	}
}
