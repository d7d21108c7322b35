package act

import (
	"context"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"
)

// signals counts received signals. The first one ends the command, unless it must ignore it; the second ends the program at once, as
// in the real tools.
type signals struct {
	ended chan struct{} // closed when a signal takes effect
	deaf  atomic.Int64  // how many signals to ignore first
}

func (s *signals) ignore(n int) { s.deaf.Store(int64(n)) }

// Signals makes the first signal end the context and the second the program. interrupted reports whether one took effect.
func (a *Act) Signals() (ctx context.Context, interrupted func() bool, stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	a.signals.ended = make(chan struct{})
	received := make(chan os.Signal, 8)
	signal.Notify(received, os.Interrupt, syscall.SIGTERM)
	var waits sync.WaitGroup
	waits.Go(func() {
		for n := int64(1); ; n++ {
			if _, ok := <-received; !ok {
				return
			}
			if n == 1 && a.Log != nil {
				a.Log("warning", "Received interrupt signal")
			}
			switch {
			case n <= a.signals.deaf.Load():
			case n == 1:
				close(a.signals.ended)
				cancel()
			default:
				os.Exit(1)
			}
		}
	})
	interrupted = func() bool {
		select {
		case <-a.signals.ended:
			return true
		default:
			return false
		}
	}
	return ctx, interrupted, func() { signal.Stop(received); close(received); waits.Wait(); cancel() }
}
