package chaos

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// The ways in which clusters of a soak fall asleep and end, besides by command.
const (
	plain   = ""
	nightly = "nightly" // outside working hours
	idle    = "idle"    // if nobody uses them
)

// rules are what the profiles of each way say. They are copies of the built-in ones.
var rules = map[string]string{
	nightly: "offHours: {default: true}",
	idle:    "idle: {tellAfter: 4h, sleepAfter: 6h, endAfter: 16h}",
}

// The times of a day. People work from opening to closing.
const (
	opening = 7 * time.Hour
	morning = 8 * time.Hour
	noon    = 12 * time.Hour
	closing = 19 * time.Hour
)

// moment is a time at which clusters should be in a certain state.
type moment struct {
	name string
	at   time.Duration // of the day
}

// The moments of a night.
const (
	evening = iota
	closed
	late
	small
	dawn
)

func moments() []moment {
	return []moment{
		evening: {"the evening", 18 * time.Hour},
		closed:  {"closing", closing},
		late:    {"10 p.m.", 22 * time.Hour},
		small:   {"1 a.m.", time.Hour},
		dawn:    {"dawn", 6*time.Hour + 50*time.Minute}, // later than the earliest time at which a cluster is woken for the opening
	}
}

// state is what a cluster should be.
type state string

const (
	awake  state = "awake"
	asleep state = "asleep"
	gone   state = "gone"
)

func (s state) is(c cluster) bool {
	switch s {
	case awake:
		return c.Status == "READY" && (c.Phase == "ready" || c.Phase == "expiring")
	case asleep:
		return c.Phase == "asleep"
	}
	return isReleased(c)
}

// night is how a cluster spends the night: what somebody does at which moment, and what it is after that.
type night struct {
	name string
	way  string // in which it falls asleep and ends: plain, nightly or idle
	ttl  int    // hours; 0: longer than the night
	pr   bool   // only clusters of pull requests
	at   int    // the moment of does
	does func(context.Context, *Run, *cycle) error
	is   [dawn + 1]state
}

func (n night) text() string {
	if n.name == "" {
		return ""
	}
	return ", its night: " + n.name
}

func nights() []night {
	slept := [dawn + 1]state{awake, asleep, asleep, asleep, awake}
	used := [dawn + 1]state{awake, asleep, awake, asleep, awake} // two hours later it sleeps again
	return []night{
		{name: "awake", is: [...]state{awake, awake, awake, awake, awake}},
		{name: "off-hours", way: nightly, is: slept},
		{name: "off-hours, woken by a push", way: nightly, pr: true, at: late, does: push, is: used},
		{name: "off-hours, woken by a kubeconfig", way: nightly, at: late, does: kubeconfig, is: used},
		{name: "off-hours, woken by a command", way: nightly, at: late, does: orders("wake"), is: used},
		{name: "off-hours, kept awake tonight", way: nightly, at: evening, does: orders("hold", "tonight"), is: [...]state{awake, awake, awake, awake, awake}},
		{name: "off-hours, ended asleep", way: nightly, at: late, does: end, is: [...]state{awake, asleep, gone, gone, gone}},
		{name: "off-hours, its end comes asleep", way: nightly, ttl: 16, is: [...]state{awake, asleep, asleep, gone, gone}},
		{name: "put to sleep for 12 h", at: evening, does: orders("sleep", "--for", "12h"), is: [...]state{asleep, asleep, asleep, asleep, awake}},
		{name: "put to sleep, ended asleep", way: nightly, at: evening, does: orders("sleep"), is: [...]state{asleep, asleep, asleep, asleep, asleep}},
		{name: "idle, its end comes asleep", way: idle, is: [...]state{awake, asleep, asleep, gone, gone}},
		{name: "idle, woken by a kubeconfig", way: idle, at: late, does: kubeconfig, is: [...]state{awake, asleep, awake, awake, awake}},
	}
}

// drawNight draws how the cycle's cluster is requested and spends its night, and whether its runner is killed while it falls asleep or wakes.
// Each night comes once on each of the clouds before the next one does.
func (c *cycle) drawNight(all []night, clouds int) {
	c.night = all[c.number/clouds%len(all)]
	c.cli = !c.night.pr && c.rng.IntN(3) == 0
	if c.ttl = c.night.ttl; c.ttl == 0 {
		c.ttl = 48
	}
	c.profile = profilesOn[c.cloud][c.rng.IntN(2)]
	c.offHours = c.cli && c.night.way == nightly
	if c.night.way != plain && !c.offHours {
		c.profile = c.night.way + "-" + c.profile
	}
	c.killIn = []string{"", "", "going_to_sleep", "waking"}[c.rng.IntN(4)]
}

// spend lets the cycle's cluster live through a moment of the night.
func (d *days) spend(ctx context.Context, c *cycle, at int) error {
	if c.gone {
		return nil
	}
	if c.night.does != nil && c.night.at == at {
		if err := c.night.does(ctx, d.Run, c); err != nil {
			return err
		}
	}
	want := c.night.is[at]
	err := d.awaitNamed(ctx, c.name, fmt.Sprintf("%s at %s", want, moments()[at].name), patience, func(now cluster) bool {
		d.killOnce(c, now)
		return want.is(now)
	})
	if err != nil || want != gone {
		return err
	}
	c.gone = true
	return d.ended(ctx, c)
}

// killOnce kills the runner of a cluster in the phase that was drawn for it.
func (d *days) killOnce(c *cycle, now cluster) {
	if c.killIn == "" || c.killed || now.Phase != c.killIn {
		return
	}
	if pid, err := d.runnerPID(now.Attempt); err == nil {
		c.killed = syscall.Kill(pid, syscall.SIGKILL) == nil
	}
}

func orders(verb string, args ...string) func(context.Context, *Run, *cycle) error {
	return func(ctx context.Context, t *Run, c *cycle) error { return t.order(ctx, c, verb, args...) }
}

func end(ctx context.Context, t *Run, c *cycle) error { return t.endBy(ctx, c) }

func push(_ context.Context, t *Run, c *cycle) error { return t.GitHub.Push(c.pr, person) }

// kubeconfig asks for access. With stopped machines it is refused, with the news that the cluster is being woken.
func kubeconfig(ctx context.Context, t *Run, c *cycle) error {
	_, err := t.ocpctl(ctx, "requester", "kubeconfig", c.name, "--static", "-f", filepath.Join(t.Dir, c.name+".kubeconfig"))
	if err != nil && strings.Contains(err.Error(), "is waking it for you") {
		return nil
	}
	return err
}
