package main

import (
	"context"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/nektos/act/pkg/exprparser"
	"github.com/nektos/act/pkg/model"
)

// How long a step gets after each signal, as GitHub's runner does it:
// https://docs.github.com/actions/reference/workflows-and-actions/workflow-cancellation
const (
	afterInterrupt = 7500 * time.Millisecond
	afterTerminate = 2500 * time.Millisecond
	look           = 20 * time.Millisecond
)

// cancellation is the context that tells act that the job is cancelled. Its error is there at once, so that no other step begins
// unless its condition wants it; act kills the current step only when Done is closed, after the signals did not end it.
type cancellation struct {
	job   *found
	asked atomic.Bool
	done  chan struct{}

	mu      sync.Mutex
	current int   // index of the step
	before  []int // processes that were left by earlier steps
}

func newCancellation(job *found) *cancellation {
	return &cancellation{job: job, done: make(chan struct{}), current: -1}
}

func (c *cancellation) Deadline() (time.Time, bool) { return time.Time{}, false }
func (c *cancellation) Done() <-chan struct{}       { return c.done }
func (c *cancellation) Value(any) any               { return nil }

func (c *cancellation) Err() error {
	if c.asked.Load() {
		return context.Canceled
	}
	return nil
}

// stepBegins remembers the step and the processes that are not its own.
func (c *cancellation) stepBegins(step int) {
	left := children(os.Getpid())
	c.mu.Lock()
	defer c.mu.Unlock()
	c.current, c.before = step, left
}

// listen waits for the first signal.
func (c *cancellation) listen(signals <-chan os.Signal, force func()) {
	if sig := <-signals; sig == os.Interrupt {
		c.asked.Store(true)
		go func() {
			c.interrupt()
			close(c.done)
		}()
		for sig := range signals {
			if sig == syscall.SIGTERM {
				break
			}
		}
	}
	c.asked.Store(true)
	force()
}

// interrupt sends the current step's process SIGINT, later SIGTERM, and at last kills it with all its children. A step whose condition
// holds for a cancelled job goes on.
func (c *cancellation) interrupt() {
	c.mu.Lock()
	step, before := c.current, c.before
	c.mu.Unlock()
	if c.goesOn(step) {
		return
	}
	own := func() []int {
		return slices.DeleteFunc(children(os.Getpid()), func(pid int) bool { return slices.Contains(before, pid) })
	}
	first := own()
	alive := func() bool {
		now := own()
		return slices.ContainsFunc(first, func(pid int) bool { return slices.Contains(now, pid) })
	}
	for _, one := range []struct {
		signal syscall.Signal
		wait   time.Duration
	}{{syscall.SIGINT, afterInterrupt}, {syscall.SIGTERM, afterTerminate}} {
		for _, pid := range first {
			_ = syscall.Kill(pid, one.signal)
		}
		for end := time.Now().Add(one.wait); alive(); time.Sleep(look) {
			if time.Now().After(end) {
				break
			}
		}
		if !alive() {
			return
		}
	}
	for _, pid := range first {
		killTree(pid)
	}
}

// goesOn evaluates the condition of the step again, as GitHub does when a job is cancelled.
func (c *cancellation) goesOn(step int) bool {
	if step < 0 || step >= len(c.job.job.Steps) {
		return false
	}
	env := exprparser.EvaluationEnvironment{
		Github: c.job.eval.env.Github, Needs: c.job.eval.env.Needs, Matrix: c.job.eval.env.Matrix, Inputs: c.job.eval.env.Inputs,
		Job: &model.JobContext{Status: "cancelled"},
	}
	v, err := exprparser.NewInterpeter(&env, exprparser.Config{Run: c.job.run, Context: "step"}).
		Evaluate(c.job.job.Steps[step].If.Value, exprparser.DefaultStatusCheckSuccess)
	return err == nil && exprparser.IsTruthy(v)
}
