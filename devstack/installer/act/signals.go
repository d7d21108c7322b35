package act

import (
	"context"
	"os"
	"os/signal"
	"regexp"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/ocpctl/ocpctl/devstack/installer"
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

// strike executes a fault. Nil means that the command goes on.
func (a *Act) strike(step string, fault installer.Fault) error {
	a.signals.ignore(fault.Deaf)
	defer a.signals.ignore(0)
	if a.signals.ended == nil && fault.Deaf > 0 { // a program that dies of a signal
		signal.Ignore(os.Interrupt, syscall.SIGTERM)
		defer signal.Reset(os.Interrupt, syscall.SIGTERM)
	}
	a.speak(fault.Say)
	switch {
	case fault.Kill:
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL) // does not return
		select {}
	case fault.Hang:
		return a.stay("hang "+step, fault, func() (bool, error) { return true, nil })
	case fault.Pause:
		return a.stay("pause "+step, fault, func() (bool, error) {
			return installer.Stands(a.faults, a.command, a.cluster, fault)
		})
	case fault.OnlySpeaks():
		return nil
	}
	return a.Failing(step, fault)
}

// stay blocks the command, repeating the fault's lines, while the condition holds and no signal ends it.
func (a *Act) stay(what string, fault installer.Fault, holds func() (bool, error)) error {
	if err := a.note(what); err != nil {
		return err
	}
	look := time.NewTicker(10 * time.Millisecond)
	defer look.Stop()
	speak := time.NewTicker(max(a.Pace, 5*time.Millisecond))
	defer speak.Stop()
	for {
		select {
		case <-a.signals.ended:
			return ErrInterrupted
		case <-speak.C:
			a.speak(fault.Say)
		case <-look.C:
			on, err := holds()
			if err != nil {
				return Fail(1, "%s: %s", installer.FaultsVariable, err)
			}
			if !on {
				return a.note("resume")
			}
		}
	}
}

var fullLine = regexp.MustCompile(`^level=(\w+) msg=(.*)$`)

func (a *Act) speak(lines []string) {
	for _, line := range lines {
		level := "error"
		if m := fullLine.FindStringSubmatch(line); m != nil {
			level, line = m[1], m[2]
		}
		if a.Log != nil {
			a.Log(level, line)
		}
	}
}
