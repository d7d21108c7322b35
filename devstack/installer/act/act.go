// Package act runs one command of a stand-in program: its pace, signals, faults, the count of its writes to the cloud and its trace.
package act

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/devstack/installer"
	"github.com/ocpctl/ocpctl/devstack/must"
)

// ErrInterrupted ends a command after a signal.
var ErrInterrupted = errors.New("interrupted")

// Failure ends the program with an exit code; its message becomes an error line.
type Failure struct {
	Code    int
	Message string
}

func (f *Failure) Error() string { return f.Message }

// Fail makes a Failure.
func Fail(code int, format string, args ...any) error {
	return &Failure{Code: code, Message: fmt.Sprintf(format, args...)}
}

// Ends reports that an error came from a fault or a signal, so that the command must not try anything more.
func Ends(err error) bool {
	var f *Failure
	return errors.As(err, &f) || errors.Is(err, ErrInterrupted)
}

// Act is one running command. Log and Failing are set before Begin.
type Act struct {
	Pace time.Duration // duration of one mark

	// Log writes one line at a level; nil drops it. Signals are logged through it too, from another goroutine.
	Log func(level, line string)
	// Failing returns the failure for a fault at a step; the step is "" after a write.
	Failing func(step string, fault installer.Fault) *Failure

	command, cluster string
	faults, trace    string
	leaks            []string
	writes           int
	signals          signals
}

// New reads the environment: pace, faults, trace. Begin sets the command.
func New() (*Act, error) {
	a := &Act{Pace: 400 * time.Millisecond, faults: os.Getenv(installer.FaultsVariable), trace: os.Getenv(installer.TraceVariable)}
	if raw := os.Getenv(installer.PaceVariable); raw != "" {
		pace, err := time.ParseDuration(raw)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", installer.PaceVariable, err)
		}
		a.Pace = pace
	}
	return a, nil
}

// FailWith makes a Failing: a fault without an exit code or a message gets 1 and the text.
func FailWith(text string) func(string, installer.Fault) *Failure {
	return func(_ string, fault installer.Fault) *Failure {
		return &Failure{Code: max(fault.Exit, 1), Message: cmp.Or(fault.Message, text)}
	}
}

// Begin sets the command's name, as in the faults, and its cluster; it is called as soon as both are known.
func (a *Act) Begin(command, cluster string) error {
	a.command, a.cluster = command, cluster
	var err error
	if a.leaks, err = installer.TakeLeaks(a.faults, command, cluster); err != nil {
		return Fail(1, "%s: %s", installer.FaultsVariable, err)
	}
	return a.note("start")
}

// End writes the exit code to the trace.
func (a *Act) End(code int) error { return a.note(fmt.Sprintf("end %d", code)) }

// Mark is a step of the command: a fault may happen, then it waits its share of the pace. ErrInterrupted after a signal.
func (a *Act) Mark(ctx context.Context, step string, share float64) error {
	fault, strikes, err := installer.TakeFault(a.faults, a.command, a.cluster, step)
	if err != nil {
		return Fail(1, "%s: %s", installer.FaultsVariable, err)
	}
	if strikes {
		if err := a.strike(step, fault); err != nil {
			return err
		}
	}
	if share == 0 || a.Pace == 0 {
		return interruption(ctx)
	}
	select {
	case <-ctx.Done():
		return ErrInterrupted
	case <-time.After(time.Duration(share * float64(a.Pace))):
		return nil
	}
}

// Wrote is called after each successful write to the cloud. Its error ends the command.
func (a *Act) Wrote(service, action string) error {
	a.writes++
	if err := a.note(service + ":" + action); err != nil {
		return err
	}
	fault, strikes, err := installer.TakeFaultAfter(a.faults, a.command, a.cluster, a.writes)
	if err != nil {
		return Fail(1, "%s: %s", installer.FaultsVariable, err)
	}
	if !strikes {
		return nil
	}
	return a.strike("", fault)
}

// Leaks reports whether the command must leave something of this class of installer.Leaks behind.
func (a *Act) Leaks(class string) bool { return slices.Contains(a.leaks, class) }

// Leaving returns the fault that makes destroy skip kinds; without one its Leave is empty.
func (a *Act) Leaving() (installer.Fault, error) {
	fault, err := installer.TakeLeaving(a.faults, a.command, a.cluster)
	if err != nil {
		return fault, Fail(1, "%s: %s", installer.FaultsVariable, err)
	}
	return fault, nil
}

func interruption(ctx context.Context) error {
	if ctx.Err() != nil {
		return ErrInterrupted
	}
	return nil
}

// note appends one line to the trace in one write, so that lines of several processes never mix.
func (a *Act) note(what string) (err error) {
	defer must.Catch(&err)
	if a.trace == "" {
		return nil
	}
	file, err := os.OpenFile(a.trace, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	must.Wrap(err, "open the trace")
	defer file.Close()
	_, err = fmt.Fprintf(file, "%s %s %d %s\n", cmp.Or(a.cluster, "-"), cmp.Or(a.command, "-"), a.writes, strings.TrimSpace(what))
	must.Wrap(err, "write the trace")
	return nil
}
